"""The engine: a pool and at most one profile or released row -> a ranking."""
# In group mode the engine receives a query and a released row. No function here takes a user, and
# `by_row` takes no profile: the engine can't leak what it can't receive.

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anonymizer.arrays import Floats, Ints
from anonymizer.model import ReleasedRow
from index.forward.reading import DocumentVectors, Forward, Target
from index.model import Document, Index, Pool, ScorePart

from . import rerank
from .request import Request

KEPT = 1024  # prepared interests in memory


@dataclass(frozen=True)
class Ranking:
    """A pool in a new order, best documents first, each with its place in the plain order."""

    rows: Ints
    scores: Floats
    plain_ranks: Ints  # from 1

    def __len__(self) -> int:
        return int(self.rows.size)


class Engine:
    """An index that finds the pool, and a forward index for the re-ranking."""

    def __init__(
        self,
        index: Index,
        forward: Forward,
        vectors: str = "tfidf",
        *,
        deadline: float | None = None,
    ):
        self._index = index
        self._forward = forward
        self._vectors = vectors
        self._deadline = deadline  # seconds for a query
        self._known: dict[int, tuple[Mapping[str, float], Target]] = {}

    @property
    def size(self) -> int:
        """Return how many documents the index has."""
        return self._forward.documents

    def pool(self, query: str, size: int, *, operators: bool = False) -> Pool:
        """Return the `size` best documents for `query` in BM25 order, within the deadline."""
        return self._index.pool(query, size, operators=operators, deadline=self._deadline)

    def pools(
        self, queries: Sequence[str], size: int, *, threads: int = 1, operators: bool = False
    ) -> Iterator[Pool]:
        """Return the pool of each of `queries`; they have no deadline."""
        return self._index.pools(queries, size, threads=threads, operators=operators)

    def explain(
        self, query: str, rows: Sequence[int], *, operators: bool = False
    ) -> list[list[ScorePart]]:
        """Return the part of each term of `query` in the BM25 score of each document of `rows`."""
        return self._index.explain(query, rows, operators=operators, deadline=self._deadline)

    def ids(self, rows: Ints) -> NDArray[np.object_]:
        """Return the ids of the documents `rows`; the stored documents are not read."""
        return self._index.ids(rows)

    def plain(self, pool: Pool) -> Ranking:
        """Return `pool` in its BM25 order: no personalization."""
        return Ranking(pool.rows, pool.scores.astype(np.float64), np.arange(1, len(pool) + 1))

    def by_profile(self, pool: Pool, profile: Mapping[str, float], mix: float = 1.0) -> Ranking:
        """Return `pool` ordered by a person's own `profile`: with `mix` 1 the gold standard."""
        return self._by(pool, profile, mix)

    def by_row(self, pool: Pool, row: ReleasedRow, mix: float = 1.0) -> Ranking:
        """Return `pool` ordered by a group's released `row`."""
        return self._by(pool, row.weights, mix)

    def rank(self, pool: Pool, request: Request) -> Ranking:
        """Return `pool` ordered by what `request` says and by nothing else."""
        if request.row is not None:
            return self.by_row(pool, request.row, request.mix)
        if request.profile is not None:
            return self.by_profile(pool, request.profile, request.mix)
        return self.plain(pool)

    def contributions(self, rows: Ints, interest: Mapping[str, float]) -> Floats:
        """Return what each term of `interest` adds to each document's cosine: rows x terms."""
        return self._forward.contributions(rows, self._target(interest))

    def vectors(self, rows: Ints) -> DocumentVectors:
        """Return the vectors of the documents `rows`, for a device that compares them itself."""
        return self._forward.vectors(rows, self._vectors)

    def forget(self) -> None:
        """Keep in memory no interests that were prepared."""
        self._known.clear()

    def warm_up(self) -> None:
        """Load what the first search would wait for: Lucene's classes and the compiled loops."""
        for term in self._forward.terms[:1]:
            ranking = self.by_profile(self.pool(term, 10), {term: 1.0})
            self.contributions(ranking.rows, {term: 1.0})
            self.documents(ranking, 0, 1)

    def documents(self, ranking: Ranking, first: int, count: int) -> list[Document]:
        """Return `count` documents of `ranking` from the place `first` on."""
        return self._index.documents(ranking.rows[first : first + count].tolist())

    def _by(self, pool: Pool, interest: Mapping[str, float], mix: float) -> Ranking:
        cosines = self._forward.cosines(pool.rows, self._target(interest))
        values = rerank.blend(cosines, pool.scores, mix)
        order = rerank.order(values)
        return Ranking(pool.rows[order], values[order], order + 1)

    def _target(self, interest: Mapping[str, float]) -> Target:
        """Return `interest` prepared for cosines; the same mapping object is prepared only once."""
        known = self._known.get(id(interest))
        if known is not None and known[0] is interest:
            return known[1]
        weights = np.fromiter(interest.values(), np.float64, len(interest))
        columns = self._forward.columns(list(interest))
        target = self._forward.target(columns, weights, self._vectors)
        if len(self._known) >= KEPT:
            self._known.clear()
        # The mapping is kept with its target: as long as it lives, no other object gets its id.
        self._known[id(interest)] = interest, target
        return target
