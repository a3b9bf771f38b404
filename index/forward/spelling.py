"""Terms that are spelled almost like a word, or begin like it; the most frequent first.

An edit inserts, drops or replaces a letter, or swaps two neighbours. The time is bounded: only the
most frequent terms take part, and of these only COMPARED are compared letter by letter.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from heapq import nsmallest
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ..model import Ints

MOST_TERMS = 100_000  # of an index, the most frequent ones
COMPARED = 1000  # terms that are compared with a word letter by letter
SHORTEST, LONGEST = 3, 20  # characters of a word that may be a slip
LONG = 6  # characters from which on a word may have two slips

Near = NDArray[np.uint8]


class Spelling:
    """The dictionary of an index, prepared for comparing."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = [term for term in terms[:MOST_TERMS] if 0 < len(term) <= LONGEST + 2]
        self._places = sorted(range(len(self._terms)), key=self._terms.__getitem__)
        self._by_name = [self._terms[place] for place in self._places]
        self._lengths = np.fromiter(map(len, self._terms), np.int8, len(self._terms))
        self._starts = np.array([0, *accumulate(self._lengths.tolist())], dtype=np.int64)
        self._letters = _codes("".join(self._terms))
        # A bit for each letter that a term has; an edit changes at most two of them.
        self._bits = _bits(self._letters)
        if self._terms:
            self._bits = np.bitwise_or.reduceat(self._bits, self._starts[:-1])

    def nearest(self, word: str, most: int = 5) -> list[str]:
        """Return at most `most` terms that are one edit from `word`, the most frequent first.

        If there are none, a long word may be two edits away. The word itself is near, too.
        """
        if not SHORTEST <= len(word) <= LONGEST:
            return []
        wanted = _codes(word)
        for edits in range(1, 2 + (len(word) >= LONG)):
            places = self._alike(wanted, edits)
            near = places[self._edits(wanted, places, edits) <= edits]
            if near.size:
                return [self._terms[place] for place in near[:most].tolist()]
        return []

    def beginning(self, prefix: str, most: int = 5) -> list[str]:
        """Return the `most` most frequent terms that begin with `prefix`, itself not among them."""
        # No character comes after the last one of Unicode.
        first = bisect_right(self._by_name, prefix)
        last = bisect_left(self._by_name, f"{prefix}\U0010ffff")
        terms = nsmallest(most, range(first, last), key=self._places.__getitem__)
        return [self._by_name[at] for at in terms]

    def _alike(self, wanted: NDArray[np.uint32], edits: int) -> Ints:
        """Return the most frequent terms whose length and letters allow so few `edits`."""
        close = np.abs(self._lengths - wanted.size) <= edits
        apart = self._bits ^ np.bitwise_or.reduce(_bits(wanted))
        close &= np.bitwise_count(apart) <= 2 * edits
        return np.flatnonzero(close)[:COMPARED]

    def _edits(self, wanted: NDArray[np.uint32], places: Ints, most: int) -> Near:
        """Return how many edits each term of `places` is away; above `most` it is not exact."""
        lengths, width = self._lengths[places], wanted.size + most
        # What follows a term's own letters is another's, but no edit of this term depends on it.
        at = self._starts[places] + np.arange(width)[:, None]
        letters = self._letters[np.minimum(at, self._letters.size - 1)]
        far = np.full(places.size, most + 1, dtype=np.uint8)
        before: list[Near] = []
        last = [np.minimum(far, end) for end in range(width + 1)]
        # A term's end is more than `most` letters away outside this band.
        for row in range(1, wanted.size + 1):
            now = [far if row > most else np.full_like(far, row)] + [far] * width
            for end in range(max(1, row - most), min(width, row + most) + 1):
                other = letters[end - 1] != wanted[row - 1]
                best = np.minimum(np.minimum(last[end], now[end - 1]) + 1, last[end - 1] + other)
                if row > 1 and end > 1:
                    swapped = letters[end - 1] == wanted[row - 2]
                    swapped &= letters[end - 2] == wanted[row - 1]
                    best = np.where(swapped, np.minimum(best, before[end - 2] + 1), best)
                now[end] = best
            before, last = last, now
        return np.array(last)[lengths, np.arange(places.size)]


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)


def _bits(letters: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return np.uint32(1) << (letters & np.uint32(31))
