"""What the judge counts to judge a promise: above all groups, in whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Ints, Marks
from .files.evidence import Changes, JudgedRows, Parts
from .files.profiles import JudgedProfiles
from .finding import PROFILES, Broken
from .vocabularies.slots import Slots


class Everybody(NamedTuple):
    """Of a release in shards, what counts over the people of all shards."""

    users: int
    profile_terms: int  # the sum of the numbers of terms of all profiles
    having: Ints  # term -> users who have it
    rows: int
    shards: int
    rare: Marks | None = None  # terms that too few people have, if that is promised


@dataclass(frozen=True)
class Tally:
    """A cell for each group and each term that a member has, by group and then by term."""

    users: int  # number of users in the profiles, with a row or without
    span: int  # more than the largest term number
    sizes: Ints  # members of each group
    keys: Ints  # cell -> group * span + term, ascending
    counts: Ints  # cell -> members who have the term
    profile_terms: int  # the sum of the numbers of terms of all profiles
    having: Ints  # term -> users who have it
    weights: Floats | None  # all weights, cell by cell; None if each is 1
    at: Ints  # cell -> where its weights begin, if there are any
    # Of these people nobody knows any more what they had when the release was made. `users` has
    # them all, `having` none, and `profile_terms` one term of each.
    unsure: int = 0
    withdrawn: int = 0  # rows that there were when the release was made, and are no more
    edited: Marks | None = None  # the rows with a member whose profile has changed since
    elsewhere: int = 0  # rows in other shards
    shards: int = 1  # of all rows

    @property
    def made(self) -> int:
        """Return how many rows there were when the release was made."""
        return int(self.sizes.size) + self.withdrawn + self.elsewhere

    def among(self, everybody: Everybody | None) -> Tally:
        """Return this tally of groups that are some of those of `everybody`; None: all."""
        if everybody is None:
            return self
        # A row may have terms that nobody has.
        more = np.zeros(self.span - everybody.having.size, dtype=np.int64)
        return replace(
            self,
            users=everybody.users,
            profile_terms=everybody.profile_terms,
            having=np.append(everybody.having, more),
            elsewhere=everybody.rows - int(self.sizes.size),
            shards=everybody.shards,
        )

    def sure(self, wrong: Marks) -> Marks:
        """Return marks for those rows that are `wrong` and can be recounted."""
        return wrong if self.edited is None else wrong & ~self.edited

    @property
    def so_far(self) -> str:
        """Return the end of a finding about all people of the making, if some are not known now."""
        if not self.unsure:
            return ""
        known = self.users - self.unsure
        return (
            f", as far as {known} of {self.users} people show, who are as they were; it was "
            "checked with all of them when it was made"
        )

    @cached_property
    def group(self) -> Ints:
        """Return each cell's group."""
        return np.repeat(np.arange(self.sizes.size), self.distinct)

    @cached_property
    def column(self) -> Ints:
        """Return each cell's term."""
        return self.keys - self.group * self.span

    @cached_property
    def distinct(self) -> Ints:
        """Return the number of distinct terms of each group."""
        edges = np.searchsorted(self.keys, np.arange(self.sizes.size + 1) * self.span)
        return np.diff(edges)

    @cached_property
    def begins(self) -> Ints:
        """Return each group's first cell."""
        return np.cumsum(self.distinct) - self.distinct

    @cached_property
    def sums(self) -> Floats:
        """Return the sum of each cell's weights over the members."""
        if self.weights is None:
            return self.counts.astype(np.float64)
        with np.errstate(over="ignore"):
            if not np.isfinite(self.weights.sum()):
                raise Broken("weights", PROFILES, "are too large to be added up")
        # In the order in which rows are summed: reduceat would add the first weight last.
        cell = np.repeat(np.arange(self.counts.size), self.counts)
        sums = np.bincount(cell, weights=self.weights)
        return sums.astype(np.float64, copy=False)

    @cached_property
    def largest(self) -> Floats:
        """Return each cell's largest weight."""
        if self.weights is None:
            return np.ones(self.keys.size)
        return np.maximum.reduceat(self.weights, self.at)

    @cached_property
    def overall(self) -> Floats:
        """Return the sum of each term's weights over all users."""
        overall = np.bincount(self.column, weights=self.sums, minlength=self.span)
        return overall.astype(np.float64, copy=False)

    def weights_of(self, cell: int) -> Floats:
        """Return the weights of the members in `cell`."""
        if self.weights is None:
            return np.ones(int(self.counts[cell]))
        return self.weights[self.at[cell] : self.at[cell] + self.counts[cell]]


