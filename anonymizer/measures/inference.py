"""An attacker's posterior that a victim has a term, given the term's own published column.

The attacker knows all profiles without names, and so that N of n users have the term. (If rows hide
their members, these are the users in groups: nothing published is made of unassigned users.) The
attacker also knows the method, the rows, their sizes m, and the victim's row. The attacker ignores
which terms go together and how the groups were made: every assignment of the N owners to users that
fits the column is equally likely. There is one rule for each thing that a column can say. c is the
number of members who have the term, and shares are shares of members.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Floats, Ints
from ..model import Profiles, Release
from ..profiles.rare_terms import without_rare_terms
from .assignments import Kind, expected_shares
from .group_counts import columns_in, count_groups, in_groups

if TYPE_CHECKING:
    from ..backends.everybody import Crowd


def _of_single_terms(release: Release) -> Release:
    """Return `release` with all terms of the bags in its rows, as a bag tells of each of them."""
    rows = {
        name: {term: 1.0 for bag in release.rows.row(name) for term in bag.split("|")}
        for name in release.rows.users
    }
    return replace(release, rows=Profiles.from_rows(rows))


class Columns:
    """What is published of each term: the cells of all rows, with the profiles' term numbers."""

    def __init__(
        self, profiles: Profiles, release: Release, everybody: Crowd | None = None
    ) -> None:
        """Take the rows of `release` and its `profiles`, which may be a part of `everybody`."""
        if release.parameters.get("typical") == "bags":
            release = _of_single_terms(release)
        rows, column = release.rows, columns_in(profiles, release)[release.rows.weights.indices]
        known = column >= 0  # a term that nobody has says nothing of a term that somebody has
        self.sizes = release.grouping.sizes
        self.row = np.repeat(np.arange(len(rows)), rows.sizes)[known]
        self.term = column[known]
        self.weight: Floats = rows.weights.data[known]
        if everybody is None:
            profiles = without_rare_terms(profiles, release.parameters)  # as the method saw them
        counted = in_groups(profiles, release) if release.promise.hides_members else profiles
        self.users = len(counted)
        self.having = np.bincount(counted.weights.indices, minlength=len(profiles.terms))
        if everybody is not None:
            self.users, self.having = everybody.users, everybody.having
        self._source = (profiles, release, everybody)

    @cached_property
    def classes(self) -> Ints:
        """Return the different sizes of rows, ascending."""
        return np.unique(self.sizes)

    @cached_property
    def class_of(self) -> Ints:
        """Return for each row the place of its size in `classes`."""
        return np.searchsorted(self.classes, self.sizes)

    @cached_property
    def members(self) -> Ints:
        """Return for each cell the number of members of its row who have its term."""
        counts = count_groups(*self._source)
        span = self.having.size
        keys, own = counts.group * span + counts.term, self.row * span + self.term
        at = np.minimum(np.searchsorted(keys, own), keys.size - 1)
        return np.where(keys[at] == own, counts.members[at], 0)

    @cached_property
    def standing(self) -> Ints:
        """Return how many rows of each size publish each term: terms x sizes."""
        place = self.term * self.classes.size + self.class_of[self.row]
        shape = (self.having.size, self.classes.size)
        return np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)

    @cached_property
    def lacking(self) -> Ints:
        """Return how many rows of each size lack each term: terms x sizes."""
        missing: Ints = np.bincount(self.class_of) - self.standing
        return missing


class Posteriors(NamedTuple):
    """The chance that a member has the term, for each published cell and for rows without it."""

    standing: Floats  # a cell
    lacking: Floats  # terms x sizes of rows


def posteriors_of(columns: Columns, release: Release) -> Posteriors:
    """Return what `columns` let an attacker infer, by the rule for the promise of `release`."""
    promise, given = release.promise, release.parameters
    nothing = np.zeros(columns.standing.shape)
    # P = 1 in a row with the term, else (N - r) / (n - r), where r rows have it.
    if promise.single_person:
        rows = columns.standing.sum(axis=1)
        rest = (columns.having - rows) / np.maximum(columns.users - rows, 1)
        others = np.broadcast_to(rest[:, None], columns.standing.shape)
        return Posteriors(np.ones(columns.row.size), others)
    if promise.hides_members:
        # P = N / n, as noisy counts of all say no more of one person; else the published share.
        noisy, prior = promise.bounds == "differential", columns.having / columns.users
        lacking = nothing + prior[:, None] * noisy
        return Posteriors(prior[columns.term] if noisy else columns.weight, lacking)
    # P = c / m in a row with the term, as an attacker with all distances may know. Else
    # P = E[c] / m with 0 <= c <= m, since what has no match in the group is suppressed.
    if promise.bounds == "vocabulary":
        return _by_assignments(columns, None, lambda m: np.arange(m + 1))
    union = given.get("representative") == "union"
    if promise.bounds != "every-term":
        # P = c / m, which the row says, or 0.
        if not union:
            return Posteriors(columns.members / columns.sizes[columns.row], nothing)
        # P = E[c] / m with 1 <= c <= m in a row with the term, else 0.
        return _by_assignments(columns, lambda m: np.arange(1, m + 1), lambda _m: np.zeros(1, int))
    p = Fraction(str(given["p"]))

    def few(m: int) -> Ints:
        return np.arange(1, math.floor(p * m) + 1)

    def none_or_many(m: int) -> Ints:
        return np.append(0, np.arange(math.floor(p * m) + 1, m + 1))

    # In a row with the term P = c / m, or for a union E[c] / m with 1 <= c <= p m. In a row without
    # it P = E[c] / m with c = 0 or c > p m. All c add up to N.
    return _by_assignments(columns, few if union else None, none_or_many)


Open = Callable[[int], Ints]


def _by_assignments(columns: Columns, standing: Open | None, lacking: Open) -> Posteriors:
    """Infer from the counts that rows with a term, and rows without it, leave possible."""
    classes, kinds = columns.classes.tolist(), columns.classes.size
    known = np.zeros(columns.having.size, dtype=np.int64)
    if standing is None:
        known = np.bincount(
            columns.term, weights=columns.members, minlength=columns.having.size
        ).astype(np.int64)
    may = [standing(m) if standing else np.zeros(1, np.int64) for m in classes]
    might = [lacking(m) for m in classes]
    rows = columns.standing if standing else np.zeros_like(columns.standing)
    # Many terms have equal numbers: each combination is computed once.
    # Users without a row may have a term or not. They are one more group of which nothing is known.
    rest = columns.users - int(columns.sizes.sum())
    unserved = [Kind(1, rest, np.arange(rest + 1))] if rest else []
    looks = np.column_stack([columns.having - known, rows, columns.lacking])
    different, look_of = np.unique(looks, axis=0, return_inverse=True)
    inferred = np.zeros((len(different), 2 * kinds))
    for at, look in enumerate(different.tolist()):
        here = [number for number, count in enumerate(look[1:]) if count]
        open_ = [*may, *might]
        groups = [Kind(look[1 + k], classes[k % kinds], open_[k]) for k in here]
        inferred[at, here] = expected_shares(look[0], [*groups, *unserved])[: len(here)]
    by_term = inferred[look_of.reshape(-1)]
    if standing is None:
        shares = columns.members / columns.sizes[columns.row]
        return Posteriors(shares, by_term[:, kinds:])
    cells = by_term[columns.term, columns.class_of[columns.row]]
    return Posteriors(cells, by_term[:, kinds:])
