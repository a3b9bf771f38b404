"""A release as an attacker reads it: the chance that a member of a row has a term.

The attacker knows how many of all people have each term, and how many people each row serves. A row
that publishes shares is taken at its word. In rows of other weights a term counts as 1, divided by
what the totals do not allow. The owners that no row accounts for are spread evenly over the people
whose row lacks the term. So a term that is suppressed somewhere speaks against no row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints, Numbers
from ..errors import BadInput
from ..model import Profiles, Release, row_names
from ..promise import Promise

LEAST = 1e-9  # a chance that stands for impossible; 1 - LEAST for certain
_COMMON = 200  # terms that are guessed for everybody, also if the row lacks them
_CELLS = 1 << 22  # of people x rows that are held at a time


@dataclass(frozen=True)
class View:
    """What an attacker reads in a release, over the terms of the profiles."""

    rows: csr_matrix  # rows x terms: the chance that a member of the row has the term
    absent: Floats  # term -> the same chance in rows that lack the term
    prior: Floats  # term -> share of the people who have it
    sizes: Ints  # row -> people who are served by it
    row_of: Ints  # person of the profiles -> row; -1 without a row
    counts: csr_matrix  # rows x terms: members who have the term, which attackers do not know

    @property
    def served(self) -> Ints:
        """Return the people who have a row."""
        return np.flatnonzero(self.row_of >= 0)

    @cached_property
    def _common(self) -> Ints:
        return np.argsort(-self.prior, kind="stable")[:_COMMON]

    def believed(self, row: int) -> tuple[Ints, Floats]:
        """Return the terms that may be guessed of the members of `row`, and the chance of each."""
        low, high = self.rows.indptr[row], self.rows.indptr[row + 1]
        chance = self.absent.copy()
        chance[self.rows.indices[low:high]] = self.rows.data[low:high]
        terms = np.union1d(self.rows.indices[low:high], self._common)
        return terms, chance[terms]

    @cached_property
    def _odds(self) -> tuple[csr_matrix, csr_matrix, Floats]:
        """Return how much having a cell's term speaks for the row: alone, and against lacking it.

        Also return for each row what it says of someone who has none of its terms.
        """
        chance, absent = self.rows.data, self.absent[self.rows.indices]
        # 1 stays 1 here: what is taken from it would tell apart rows that are equally likely.
        alone = np.log(np.maximum(chance, LEAST)) - np.log(absent)
        chance, absent = inside(chance), inside(absent)
        without = np.log1p(-chance) - np.log1p(-absent)
        both = np.log(chance) - np.log(absent) - without
        row = np.repeat(np.arange(self.sizes.size), np.diff(self.rows.indptr))
        bases = np.bincount(row, without, self.sizes.size).astype(np.float64)
        return _with(self.rows, alone), _with(self.rows, both), bases

    def scores(self, known: csr_matrix, *, whole: bool = False) -> Iterator[tuple[Ints, Floats]]:
        """Yield numbers of rows of `known`, and for these people the log likelihood of each row.

        `known` has a row of known terms for each person. With `whole` these are all terms of the
        person, so what is missing counts, too, and each score is a ratio to a person without a row.
        """
        alone, odds, bases = self._odds
        by_term = (odds if whole else alone).T.tocsr()
        if whole:
            absent, prior = inside(self.absent), inside(self.prior)
            bases = bases + np.sum(np.log1p(-absent) - np.log1p(-prior))
            usual = _logit(absent) - _logit(prior)
        else:
            bases, usual = np.log(self.sizes), np.log(self.absent)
        step = max(1, _CELLS // self.sizes.size)
        for low in range(0, known.shape[0], step):
            part = known[low : low + step]
            scores = (part @ by_term).toarray() + bases + (part @ usual)[:, None]
            yield np.arange(low, low + part.shape[0]), scores


def view_of(profiles: Profiles, release: Release) -> View:
    """Return what an attacker reads in `release`; `profiles` give the totals, and who is right."""
    own, row_of = having(profiles), row_of_people(profiles, release)
    published, sizes = aligned(profiles, release), release.grouping.sizes
    inside = np.flatnonzero((row_of >= 0) & (row_of < release.groups))
    everybody = inside if release.promise.hides_members else np.arange(len(profiles))
    totals = np.asarray(own[everybody].sum(axis=0)).ravel()
    of_groups = published[: release.groups].copy()
    people = sizes[: release.groups].astype(float)
    mass = people @ of_groups
    # What promises a bound on shares is never corrected: a wrong share must show.
    if release.promise.bounds != "belief":
        scale = np.minimum(1.0, totals / np.maximum(mass, LEAST))
        scale[mass <= totals * (1 + LEAST)] = 1.0
        published = _with(published, published.data * scale[published.indices])
        mass = mass * scale
    of_groups.data[:] = 1
    lacking = np.maximum(everybody.size - people @ of_groups, 1)
    absent = np.clip((totals - mass) / lacking, LEAST, 1)
    served = np.flatnonzero(row_of >= 0)
    if (release.number("min_users") or 1) > 1:
        # Removed by their total: that a row lacks such a term tells nothing.
        kept = np.bincount(published.indices, minlength=own.shape[1]) > 0
        own, totals = csr_matrix(own.multiply(kept)), totals * kept
    shape = (sizes.size, len(profiles))
    members = csr_matrix((np.ones(served.size), (row_of[served], served)), shape=shape)
    counts = csr_matrix(members @ own)
    return View(published, absent, totals / everybody.size, sizes, row_of, counts)


def raw_release(profiles: Profiles) -> Release:
    """Return `profiles` as they are, under pseudonyms: the control of every attack."""
    rows = replace(profiles, users=row_names(len(profiles), set(profiles.users)))
    promise = Promise("person", "nothing")
    return Release(rows, profiles.users, np.arange(len(profiles)), "raw", {}, promise=promise)


def having(profiles: Profiles) -> csr_matrix:
    """Return people x terms: 1 where the person of `profiles` has the term."""
    return _with(profiles.weights, np.ones(profiles.weights.nnz))


def row_of_people(profiles: Profiles, release: Release, name: str = "release") -> Ints:
    """Return the row in `release` of each person of `profiles`; -1 for people without one.

    Refuse a release of other people, by this `name`.
    """
    row_of = dict(zip(release.users, release.row_of_user.tolist(), strict=True))
    rows = np.array([row_of.get(user, -1) for user in profiles.users], dtype=np.int64)
    if np.all(rows < 0):
        raise BadInput(f"the {name} is of other people than the profiles; name one of these people")
    return rows


def cells_at(matrix: csr_matrix, rows: Ints | Numbers, columns: Ints | Numbers) -> Floats:
    """Return the cells of `matrix` at these `rows` and `columns`."""
    # Without any, scipy would return a matrix.
    cells: Floats = np.asarray(matrix[rows, columns]).ravel() if rows.size else np.zeros(0)
    return cells


def shares_of(counts: csr_matrix, people: Ints) -> csr_matrix:
    """Return `counts` of members, rows x terms, as shares of the `people` of each row."""
    counts = csr_matrix(counts)
    data = counts.data / np.repeat(people, np.diff(counts.indptr))
    return csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape)


def true_shares(view: View) -> csr_matrix:
    """Return the share of the members of each row of `view` who have each term."""
    members = np.bincount(view.row_of[view.served], minlength=view.sizes.size)
    return shares_of(view.counts, members)


def largest_change(
    believed: csr_matrix, true: csr_matrix, prior: Floats, absent: Floats | float = 0.0
) -> float:
    """Return the largest change from `prior` that is both `believed` and `true`, rows x terms.

    Where a row has no cell, `absent` is believed of the term.
    """
    largest = 0.0
    for row in range(believed.shape[0]):
        # One row at a time, as all rows with all terms might not fit into memory.
        guess, cells = absent - prior, slice(believed.indptr[row], believed.indptr[row + 1])
        terms = believed.indices[cells]
        guess[terms] = believed.data[cells] - prior[terms]
        truth = true[row].toarray()[0] - prior
        both = np.minimum(np.abs(guess), np.abs(truth))[guess * truth > 0]
        largest = max(largest, float(both.max(initial=0.0)))
    return largest


def aligned(profiles: Profiles, release: Release) -> csr_matrix:
    """Return the rows of `release` over the terms of `profiles`, each weight at most 1."""
    number = {term: at for at, term in enumerate(profiles.terms)}
    row, column, weight = [], [], []
    own = np.repeat(np.arange(len(release.rows)), release.rows.sizes)
    bags = release.parameters.get("typical") == "bags"
    matrix = release.rows.weights
    for at, name in enumerate(release.rows.terms):
        for term in name.split("|") if bags else [name]:
            if term in number:  # rows of vocabularies may have terms that nobody has
                row.append(at)
                column.append(number[term])
                weight.append(1.0)
    turn = csr_matrix((weight, (row, column)), shape=(matrix.shape[1], len(profiles.terms)))
    capped = csr_matrix((np.minimum(matrix.data, 1.0), (own, matrix.indices)), shape=matrix.shape)
    aligned = csr_matrix(capped @ turn)
    aligned.data = np.minimum(aligned.data, 1.0)  # two bags may hold one term
    aligned.sort_indices()
    return aligned


def _with(matrix: csr_matrix, data: Floats) -> csr_matrix:
    """Return a matrix with `data` where `matrix` has its entries."""
    return csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def inside(chances: Floats) -> Floats:
    """Return `chances` within the bounds between which odds are finite."""
    return np.clip(chances, LEAST, 1 - LEAST)


def _logit(chances: Floats) -> Floats:
    return np.log(chances) - np.log1p(-chances)
