"""Ratios R1, R2 and R3 of the bars within one run: medians over interleaved rounds, as JSON.

The index is that of a workspace, which is only read; the people are an invented town's, made
beside it, since only invented people can be asked for on the pages.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.profile_file import read_profiles
from anonymizer.release import read_release
from index import jvm
from index.build import open_index
from index.java import analyzer, directory, java, talking
from index.query import ask, lucene_query
from search_app.engine import Engine
from search_app.workspace import Workspace

LUCENE = "org.apache.lucene"
BARS = {
    "R1 pool / Lucene's own search": "at most 3",
    "R1 Pyserini's search / pool": "at least 10",
    "R2 re-rank / bare product": "at most 6",
    "R3 personalized page / plain page": "at most 1.3",
    "R3 comparison / plain page": "at most 2",
}


def main() -> None:
    """Measure and print."""
    given = arguments()
    began = time.perf_counter()
    workspace = Workspace(given.workspace)
    with TemporaryDirectory(prefix="veilsearch-bench.") as folder:
        town = make_town(Path(folder), workspace.find("index"))
        searcher, forward = open_index(workspace.find("index"))
        engine = Engine(searcher, forward, deadline=5.0)
        profiles = read_profiles(town.find("profiles"))
        row = read_release(town.find("release")).row_for(profiles.users[0])
        queries = invented_queries(forward.terms, given.queries)
        calls, facts = searches(given, searcher, forward, engine, row, queries, Path(folder))
        taken = measure(calls, queries, given.rounds)
        searcher.close()
        with served(town) as port, connected(port) as connection:
            asked = pages(connection, profiles.users)
            taken |= measure(asked, queries, given.rounds, warm_up=20)
    report = {
        "milliseconds": {name: round(1000 * value, 4) for name, value in taken.items()},
        "ratios": {name: {"is": value, "bar": BARS[name]} for name, value in ratios(taken).items()},
        **facts,
        "versions": versions(),
        "cores": os.cpu_count(),
        "seconds": round(time.perf_counter() - began),
    }
    print(json.dumps(report, indent=1))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--pool", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--without-pyserini", action="store_true")
    return parser.parse_args()


def make_town(folder: Path, index: Path) -> Workspace:
    """Make a workspace of invented people over an index that lies elsewhere."""
    workspace = Workspace(folder / "town")
    workspace.make_current(index=str(index.resolve()))
    log = str(workspace.root / "town.tsv")
    for verb in (
        ["town", "-o", log],
        ["profiles", log, "--size", "150", "--users", "720"],
        ["anonymize", "-m", "p-linkability", "--set", "p=0.4", "--set", "a=1"],
    ):
        command = [*veilsearch(workspace), *verb]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 our own
    return workspace


def veilsearch(workspace: Workspace) -> list[str]:
    """Return the command for a workspace."""
    return [sys.executable, "-m", "search_app", "--workspace", str(workspace.root)]


def searches(
    given: argparse.Namespace,
    searcher: Any,
    forward: Any,
    engine: Engine,
    row: Any,
    queries: list[str],
    folder: Path,
) -> tuple[dict[str, Callable[[str], object]], dict[str, Any]]:
    """Return what is timed inside one process, and how large everything is."""
    pools = {query: engine.pool(query, given.pool) for query in queries}
    starts, columns, values = forward.counts
    shape = (forward.documents, len(forward.terms))
    counts = csr_matrix((values, columns.astype(np.int32), starts), shape=shape)
    target = np.random.default_rng(0).random(len(forward.terms))
    calls: dict[str, Callable[[str], object]] = {
        "lucene": bare(searcher, queries, given.pool),
        "pool": lambda query: engine.pool(query, given.pool),
        "rerank": lambda query: engine.by_row(pools[query], row),
        "product": lambda query: counts[pools[query].rows] @ target,
    }
    if not given.without_pyserini:
        calls["pyserini"] = pyserini(searcher, folder / "pyserini", given.pool)
    return calls, {
        "documents": forward.documents,
        "pool": given.pool,
        "mean hits": round(statistics.mean(len(pool) for pool in pools.values()), 1),
        "terms of the row": len(row.weights),
    }


def bare(searcher: Any, queries: list[str], size: int) -> Callable[[str], object]:
    """Return the call of Lucene's own search alone, for queries built before it is timed."""
    with talking("Lucene's own search"):
        built = {query: lucene_query(ask(query)) for query in queries}
        search = searcher.searcher.search

    def call(query: str) -> object:
        with jvm.talking:
            return search(built[query], size)

    return call


