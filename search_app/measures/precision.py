"""Average precision against the own-profile order, the gold standard (Zhu & Xiong, section 4).

The first 30 documents of the own-profile order over the same pool are relevant. AP depends mostly
on the size of the pool. So each AP is printed with its pool and with AP_c, which is 0 on average
for a random order and 1 for the gold standard. nDCG (Järvelin and Kekäläinen 2002) grades these 30
by their gold places: 30, 29, ... 1. Kendall's tau, rank-biased overlap (Webber, Moffat and Zobel
2010) and the overlap of the first ten say how far two orders agree.

A measure takes one order or many: integers whose last axis lists, best first, the gold places
(from 0) of a pool's documents. It returns one value for each order, NaN where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar

import numpy as np

from anonymizer.arrays import Floats, Ints

T = TypeVar("T", float, Floats)
DEPTH = 30
# RBO imagines a reader who goes on to the next rank with this probability.
PERSISTENCE = 0.9
FIRST = 10


@dataclass(frozen=True)
class PoolPrecision:
    """How close a ranking comes to the gold standard over one pool."""

    ap: float
    ap_at_10: float
    ap_at_20: float
    ap_c: float | None  # None where the pool has no more documents than are relevant
    pool: int


@dataclass(frozen=True)
class PoolAgreement:
    """How far an order of a pool agrees with the gold order."""

    tau: float | None  # None where there is no pair of documents
    rbo: float
    overlap: int  # documents among the first of both orders
    first: int  # how many documents count as first: 10, or the whole smaller pool


def evaluate(ranking: Ints, gold: Ints) -> PoolPrecision | None:
    """Return how close `ranking` is to `gold`, both as places from 1; None if the pool is empty."""
    size = int(ranking.size)
    if not size:
        return None
    precisions = _precisions(gold_places(ranking, gold))
    ap = float(_mean(precisions))
    return PoolPrecision(
        ap=ap,
        ap_at_10=float(_mean(precisions[:10])),
        ap_at_20=float(_mean(precisions[:20])),
        ap_c=_corrected(ap, size) if size > DEPTH else None,
        pool=size,
    )


def agreement(ranking: Ints, gold: Ints) -> PoolAgreement | None:
    """Return how far `ranking` agrees with `gold` over one pool; None if the pool is empty."""
    size = int(ranking.size)
    if not size:
        return None
    order = gold_places(ranking, gold)
    first = min(FIRST, size)
    return PoolAgreement(
        tau=float(kendall_tau(order)) if size > 1 else None,
        rbo=float(rank_biased_overlap(order)),
        overlap=int(shared(order, first)),
        first=first,
    )


def gold_places(ranking: Ints, gold: Ints) -> Ints:
    """Return the gold places, from 0, in the order of `ranking`; both list places from 1."""
    places = np.empty(gold.size + 1, dtype=np.int64)
    places[gold] = np.arange(gold.size)
    return places[ranking]


def average_precision(orders: Ints, first: int = DEPTH) -> Floats:
    """Return the mean precision at the ranks of the first relevant documents (AP@r; all: AP)."""
    return _mean(_precisions(orders)[..., :first]) if orders.shape[-1] else _none(orders)


def corrected_precision(orders: Ints) -> Floats:
    """Return AP_c = (AP - AP_random) / (1 - AP_random) of each of `orders`."""
    # With no more documents than are relevant, every order has AP 1, and AP_c would be 0 / 0.
    if orders.shape[-1] <= DEPTH:
        return _none(orders)
    return _corrected(average_precision(orders), orders.shape[-1])


def discounted_gain(orders: Ints) -> Floats:
    """Return the nDCG of whole `orders`; a relevant document gains DEPTH minus its gold place."""
    if not orders.shape[-1]:
        return _none(orders)
    ranks = _relevant_ranks(orders)
    gains = DEPTH - np.take_along_axis(orders, ranks - 1, -1)
    ideal = np.arange(ranks.shape[-1])
    best = ((DEPTH - ideal) / np.log2(ideal + 2)).sum()
    value: Floats = (gains / np.log2(ranks + 1)).sum(-1) / best
    return value


def overlap(orders: Ints) -> Floats:
    """Return the share of the first ten of `orders` (or of a smaller pool) in the gold's first."""
    first = min(FIRST, orders.shape[-1])
    return shared(orders, first) / first if first else _none(orders)


