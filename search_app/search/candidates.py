"""Candidates for a device that ranks by its own profile: a pool and its documents' vectors."""
# No function here takes a user or a profile. A released row may choose which part of the pool the
# device gets; it does not order that part.

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats
from index.forward.reading import DocumentVectors, Neighbours

from .engine import Engine, Ranking
from .evidence import logarithms
from .request import EVIDENCE, Request

MOST = 1000  # documents in the largest pool that a device gets with vectors
KEPT = 200  # documents that a row keeps of the pool, by default


class Support(NamedTuple):
    """What a device needs in addition, to rank by the rule `evidence`."""

    logs: Floats  # of BM25
    neighbours: Neighbours
    closeness: Floats  # of published rows to these documents

    def in_lists(self) -> Iterator[tuple[float, list[int], list[float]]]:
        """Yield for each document its logarithm, its neighbours and how alike they are."""
        places, cosines = self.neighbours
        for log, near, alike in zip(self.logs.tolist(), places, cosines, strict=True):
            some = alike > 0
            yield log, near[some].tolist(), alike[some].tolist()


@dataclass(frozen=True)
class CandidatePool:
    """Documents in Lucene's order, with all that a device needs to compute their cosines."""

    ranking: Ranking  # with BM25's scores
    vectors: DocumentVectors
    found: int  # documents in the pool; a row may have kept fewer
    cut: bool  # whether only the beginning of the query was searched
    evidence: Support | None = None  # by the rule `evidence`


def candidates(engine: Engine, request: Request, keep: int = KEPT) -> CandidatePool:
    """Return the pool of `request`; if it has a row, only the `keep` documents best by that row."""
    pool = engine.pool(request.query, request.pool, operators=request.operators)
    ranking = plain = engine.plain(pool)
    if request.row is not None:
        # Back in Lucene's order, because the device's sort keeps ties in the order they come in.
        kept = np.sort(engine.rank(pool, replace(request, profile=None)).plain_ranks[:keep]) - 1
        ranking = Ranking(plain.rows[kept], plain.scores[kept], plain.plain_ranks[kept])
    support = None
    if request.rule.ranking == EVIDENCE:
        made = engine.evidence(request.among)
        near, close = made.neighbours(ranking.rows), made.closeness_of(ranking.rows)
        support = Support(logarithms(ranking.scores), near, close)
    return CandidatePool(ranking, engine.vectors(ranking.rows), len(pool), pool.cut, support)