def pyserini(searcher: Any, folder: Path, size: int) -> Callable[[str], object]:
    """Return the call that Pyserini's LuceneSearcher.search makes, over the same documents.

    Pyserini itself needs torch to be imported. Its searcher hands the query to this class of
    Anserini, which wants an index of its own form, and returns the hits as Java objects.
    """
    with talking(folder):
        config = java(f"{LUCENE}.index.IndexWriterConfig")(analyzer())
        writer = java(f"{LUCENE}.index.IndexWriter")(directory(folder), config)
        store = java(f"{LUCENE}.document.Field$Store")
        name = java(f"{LUCENE}.document.StringField")("id", "", store.YES)
        contents = java(f"{LUCENE}.document.TextField")("contents", "", store.NO)
        raw = java(f"{LUCENE}.document.StoredField")("raw", "")
        bytes_of = java(f"{LUCENE}.util.BytesRef")
        order = java(f"{LUCENE}.document.BinaryDocValuesField")("id", bytes_of(b""))
        document = java(f"{LUCENE}.document.Document")()
        for field in (name, contents, raw, order):
            document.add(field)
        for row in range(searcher.size):
            (read,) = searcher.documents([row])
            name.setStringValue(read.id)
            contents.setStringValue(f"{read.title} {read.text}")
            raw.setStringValue(read.text)
            order.setBytesValue(bytes_of(read.id.encode()))
            writer.addDocument(document)
        writer.forceMerge(1)
        writer.close()
        simple = java("io.anserini.search.SimpleSearcher")(str(folder))

    def search(query: str) -> object:
        with jvm.talking:
            return simple.search(query, size)

    return search


@contextmanager
def served(workspace: Workspace) -> Iterator[int]:
    """Serve a workspace in a process of its own; return its port."""
    command = [*veilsearch(workspace), "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603
        try:
            told: list[str] = []
            while not (port := re.search(r"http://127\.0\.0\.1:(\d+)", "".join(told))):
                line = server.stderr.readline() if server.stderr else ""
                if not line:
                    raise SystemExit(f"the server did not start: {''.join(told)}")
                told.append(line)
            yield int(port[1])
        finally:
            server.terminate()


def connected(port: int) -> closing[http.client.HTTPConnection]:
    """Connect to a server of this machine."""
    return closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60))


def pages(
    connection: http.client.HTTPConnection, users: tuple[str, ...]
) -> dict[str, Callable[[str], object]]:
    """Return requests for whole pages, each query as another person."""

    def page(path: str, **asked: str) -> None:
        connection.request("GET", f"{path}?{urlencode(asked)}")
        response = connection.getresponse()
        body = response.read()
        if response.status != 200 or b"Personalization failed" in body:
            raise SystemExit(f"{path} answered {response.status}")

    def user(query: str) -> str:
        return users[sum(query.encode()) % len(users)]

    return {
        "plain page": lambda query: page("/", q=query),
        "personalized page": lambda query: page("/", q=query, user=user(query), mode="group"),
        "comparison": lambda query: page("/compare", q=query, user=user(query)),
    }


def invented_queries(terms: list[str], count: int) -> list[str]:
    """Draw two-word queries from the index's 2,000 most frequent terms, always the same ones."""
    rng = np.random.default_rng(1)
    return [" ".join(rng.choice(terms[20:2000], 2)) for _ in range(count)]


def measure(
    timed: dict[str, Callable[[str], object]], queries: list[str], rounds: int, warm_up: int = 2
) -> dict[str, float]:
    """Return the median seconds of each call, all interleaved query by query, after a warm-up.

    Java compiles what it runs a thousand times: until then it reads a document in 140 µs, not 30.
    """
    taken: dict[str, list[float]] = {name: [] for name in timed}
    for number in range(-warm_up, rounds):
        for query in queries:
            for name, call in timed.items():
                began = time.perf_counter()
                call(query)
                if number >= 0:
                    taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in taken.items()}


def ratios(taken: dict[str, float]) -> dict[str, float]:
    """Divide what the bars divide."""
    parts = {
        "R1 pool / Lucene's own search": ("pool", "lucene"),
        "R1 Pyserini's search / pool": ("pyserini", "pool"),
        "R2 re-rank / bare product": ("rerank", "product"),
        "R3 personalized page / plain page": ("personalized page", "plain page"),
        "R3 comparison / plain page": ("comparison", "plain page"),
    }
    return {
        name: round(taken[one] / taken[other], 2)
        for name, (one, other) in parts.items()
        if one in taken
    }


def versions() -> dict[str, str]:
    """Return the versions of what was measured."""
    names = ("veilsearch", "numpy", "scipy", "numba", "pyserini", "pyjnius", "flask", "waitress")
    return {
        "python": platform.python_version(),
        "java": jvm.java_version(),
        "lucene": java(f"{LUCENE}.util.Version").LATEST.toString(),
        **{name: version(name) for name in names},
    }


if __name__ == "__main__":
    main()
