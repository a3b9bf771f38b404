"""Two games with a release: whose row is this, and which of these words are theirs?

A round's number draws it, so a class can repeat it. Two releases of the same profiles draw the same
person and the same words, as far as both have a row for this person.
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

SUSPECTS, KNOWN, WORDS = 4, 4, 24
_COMMONNESS = 32  # terms that are about as common as one another
_MOST = 1000  # people over whom the formula's figures are counted


class WhoseRow(NamedTuple):
    """A round of the first game: people, one of whom has the row."""

    row: int
    people: tuple[int, ...]  # numbers of profiles
    answer: int  # position in `people`
    guess: Floats  # with which chance the formula names each of `people`


class TheirWords(NamedTuple):
    """A round of the second game: terms, half of which are the person's."""

    row: int
    person: int
    terms: Ints
    own: NDArray[np.bool_]  # by term: whether the person has it
    claimed: NDArray[np.bool_]  # by term: whether the formula claims it


@dataclass(frozen=True, eq=False)
class Attacker:
    """Someone who reads the rows of a release, plays both games, and knows the answers."""

    # The formula believes what rows say of each term. In the first game it knows the terms that are
    # shown of people. In the second it claims a term if the row makes it more likely than usual.
    target: Attacked

    @cached_property
    def players(self) -> Ints:
        """Return the people who are in a group and have terms enough to show."""
        row_of, sizes = self.target.view.row_of, self.target.profiles.sizes
        inside = (row_of >= 0) & (row_of < self.target.release.groups)
        return np.flatnonzero(inside & (sizes >= KNOWN))

    def whose(self, number: int) -> WhoseRow | None:
        """Return round `number` of the first game; None if there are too few people."""
        order, rng = self._drawn(number)
        return next(self._lined_up(order, rng), None)

    def theirs(self, number: int) -> TheirWords | None:
        """Return round `number` of the second game; None if nobody has words enough."""
        order, rng = self._drawn(number)
        return next(self._dealt(order, rng), None)

    @cached_property
    def wins(self) -> float:
        """Return in which share of rounds, one a person, the formula says whose row it is."""
        order, rng = self._drawn(0)
        rounds = self._lined_up(order, rng)
        return float(np.mean([one.guess[one.answer] for one in rounds]))

    @cached_property
    def hits(self) -> float:
        """Return of how many words of a round, one a person, the formula judges rightly."""
        rounds = self._dealt(*self._drawn(0))
        return float(np.mean([np.count_nonzero(one.own == one.claimed) for one in rounds]))

    def strongest(self, row: int, most: int) -> list[tuple[str, float]]:
        """Return up to `most` terms that `row` makes most likelier than usual, with their shares."""
        view = self.target.view
        cells = slice(view.rows.indptr[row], view.rows.indptr[row + 1])
        terms, shares = view.rows.indices[cells], view.rows.data[cells]
        order = np.argsort(view.prior[terms] - shares, kind="stable")[:most]
        names = [self.target.profiles.terms[term] for term in terms[order].tolist()]
        return list(zip(names, shares[order].tolist(), strict=True))

    def shown(self, person: int) -> list[str]:
        """Return the terms that are shown of `person`, the same in all rounds."""
        known = self._known[np.searchsorted(self.players, person)]
        return [self.target.profiles.terms[term] for term in known.indices.tolist()]

    @cached_property
    def _known(self) -> csr_matrix:
        return self.target.knowing(self.players, KNOWN)[1]

    @cached_property
    def _odds(self) -> Floats:
        return row_odds(self.target.view, self._known)

    @cached_property
    def _claims(self) -> csr_matrix:
        return rising(self.target.view)

    def _drawn(self, number: int) -> tuple[Ints, np.random.Generator]:
        """Return the players in the order of round `number`, and a generator for what follows."""
        rng = np.random.default_rng(number)
        order = rng.permutation(len(self.target.profiles))
        return order[np.isin(order, self.players)][:_MOST], rng

    def _lined_up(self, order: Ints, rng: np.random.Generator) -> Iterator[WhoseRow]:
        """Yield a round for each of `order`, with those after them who have another row."""
        row_of = self.target.view.row_of
        for at, victim in enumerate(order.tolist()):
            row, others = int(row_of[victim]), np.roll(order, -at)
            others = others[row_of[others] != row][: SUSPECTS - 1]
            if others.size < SUSPECTS - 1:
                continue
            people = rng.permutation(np.append(others, victim))
            guess = likeliest(self._odds[np.searchsorted(self.players, people), row])
            yield WhoseRow(row, tuple(people.tolist()), people.tolist().index(victim), guess)

    def _dealt(self, order: Ints, rng: np.random.Generator) -> Iterator[TheirWords]:
        """Yield a round for each of `order` who has words enough, each with another's like it."""
        for person in order.tolist():
            terms = self._pairs(person, rng)
            if terms.size == WORDS:
                row = int(self.target.view.row_of[person])
                own, claimed = (
                    matrix[at].toarray()[0, terms] > 0
                    for matrix, at in ((self.target.own, person), (self._claims, row))
                )
                yield TheirWords(row, person, terms, own, claimed)

    def _pairs(self, person: int, rng: np.random.Generator) -> Ints:
        """Return terms of `person`, and for each a term that others have about as often.

        A term of others is drawn by its odds among all people. So of two terms that are about as
        common, each is as often the own one as the other's.
        """
        has = self.target.own[person].toarray()[0] > 0
        left, drawn = dict[int, list[int]](), list[int]()
        for term in rng.permutation(np.flatnonzero(has)).tolist():
            block = int(self._blocks[term])
            alike = np.flatnonzero((self._blocks == block) & ~has) if block not in left else ()
            others = left.setdefault(block, [*map(int, alike)])
            if others and len(drawn) < WORDS:
                odds = self._usual[others]
                drawn += [term, others.pop(rng.choice(len(others), p=odds / odds.sum()))]
        return np.sort(np.array(drawn, dtype=np.int64))

    @cached_property
    def _people(self) -> Floats:
        """Return how many people have each term."""
        return np.bincount(self.target.own.indices, minlength=self.target.own.shape[1]) * 1.0

    @cached_property
    def _usual(self) -> Floats:
        people = self._people
        odds: Floats = people / np.maximum(len(self.target.profiles) - people, 1)
        return odds

    @cached_property
    def _blocks(self) -> Ints:
        """Return a number for each term, the same for terms that are about as common."""
        blocks = np.full(self._people.size, -1)
        order = np.argsort(self._people, kind="stable")
        order = order[self._people[order] > 0]
        blocks[order] = np.arange(order.size) // _COMMONNESS
        return blocks
