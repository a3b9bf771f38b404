"""Groups counted from profiles in whole numbers: the judge's own sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .finding import Broken, Floats, Ints
from .people import People


@dataclass(frozen=True)
class Tally:
    """One cell for each group and each term that a member has, by group and then by term."""

    users: int  # of the profiles, with a row or without
    span: int  # more than the largest term number
    sizes: Ints  # members a group
    keys: Ints  # cell -> group * span + term, ascending
    counts: Ints  # cell -> members who have the term
    profile_terms: int  # the terms of all profiles added up
    having: Ints  # term -> users who have it
    weights: Floats | None  # all weights, cell by cell; None where each is 1
    at: Ints  # cell -> where its weights begin, if there are any

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
        """Count the distinct terms of each group."""
        edges = np.searchsorted(self.keys, np.arange(self.sizes.size + 1) * self.span)
        return np.diff(edges)

    @cached_property
    def begins(self) -> Ints:
        """Return each group's first cell."""
        return np.cumsum(self.distinct) - self.distinct

    @cached_property
    def sums(self) -> Floats:
        """Return each cell's weight, summed over the members."""
        if self.weights is None:
            return self.counts.astype(np.float64)
        with np.errstate(over="ignore"):
            if not np.isfinite(self.weights.sum()):
                raise Broken("weights", "the profiles", "are too large to be added up")
        # One after the other, as rows are summed up: reduceat would add the first weight last.
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
        """Return each term's weight, summed over all users."""
        overall = np.bincount(self.column, weights=self.sums, minlength=self.span)
        return overall.astype(np.float64, copy=False)

    def weights_of(self, cell: int) -> Floats:
        """Return the weights that a cell sums up."""
        if self.weights is None:
            return np.ones(int(self.counts[cell]))
        return self.weights[self.at[cell] : self.at[cell] + self.counts[cell]]


def tally(people: People, group_of: Ints, span: int) -> Tally:
    """Count who has what in each group; who is in none, -1, counts among all users alone."""
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


def _ordered(people: People, group_of: Ints, sizes: Ints, span: int) -> tuple[Ints, Floats | None]:
    """Return the key of each member's each term, ascending, and the weights if any is not 1."""
    columns, weights = people.cells.columns, people.cells.weights
    if sizes.max() == 1:
        cells, ends = _one_by_one(people, group_of)
        keys = np.repeat(np.arange(sizes.size) * span, np.diff(ends)) + columns[cells]
        return keys, None if people.binary else weights[cells]
    keys = np.repeat(group_of * span, people.sizes) + columns
    if group_of.min() < 0:
        there = keys >= 0
        keys, weights = keys[there], weights[there]
    if people.binary:
        keys.sort(kind="stable")  # made of ascending runs, which only this one makes use of
        return keys, None
    order = np.argsort(keys, kind="stable")
    return keys[order], weights[order]


def _one_by_one(people: People, group_of: Ints) -> tuple[Ints, Ints]:
    """Return the cells by group and where each group's end, where no group has two members."""
    members = np.argsort(group_of, kind="stable")[np.count_nonzero(group_of < 0) :]
    ends = np.append(0, np.cumsum(people.sizes[members]))
    first = np.repeat(people.cells.ends[members] - ends[:-1], np.diff(ends))
    return first + np.arange(ends[-1]), ends
