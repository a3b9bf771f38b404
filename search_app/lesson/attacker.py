"""Two games with a release: whose row is this, and which of these terms are theirs?

A round's number draws it, so a class can repeat it. Two releases of the same profiles draw the same
person and the same terms, as far as both have a row for this person.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from anonymizer.arrays import Floats, Ints
from anonymizer.attacks import Attacked
from anonymizer.attacks.inference import rising
from anonymizer.attacks.linking import likeliest, row_odds
from anonymizer.model import Release

SUSPECTS, KNOWN, WORDS = 4, 4, 24
_ALIKE = 32  # terms in a block of those that are about as common
_MOST = 1000  # rounds over which the figures of the formula are counted
_LIMITS = {
    "average": "Only an average is promised: the average profile fills at most {percent:g} % of "
    "its group’s list of interests. Single interests may be certain.",
    "every-term": "Promised: at most {percent:g} % of a group have any one interest of its row.",
    "belief": "Promised: a row moves a guess about any one interest by at most {percent:g} "
    "percentage points.",
    "combinations": "Promised: any {m} interests of a row, or fewer, are together in at least {k} "
    "rows.",
    "vocabulary": "Promised: each word of a row stands for words of at least {k} vocabularies.",
    "differential": "Promised: with any other person in your place, no outcome is more than "
    "e^{epsilon} times as likely, but for a chance of {delta}.",
}
# What bounds the terms of a row says nothing of the person who has the row.
_OPEN = " It does not hide whose row it is."


def limit(release: Release) -> str:
    """Return what `release` promises, in words for someone who plays the attacker."""
    bounds, given = release.promise.bounds, release.parameters
    form = _LIMITS.get(bounds, "This release promises nothing.")
    of_terms = bounds in ("average", "every-term", "belief")
    return form.format(**given, percent=100 * (release.number("p") or 0)) + _OPEN * of_terms


def why_not(release: Release) -> str:
    """Return why there is no game with the rows of `release`; empty where there is."""
    promise = release.promise
    if promise.behind == "query":
        return "The rows of this release are of queries, and no attack here reads queries."
    if promise.single_person and promise.bounds == "nothing":
        return "Each row of this release is a whole profile, so there is nothing to guess."
    above = "Words of these rows stand for others below them, and no attack here reads that."
    return above * promise.words_above


class WhoseRow(NamedTuple):
    """A round of the first game: people, and one of them has the row."""

    row: int
    people: list[int]  # numbers of profiles
    answer: int  # position in `people`
    guess: Floats  # with which chance the formula names each of `people`


class TheirTerms(NamedTuple):
    """A round of the second game: terms, half of which are the person's."""

    row: int
    person: int
    terms: Ints
    own: NDArray[np.bool_]  # by term: whether the person has it
    claimed: NDArray[np.bool_]  # by term: whether the formula claims it

    @property
    def right(self) -> int:
        """Return about how many of the terms the formula is right."""
        return int(np.count_nonzero(self.own == self.claimed))


