"""Pooling: groups whose share of a term is too far from the share of all publish one mean.

Of the n members of all groups N have a term; each group has m members, c of whom have it. Groups
with c/m - N/n > p are `up`. If there are any, groups are ordered by c, the largest first, equal
ones by a secret order; the shortest beginning that holds all of `up` and whose mean share is at
most N/n + p publishes that mean: all groups would do, as their mean is N/n. The same from the other
end for N/n - c/m > p. If the two overlap, all groups publish the mean of all.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from .bounded_shares import least_counts, most_counts
from .model import Ints, Unsatisfiable
from .secret_order import Secrets

Ties = Callable[[int], Secrets]  # term -> a secret number for each group


class Shares(NamedTuple):
    """What groups publish: a fraction above 0 a cell, term by term, groups ascending."""

    groups: Ints
    terms: Ints
    numerators: Ints
    denominators: Ints


class _Term(NamedTuple):
    """A term seen from one end: so many of a group's members have it, or lack it."""

    counts: Ints
    users: int  # of all groups, who have it, or lack it
    far: int  # groups whose share is too large
    order: Secrets


def pooled_shares(counts: csr_matrix, m: int, p: Fraction, ties: Ties) -> Shares:
    """Pool each term's column of groups x terms; refuse it unless all cells are within p."""
    columns = csc_matrix(counts)
    columns.sort_indices()
    groups, terms = columns.shape
    users, n = np.asarray(columns.sum(axis=0), dtype=np.int64).ravel(), groups * m
    far = _far(columns, least_counts(users, n, p, m), most_counts(users, n, p, m))
    pooled = np.flatnonzero(far.any(axis=0)).tolist()
    parts = [_as_they_are(columns, np.delete(np.arange(terms), pooled), m)]
    for term in pooled:
        low, high = columns.indptr[term], columns.indptr[term + 1]
        dense = np.zeros(groups, dtype=np.int64)
        dense[columns.indices[low:high]] = columns.data[low:high]
        up, down = far[:, term].tolist()
        numerators, denominators = _pool(dense, m, p, (up, down), ties(term))
        published = np.flatnonzero(numerators)
        where = np.full(published.size, term, dtype=np.int64)
        parts.append(Shares(published, where, numerators[published], denominators[published]))
    shares = Shares(*map(np.concatenate, zip(*parts, strict=True)))
    refuse_beyond(shares, groups, users, n, p)
    return shares


def _far(columns: csc_matrix, least: Ints, most: Ints) -> Ints:
    """Count each term's groups that have it too often, and too seldom: 2 x terms."""
    groups, terms = columns.shape
    term = np.repeat(np.arange(terms), np.diff(columns.indptr))
    often = np.bincount(term[columns.data > most[term]], minlength=terms)
    enough = np.bincount(term[columns.data >= least[term]], minlength=terms)
    seldom = np.where(least > 0, groups - enough, 0)
    return np.stack([often, seldom]).astype(np.int64)


def _as_they_are(columns: csc_matrix, terms: Ints, m: int) -> Shares:
    """Return the shares of terms of which no group is too far off."""
    some = columns[:, terms]
    term = np.repeat(terms, np.diff(some.indptr))
    members = np.full(term.size, m, dtype=np.int64)
    return Shares(some.indices.astype(np.int64), term, some.data.astype(np.int64), members)


def _pool(
    counts: Ints, m: int, p: Fraction, far: tuple[int, int], order: Secrets
) -> tuple[Ints, Ints]:
    """Return each group's published share of a term as numerators and denominators."""
    numerators, denominators = counts.copy(), np.full(counts.size, m, dtype=np.int64)
    users, n = int(counts.sum()), m * counts.size
    ends = (
        _Term(counts, users, far[0], order),
        _Term(m - counts, n - users, far[1], ~order),  # from the other end, who lack it
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
    """Return how many groups from an end make a pool; 0 if none is needed.

    The mean of j groups with C having members is at most N/n + p if C n b <= m j (N b + a n).
    """
    if not end.far:
        return 0
    a, b = p.numerator, p.denominator
    whole = whole_numbers(2 * n * n * b)
    having = np.cumsum(np.sort(end.counts)[::-1]).astype(whole)[end.far - 1 :]
    members = m * np.arange(end.far, end.counts.size + 1).astype(whole)
    will_do = having * (n * b) <= members * (end.users * b + a * n)
    return end.far + int(np.argmax(will_do))  # all groups would do


def _first(end: _Term, length: int) -> Ints:
    """Return the groups of the largest counts, of equal ones the first in the secret order."""
    if not length:
        return np.empty(0, dtype=np.int64)
    last = np.partition(end.counts, -length)[-length]
    sure, equal = np.flatnonzero(end.counts > last), np.flatnonzero(end.counts == last)
    chosen = equal[np.argsort(end.order[equal], kind="stable")[: length - sure.size]]
    return np.concatenate([sure, chosen])


def whole_numbers(largest: int) -> type[Any]:
    """Return a type of array that holds whole numbers up to this one exactly."""
    return np.int64 if largest < 2**62 else np.object_


def refuse_beyond(shares: Shares, groups: int, users: Ints, n: int, p: Fraction) -> None:
    """Refuse shares unless each, those of 0 included, is within p of all users' share."""
    a, b = p.numerator, p.denominator
    whole = whole_numbers(2 * n * n * b)
    share, members = shares.numerators.astype(whole), shares.denominators.astype(whole)
    having = users[shares.terms].astype(whole)
    beyond = int(np.count_nonzero(abs(share * n - having * members) * b > a * n * members))
    absent = groups - np.bincount(shares.terms, minlength=users.size)
    beyond += int(absent[users.astype(whole) * b > a * n].sum())
    if beyond:
        raise Unsatisfiable(f"{beyond} shares would be more than {p} off; nothing is released")
