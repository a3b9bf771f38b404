"""The engine: a pool and at most one profile or released row -> a ranking.

In group mode the engine receives a query and a released row. Nothing here has a place for a user,
and `by_row` has none for a profile: what the engine can't receive, it can't leak.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anonymizer.model import ReleasedRow
from index.forward import Forward, Target, Vectors
from index.lucene import LuceneIndex
from index.model import Document, Part, Pool

from . import rerank
from .request import Request

KEPT = 1024  # interests that stay prepared
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """A pool in a new order: documents best first, each with its place in the plain order."""

    rows: Ints
    scores: Floats
    plain_ranks: Ints  # from 1

    def __len__(self) -> int:
        return int(self.rows.size)


class Engine:
    """Lucene for the pool, the forward index for the re-ranking."""

    def __init__(
        self,
        lucene: LuceneIndex,
        forward: Forward,
        vectors: str = "tfidf",
        *,
        deadline: float | None = None,
    ):
        self._lucene = lucene
        self._forward = forward
        self._vectors = vectors
        self._deadline = deadline  # seconds for a query
        self._known: dict[int, tuple[Mapping[str, float], Target]] = {}

    def pool(self, query: str, size: int, *, operators: bool = False) -> Pool:
        """Return the best documents for the query in BM25 order, in time."""
        return self._lucene.pool(query, size, operators=operators, deadline=self._deadline)

    def pools(
        self, queries: Sequence[str], size: int, *, threads: int = 1, operators: bool = False
    ) -> Iterator[Pool]:
        """Return the pool of each of many queries, however long they take together."""
        return self._lucene.pools(queries, size, threads=threads, operators=operators)

    def explain(
        self, query: str, rows: Sequence[int], *, operators: bool = False
    ) -> list[list[Part]]:
        """Return what each term of the query gives to each document's BM25 score, in time."""
        return self._lucene.explain(query, rows, operators=operators, deadline=self._deadline)

    def ids(self, rows: Ints) -> NDArray[np.object_]:
        """Return the ids of documents without reading the documents."""
        return self._lucene.ids(rows)

    def plain(self, pool: Pool) -> Ranking:
        """Keep the BM25 order: no personalization."""
        return Ranking(pool.rows, pool.scores.astype(np.float64), np.arange(1, len(pool) + 1))

    def by_profile(self, pool: Pool, profile: Mapping[str, float], mix: float = 1.0) -> Ranking:
        """Re-rank by a person's own profile: the gold standard."""
        return self._by(pool, profile, mix)

    def by_row(self, pool: Pool, row: ReleasedRow, mix: float = 1.0) -> Ranking:
        """Re-rank by a group's released row."""
        return self._by(pool, row.weights, mix)

    def rank(self, pool: Pool, request: Request) -> Ranking:
        """Order a pool by all that a request says, and nothing else."""
        if request.row is not None:
            return self.by_row(pool, request.row, request.mix)
        if request.profile is not None:
            return self.by_profile(pool, request.profile, request.mix)
        return self.plain(pool)

    def contributions(self, rows: Ints, interest: Mapping[str, float]) -> Floats:
        """Return each interest's share of the cosine of each document: rows x interests."""
        return self._forward.contributions(rows, self._target(interest))

    def vectors(self, rows: Ints) -> Vectors:
        """Return the documents' own vectors, to be compared with a profile elsewhere."""
        return self._forward.vectors(rows, self._vectors)

    def warm_up(self) -> None:
        """Load what the first search would wait for: Lucene's classes and the compiled loops."""
        for term in self._forward.terms[:1]:
            ranking = self.by_profile(self.pool(term, 10), {term: 1.0})
            self.contributions(ranking.rows, {term: 1.0})
            self.documents(ranking, 0, 1)

    def documents(self, ranking: Ranking, first: int, count: int) -> list[Document]:
        """Read the documents of one page of a ranking."""
        return self._lucene.documents(ranking.rows[first : first + count].tolist())

    def _by(self, pool: Pool, interest: Mapping[str, float], mix: float) -> Ranking:
        cosines = self._forward.cosines(pool.rows, self._target(interest))
        values = rerank.blend(cosines, pool.scores, mix)
        order = rerank.order(values)
        return Ranking(pool.rows[order], values[order], order + 1)

    def _target(self, interest: Mapping[str, float]) -> Target:
        """Prepare an interest; whoever asks again with the same mapping finds it ready."""
        known = self._known.get(id(interest))
        if known is not None and known[0] is interest:
            return known[1]
        weights = np.fromiter(interest.values(), np.float64, len(interest))
        columns = self._forward.columns(list(interest))
        target = self._forward.target(columns, weights, self._vectors)
        if len(self._known) >= KEPT:
            self._known.clear()
        self._known[id(interest)] = interest, target  # kept with it, so that no id comes again
        return target