@dataclass(frozen=True, eq=False)
class Attacker:
    """Someone who reads the rows of a release, plays both games, and knows the answers."""

    # The formula believes what rows say of each term. In the first game it knows the terms that are
    # shown of people. In the second it claims a term if the row makes it likelier than usual.
    target: Attacked

    def whose(self, number: int) -> WhoseRow | None:
        """Return round `number` of the first game; None if there are too few people."""
        return next(self._lined_up(*self._drawn(number)), None)

    def theirs(self, number: int) -> TheirTerms | None:
        """Return round `number` of the second game; None if nobody has terms enough."""
        return next(self._dealt(*self._drawn(number)), None)

    @cached_property
    def wins(self) -> Floats:
        """Return how surely the formula says whose row it is in rounds, one for each person."""
        return np.array([one.guess[one.answer] for one in self._lined_up(*self._drawn(0))])

    @cached_property
    def hits(self) -> Floats:
        """Return about how many terms the formula is right in rounds, one for each person."""
        return np.array([one.right for one in self._dealt(*self._drawn(0))], dtype=np.float64)

    def strongest(self, row: int, most: int) -> list[tuple[str, float]]:
        """Return up to `most` terms of `row` and their shares, those furthest above usual first."""
        view, terms = self.target.view, self.target.profiles.terms
        cells = slice(view.rows.indptr[row], view.rows.indptr[row + 1])
        columns, shares = view.rows.indices[cells], view.rows.data[cells]
        # Bounded rows have many terms at the bound: of these the rarest say most.
        order = np.lexsort((shares, -np.round(shares - view.prior[columns], 9)))[:most]
        return [(terms[columns[at]], float(shares[at])) for at in order.tolist()]

    def shown(self, person: int) -> list[str]:
        """Return the terms that are shown of `person`, the same in all rounds."""
        at = int(np.searchsorted(self._players, person))
        return [self.target.profiles.terms[term] for term in self._known[at].indices.tolist()]

    @cached_property
    def _players(self) -> Ints:
        """Return the people who are in a group and have terms enough to show."""
        row_of, sizes = self.target.view.row_of, self.target.profiles.sizes
        inside = (row_of >= 0) & (row_of < self.target.release.groups)
        return np.flatnonzero(inside & (sizes >= KNOWN))

    @cached_property
    def _known(self) -> csr_matrix:
        return self.target.knowing(self._players, KNOWN)[1]

    @cached_property
    def _odds(self) -> Floats:
        return row_odds(self.target.view, self._known)

    @cached_property
    def _claims(self) -> csr_matrix:
        return rising(self.target.view)

    def _drawn(self, number: int) -> tuple[Ints, np.random.Generator]:
        """Return the players in the order of round `number`, and a generator for what follows."""
        rng = np.random.default_rng(number)
        # Of all profiles, not of the players: releases may have rows for different people.
        order = rng.permutation(len(self.target.profiles))
        return order[np.isin(order, self._players)][:_MOST], rng

    def _lined_up(self, order: Ints, rng: np.random.Generator) -> Iterator[WhoseRow]:
        """Yield a round for each of `order`, with those after them who have another row."""
        row_of = self.target.view.row_of
        for at, victim in enumerate(order.tolist()):
            # Those who follow in a random order are as good as drawn.
            row, others = int(row_of[victim]), np.roll(order, -at)
            others = others[row_of[others] != row][: SUSPECTS - 1]
            if others.size == SUSPECTS - 1:
                people = rng.permutation(np.append(others, victim))
                guess = likeliest(self._odds[np.searchsorted(self._players, people), row])
                yield WhoseRow(row, people.tolist(), people.tolist().index(victim), guess)

    def _dealt(self, order: Ints, rng: np.random.Generator) -> Iterator[TheirTerms]:
        """Yield a round for each of `order` who has terms enough."""
        for person in order.tolist():
            own, row = self.target.own[person].indices, int(self.target.view.row_of[person])
            terms = self._pairs(own, rng)
            if terms.size == WORDS:
                marks = (np.isin(terms, some) for some in (own, self._claims[row].indices))
                yield TheirTerms(row, person, terms, *marks)

    def _pairs(self, own: Ints, rng: np.random.Generator) -> Ints:
        """Return some of the terms `own`, and for each one of others that is about as common."""
        has, left, drawn = {*own.tolist()}, dict[tuple[int, ...], list[int]](), list[int]()
        for term in rng.permutation(own).tolist():
            block = self.alike[term]
            others = left.setdefault(block, [other for other in block if other not in has])
            if others and len(drawn) < WORDS:
                # By its odds among all people: so of two terms of a block that differ a little in
                # how many have them, each is as often the own one.
                people = self._people[others]
                odds = np.cumsum(people / (len(self.target.profiles) - people))
                drawn += [term, others.pop(int(np.searchsorted(odds, rng.random() * odds[-1])))]
        # In the order of drawing, each own term would stand before the other's.
        return np.sort(np.array(drawn, dtype=np.int64))

    @cached_property
    def _people(self) -> Ints:
        """Return how many people have each term."""
        return np.bincount(self.target.own.indices, minlength=self.target.own.shape[1])

    @cached_property
    def alike(self) -> dict[int, tuple[int, ...]]:
        """Return for each term that people have those that are about as common, and itself."""
        order = np.argsort(self._people, kind="stable")
        order = order[self._people[order] > 0]
        blocks = np.split(order, range(_ALIKE, order.size, _ALIKE))
        return {term: tuple(block.tolist()) for block in blocks for term in block.tolist()}
