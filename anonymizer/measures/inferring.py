"""What whoever reads a term's own column infers: the chance that the victim has the term.

He knows all profiles without names, and so how many users N of n have the term (of pooled rows: all
that are in groups, as those left over are in nothing that is published); the method; the rows,
their sizes m, and which of them serves the victim. Of what goes together with the term he
makes no use, nor of how the groups came about: each assignment of the N owners to users that fits
the column is as likely as any other. There is one rule for each thing that a column can say; c is
the number of members who have the term, and shares are those of members.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .assignments import Kind, expected_shares
from .finding import Floats, Ints
from .group_counts import count_groups, in_groups

if TYPE_CHECKING:
    from ..model import Profiles, Release


class Columns:
    """What is published of each term: the cells of rows, row by row, by the profiles' terms."""

    def __init__(self, profiles: Profiles, release: Release) -> None:
        rows, number = release.rows, {term: at for at, term in enumerate(profiles.terms)}
        column = np.array([number[term] for term in rows.terms], dtype=np.int64)
        self.sizes = release.grouping.sizes
        self.row = np.repeat(np.arange(len(rows)), rows.sizes)
        self.term = column[rows.weights.indices]
        self.weight: Floats = rows.weights.data
        counted = in_groups(profiles, release) if release.hides_shares else profiles
        self.users = len(counted)
        self.having = np.bincount(counted.weights.indices, minlength=len(profiles.terms))
        self._source = (profiles, release)

    @cached_property
    def classes(self) -> Ints:
        """Return the different sizes of rows, ascending."""
        return np.unique(self.sizes)

    @cached_property
    def class_of(self) -> Ints:
        """Return each row's place among the sizes."""
        return np.searchsorted(self.classes, self.sizes)

    @cached_property
    def members(self) -> Ints:
        """Count, for each cell, the members of its row who have its term."""
        counts = count_groups(*self._source)
        span = self.having.size
        keys, own = counts.group * span + counts.term, self.row * span + self.term
        at = np.minimum(np.searchsorted(keys, own), keys.size - 1)
        return np.where(keys[at] == own, counts.members[at], 0)

    @cached_property
    def standing(self) -> Ints:
        """Count the rows of each size that publish each term: terms x sizes."""
        place = self.term * self.classes.size + self.class_of[self.row]
        shape = (self.having.size, self.classes.size)
        return np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape)

    @cached_property
    def lacking(self) -> Ints:
        """Count the rows of each size that do not."""
        missing: Ints = np.bincount(self.class_of) - self.standing
        return missing


class Posteriors(NamedTuple):
    """The chance that a member has the term, for each published cell, and for rows without it."""

    standing: Floats  # a cell
    lacking: Floats  # terms x sizes of rows


def by_shares(columns: Columns) -> Posteriors:
    """P = c / m, which the row says; 0 where it says nothing."""
    shares = columns.members / columns.sizes[columns.row]
    return Posteriors(shares, np.zeros(columns.standing.shape))


def by_unions(columns: Columns) -> Posteriors:
    """P = E[c] / m, 1 <= c <= m in a row with the term, else c = 0, all c adding to N."""
    return _by_assignments(columns, lambda m: np.arange(1, m + 1), lambda _m: np.zeros(1, np.int64))


def by_bounded_shares(columns: Columns, p: Fraction) -> Posteriors:
    """P = c / m in a row with the term, else E[c] / m, c = 0 or c > p m, all c adding to N."""
    return _by_assignments(columns, None, lambda m: _none_or_many(m, p))


def by_bounded_unions(columns: Columns, p: Fraction) -> Posteriors:
    """P = E[c] / m, 1 <= c <= p m in a row with the term, else c = 0 or c > p m, adding to N."""
    few = lambda m: np.arange(1, math.floor(p * m) + 1)  # noqa: E731
    return _by_assignments(columns, few, lambda m: _none_or_many(m, p))


def by_reduced(columns: Columns) -> Posteriors:
    """P = 1 in a row with the term, else (N - r) / (n - r), r being the rows that have it."""
    rows = columns.standing.sum(axis=1)
    rest = (columns.having - rows) / np.maximum(columns.users - rows, 1)
    others = np.broadcast_to(rest[:, None], columns.standing.shape)
    return Posteriors(np.ones(columns.row.size), others)


def by_pools(columns: Columns) -> Posteriors:
    """P = the published share, of those left over too: of theirs nothing is published."""
    return Posteriors(columns.weight, np.zeros(columns.standing.shape))


Open = Callable[[int], Ints]


def _none_or_many(m: int, p: Fraction) -> Ints:
    return np.append(0, np.arange(math.floor(p * m) + 1, m + 1))


def _by_assignments(columns: Columns, standing: Open | None, lacking: Open) -> Posteriors:
    """Infer from which counts rows with a term leave open, none if they say it, and those without.

    Terms of as many users, in as many rows of each size, are inferred once.
    """
    classes, kinds = columns.classes.tolist(), columns.classes.size
    known = np.zeros(columns.having.size, dtype=np.int64)
    if standing is None:
        known = np.bincount(
            columns.term, weights=columns.members, minlength=columns.having.size
        ).astype(np.int64)
    may = [standing(m) if standing else np.zeros(1, np.int64) for m in classes]
    might = [lacking(m) for m in classes]
    rows = columns.standing if standing else np.zeros_like(columns.standing)
    looks = np.column_stack([columns.having - known, rows, columns.lacking])
    different, look_of = np.unique(looks, axis=0, return_inverse=True)
    inferred = np.zeros((len(different), 2 * kinds))
    for at, look in enumerate(different.tolist()):
        here = [number for number, groups in enumerate(look[1:]) if groups]
        open_ = [*may, *might]
        found = expected_shares(
            look[0], [Kind(look[1 + k], classes[k % kinds], open_[k]) for k in here]
        )
        inferred[at, here] = found
    by_term = inferred[look_of.reshape(-1)]
    if standing is None:
        return Posteriors(by_shares(columns).standing, by_term[:, kinds:])
    cells = by_term[columns.term, columns.class_of[columns.row]]
    return Posteriors(cells, by_term[:, kinds:])
