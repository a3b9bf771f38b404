"""What an attack is run on, and the one record in which every attack answers."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from ..errors import BadInput, BadParameter
from ..model import Profiles, Release
from .intervals import Estimate, ratio
from .reading import View, having, raw_release, row_of_people, view_of

Choice = Literal["random", "rarest"]
KNOWN = (1, 2, 3, 5)
BEST = (10, 24, 100)  # guesses that are looked at; a page shows 24
CLAIMED, GAINED = "true terms claimed beyond p", "real mean change there"
_USUAL = 0.1  # the change of belief that counts where a release states no p
ROUNDING = 1e-9  # shares are quotients of whole numbers


class AttackResult(NamedTuple):
    """One figure of one attack, with its 95 % interval, and the same on raw profiles."""

    attack: str
    known: int | None  # terms of the victim that the attacker knows
    choice: str | None  # how these were chosen
    measure: str
    value: float
    low: float
    high: float
    raw: float | None
    most: float | None = None  # what the release promises, if it does

    @property
    def beats(self) -> bool:
        """Return whether the attack gets more than the release promises."""
        return self.most is not None and self.value > self.most + ROUNDING


@dataclass(frozen=True)
class Attacked:
    """A release, the profiles that it was made of, and how much an attacker is given."""

    profiles: Profiles
    release: Release
    second: Release | None = None
    outsiders: Profiles | None = None  # people in the data among them are not used
    known: tuple[int, ...] = KNOWN
    choice: Choice = "random"
    victims: int = 500  # at most; drawn from the people who have a row
    seed: int = 0

    def __post_init__(self) -> None:
        if self.victims < 1:
            raise BadParameter(f"victims={self.victims} must be 1 or more")
        if not self.known or min(self.known) < 1:
            raise BadParameter("known terms must be 1 or more")
        if len(self.profiles) < 2 or np.count_nonzero(self._row_of >= 0) < 2:
            raise BadInput(
                "one person alone has a row; an attack needs others to confuse them with"
            )
        if self.second is not None:
            row_of_people(self.profiles, self.second, "second release")  # refuses other people
        most = int(self.profiles.sizes[self._row_of >= 0].max())
        if max(self.known) > most:
            raise BadParameter(
                f"known={max(self.known)} is more than the {most} terms of anybody who has a row; "
                "take a smaller number"
            )

    @cached_property
    def _row_of(self) -> Ints:
        return row_of_people(self.profiles, self.release)

    @cached_property
    def own(self) -> csr_matrix:
        """Return people x terms: 1 where the person has the term."""
        return having(self.profiles)

    @cached_property
    def view(self) -> View:
        """Return what the attacker reads in the release."""
        return view_of(self.profiles, self.release)

    @cached_property
    def raw(self) -> Attacked:
        """Return the same people with the raw profiles as the release, under pseudonyms."""
        raw = replace(raw_release(self.profiles), parameters={"p": self.p})
        second = None
        if self.second is not None:
            there = np.flatnonzero(row_of_people(self.profiles, self.second) >= 0)
            second = raw_release(self.profiles.some(there))
        return replace(self, release=raw, second=second)

    @property
    def p(self) -> float:
        """Return the change of belief that counts: the p of the release, or 0.1 if it has none."""
        return self.release.number("p") or _USUAL

    def rng(self, purpose: str) -> np.random.Generator:
        """Return the generator for one `purpose`, whichever attacks ran before."""
        return np.random.default_rng([self.seed, zlib.crc32(purpose.encode())])

    def drawn(self, people: Ints | None = None) -> Ints:
        """Return the victims, drawn from `people` or from all who have a row."""
        if people is None:
            people = np.flatnonzero(self._row_of >= 0)
        count = min(self.victims, people.size)
        return np.sort(self.rng("victims").choice(people, count, replace=False))

    def knowing(self, victims: Ints, count: int) -> tuple[Ints, csr_matrix]:
        """Return those of `victims` who have `count` terms, and which of these are known.

        Someone who learns more knows the same terms and others.
        """
        victims = victims[self.profiles.sizes[victims] >= count]
        own, rng = self.own, self.rng("known terms")
        totals = np.bincount(own.indices, minlength=own.shape[1])
        # A number for each cell decides, so a victim's known terms depend on nobody else.
        order = rng.random(own.nnz)
        if self.choice == "rarest":
            order = totals[own.indices] + own.indices / own.shape[1]
        cells = []
        for victim in victims.tolist():
            low, high = own.indptr[victim], own.indptr[victim + 1]
            cells.append(low + np.argsort(order[low:high], kind="stable")[:count])
        columns = own.indices[np.concatenate(cells)] if cells else np.zeros(0, np.int32)
        ends = np.arange(victims.size + 1) * count
        shape = (victims.size, own.shape[1])
        return victims, csr_matrix((np.ones(columns.size), columns, ends), shape=shape)


def cohorts(target: Attacked) -> list[Attacked]:
    """Return each cohort of the release of `target` with its own people, without fallback rows.

    Nothing published is made of the people who are served by a fallback row.
    """
    of_row = target.release.cohort_of_row.copy()
    of_row[target.release.groups :] = -1
    numbers = np.unique(of_row[of_row >= 0]).tolist()
    if len(numbers) == 1 and target.release.groups == of_row.size:
        return [target]
    return [_part(target, np.flatnonzero(of_row == number)) for number in numbers]


def _part(target: Attacked, rows: Ints) -> Attacked:
    """Return `target` with these `rows` alone, and with the people served by them."""
    release, number = target.release, np.full(len(target.release.rows), -1)
    number[rows] = np.arange(rows.size)
    row_of_user = number[release.row_of_user]
    inside = np.flatnonzero(row_of_user >= 0)
    users = tuple(release.users[user] for user in inside.tolist())
    people = np.flatnonzero(np.isin(target.view.row_of, rows))
    part = replace(
        release,
        rows=release.rows.some(rows),
        users=users,
        row_of_user=row_of_user[inside],
        cohort_of_row=np.zeros(rows.size, dtype=np.int64),
    )
    own = target.profiles.some(people)
    return replace(target, profiles=own, release=part, second=None, known=(1,))


class GuessedCells(NamedTuple):
    """Terms that may be victims': cells of a victim and a term."""

    people: int  # victims
    person: Ints  # cell -> number of the victim
    prior: Floats  # cell -> share of people who have the term
    has: Floats  # cell -> 1 if the victim has the term


