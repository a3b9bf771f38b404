"""Pools made once more, as section "pooled" says it: from members, profiles and the secret key.

The judge's own way: of each term, groups stand by their counts, and as the mean of the first j of
them falls with j, the shortest beginning that will do is found by halving.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .finding import Ints
from .grounds import Shares
from .tally import Tally

Numbers = NDArray[np.uint64]


class Plan(NamedTuple):
    """What pools are made by."""

    groups: int  # the first rows, of equal size; one more may follow, for those left over
    size: int
    p: Fraction
    key: bytes


class _Column(NamedTuple):
    """A term: so many of n users have it, and of the groups that have it, so many members."""

    users: int
    rows: Ints  # counts descending
    counts: Ints
    often: int  # groups whose share is more than p above
    seldom: int  # and below that of all users


def of_groups(tally: Tally, groups: int) -> Tally:
    """Count who has a term, and how many there are, of the first rows only; all cells stay."""
    inside = tally.group < groups
    users, counts = int(tally.sizes[:groups].sum()), tally.counts[inside]
    having = np.bincount(tally.column[inside], weights=counts, minlength=tally.span)
    terms = int(counts.sum())
    return replace(tally, users=users, having=having.astype(np.int64), profile_terms=terms)


def secret_numbers(key: bytes, what: str, count: int) -> Numbers:
    """Return the number that the key gives each of so many items."""
    drawn = hashlib.shake_256(key + what.encode()).digest(8 * count)
    return np.frombuffer(drawn, dtype="<u8").astype(np.uint64)


def secret_number(key: bytes, what: str) -> int:
    """Return the one number that the key gives a name."""
    return int.from_bytes(hashlib.shake_256(key + what.encode()).digest(8), "little")


def recount_pools(tally: Tally, terms: list[str], plan: Plan) -> Shares:
    """Return what each row must publish, that for those left over included.

    The tally is that of the groups, as nothing else is published.
    """
    inside = tally.group < plan.groups
    keys, counts = tally.keys[inside], tally.counts[inside]
    row, column = np.divmod(keys, tally.span)
    far = _far(column, counts, tally, plan)
    pooled = np.flatnonzero(far.any(axis=0))
    is_pooled = np.zeros(tally.span, dtype=np.bool_)
    is_pooled[pooled] = True
    rest = ~is_pooled[column]
    parts = [(keys[rest], counts[rest], np.full(np.count_nonzero(rest), plan.size))]
    order = np.lexsort((-counts, column))
    order = order[is_pooled[column[order]]]
    low = np.searchsorted(column[order], pooled)
    high = np.searchsorted(column[order], pooled, side="right")
    for term, begin, end in zip(pooled.tolist(), low.tolist(), high.tolist(), strict=True):
        some = order[begin:end]
        often, seldom = far[:, term].tolist()
        of_term = _Column(int(tally.having[term]), row[some], counts[some], often, seldom)
        having, among = _published(of_term, tally.users, plan, f"ties of {terms[term]}")
        there = np.flatnonzero(having)
        parts.append((there * tally.span + term, having[there], among[there]))
    if tally.sizes.size > plan.groups:
        used = np.flatnonzero(tally.having)
        everybody = np.full(used.size, tally.users)
        parts.append((plan.groups * tally.span + used, tally.having[used], everybody))
    all_keys, having, among = (np.concatenate(part) for part in zip(*parts, strict=True))
    by_key = np.argsort(all_keys, kind="stable")
    return Shares(all_keys[by_key], having[by_key], among[by_key])


def _far(column: Ints, counts: Ints, tally: Tally, plan: Plan) -> Ints:
    """Count, for each term, the groups whose share is too large, and too small: 2 x terms."""
    users, n, m = tally.having, tally.users, plan.size
    different, at = np.unique(users, return_inverse=True)
    priors = [Fraction(number, n) for number in different.tolist()]
    most = np.array([_floor((prior + plan.p) * m) for prior in priors])[at]
    least = np.array([-_floor((plan.p - prior) * m) for prior in priors])[at]
    often = np.bincount(column[counts > most[column]], minlength=tally.span)
    enough = np.bincount(column[counts >= least[column]], minlength=tally.span)
    return np.stack([often, np.where(least > 0, plan.groups - enough, 0)]).astype(np.int64)


def _floor(number: Fraction) -> int:
    return number.numerator // number.denominator


def _published(term: _Column, n: int, plan: Plan, ties: str) -> tuple[Ints, Ints]:
    """Return each group's share of a term, as a fraction."""
    groups, m, prior = plan.groups, plan.size, Fraction(term.users, n)
    sums = np.append(0, np.cumsum(term.counts)).tolist()
    total, last = sums[-1], len(sums) - 1

    def high_enough(j: int) -> bool:
        return Fraction(sums[min(j, last)], m * j) <= prior + plan.p

    def low_enough(j: int) -> bool:
        return Fraction(total - sums[min(groups - j, last)], m * j) >= prior - plan.p

    up, down = (
        bisect_left(range(groups + 1), True, lo=far, key=will_do) if far else 0
        for far, will_do in ((term.often, high_enough), (term.seldom, low_enough))
    )
    if up + down > groups:
        return np.full(groups, total), np.full(groups, n)
    having = np.zeros(groups, dtype=np.int64)
    having[term.rows] = term.counts
    among = np.full(groups, m)
    first = _first(having, up, plan.key, ties, descending=True)
    others = _first(having, down, plan.key, ties, descending=False)
    for pool, size in ((first, up), (others, down)):
        having[pool], among[pool] = having[pool].sum(), m * size
    return having, among


def _first(counts: Ints, size: int, key: bytes, ties: str, descending: bool) -> Ints:
    """Return so many groups from one end; of equal counts by the key, from the other end last."""
    if not size:
        return np.empty(0, dtype=np.int64)
    ahead = -counts if descending else counts
    edge = np.partition(ahead, size - 1)[size - 1]
    sure, equal = np.flatnonzero(ahead < edge), np.flatnonzero(ahead == edge)
    wanted = size - sure.size
    if wanted < equal.size:
        numbers = secret_numbers(key, ties, counts.size)[equal]
        by_number = np.argsort(numbers, kind="stable")
        equal = equal[by_number[:wanted] if descending else by_number[::-1][:wanted]]
    return np.concatenate([sure, equal])