class ExpectedShares(NamedTuple):
    """The shares that rows must publish, by cell; a row may have terms that no member has."""

    keys: Ints  # row * span + term, ascending, of all cells above 0
    having: Ints  # the share is `having` people out of `among`
    among: Ints


class Grounds(NamedTuple):
    """A release and the profiles that it was made from, as the judge has read and counted them."""

    people: JudgedProfiles
    parts: Parts
    rows: JudgedRows
    group_of: Ints  # each user's row; -1 for users without one
    tally: Tally
    shares: ExpectedShares | None = None  # if the method foresees them
    person: Ints | None = None  # each user's person, if users are sessions of people
    slots: Slots | None = None  # if the method keeps them
    parameters: Mapping[str, object] = MappingProxyType({})  # as stated, perhaps wrong
    all_people: JudgedProfiles | None = None  # with the terms that are too rare for rows
    ends: Ints | None = None  # the last row of each shard, if there are several

    def within_shards(self, wrong: Marks) -> Marks:
        """Return marks for rows `wrong` before the next one, which is of the same shard."""
        if self.ends is not None:
            wrong = wrong.copy()
            wrong[self.ends[self.ends >= 0]] = False
        return wrong


def tally(people: JudgedProfiles, group_of: Ints, span: int) -> Tally:
    """Return how many members of each group have each term; `group_of` is -1 for users in none."""
    sizes = np.bincount(group_of[group_of >= 0])
    keys, weights = _ordered(people, group_of, sizes, span)
    at = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    counts = np.diff(at, append=keys.size)
    return Tally(
        users=group_of.size,
        span=span,
        sizes=sizes,
        keys=keys[at],
        counts=counts,
        profile_terms=int(people.cells.ends[-1]),
        having=np.bincount(people.cells.columns, minlength=span),
        weights=weights,
        at=at if weights is not None else np.empty(0, dtype=np.int64),
    )


def as_made(
    tally: Tally, people: JudgedProfiles, group_of: Ints, names: list[str], changes: Changes
) -> Tally:
    """Return `tally` with what is still known of all people of the making, by `changes`."""
    edited = np.array([name in changes.edited for name in names])
    known = (group_of >= 0) & ~edited[group_of]
    columns = people.cells.columns[np.repeat(known, people.sizes)]
    users = len(people.users) + changes.left
    unsure = users - int(np.count_nonzero(known))
    return replace(
        tally,
        users=users,
        profile_terms=int(columns.size) + unsure,
        having=np.bincount(columns, minlength=tally.span),
        unsure=unsure,
        withdrawn=changes.withdrawn,
        edited=edited,
    )


def _ordered(
    people: JudgedProfiles, group_of: Ints, sizes: Ints, span: int
) -> tuple[Ints, Floats | None]:
    """Return a key for each term of each member, ascending, and the weights if any is not 1."""
    columns, weights = people.cells.columns, people.cells.weights
    # Rows of one user each need no sorting of keys: the users' order gives theirs.
    if sizes.max() == 1:
        members = np.argsort(group_of, kind="stable")[np.count_nonzero(group_of < 0) :]
        ends = np.append(0, np.cumsum(people.sizes[members]))
        first = np.repeat(people.cells.ends[members] - ends[:-1], np.diff(ends))
        cells = first + np.arange(ends[-1])
        keys = np.repeat(np.arange(sizes.size) * span, np.diff(ends)) + columns[cells]
        return keys, None if people.binary else weights[cells]
    keys = np.repeat(group_of * span, people.sizes) + columns
    if group_of.min() < 0:
        there = keys >= 0
        keys, weights = keys[there], weights[there]
    if people.binary:
        # The keys are ascending runs, one a user: of numpy's sorts only the stable one uses that.
        keys.sort(kind="stable")
        return keys, None
    order = np.argsort(keys, kind="stable")
    return keys[order], weights[order]
