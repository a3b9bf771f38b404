"""What a release's groups are like, counted once: sizes, linkability, support, change of belief.

A group of one person is that person's profile. Where people may be real, its figures are neither
in the list nor in any count except that of the sizes. Otherwise, the number of pairs of a group and
a term would reveal how many terms that person has. The same holds for all groups of rows that are
withheld.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from anonymizer.arrays import Floats, Ints
from anonymizer.measures.group_counts import GroupCounts
from anonymizer.measures.linkability import readings
from anonymizer.model import Profiles, Release

from .disclosure import Figures
from .histograms import share_counts

NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class GroupFigures(Figures):
    """A release's groups in numbers; without profiles only what was released."""

    readings: Mapping[str, Floats] = field(default_factory=dict)  # average, share, … by group
    # Pairs of a group and a term of its members, counted in bars by the share who have it.
    shares: Ints = field(default_factory=lambda: NOTHING)
    certain: int = 0  # pairs whose term every member has
    support: Ints = field(default_factory=lambda: NOTHING)  # released terms, by members who have it

    @property
    def measured(self) -> bool:
        """Return whether there are readings, which need profiles."""
        return bool(self.readings)

    def among_shown(self, reading: str) -> Floats:
        """Return the values of `reading` for the groups that are shown."""
        return self.readings[reading][self.shown]


def figures_of(
    release: Release, counts: GroupCounts, shown: Ints, support: Ints = NOTHING
) -> GroupFigures:
    """Return the figures of the groups of `release`, by `counts`, of those that are `shown`."""
    people = counts.sizes
    cells = np.isin(counts.group, shown) if shown.size < people.size else slice(None)
    share = counts.share[cells]
    return GroupFigures(
        people,
        release.rows.sizes[: release.groups],
        shown,
        readings=readings(counts),
        shares=share_counts(share),
        certain=int(np.count_nonzero(share == 1)),
        support=support,
    )


def served(release: Release, profiles: Profiles | None) -> Profiles | None:
    """Return the `profiles` of people who have a row; None if one of them has no profile."""
    if profiles is None or profiles.users == release.users:
        return profiles
    if not profiles.row_of.keys() >= set(release.users):
        return None
    return profiles.some([profiles.row_of[user] for user in release.users])


def support(counts: GroupCounts, profiles: Profiles, release: Release, shown: Ints) -> Ints:
    """Return how many terms in `shown` rows of `release` 0, 1, 2 … members of the group have."""
    span = len(profiles.terms)
    number = {term: at for at, term in enumerate(profiles.terms)}
    column = np.array([number.get(term, -1) for term in release.rows.terms], dtype=np.int64)
    group = np.repeat(np.arange(len(release.rows)), release.rows.sizes)
    term = column[release.rows.weights.indices]
    keys = counts.group * span + counts.term
    wanted = group * span + term
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    # A row can have terms that no member has: pools release more, and broader words are made up.
    members = np.where((keys[at] == wanted) & (term >= 0), counts.members[at], 0)
    if shown.size < len(release.rows):
        members = members[np.isin(group, shown)]
    return np.bincount(members, minlength=2)
