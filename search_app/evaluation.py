"""Average precision against the own-profile order, the gold standard (Zhu & Xiong, section 4).

The first 30 documents of the own-profile order over the same pool are relevant. The value depends
mostly on the size of the pool, so each one is printed with it, and with AP_c, which is 0 for a
random order and 1 for the gold standard itself. How far two whole orders agree is told besides by
Kendall's tau, by rank-biased overlap (Webber, Moffat and Zobel 2010) and by their first ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
DEPTH = 30
PERSISTENCE = 0.9  # of the reader that RBO imagines: goes on to the next rank with this probability
FIRST = 10
_BLOCK = 32  # so many are faster compared all with all
_EARLIER = np.triu(np.ones((_BLOCK, _BLOCK), dtype=np.bool_), 1)


@dataclass(frozen=True)
class Precision:
    """How close a ranking comes to the gold standard over one pool."""

    ap: float
    ap_at_10: float
    ap_at_20: float
    ap_c: float | None  # None where the pool has no more documents than are relevant
    pool: int


@dataclass(frozen=True)
class Agreement:
    """How far an order of a pool agrees with the gold order, measured over both whole."""

    tau: float | None  # None where there is no pair of documents
    rbo: float
    overlap: int  # documents among the first of both
    first: int  # how many those are: 10, or the whole pool


def evaluate(ranking: Ints, gold: Ints) -> Precision | None:
    """Judge an order of a pool by the gold order; None if the pool is empty.

    Both orders list the pool's documents by their places in it, from 1.
    """
    if not ranking.size:
        return None
    relevant = np.zeros(ranking.size + 1, dtype=np.bool_)
    relevant[gold[:DEPTH]] = True
    precisions = _precisions(relevant[ranking])
    ap = _mean(precisions)
    return Precision(
        ap=ap,
        ap_at_10=_mean(precisions[:10]),
        ap_at_20=_mean(precisions[:20]),
        ap_c=corrected(ap, int(ranking.size), min(DEPTH, int(ranking.size))),
        pool=int(ranking.size),
    )


def average_precision(hits: NDArray[np.bool_], first: int | None = None) -> float:
    """Return the mean precision at the ranks of the first relevant documents (AP@r; all: AP)."""
    return _mean(_precisions(hits)[:first])


def _precisions(hits: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the precision at the rank of each relevant document."""
    ranks = np.flatnonzero(hits) + 1
    found: NDArray[np.float64] = np.arange(1, ranks.size + 1) / ranks
    return found


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.sum() / values.size) if values.size else 0.0


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


def agreement(ranking: Ints, gold: Ints) -> Agreement | None:
    """Compare an order of a pool with the gold order; None if the pool is empty."""
    if not ranking.size:
        return None
    places = np.empty(ranking.size + 1, dtype=np.int64)
    places[gold] = np.arange(gold.size)
    order = places[ranking]  # the gold places in the order of the ranking
    first = min(FIRST, order.size)
    return Agreement(
        tau=kendall_tau(order),
        rbo=rank_biased_overlap(order),
        overlap=int(np.count_nonzero(order[:first] < first)),
        first=first,
    )


def kendall_tau(order: Ints) -> float | None:
    """Return tau = 1 - 4 · inversions / (n · (n - 1)) of an order of the numbers below n."""
    if order.size < 2:
        return None
    return 1 - 4 * inversions(order) / (order.size * (order.size - 1))


def inversions(order: Ints) -> int:
    """Count the pairs of numbers that stand the wrong way round, while sorting by merging."""
    width, blocks = _BLOCK, -(-order.size // _BLOCK)
    sequence = np.arange(width << max(blocks - 1, 0).bit_length(), dtype=np.int64)
    sequence[: order.size] = order  # what follows is in order already
    compared = sequence.reshape(-1, width)
    total = int(np.count_nonzero((compared[:, :, None] > compared[:, None, :]) & _EARLIER))
    while width < sequence.size:
        sequence = np.sort(sequence.reshape(-1, width), axis=1).ravel()
        total += _across(sequence, width)
        width *= 2
    return total


def _across(sequence: Ints, width: int) -> int:
    """Count the inversions between each block and its right neighbour, both sorted."""
    pairs = sequence.reshape(-1, 2, width)
    shifts = np.arange(len(pairs))[:, None] * sequence.size  # one long sorted row of all left ones
    left, right = (pairs[:, 0] + shifts).ravel(), (pairs[:, 1] + shifts).ravel()
    above = (np.arange(len(pairs)) + 1).repeat(width) * width - np.searchsorted(left, right)
    return int(above.sum())


def rank_biased_overlap(order: Ints, p: float = PERSISTENCE) -> float:
    """Return RBO_ext of an order of the numbers below n and their natural order (equation 30).

    A_d, the agreement at depth d, is the share of the first d that both orders have among their
    first d: RBO_ext = A_n · p^n + (1 - p) / p · (A_1 · p + A_2 · p^2 + ... + A_n · p^n).
    """
    depths = np.arange(1, order.size + 1)
    met = np.maximum(order + 1, depths)  # the depth at which both have seen the document
    agreements = np.cumsum(np.bincount(met, minlength=order.size + 1)[1:]) / depths
    weights = p**depths
    return float(agreements[-1] * weights[-1] + (1 - p) / p * (agreements * weights).sum())
