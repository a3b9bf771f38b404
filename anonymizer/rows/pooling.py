"""Pooling: groups whose share of a term is too far from the share of all publish one mean.

All groups together have n members, and N of them have a term. Each group has m members, and c of
them have it. Groups with c/m - N/n > p are `up`. If there are any, groups are ordered by c, the
largest first, equal ones in a secret order. The shortest beginning that holds all of `up`, and
whose mean share is at most N/n + p, publishes that mean. There is one, as the mean of all groups is
N/n. The same happens from the other end for N/n - c/m > p. If the two overlap, all groups publish
the mean of all.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from ..arrays import Ints
from ..errors import Unsatisfiable
from ..grouping.shares import least_counts, most_counts
from .secret_order import Secrets

Ties = Callable[[int], Secrets]  # term -> a secret number for each group


class PooledShares(NamedTuple):
    """What groups publish: a fraction above 0 for each cell, by term and then by group."""

    groups: Ints
    terms: Ints
    numerators: Ints
    denominators: Ints


class _Term(NamedTuple):
    """A term seen from one end: the counts are of members who have it, or who lack it."""

    counts: Ints  # of each group
    users: int  # the sum of the counts
    far: int  # groups whose share is too large
    order: Secrets


def pooled_shares(counts: csr_matrix, m: int, p: Fraction, ties: Ties) -> PooledShares:
    """Return what groups of `m` publish of `counts`, groups x terms; refuse a share beyond `p`."""
    columns = csc_matrix(counts)
    columns.sort_indices()
    groups, terms = columns.shape
    users, n = np.asarray(columns.sum(axis=0), dtype=np.int64).ravel(), groups * m
    # The number of groups that have each term too often, and too seldom: 2 x terms.
    least, limit = least_counts(users, n, p, m), most_counts(users, n, p, m)
    of_cell = np.repeat(np.arange(terms), np.diff(columns.indptr))
    often = np.bincount(of_cell[columns.data > limit[of_cell]], minlength=terms)
    enough = np.bincount(of_cell[columns.data >= least[of_cell]], minlength=terms)
    seldom = np.where(least > 0, groups - enough, 0)
    far = np.stack([often, seldom]).astype(np.int64)
    pooled = np.flatnonzero(far.any(axis=0)).tolist()
    # Most terms need no pool: they are copied together, and the loop takes only the others.
    rest = np.delete(np.arange(terms), pooled)
    some = columns[:, rest]
    cells = np.repeat(rest, np.diff(some.indptr))
    members = np.full(cells.size, m, dtype=np.int64)
    parts = [
        PooledShares(some.indices.astype(np.int64), cells, some.data.astype(np.int64), members)
    ]
    for term in pooled:
        low, high = columns.indptr[term], columns.indptr[term + 1]
        dense = np.zeros(groups, dtype=np.int64)
        dense[columns.indices[low:high]] = columns.data[low:high]
        up, down = far[:, term].tolist()
        numerators, denominators = _pool(dense, m, p, (up, down), ties(term))
        published = np.flatnonzero(numerators)
        where = np.full(published.size, term, dtype=np.int64)
        parts.append(PooledShares(published, where, numerators[published], denominators[published]))
    shares = PooledShares(*map(np.concatenate, zip(*parts, strict=True)))
    refuse_beyond(shares, groups, users, n, p)
    return shares


def _pool(
    counts: Ints, m: int, p: Fraction, far: tuple[int, int], order: Secrets
) -> tuple[Ints, Ints]:
    """Return each group's published share of a term as numerators and denominators."""
    numerators, denominators = counts.copy(), np.full(counts.size, m, dtype=np.int64)
    users, n = int(counts.sum()), m * counts.size
    ends = (
        _Term(counts, users, far[0], order),
        # From the other end: members who lack the term, ties in the reverse order.
        _Term(m - counts, n - users, far[1], ~order),
    )
    lengths = [_shortest(end, n, m, p) for end in ends]
    if sum(lengths) > counts.size:
        numerators[:], denominators[:] = users, n
        return numerators, denominators
    for end, length in zip(ends, lengths, strict=True):
        pool = _first(end, length)
        numerators[pool], denominators[pool] = counts[pool].sum(), m * length
    return numerators, denominators


def _shortest(end: _Term, n: int, m: int, p: Fraction) -> int:
    """Return how many groups from this end make a pool; 0 if none is needed.

    With p = a/b the mean of j groups, with C members in all who have the term, is at most N/n + p
    if C n b <= m j (N b + a n).
    """
    if not end.far:
        return 0
    a, b = p.numerator, p.denominator
    whole = whole_numbers(2 * n * n * b)
    having = np.cumsum(np.sort(end.counts)[::-1]).astype(whole)[end.far - 1 :]
    members = m * np.arange(end.far, end.counts.size + 1).astype(whole)
    enough = having * (n * b) <= members * (end.users * b + a * n)
    # argmax finds the first one; there is one, as all groups together are enough.
    return end.far + int(np.argmax(enough))


def _first(end: _Term, length: int) -> Ints:
    """Return the `length` groups with the largest counts; ties go by the secret order."""
    if not length:
        return np.empty(0, dtype=np.int64)
    sure, equal, wanted = _edge(-end.counts, length)
    # Parted, as most groups may be equal, and to sort them takes several times as long.
    first, same, more = _edge(end.order[equal], wanted)
    return np.concatenate([sure, equal[first], equal[same[:more]]])


def _edge(numbers: Any, length: int) -> tuple[Ints, Ints, int]:
    """Return who is below the `length`-th smallest of `numbers`, who equals it, how many of these
    are among the `length` smallest."""
    last = np.partition(numbers, length - 1)[length - 1]
    below = np.flatnonzero(numbers < last)
    return below, np.flatnonzero(numbers == last), length - below.size


def whole_numbers(largest: int) -> type[Any]:
    """Return the type of an array that holds whole numbers up to `largest` exactly."""
    # Python's own integers are slow, but have no limit.
    return np.int64 if largest < 2**62 else np.object_


def refuse_beyond(shares: PooledShares, groups: int, users: Ints, n: int, p: Fraction) -> None:
    """Refuse `shares` unless each, also of 0, is within `p` of the share of all `users` of `n`."""
    a, b = p.numerator, p.denominator
    whole = whole_numbers(2 * n * n * b)
    share, members = shares.numerators.astype(whole), shares.denominators.astype(whole)
    having = users[shares.terms].astype(whole)
    beyond = int(np.count_nonzero(abs(share * n - having * members) * b > a * n * members))
    absent = groups - np.bincount(shares.terms, minlength=users.size)
    beyond += int(absent[users.astype(whole) * b > a * n].sum())
    if beyond:
        raise Unsatisfiable(f"{beyond} shares would be more than {p} off, so nothing is released")