def shared(orders: Ints, first: int) -> Ints:
    """Return how many of the `first` documents of an order are among the `first` of the gold's."""
    count: Ints = np.count_nonzero(orders[..., :first] < first, axis=-1)
    return count


def kendall_tau(orders: Ints) -> Floats:
    """Return tau = 1 - 4 · inversions / (n · (n - 1)) of each of `orders`."""
    from .inversions import inversions  # here, so that --help loads no compiler

    size = orders.shape[-1]
    if size < 2:
        return _none(orders)
    wrong: Ints = inversions(np.ascontiguousarray(orders.reshape(-1, size))).reshape(
        orders.shape[:-1]
    )
    tau: Floats = 1 - 4 * wrong / (size * (size - 1))
    return tau


def rank_biased_overlap(orders: Ints, p: float = PERSISTENCE) -> Floats:
    """Return RBO_ext of each of `orders` and the gold order (equation 30).

    A_d, the agreement at depth d, is the share of the first d documents that both orders have:
    RBO_ext = A_n · p^n + (1 - p) / p · (A_1 · p + A_2 · p^2 + ... + A_n · p^n). A document that
    stands in both orders by depth m counts in A_m and all later ones: it adds p^m/m + ... + p^n/n.
    """
    size = orders.shape[-1]
    if not size:
        return _none(orders)
    brought = _rbo_shares(size, p)
    met = np.maximum(orders, np.arange(size))
    value: Floats = p**size + (1 - p) / p * brought[met].sum(-1)
    return value


MEASURES: Mapping[str, Callable[[Ints], Floats]] = {
    "AP": average_precision,
    "AP@10": partial(average_precision, first=10),
    "AP@20": partial(average_precision, first=20),
    "AP_c": corrected_precision,
    "nDCG": discounted_gain,
    "overlap@10": overlap,
    "tau": kendall_tau,
    "RBO": rank_biased_overlap,
}


def measured_by_size(orders: Callable[[Ints], Ints], sizes: Ints) -> dict[str, Floats]:
    """Return each measure of all orders; `orders` gives those with some numbers, of one size."""
    values = {name: np.full(sizes.size, np.nan) for name in MEASURES}
    # Orders of one size are stacked and measured in one call.
    for size in np.unique(sizes).tolist():
        some = np.flatnonzero(sizes == size)
        alike = orders(some)
        for name, measure in MEASURES.items():
            values[name][some] = measure(alike[:, :size])
    return values


def _none(orders: Ints) -> Floats:
    return np.full(orders.shape[:-1], np.nan)


def _relevant_ranks(orders: Ints) -> Ints:
    """Return the ranks, from 1, of the relevant documents; all orders have the same number."""
    size, places = orders.shape[-1], np.flatnonzero(orders < DEPTH)
    if orders.ndim > 1:
        places = (places % size).reshape(*orders.shape[:-1], min(DEPTH, size))
    return places + 1


def _precisions(orders: Ints) -> Floats:
    """Return the precision at the rank of each relevant document."""
    ranks = _relevant_ranks(orders)
    precisions: Floats = np.arange(1, ranks.shape[-1] + 1) / ranks
    return precisions


def _mean(values: Floats) -> Floats:
    mean: Floats = values.sum(-1) / values.shape[-1]
    return mean


def _corrected(ap: T, pool: int) -> T:
    chance = random_average_precision(pool)
    return (ap - chance) / (1 - chance)


@cache
def random_average_precision(pool: int, relevant: int = DEPTH) -> float:
    """Return the expected AP of a random order of the pool.

    A rank holds a relevant document with probability R/n; then each of the k-1 ranks above holds
    one with probability (R-1)/(n-1). Summed over k: (H + (R-1)/(n-1) · (n - H)) / n, H = 1 + 1/2
    + ... + 1/n.
    """
    if pool <= relevant:
        return 1.0
    harmonic = float(np.sum(1.0 / np.arange(1, pool + 1)))
    return (harmonic + (relevant - 1) / (pool - 1) * (pool - harmonic)) / pool


@cache
def _rbo_shares(size: int, p: float) -> Floats:
    """Return p^m/m + ... + p^n/n for each depth m = 1, 2, ... n."""
    depths = np.arange(1, size + 1)
    return np.cumsum((p**depths / depths)[::-1])[::-1].copy()
