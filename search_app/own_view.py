"""What a person sees of themselves: own terms, the group's row beside them, and what it tells.

All numbers of a group are counts of its members, so that each can be read as "3 of 4". They agree
with anonymizer.measures.linkability, which measures all groups at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anonymizer.model import Ints, Profiles, Release, ReleasedRow

from .lone_rows import lone_rows, rows_having

if TYPE_CHECKING:
    from anonymizer.origins import Origin


class Share(NamedTuple):
    """How many of a group's members have some term."""

    members: int
    of: int

    @property
    def value(self) -> float:
        """Return the share as a number from 0 to 1."""
        return self.members / self.of


@dataclass(frozen=True)
class OwnTerm:
    """A term of a person's profile."""

    term: str
    weight: float
    origin: Origin | None  # None: nobody kept where it came from
    released: float | None  # its weight in the group's row; None: it is not in it
    members: int  # of the group who have it, this person among them
    people: int  # of all who have it

    @property
    def only_mine(self) -> bool:
        """Tell whether nobody else has this term."""
        return self.people == 1


@dataclass(frozen=True)
class OwnGroup:
    """A person's group: its released row, and how surely its members are linked to its terms."""

    row: ReleasedRow
    distinct: int  # different terms of the members
    mean_size: float  # terms of a profile, over all people: |U|avg
    cells: int  # terms of the members, each counted for everyone who has it
    worst: Share  # the term that most members have
    worst_released: Share  # the same of the terms in the row
    known: int  # terms that every member has
    belief: float  # the largest change of belief about any term, present or absent
    rarest: int | None = None  # of a row that is of one person: rows that have its rarest term

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

    terms: tuple[OwnTerm, ...]
    group: OwnGroup | None

    @property
    def common(self) -> tuple[OwnTerm, ...]:
        """Return the own terms that stand in the group's row."""
        return tuple(each for each in self.terms if each.released is not None)

    @property
    def lost(self) -> tuple[OwnTerm, ...]:
        """Return the own terms that do not stand in the group's row."""
        return tuple(each for each in self.terms if each.released is None)

    @property
    def only_mine(self) -> tuple[OwnTerm, ...]:
        """Return the own terms that nobody else has."""
        return tuple(each for each in self.terms if each.only_mine)

    @property
    def known(self) -> tuple[OwnTerm, ...]:
        """Return the own terms that every member of the group has."""
        if self.group is None:
            return ()
        return tuple(each for each in self.terms if each.members == self.group.row.users)


class Population:
    """All people, counted once, of whom each sees their own part."""

    def __init__(self, profiles: Profiles, release: Release | None):
        self.profiles = profiles
        self.release = release

    @cached_property
    def having(self) -> Ints:
        """Count the people who have each term."""
        columns = self.profiles.weights.indices
        return np.bincount(columns, minlength=len(self.profiles.terms))

    @cached_property
    def _served(self) -> frozenset[str]:
        return frozenset(self.release.users) if self.release else frozenset()

    def knows(self, user: str) -> bool:
        """Tell whether there is a profile of a person."""
        return user in self.profiles.row_of

    def view(self, user: str, origins: Mapping[str, Origin]) -> OwnView:
        """Return what one person sees of themselves."""
        row = self._row(user)
        columns, weights = self.profiles.slice(self.profiles.number(user))
        members = self._members_having(row)
        released = row.weights if row else {}
        terms = [self.profiles.terms[column] for column in columns.tolist()]
        counts = zip(terms, weights.tolist(), members[columns], self.having[columns], strict=True)
        own = tuple(
            OwnTerm(term, weight, origins.get(term), released.get(term), int(near), int(all_))
            for term, weight, near, all_ in counts
        )
        if row is None:
            return OwnView(own, None)
        group = self._group(row, members)
        return OwnView(own, self._lone(group) if lone_rows(self.release) else group)

    def _row(self, user: str) -> ReleasedRow | None:
        """Return the released row of a person; none where they are in no group."""
        return self.release.row_for(user) if self.release and user in self._served else None

    def _members_having(self, row: ReleasedRow | None) -> Ints:
        """Count the members of a row's group who have each term."""
        release = self.release
        if release is None or row is None:
            return np.zeros_like(self.having)
        number = release.rows.number(row.name)
        places = np.flatnonzero(release.row_of_user == number).tolist()
        users = [release.users[place] for place in places]
        known = [self.profiles.row_of[user] for user in users if user in self.profiles.row_of]
        columns = self.profiles.weights[known].indices
        return np.bincount(columns, minlength=len(self.profiles.terms))

    def _group(self, row: ReleasedRow, members: Ints) -> OwnGroup:
        of = row.users
        released = [self._count(term, members) for term in row.weights]
        return OwnGroup(
            row=row,
            distinct=int(np.count_nonzero(members)),
            mean_size=float(self.profiles.sizes.mean()),
            cells=int(members.sum()),
            worst=Share(int(members.max()), of),
            worst_released=Share(max(released, default=0), of),
            known=int(np.count_nonzero(members == of)),
            belief=float(np.abs(members / of - self.having / len(self.profiles)).max()),
        )

    def _lone(self, group: OwnGroup) -> OwnGroup:
        """Return what a row of one person tells: nothing of the terms that were deleted."""
        terms = [self._column[term] for term in group.row.weights]
        belief = 1 - float(self.having[terms].min()) / len(self.profiles)
        having = [self._rows_having[term] for term in group.row.weights]
        return replace(group, belief=belief, rarest=min(having))

    @cached_property
    def _rows_having(self) -> dict[str, int]:
        if self.release is None:
            return {}
        return dict(zip(self.release.rows.terms, rows_having(self.release).tolist(), strict=True))

    @cached_property
    def _column(self) -> dict[str, int]:
        return {term: at for at, term in enumerate(self.profiles.terms)}

    def _count(self, term: str, members: Ints) -> int:
        """Return how many members have a term; a made one, as a broader word, nobody has."""
        at = self._column.get(term)
        return 0 if at is None else int(members[at])
