"""Shares that keep belief within p: |share of a group's members - share of all users| <= p.

Users have a term or not; weights play no part. All comparisons are of whole numbers. If p = a/b and
N of n users have a term, then c of the s members of a group may have it if

    s (N b - a n) <= c n b <= s (N b + a n).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints
from ..errors import BadParameter
from ..model import Grouping, Profiles
from .annealing import Limits


def fraction_of(p: float) -> Fraction:
    """Return `p` as the fraction that its decimals say, or refuse it."""
    # A comparison with NaN is false, so this refuses NaN, too.
    if not 0 < p <= 1:
        raise BadParameter(f"p={p} must be above 0 and at most 1")
    return Fraction(str(p))


def having(profiles: Profiles) -> csr_matrix:
    """Return users x terms of `profiles`, 1 where the user has the term."""
    cells = profiles.weights
    ones = np.ones(cells.nnz, dtype=np.int32)
    return csr_matrix((ones, cells.indices, cells.indptr), shape=cells.shape)


def counts_of(profiles: Profiles, grouping: Grouping) -> csr_matrix:
    """Return groups x terms: how many members of each group of `grouping` have the term."""
    members = csr_matrix(grouping.indicator, dtype=np.int32)
    counts = csr_matrix(members @ having(profiles))
    counts.sort_indices()
    return counts


def users_having(profiles: Profiles) -> Ints:
    """Return for each term how many of `profiles` have it."""
    return np.bincount(profiles.weights.indices, minlength=len(profiles.terms)).astype(np.int64)


class Prior(NamedTuple):
    """How common terms are among all users."""

    having: Ints  # term -> users who have it
    users: int


def prior_of(profiles: Profiles) -> Prior:
    """Return how common terms are if `profiles` are those of all users."""
    return Prior(users_having(profiles), len(profiles))


def limits_of(profiles: Profiles, p: Fraction, size: int, prior: Prior | None = None) -> Limits:
    """Return how many members may have each term, in groups of `size` and of one more.

    The `prior` is given if the profiles are not those of all users.
    """
    users, n = prior or prior_of(profiles)
    least = np.stack([least_counts(users, n, p, s) for s in (size, size + 1)])
    most = np.stack([most_counts(users, n, p, s) for s in (size, size + 1)])
    # Only terms that can break a limit at all are kept: the annealing counts no others.
    reach = np.minimum(users_having(profiles), np.array([[size], [size + 1]]))
    binding = np.flatnonzero(np.any((reach > most) | (least > 0), axis=0))
    has = csr_matrix(having(profiles).tocsc()[:, binding])
    has.sort_indices()
    return Limits(has, least[:, binding].astype(np.int32), most[:, binding].astype(np.int32))


def least_counts(users: Ints, n: int, p: Fraction, size: int) -> Ints:
    """Return how many of `size` members must have a term, for each count of its `users` among n."""
    a, b = p.numerator, p.denominator
    return _for_each(users, lambda having: max(0, -(size * (a * n - having * b) // (n * b))))


def most_counts(users: Ints, n: int, p: Fraction, size: int) -> Ints:
    """Return how many of `size` members may have a term, for each count of its `users` among n."""
    a, b = p.numerator, p.denominator
    return _for_each(users, lambda having: min(size, size * (a * n + having * b) // (n * b)))


def cells_beyond(
    profiles: Profiles, grouping: Grouping, p: Fraction, prior: Prior | None = None
) -> int:
    """Return how many pairs of a group and a term, absent ones too, have a share over `p` off.

    The `prior` is given if the profiles are not those of all users.
    """
    counts, (users, n) = counts_of(profiles, grouping), prior or prior_of(profiles)
    beyond = 0
    for size in np.unique(grouping.sizes).tolist():
        groups = np.flatnonzero(grouping.sizes == size)
        least, most = least_counts(users, n, p, size), most_counts(users, n, p, size)
        some = counts[groups]
        wrong = (some.data > most[some.indices]) | (some.data < least[some.indices])
        needing = least > 0
        absent = int(np.count_nonzero(needing)) * groups.size
        beyond += int(np.count_nonzero(wrong)) + absent - int(needing[some.indices].sum())
    return beyond


def _for_each(users: Ints, limit: Callable[[int], int]) -> Ints:
    """Return the limit for each count of users."""
    # Once per different count, in Python's whole numbers: products in 64 bits could overflow.
    different, at = np.unique(users, return_inverse=True)
    return np.array([limit(having) for having in different.tolist()], dtype=np.int64)[at]
