"""Candidates for a device that orders by a profile of its own: a pool and its documents' vectors.

Nothing here has a place for a user or a profile. A released row may choose which part of the pool
is handed out; it does not order that part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from index.forward import Vectors

from .engine import Engine, Ranking
from .request import Request

MOST = 1000  # documents in a pool that is handed out with vectors
KEPT = 200  # documents a row keeps of it, if nothing else is said


@dataclass(frozen=True)
class Candidates:
    """Documents in Lucene's order, with all that a cosine needs of them."""

    ranking: Ranking  # its scores are BM25's
    vectors: Vectors
    found: int  # in the pool; a row may have kept fewer
    cut: bool  # the query was longer than is searched


def candidates(engine: Engine, request: Request, keep: int = KEPT) -> Candidates:
    """Find a pool; where a row is told, keep the documents that it puts first."""
    pool = engine.pool(request.query, request.pool, operators=request.operators)
    plain = engine.plain(pool)
    ranking = plain
    if request.row is not None:
        kept = np.sort(engine.rank(pool, replace(request, profile=None)).plain_ranks[:keep]) - 1
        ranking = Ranking(plain.rows[kept], plain.scores[kept], plain.plain_ranks[kept])
    return Candidates(ranking, engine.vectors(ranking.rows), len(pool), pool.cut)
