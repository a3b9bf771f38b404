"""Ratios of bars.md within one run: medians over interleaved rounds, as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.profile_file import read_profiles
from anonymizer.release import read_release
from index import jvm, lucene
from index.build import open_index
from search_app.engine import Engine
from search_app.workspace import Workspace


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--pool", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    workspace = Workspace(given.workspace)
    searcher, forward = open_index(workspace.find("index"))
    engine = Engine(searcher, forward)
    profiles = read_profiles(workspace.find("profiles"))
    row = read_release(workspace.find("release")).row_for(profiles.users[0])
    queries = invented_queries(forward.terms, given.queries)
    pools = {query: engine.pool(query, given.pool) for query in queries}
    starts, columns, values = forward._parts
    counts = csr_matrix(
        (values, columns.astype(np.int32), starts), shape=(forward.documents, len(forward.terms))
    )
    target = np.random.default_rng(0).random(len(forward.terms))

    def bare(query: str) -> object:
        with jvm.talking:
            return searcher._searcher.search(lucene._query(query), given.pool)

    timed: dict[str, Callable[[str], object]] = {
        "lucene": bare,
        "pool": lambda query: engine.pool(query, given.pool),
        "rerank": lambda query: engine.by_row(pools[query], row),
        "product": lambda query: counts[pools[query].rows] @ target,
        "personalized": lambda query: engine.by_row(engine.pool(query, given.pool), row),
    }
    medians = measure(timed, queries, given.rounds)
    print(
        json.dumps(
            {
                "milliseconds": {name: round(1000 * value, 4) for name, value in medians.items()},
                "R1 pool / Lucene's own search": round(medians["pool"] / medians["lucene"], 2),
                "R2 re-rank / bare product": round(medians["rerank"] / medians["product"], 2),
                "personalized / Lucene's own search": round(
                    medians["personalized"] / medians["lucene"], 2
                ),
                "documents": forward.documents,
                "pool": given.pool,
                "mean hits": round(statistics.mean(len(pool) for pool in pools.values()), 1),
                "terms of the row": len(row.weights),
                "cores": os.cpu_count(),
                "python": platform.python_version(),
                "java": jvm.java_version(),
            },
            indent=1,
        )
    )


def invented_queries(terms: list[str], count: int) -> list[str]:
    """Draw two-word queries from the index's 2,000 most frequent terms, always the same ones."""
    rng = np.random.default_rng(1)
    return [" ".join(rng.choice(terms[20:2000], 2)) for _ in range(count)]


def measure(
    timed: dict[str, Callable[[str], object]], queries: list[str], rounds: int
) -> dict[str, float]:
    """Return the median seconds of each call, all interleaved query by query, after a warm-up."""
    taken: dict[str, list[float]] = {name: [] for name in timed}
    for number in range(-3, rounds):
        for query in queries:
            for name, call in timed.items():
                began = time.perf_counter()
                call(query)
                if number >= 0:
                    taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in taken.items()}


if __name__ == "__main__":
    main()
