"""What a person sees of themselves: their terms, their group's row, and what the row gives away.

The numbers of a group count its members, so each can be read as "3 of 4". They agree with
anonymizer.measures.linkability, which measures all groups at once. The index JSD says how much
a row changes what can be learnt of a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.arrays import Ints
from anonymizer.measures.indices.divergence import Compared
from anonymizer.measures.indices.releases import privacy_index
from anonymizer.model import Profiles, Release, ReleasedRow

from .numbers import two_decimals

if TYPE_CHECKING:
    from anonymizer.profiles.origins import TermOrigin

Origins = Mapping[str, "TermOrigin"]

ENTRIES = 3  # those that matter most
MOST_PEOPLE = 20_000  # with more, a page would wait for seconds
SCALE = (
    "0 means that rows have people’s interests as their profiles do, and 1 that they have nothing "
    "of them. An empty or random row has 1, too."
)


class MemberShare(NamedTuple):
    """How many of a group's members have some term."""

    members: int
    of: int

    @property
    def value(self) -> float:
        """Return the share as a number from 0 to 1."""
        return self.members / self.of


_UNMEASURED = MemberShare(0, 1)


@dataclass(frozen=True)
class ProfileTerm:
    """A term of a person's profile."""

    term: str
    weight: float
    origin: TermOrigin | None  # None: nobody kept where it came from
    released: float | None  # its weight in the group's row; None: not in the row
    members: int | None  # of the group who have it, with this person; None: the row hides it
    people: int | None  # of all people who have it; None: it may not be shown

    @property
    def only_mine(self) -> bool:
        """Return whether nobody else has this term."""
        return self.people == 1


@dataclass(frozen=True)
class OwnGroup:
    """A person's group: its released row, and how surely its members are linked to its terms."""

    row: ReleasedRow
    measured: bool = False  # whether members may be counted; else the rest says nothing
    distinct: int = 0  # different terms of the members
    mean_size: float = 0.0  # terms of a profile, over all people: |U|avg
    cells: float = 0.0  # terms of the members, each counted once for every member who has it
    worst: MemberShare = _UNMEASURED  # of the term that most members have
    worst_released: MemberShare = _UNMEASURED  # the same for the terms in the row
    known: int = 0  # terms that every member has
    belief: float = 0.0  # the largest change of belief about any term, present or absent
    rarest: int | None = None  # of a single-person row: rows that have its rarest term

    @property
    def average(self) -> float:
        """Return |U|avg / |G|, which p bounds."""
        return self.mean_size / self.distinct

    @property
    def share(self) -> float:
        """Return the share of members who have a term, averaged over the group's terms."""
        return self.cells / (self.row.users * self.distinct)


@dataclass(frozen=True)
class OwnView:
    """A person's terms, and their group if they are in one."""

    terms: tuple[ProfileTerm, ...]
    group: OwnGroup | None

    @property
    def common(self) -> tuple[ProfileTerm, ...]:
        """Return the own terms that are in the group's row."""
        return tuple(term for term in self.terms if term.released is not None)

    @property
    def lost(self) -> tuple[ProfileTerm, ...]:
        """Return the own terms that are not in the group's row."""
        return tuple(term for term in self.terms if term.released is None)

    @property
    def hides_counts(self) -> bool:
        """Return whether the view hides how many people have a term."""
        return any(term.people is None for term in self.terms)

    @property
    def only_mine(self) -> tuple[ProfileTerm, ...]:
        """Return the own terms that nobody else has."""
        return tuple(term for term in self.terms if term.only_mine)