class Named(NamedTuple):
    """An attack, how many terms of the victim it knows, and how these were chosen."""

    attack: str
    known: int | None = None
    choice: str | None = None

    def result(
        self, measure: str, value: Estimate, raw: Estimate | None, most: float | None = None
    ) -> AttackResult:
        """Return the `value` of `measure` with that on `raw` profiles, and the `most` promised."""
        return AttackResult(*self, measure, *value, raw.value if raw else None, most)


def paired(
    named: Named, values: dict[str, Estimate | None], raw: dict[str, Estimate | None]
) -> list[AttackResult]:
    """Return a result of the `named` attack for each of `values`, with that of `raw`."""
    return [
        named.result(measure, value, raw.get(measure))
        for measure, value in values.items()
        if value is not None
    ]


def claimed_beyond(chances: csr_matrix, prior: Floats, p: float) -> csr_matrix:
    """Return 1 where `chances`, people or rows x terms, are more than `p` above the `prior`."""
    far = (chances.data - prior[chances.indices] > p + ROUNDING).astype(float)
    claimed = csr_matrix((far, chances.indices, chances.indptr), shape=chances.shape, copy=True)
    claimed.eliminate_zeros()
    return claimed


def best_first(prior: Floats, chance: Floats, person: Ints) -> Ints:
    """Return cells in the order of guessing: by `person`, then by `chance`, the best first.

    Of equal chances the more common term, by `prior`, is the better guess.
    """
    order: Ints = np.lexsort((-prior, -chance, person))
    return order


def right_guesses(cells: GuessedCells, chance: Floats, best: int) -> Floats:
    """Return for each victim which share of the `best` of `cells`, by `chance`, is right."""
    order = best_first(cells.prior, chance, cells.person)
    person = cells.person[order]
    begins = np.searchsorted(person, np.arange(cells.people))
    first = np.arange(person.size) - begins[person] < best
    right = np.bincount(person[first], cells.has[order][first], cells.people)
    guesses = np.minimum(best, np.bincount(person, minlength=cells.people))
    return right / np.maximum(guesses, 1)


def beyond(
    claimed: csr_matrix, own: csr_matrix, prior: Floats, rng: np.random.Generator
) -> dict[str, Estimate | None]:
    """Return what claims of terms come to: `claimed` and `own` are people x terms, of 1.

    The share of own terms that are claimed, and how far the truth among the claims is above
    `prior`; intervals are drawn by `rng`.
    """
    right = np.asarray(claimed.multiply(own).sum(axis=1)).ravel()
    gain = right - claimed @ prior
    claims, all_own = (np.diff(one.indptr).astype(float) for one in (claimed, own))
    share = ratio(right, all_own, rng)
    return {
        CLAIMED: share,
        GAINED: ratio(gain, claims, rng),
    }
