"""Average precision against the own-profile order, the gold standard (Zhu & Xiong, section 4).

The first 30 documents of the own-profile order over the same pool are relevant. The value depends
mostly on the size of the pool, so each one is printed with it, and with AP_c, which is 0 for a
random order and 1 for the gold standard itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
DEPTH = 30


@dataclass(frozen=True)
class Precision:
    """How close a ranking comes to the gold standard over one pool."""

    ap: float
    ap_at_10: float
    ap_at_20: float
    ap_c: float | None  # None where the pool has no more documents than are relevant
    pool: int


def evaluate(ranking: Ints, gold: Ints) -> Precision | None:
    """Judge an order of a pool by the gold order; None if the pool is empty.

    Both orders list the pool's documents by their places in it, from 1.
    """
    if not ranking.size:
        return None
    relevant = np.zeros(ranking.size + 1, dtype=np.bool_)
    relevant[gold[:DEPTH]] = True
    hits = relevant[ranking]
    ap = average_precision(hits)
    return Precision(
        ap=ap,
        ap_at_10=average_precision(hits, 10),
        ap_at_20=average_precision(hits, 20),
        ap_c=corrected(ap, int(ranking.size), min(DEPTH, int(ranking.size))),
        pool=int(ranking.size),
    )


def average_precision(hits: NDArray[np.bool_], first: int | None = None) -> float:
    """Return the mean precision at the ranks of the first relevant documents (AP@r; all: AP)."""
    ranks = np.flatnonzero(hits)[:first] + 1
    if not ranks.size:
        return 0.0
    return float((np.arange(1, ranks.size + 1) / ranks).sum() / ranks.size)


@cache
def random_average_precision(pool: int, relevant: int) -> float:
    """Return the expected AP of a random order of the pool.

    A rank holds a relevant document with probability R/n; then each of the k-1 ranks above holds
    one with probability (R-1)/(n-1). Summed over k: (H + (R-1)/(n-1) · (n - H)) / n, H = 1 + 1/2
    + ... + 1/n.
    """
    if pool <= 1:
        return 1.0
    harmonic = float(np.sum(1.0 / np.arange(1, pool + 1)))
    return (harmonic + (relevant - 1) / (pool - 1) * (pool - harmonic)) / pool


def corrected(ap: float, pool: int, relevant: int) -> float | None:
    """Return AP_c = (AP - AP_random) / (1 - AP_random)."""
    if relevant >= pool:
        return None
    chance = random_average_precision(pool, relevant)
    return (ap - chance) / (1 - chance)