class Population:
    """All people, counted once; each of them sees their own part."""

    # `closed`: the release is withheld, so nothing is shown that is made of all rows. `invented`:
    # the people are, so their profiles may be counted. A count of real people's profiles, seen
    # before and after one of them leaves, would tell what they had.

    def __init__(
        self,
        profiles: Profiles,
        release: Release | None,
        *,
        closed: bool = False,
        invented: bool = True,
    ):
        self.profiles = profiles
        self.release = release
        self._closed = closed
        self._invented = invented
        self._groups: dict[str, OwnGroup] = {}  # by row

    @cached_property
    def having(self) -> Ints:
        """Return how many people have each term."""
        columns = self.profiles.weights.indices
        return np.bincount(columns, minlength=len(self.profiles.terms))

    def knows(self, user: str) -> bool:
        """Return whether there is a profile of `user`."""
        return user in self.profiles.row_of

    def view(self, user: str, origins: Origins) -> OwnView:
        """Return what `user` sees of themselves; `origins`: where each of their terms came from."""
        row = self.row(user)
        if not self._invented:
            group = OwnGroup(row) if row else None
            return OwnView(self.own_terms(user, origins, row), group)
        columns, _ = self.profiles.slice(self.profiles.number(user))
        members = self.members(row) if row else np.zeros_like(self.having)
        near = members[columns].tolist()
        everybody = self.having[columns].tolist()
        group = self.group(row, members) if row else None
        return OwnView(self.own_terms(user, origins, row, near, everybody), group)

    def members(self, row: ReleasedRow) -> Ints:
        """Return how many members of the group of `row` have each term."""
        release, row_of = self.served_by, self.profiles.row_of
        places = np.flatnonzero(release.row_of_user == release.rows.number(row.name))
        users = [release.users[place] for place in places.tolist()]
        known = [row_of[user] for user in users if user in row_of]
        return np.bincount(self.profiles.weights[known].indices, minlength=self.having.size)

    def group_of(self, user: str) -> OwnGroup | None:
        """Return the group of `user`, measured once for all its members; None if it may not be."""
        row = self.row(user)
        if row is None or row.foreign or row.fallback or not self._invented:
            return None
        if row.name not in self._groups:
            self._groups[row.name] = self.measured(row)
        return self._groups[row.name]

    def measured(self, row: ReleasedRow) -> OwnGroup:
        """Return what `row` says of the members of its group."""
        return self.group(row, self.members(row))

    def own_terms(
        self,
        user: str,
        origins: Origins,
        row: ReleasedRow | None,
        members: Iterable[int | None] = repeat(None),
        people: Iterable[int | None] = repeat(None),
    ) -> tuple[ProfileTerm, ...]:
        """Return the terms of `user`, and how many `members` and `people` have each of them."""
        released = row.weights if row else {}
        own = self.profiles.row(user).items()
        return tuple(
            ProfileTerm(term, weight, origins.get(term), released.get(term), near, everybody)
            for (term, weight), near, everybody in zip(own, members, people, strict=False)
        )

    @property
    def served_by(self) -> Release:
        """Return the release; raise LookupError where there is none."""
        if self.release is None:
            raise LookupError("there is no release")
        return self.release

    def row(self, user: str) -> ReleasedRow | None:
        """Return the released row that serves `user`; None where there is none."""
        if self.release is None or not self.release.serves(user):
            return None
        row = self.release.row_for(user)
        return None if row.fallback and self._closed else row

    def group(self, row: ReleasedRow, members: Ints) -> OwnGroup:
        """Return what `row` says of its members; `members`: how many of them have each term."""
        of = row.users
        # A row may have terms that no profile has, such as broader words.
        known = [self.column[term] for term in row.weights if term in self.column]
        return OwnGroup(
            row=row,
            measured=True,
            distinct=int(np.count_nonzero(members)),
            mean_size=float(self.profiles.sizes.mean()),
            cells=int(members.sum()),
            worst=MemberShare(int(members.max()), of),
            worst_released=MemberShare(int(members[known].max(initial=0)), of),
            known=int(np.count_nonzero(members == of)),
            belief=float(np.abs(members / of - self.having / len(self.profiles)).max()),
        )

    @cached_property
    def column(self) -> dict[str, int]:
        """Return the column of each term of the profiles."""
        return {term: at for at, term in enumerate(self.profiles.terms)}


def own_index(view: OwnView) -> tuple[float, str] | None:
    """Return JSD of the person of `view`, and the entries that matter most to it, in words.

    None where no row stands for the person: they may see another one only in part.
    """
    group = view.group
    if group is None or group.row.foreign or group.row.fallback:
        return None
    own = {term.term: term.weight for term in view.terms}
    names = [*dict.fromkeys([*own, *group.row.weights])]
    before, after = (
        csr_matrix([[weights.get(name, 0.0) for name in names]])
        for weights in (own, group.row.weights)
    )
    cells = Compared(before, after).cells
    order = np.argsort(-cells.divergence, kind="stable")[:ENTRIES]
    parts = [
        f"“{names[cells.document[at]]}” ({_change(cells.p[at], cells.q[at])})"
        for at in order.tolist()
        if cells.divergence[at] > 0
    ]
    return min(1.0, float(cells.divergence.sum())), ", ".join(parts)


def mean_index(profiles: Profiles, release: Release) -> str | None:
    """Return the mean of JSD over the people of `release`; None if they are too many.

    Of `profiles`, others than its people may wait for a row.
    """
    if len(release.users) > MOST_PEOPLE or not {*release.users} <= profiles.row_of.keys():
        return None
    if len(profiles) != len(release.users) + release.left_out:
        profiles = profiles.some([profiles.row_of[user] for user in release.users])
        release = replace(release, facts={})  # who has no row is not counted either
    values = [one.value for one in privacy_index(profiles, release) if one.name == "JSD"]
    return two_decimals(float(np.mean(values)))


def _change(p: float, q: float) -> str:
    if q == 0:
        return "suppressed"
    return "added" if p == 0 else "rarer than in your profile" if q < p else "more than your own"
