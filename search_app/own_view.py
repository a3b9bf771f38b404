"""What a person sees of themselves: own terms, the group's row beside them, and what it tells.

All numbers of a group are counts of its members, so that each can be read as "3 of 4". They agree
with anonymizer.measures.linkability, which measures all groups at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anonymizer.measures.group_counts import GroupCounts, published_counts
from anonymizer.model import Ints, Profiles, Release, ReleasedRow

from .lone_rows import lone_rows, rows_having

if TYPE_CHECKING:
    from anonymizer.origins import Origin

    Origins = Mapping[str, Origin]


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
    members: int | None  # of the group who have it, this person among them; None: the row hides it
    people: int | None  # of all who have it; None: no row may tell

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
    cells: float  # terms of the members, each counted for everyone who has it
    worst: Share  # the term that most members have
    worst_released: Share  # the same of the terms in the row
    known: int  # terms that every member has
    belief: float  # the largest change of belief about any term, present or absent
    rarest: int | None = None  # of a row that is of one person: rows that have its rarest term
    published: bool = False  # all of this is read off the row, which hides the members' shares
    spare: bool = False  # no group at all: who is left over is served by the mean of all groups

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
    def hides_counts(self) -> bool:
        """Tell whether it is told of no term how many people have it."""
        return any(each.people is None for each in self.terms)

    @property
    def only_mine(self) -> tuple[OwnTerm, ...]:
        """Return the own terms that nobody else has."""
        return tuple(each for each in self.terms if each.only_mine)

    @property
    def known(self) -> tuple[OwnTerm, ...]:
        """Return the own terms that every member of the group has."""
        if self.group is None:
            return ()
        if self.group.published:
            return tuple(each for each in self.terms if each.released == 1)
        return tuple(each for each in self.terms if each.members == self.group.row.users)


class Population:
    """All people, counted once, of whom each sees their own part."""

    def __init__(
        self,
        profiles: Profiles,
        release: Release | None,
        sealed: Callable[[], bool] = lambda: False,
    ):
        self.profiles = profiles
        self.release = release
        self._sealed = sealed  # whether nothing is told that is made of all rows

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

    def view(self, user: str, origins: Origins) -> OwnView:
        """Return what one person sees of themselves."""
        row = self._row(user)
        columns, weights = self.profiles.slice(self.profiles.number(user))
        terms = [self.profiles.terms[column] for column in columns.tolist()]
        own = zip(terms, weights.tolist(), strict=True)
        if self.release and self.release.hides_shares:
            return self._of_published(own, row, origins)
        members = self._members_having(row)
        released = row.weights if row else {}
        everybody = [None] * len(terms) if self._sealed() else self.having[columns].tolist()
        counts = zip(own, members[columns].tolist(), everybody, strict=True)
        told = tuple(
            OwnTerm(term, weight, origins.get(term), released.get(term), near, all_)
            for (term, weight), near, all_ in counts
        )
        if row is None:
            return OwnView(told, None)
        group = self._group(row, members)
        return OwnView(told, self._lone(group) if lone_rows(self.release) else group)

    def _of_published(
        self, own: Iterable[tuple[str, float]], row: ReleasedRow | None, origins: Origins
    ) -> OwnView:
        """Return what a row tells that hides its members' shares: nothing is counted for it.

        How many people have a term would tell of those left over what the rows keep of them.
        """
        released = row.weights if row else {}
        terms = tuple(
            OwnTerm(term, weight, origins.get(term), released.get(term), None, None)
            for term, weight in own
        )
        return OwnView(terms, self._published_group(row) if row else None)

    def _published_group(self, row: ReleasedRow) -> OwnGroup:
        counts, most = self._published, max(row.weights.values())
        worst = Fraction(most).limit_denominator(counts.users)
        share = Share(worst.numerator, worst.denominator)
        return OwnGroup(
            row=row,
            distinct=len(row.weights),
            mean_size=counts.average_size,
            cells=row.users * math.fsum(row.weights.values()),
            worst=share,
            worst_released=share,
            known=sum(weight == 1 for weight in row.weights.values()),
            belief=max(abs(row.weights.get(term, 0.0) - of) for term, of in self._prior.items()),
            published=True,
            spare=row.spare,
        )

    @property
    def _release(self) -> Release:
        if self.release is None:
            raise LookupError("there is no release")
        return self.release

    @cached_property
    def _published(self) -> GroupCounts:
        return published_counts(self._release)

    @cached_property
    def _prior(self) -> Mapping[str, float]:
        """Return the share of all who are in groups, as the rows say it together."""
        shares = self._published.having / self._published.users
        return dict(zip(self._release.rows.terms, shares.tolist(), strict=True))

    def _row(self, user: str) -> ReleasedRow | None:
        """Return the released row of a person; none where they are in no group."""
        if self.release is None or user not in self._served:
            return None
        row = self.release.row_for(user)
        return None if row.spare and self._sealed() else row

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
