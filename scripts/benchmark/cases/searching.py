"""R1 and R2: a pool and its re-ranking against Lucene's bare search and SciPy's bare product."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import closing
from typing import cast

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.methods import promise_of
from anonymizer.model import ReleasedRow
from anonymizer.storage.releases import read_release
from index.backends import LuceneBackend
from index.forward.reading import Forward
from index.lucene import jvm
from index.lucene.java import java, talking
from index.lucene.query import lucene_query, parse_query
from index.lucene.searching import LuceneIndex
from index.opening import open_index
from search_app.search.engine import Engine

from ..bars import Measured
from ..inputs.invented_people import invented_queries
from ..plan import Place, Plan
from ..timing import divided, milliseconds, timed_over
from . import anserini
from .starting import demo_of

PATIENCE = 60.0  # seconds for a search, so that a busy machine does not end the run
PARTS = {
    "pool": ("pool", "Lucene's own search"),
    "pyserini": ("Pyserini's search", "pool"),
    "rerank": ("re-rank", "bare product"),
}


def measure(plan: Plan, place: Place) -> Measured:
    """Time searches inside this process over the demo of `plan`."""
    demo = demo_of(plan, place)
    release = read_release(demo.find("release"), promise_of)
    opened, forward = open_index(demo.find("index"), backend=LuceneBackend(plan.heap))
    searcher = cast(LuceneIndex, opened)
    with closing(searcher):
        queries = invented_queries(forward.terms, plan.queries)
        engine = Engine(searcher, forward, deadline=PATIENCE)
        row = release.row_for(release.users[0])
        calls = _in_numpy(engine, forward, row, queries, plan.pool)
        calls["Lucene's own search"] = _bare(searcher, queries, plan.pool)
        made = place.temporary / "anserini"
        calls["Pyserini's search"] = anserini.searching(searcher, made, plan.pool)
        taken = timed_over(queries, calls, plan.rounds)
        hits = [len(engine.pool(query, plan.pool)) for query in queries]
    values, counts = divided(taken, PARTS)
    return Measured(
        values=values,
        facts={
            **milliseconds(taken),
            "documents": forward.documents,
            "pool": plan.pool,
            "mean hits": round(statistics.mean(hits), 1),
            "terms of the row": len(row.weights),
            "java": jvm.java_version(),
            "lucene": str(java("org.apache.lucene.util.Version").LATEST.toString()),
        },
        calls=counts,
    )


def _in_numpy(
    engine: Engine, forward: Forward, row: ReleasedRow, queries: list[str], size: int
) -> dict[str, Callable[[str], object]]:
    pools = {query: engine.pool(query, size) for query in queries}
    starts, columns, values = forward.counts
    shape = (forward.documents, len(forward.terms))
    counts = csr_matrix((values, columns.astype(np.int32), starts), shape=shape)
    target = np.random.default_rng(0).random(len(forward.terms))
    return {
        "pool": lambda query: engine.pool(query, size),
        "re-rank": lambda query: engine.by_row(pools[query], row),
        "bare product": lambda query: counts[pools[query].rows] @ target,
    }


def _bare(searcher: LuceneIndex, queries: list[str], size: int) -> Callable[[str], object]:
    """Return the call of Lucene's own search alone; its queries are built before it is timed."""
    with talking("Lucene's own search"):
        built = {query: lucene_query(parse_query(query)) for query in queries}
        search = searcher.searcher.search

    def call(query: str) -> object:
        with jvm.talking:
            return search(built[query], size)

    return call
