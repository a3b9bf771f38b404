"""Candidates for a device that ranks by its own profile: a pool and its documents' vectors."""
# No function here takes a user or a profile. A released row may choose which part of the pool the
# device gets; it does not order that part.

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from index.forward.reading import DocumentVectors

from .engine import Engine, Ranking
from .request import Request

MOST = 1000  # documents in the largest pool that a device gets with vectors
KEPT = 200  # documents that a row keeps of the pool, by default


@dataclass(frozen=True)
class CandidatePool:
    """Documents in Lucene's order, with all that a device needs to compute their cosines."""

    ranking: Ranking  # with BM25's scores
    vectors: DocumentVectors
    found: int  # documents in the pool; a row may have kept fewer
    cut: bool  # whether only the beginning of the query was searched


def candidates(engine: Engine, request: Request, keep: int = KEPT) -> CandidatePool:
    """Return the pool of `request`; if it has a row, only the `keep` documents best by that row."""
    pool = engine.pool(request.query, request.pool, operators=request.operators)
    ranking = plain = engine.plain(pool)
    if request.row is not None:
        # Back in Lucene's order, because the device's sort keeps ties in the order they come in.
        kept = np.sort(engine.rank(pool, replace(request, profile=None)).plain_ranks[:keep]) - 1
        ranking = Ranking(plain.rows[kept], plain.scores[kept], plain.plain_ranks[kept])
    return CandidatePool(ranking, engine.vectors(ranking.rows), len(pool), pool.cut)
