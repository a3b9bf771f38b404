"""The engine: a pool and at most one profile or released row -> a ranking."""
# In group mode the engine receives a query and a released row. No function here takes a user, and
# `by_row` takes no profile: the engine can't leak what it can't receive.

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anonymizer.arrays import Floats, Ints
from anonymizer.model import ReleasedRow
from index.forward.reading import DocumentVectors, Forward, Target
from index.forward.texts import Opening
from index.model import Document, Index, Pool, ScorePart

from . import rerank
from .evidence import CARES, EvidenceRule, RowPopulation, Scored
from .request import COSINES, EVIDENCE, RankingRule, Request


@dataclass(frozen=True)
class Ranking:
    """A pool in a new order, best documents first, each with its place in the plain order."""

    rows: Ints
    scores: Floats
    plain_ranks: Ints  # from 1
    # By the rule `evidence`: what it found, in plain order.
    evidence: Scored | None = field(default=None, compare=False)

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
        self._targets = rerank.PreparedInterests[Target]()
        self._evidence: dict[str, EvidenceRule] = {}

    @property
    def size(self) -> int:
        """Return how many documents the index has."""
        return self._forward.documents

    @property
    def terms(self) -> list[str]:
        """Return the terms of all documents."""
        return self._forward.terms

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

    def document(self, name: str) -> Document | None:
        """Return the document whose id is `name`; None if there is none."""
        row = self._index.row_of(name)
        return None if row is None else self._index.documents([row])[0]

    def document_counts(self, words: Sequence[str]) -> list[int | None]:
        """Return how many documents have each of `words`; None for a stop word."""
        return self._index.document_counts(words)

    def nearest(self, word: str) -> str:
        """Return the term of documents that is spelled most like `word`; "" if none is near."""
        near = self._forward.spelling.nearest(word.lower())
        counts = self._index.document_counts(near)
        # Terms are base forms, which need not be words that documents have.
        return next((term for term, count in zip(near, counts, strict=True) if count), "")

    def beginning(self, prefix: str) -> list[str]:
        """Return frequent terms of documents that begin with `prefix`, the most frequent first."""
        terms = self._forward.spelling.beginning(prefix.lower())
        counts = self._index.document_counts(terms)
        return [term for term, count in zip(terms, counts, strict=True) if count]

    def plain(self, pool: Pool) -> Ranking:
        """Return `pool` in its BM25 order: no personalization."""
        return Ranking(pool.rows, pool.scores.astype(np.float64), np.arange(1, len(pool) + 1))

    def by_profile(
        self, pool: Pool, profile: Mapping[str, float], rule: RankingRule = COSINES, among: str = ""
    ) -> Ranking:
        """Return `pool` ordered by a person's own `profile` and `rule`: the gold standard."""
        return self._by(pool, profile, rule, among)

    def by_row(
        self, pool: Pool, row: ReleasedRow, rule: RankingRule = COSINES, among: str = ""
    ) -> Ranking:
        """Return `pool` ordered by a group's released `row` and `rule`.

        By the rule `evidence`, it stands among the rows of the population `among`.
        """
        if row.fallback and rule.ranking == EVIDENCE:
            # It is the mean of all rows, so it has nothing of its own.
            return self._by(pool, {}, rule, among)
        return self._by(pool, row.weights, rule, among, row.name)

    def prepare(self, among: str, population: RowPopulation) -> None:
        """Let interests stand among the published rows of `population`, by the name `among`."""
        self._evidence[among] = EvidenceRule(population, self._forward, self._vectors)

    def evidence(self, among: str) -> EvidenceRule:
        """Return the rule `evidence` over the population `among`; "": over the public one."""
        if among not in self._evidence:
            if among:
                raise LookupError(f"no population {among}")
            self._evidence[""] = EvidenceRule(None, self._forward, self._vectors)
        return self._evidence[among]

    def rank(self, pool: Pool, request: Request) -> Ranking:
        """Return `pool` ordered by what `request` says and by nothing else."""
        if request.row is not None:
            return self.by_row(pool, request.row, request.rule, request.among)
        if request.profile is not None:
            return self.by_profile(pool, request.profile, request.rule, request.among)
        return self.plain(pool)

    def clear(self) -> None:
        """Keep no interest, and no pool of a search."""
        self._targets.clear()
        for rule in self._evidence.values():
            rule.clear()

    def contributions(self, rows: Ints, interest: Mapping[str, float]) -> Floats:
        """Return what each term of `interest` adds to each document's cosine: rows x terms."""
        return self._forward.contributions(rows, self._targets.of(interest, self._target_of))

    def vectors(self, rows: Ints) -> DocumentVectors:
        """Return the vectors of the documents `rows`, for a device that compares them itself."""
        return self._forward.vectors(rows, self._vectors)

    def warm_up(self, rule: RankingRule | None = COSINES, among: str = "") -> None:
        """Load what the first search by `rule` would wait for: Lucene's classes and the loops.

        Without a rule: what the first plain search would wait for.
        """
        if rule and rule.ranking == EVIDENCE:
            self.evidence(among).settle()
        for term in self._forward.terms[:1]:
            pool = self.pool(term, 10)
            if rule:
                ranking = self.by_profile(pool, {term: 1.0}, rule, among)
                self.contributions(ranking.rows, {term: 1.0})
            self.openings(pool.rows[:1])

    def documents(self, rows: Ints) -> list[Document]:
        """Return the documents `rows`, in their order."""
        return self._index.documents(rows.tolist())

    def openings(self, rows: Ints) -> list[Opening]:
        """Return what a list of results shows of the documents `rows`, in their order."""
        if self._forward.openings:
            return self._forward.openings.of(rows.tolist())
        return [Opening.of(document) for document in self.documents(rows)]

    def _by(
        self,
        pool: Pool,
        interest: Mapping[str, float],
        rule: RankingRule,
        among: str,
        name: str = "",
    ) -> Ranking:
        scored = None
        if rule.ranking == EVIDENCE:
            made, care = self.evidence(among), CARES[rule.care]
            scored = made.scored(pool.rows, pool.scores, interest, name if among else "", care)
            values = scored.scores
        else:
            values = self._forward.cosines(pool.rows, self._targets.of(interest, self._target_of))
        order = rerank.order(values)
        return Ranking(pool.rows[order], values[order], order + 1, scored)

    def _target_of(self, interest: Mapping[str, float]) -> Target:
        weights = np.fromiter(interest.values(), np.float64, len(interest))
        return self._forward.target(self._forward.columns(list(interest)), weights, self._vectors)
