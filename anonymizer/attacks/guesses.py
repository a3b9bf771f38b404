"""What the attacker "column" of inference guesses of people: terms, and which are right."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from ..model import Profiles, Release
from .attacked import best_first
from .reading import View, having, view_of


class Guess(NamedTuple):
    """A term that somebody takes for a victim's, and whether it is."""

    term: str
    right: bool


@dataclass(frozen=True, eq=False)
class ColumnReader:
    """Someone who has learnt which row is a victim's, and reads each of its terms by itself.

    All members of a row get the same guesses.
    """

    profiles: Profiles
    release: Release

    @cached_property
    def _view(self) -> View:
        return view_of(self.profiles, self.release)

    @cached_property
    def _own(self) -> csr_matrix:
        return having(self.profiles)

    def guesses(self, user: str, best: int) -> list[Guess]:
        """Return the `best` guesses about `user`, the surest first; none without a row."""
        person = self.profiles.row_of.get(user, -1)
        row = self._view.row_of[person] if person >= 0 else -1
        if row < 0:
            return []
        # Guesses are of the row: they would be the same for any other member.
        own = set(self._own.indices[slice(*self._own.indptr[person : person + 2])].tolist())
        terms = self._best(int(row), best).tolist()
        return [Guess(self.profiles.terms[term], term in own) for term in terms]

    def right(self, best: int) -> Floats:
        """Return for everybody who has a row how many of the `best` guesses are right."""
        view = self._view
        numbers, number_of = np.unique(view.row_of[view.served], return_inverse=True)
        guessed = [self._best(row, best) for row in numbers.tolist()]
        ends = np.cumsum([0, *(terms.size for terms in guessed)])
        shape = (numbers.size, view.prior.size)
        marks = csr_matrix((np.ones(ends[-1]), np.concatenate(guessed), ends), shape=shape)
        right = self._own[view.served].multiply(marks[number_of]).sum(axis=1)
        return np.asarray(right, dtype=np.float64).ravel()

    def usual(self, best: int) -> float:
        """Return how many guesses would be right, on average, if `best` were the most common."""
        return float(np.sort(self._view.prior)[-best:].sum())

    def _best(self, row: int, best: int) -> Ints:
        terms, chance = self._view.believed(row)
        order = best_first(self._view.prior[terms], chance, np.zeros(terms.size, dtype=np.int64))
        return terms[order[:best]]
