"""Pools made again as the method defines them: from members, profiles and the secret key.

The judge's own way: the groups of each term stand in the order of their counts. The mean of the
first j falls with j, so a binary search finds the shortest beginning that is enough.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ints
from ..tally import ExpectedShares, Tally

Numbers = NDArray[np.uint64]


class Plan(NamedTuple):
    """What pools are made by."""

    groups: int  # the first rows, of equal size; the fallback row may follow
    size: int
    p: Fraction
    key: bytes


class _Column(NamedTuple):
    """A term: how many users have it, and how many members of the groups where anybody has it."""

    users: int
    rows: Ints  # groups in which somebody has it, counts descending
    counts: Ints
    often: int  # number of groups whose share is more than p above that of all users
    seldom: int  # number of groups whose share is more than p below


def of_groups(tally: Tally, groups: int) -> Tally:
    """Return `tally` with the numbers of users of only the first `groups` rows; all cells stay."""
    sure = tally.sure(np.arange(tally.sizes.size) < groups)
    inside, users = sure[tally.group], int(tally.sizes[:groups].sum())
    if tally.edited is not None:  # as many as there were in groups at the making
        users = tally.users - tally.users % int(tally.sizes[0])
    counts, unsure = tally.counts[inside], users - int(tally.sizes[sure].sum())
    having = np.bincount(tally.column[inside], weights=counts, minlength=tally.span)
    terms = int(counts.sum()) + unsure
    having = having.astype(np.int64)
    return replace(tally, users=users, having=having, profile_terms=terms, unsure=unsure)


def secret_numbers(key: bytes, what: str, count: int) -> Numbers:
    """Return the numbers that `key` gives `count` items under the name `what`."""
    # Written a second time, because the judge shares no code with the method.
    drawn = hashlib.shake_256(key + what.encode()).digest(8 * count)
    return np.frombuffer(drawn, dtype="<u8").astype(np.uint64)


def recount_pools(tally: Tally, terms: list[str], plan: Plan) -> ExpectedShares:
    """Return what each row must publish, also the fallback row, from the groups' `tally`."""
    inside = tally.group < plan.groups
    keys, counts = tally.keys[inside], tally.counts[inside]
    row, column = np.divmod(keys, tally.span)
    far = _far(column, counts, tally, plan)
    pooled = np.flatnonzero(far.any(axis=0))
    is_pooled = np.zeros(tally.span, dtype=np.bool_)
    is_pooled[pooled] = True
    rest = ~is_pooled[column]
    parts = [(keys[rest], counts[rest], np.full(np.count_nonzero(rest), plan.size))]
    # The groups of each term, the largest counts first.
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
    return ExpectedShares(all_keys[by_key], having[by_key], among[by_key])


def _far(column: Ints, counts: Ints, tally: Tally, plan: Plan) -> Ints:
    """Return how many groups have too large, and too small, a share of each term: 2 x terms."""
    users, n, m = tally.having, tally.users, plan.size
    different, at = np.unique(users, return_inverse=True)
    priors = [Fraction(number, n) for number in different.tolist()]
    limit = np.array([math.floor((prior + plan.p) * m) for prior in priors])[at]
    least = np.array([-math.floor((plan.p - prior) * m) for prior in priors])[at]
    often = np.bincount(column[counts > limit[column]], minlength=tally.span)
    enough = np.bincount(column[counts >= least[column]], minlength=tally.span)
    return np.stack([often, np.where(least > 0, plan.groups - enough, 0)]).astype(np.int64)


def _published(term: _Column, n: int, plan: Plan, ties: str) -> tuple[Ints, Ints]:
    """Return each group's published share of a term, as a fraction."""
    groups, m, prior = plan.groups, plan.size, Fraction(term.users, n)
    sums = np.append(0, np.cumsum(term.counts)).tolist()
    total, last = sums[-1], len(sums) - 1

    def high_enough(j: int) -> bool:
        return Fraction(sums[min(j, last)], m * j) <= prior + plan.p

    def low_enough(j: int) -> bool:
        return Fraction(total - sums[min(groups - j, last)], m * j) >= prior - plan.p

    # A pool holds all groups that are too far, so the search begins with that number.
    up, down = (
        bisect_left(range(groups + 1), True, lo=far, key=will_do) if far else 0
        for far, will_do in ((term.often, high_enough), (term.seldom, low_enough))
    )
    # The two pools overlap.
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
    """Return `size` groups from one end; the key breaks ties, in reverse at the other end."""
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
