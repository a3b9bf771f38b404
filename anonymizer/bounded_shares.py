"""Shares that keep belief within p: |share of a group's members - share of all users| <= p.

Users have a term or not; weights play no part. All comparisons are of whole numbers: with p = a/b,
of n users N having the term, c of a group of s members may have it if

    s (N b - a n) <= c n b <= s (N b + a n).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_matrix

from .annealing import Limits
from .model import BadParameter, Grouping, Ints, Profiles


def fraction_of(p: float) -> Fraction:
    """Return p as it is written in decimals, or refuse it."""
    if not 0 < p <= 1:  # false of what is no number, too
        raise BadParameter(f"p={p} must be above 0 and at most 1")
    return Fraction(str(p))


def having(profiles: Profiles) -> csr_matrix:
    """Return users x terms, 1 where the user has the term."""
    cells = profiles.weights
    ones = np.ones(cells.nnz, dtype=np.int32)
    return csr_matrix((ones, cells.indices, cells.indptr), shape=cells.shape)


def counts_of(profiles: Profiles, grouping: Grouping) -> csr_matrix:
    """Count each group's members who have each term: groups x terms."""
    members = csr_matrix(grouping.indicator, dtype=np.int32)
    counts = csr_matrix(members @ having(profiles))
    counts.sort_indices()
    return counts


def users_having(profiles: Profiles) -> Ints:
    """Count the users who have each term."""
    return np.bincount(profiles.weights.indices, minlength=len(profiles.terms)).astype(np.int64)


def limits_of(profiles: Profiles, p: Fraction, size: int) -> Limits:
    """Return how many members may have each term, in groups of this size and of one more."""
    users = users_having(profiles)
    least = np.stack([least_counts(users, len(profiles), p, s) for s in (size, size + 1)])
    most = np.stack([most_counts(users, len(profiles), p, s) for s in (size, size + 1)])
    reach = np.minimum(users, np.array([[size], [size + 1]]))  # of a group's count
    binding = np.flatnonzero(np.any((reach > most) | (least > 0), axis=0))
    has = csr_matrix(having(profiles).tocsc()[:, binding])
    has.sort_indices()
    return Limits(has, least[:, binding].astype(np.int32), most[:, binding].astype(np.int32))


def least_counts(users: Ints, n: int, p: Fraction, size: int) -> Ints:
    """Return how many of a group's members must have a term that so many of n users have."""
    a, b = p.numerator, p.denominator
    return _for_each(users, lambda having: max(0, -(size * (a * n - having * b) // (n * b))))


def most_counts(users: Ints, n: int, p: Fraction, size: int) -> Ints:
    """Return how many of a group's members may have a term that so many of n users have."""
    a, b = p.numerator, p.denominator
    return _for_each(users, lambda having: min(size, size * (a * n + having * b) // (n * b)))


def cells_beyond(profiles: Profiles, grouping: Grouping, p: Fraction) -> int:
    """Count the groups and terms, absent ones included, whose share is more than p off."""
    counts, users = counts_of(profiles, grouping), users_having(profiles)
    beyond = 0
    for size in np.unique(grouping.sizes).tolist():
        groups = np.flatnonzero(grouping.sizes == size)
        least = least_counts(users, len(profiles), p, size)
        most = most_counts(users, len(profiles), p, size)
        some = counts[groups]
        wrong = (some.data > most[some.indices]) | (some.data < least[some.indices])
        needing = least > 0
        absent = int(np.count_nonzero(needing)) * groups.size
        beyond += int(np.count_nonzero(wrong)) + absent - int(needing[some.indices].sum())
    return beyond


def _for_each(users: Ints, limit: Callable[[int], int]) -> Ints:
    """Compute a limit in whole numbers of any length, once for each number of users."""
    different, at = np.unique(users, return_inverse=True)
    return np.array([limit(having) for having in different.tolist()], dtype=np.int64)[at]
