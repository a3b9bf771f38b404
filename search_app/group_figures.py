"""What a release's groups are like, counted once: sizes, linkability, support, change of belief.

A group of one person is that person's profile. Where people are real its figures are left out, of
the list and of every count but that of the sizes: the number of pairs of a group and a term would
else tell how many terms that one person has. So are all groups' where rows are not to be shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.measures.group_counts import GroupCounts, count_groups, published_counts
from anonymizer.measures.linkability import readings
from anonymizer.model import Floats, Ints, Profiles, Release

from .binning import share_counts
from .lone_figures import RowFigures, row_figures
from .lone_rows import lone_rows


@dataclass(frozen=True, eq=False)
class Figures:
    """A release's groups in numbers; without profiles only what was released."""

    release: Release
    people: Ints  # by group
    terms: Ints  # released terms by group
    told: Ints  # groups whose figures may be told
    readings: Mapping[str, Floats]  # average, share, worst and belief by group
    shares: Ints  # pairs of a group and a term of its members, by the share who have it, in bars
    certain: int  # of these, the pairs whose term every member has
    support: Ints  # pairs of a group and a released term, by the members who have it, unless hidden
    lone: RowFigures | None = None  # of rows of one person each, which have no figures of groups
    closed: bool = False  # rows are not to be shown, so nothing but sizes is told

    @property
    def measured(self) -> bool:
        """Tell whether there were profiles to measure by."""
        return bool(self.readings)

    def is_told(self, group: int) -> bool:
        """Tell whether a group's figures and terms may be told."""
        return bool(self._tellable[group])

    def among_told(self, reading: str) -> Floats:
        """Return a reading of the groups that are told."""
        return self.readings[reading][self.told]

    @cached_property
    def _tellable(self) -> np.ndarray:
        tellable = np.zeros(self.people.size, dtype=np.bool_)
        tellable[self.told] = True
        return tellable

    @cached_property
    def orders(self) -> Mapping[str, Ints]:
        """Return the groups in each order: by name, by people and by terms, most first.

        What is not told has no place of its own in an order, which would tell it.
        """
        terms = np.where(self._tellable, self.terms, 0)
        return {
            "name": np.arange(self.people.size),
            "people": np.argsort(-self.people, kind="stable"),
            "terms": np.argsort(-terms, kind="stable"),
        }


def figures(
    release: Release, profiles: Profiles | None, *, singles: bool, closed: bool = False
) -> Figures:
    """Count all that the pages tell of a release's groups; singles: also those of one person."""
    if closed and not lone_rows(release):  # of rows of one real person each nothing is told anyway
        return _sizes_alone(release)
    people = release.grouping.sizes[: release.groups]
    told = np.arange(people.size) if singles else np.flatnonzero(people > 1)
    nothing = np.zeros(0, dtype=np.int64)
    if lone_rows(release):
        rows = row_figures(release, profiles)
        terms = release.rows.sizes
        return Figures(release, people, terms, told, {}, nothing, 0, nothing, rows)
    served = _served(release, profiles)
    if release.hides_shares:
        return _of_counts(release, published_counts(release), told, nothing)
    if served is None:
        return Figures(release, people, release.rows.sizes, told, {}, nothing, 0, nothing)
    counts = count_groups(served, release)
    return _of_counts(release, counts, told, _support(counts, served, release, told))


def _sizes_alone(release: Release) -> Figures:
    people, nothing = release.grouping.sizes[: release.groups], np.zeros(0, dtype=np.int64)
    terms = np.zeros(people.size, dtype=np.int64)
    return Figures(release, people, terms, nothing, {}, nothing, 0, nothing, closed=True)


def _of_counts(release: Release, counts: GroupCounts, told: Ints, support: Ints) -> Figures:
    people = counts.sizes
    cells = np.isin(counts.group, told) if told.size < people.size else slice(None)
    share = counts.share[cells]
    return Figures(
        release=release,
        people=people,
        terms=release.rows.sizes[: release.groups],
        told=told,
        readings=readings(counts),
        shares=share_counts(share),
        certain=int(np.count_nonzero(share == 1)),
        support=support,
    )


def _served(release: Release, profiles: Profiles | None) -> Profiles | None:
    """Return the profiles of those who have a row, if all of them are there."""
    if profiles is None or profiles.users == release.users:
        return profiles
    if not profiles.row_of.keys() >= set(release.users):
        return None
    rows = [profiles.row_of[user] for user in release.users]
    return Profiles(release.users, profiles.terms, profiles.weights[rows])


def _support(counts: GroupCounts, profiles: Profiles, release: Release, told: Ints) -> Ints:
    """Count released terms by how many members of the group have them."""
    span = len(profiles.terms)
    number = {term: at for at, term in enumerate(profiles.terms)}
    column = np.array([number.get(term, -1) for term in release.rows.terms], dtype=np.int64)
    group = np.repeat(np.arange(len(release.rows)), release.rows.sizes)
    term = column[release.rows.weights.indices]
    keys = counts.group * span + counts.term
    wanted = group * span + term
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    members = np.where((keys[at] == wanted) & (term >= 0), counts.members[at], 0)
    if told.size < len(release.rows):
        members = members[np.isin(group, told)]
    return np.bincount(members, minlength=2)
