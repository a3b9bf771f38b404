"""Texts -> counts of their terms: the terms of `Analysis.terms`, but many times faster."""
# Compiled loops cut texts into runs of letters and look each run up in a hash table of the runs
# met so far. Only a new run goes through the analysis.

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints, Marks, Numbers
from ..compiled import compiled
from ..model import Texts
from ..numbering import no_names, number, with_room
from .phrases import Phrases

ROOM = 1 << 15  # runs that the table holds at first
# A full table of this size is emptied: a corpus of typos or endless words must not fill the memory.
MOST_RUNS = 1 << 22
MOST_LETTERS = 1 << 25
CODE_POINTS = "utf-32-le"


class Counts(NamedTuple):
    """Rows of term numbers and their counts, end to end; row i ends at ends[i]."""

    columns: Numbers
    tf: Numbers
    ends: Ints


class RunAnalysis(Protocol):
    """Anything that says which characters make up runs, and which term a run has."""

    @property
    def characters(self) -> Marks:
        """Return a table of all code points: True for those that runs are made of."""

    def term(self, token: str) -> str:
        """Return the term of the run `token`, '' where it has none."""


class TermCounter:
    """Counts terms of texts; terms are numbered as they are met, those of phrases before all."""

    def __init__(self, analysis: RunAnalysis, phrases: Phrases | None = None) -> None:
        self._phrases = phrases or Phrases({})
        known = {term: number for number, term in enumerate(self._phrases.terms)}
        self._number = defaultdict(count(len(known)).__next__, known)
        self._term = analysis.term
        self._names, self._size = with_room(no_names(np.uint32), 0, ROOM, 16 * ROOM), 0
        self._run_terms = np.full(self._names.at.size, -1, dtype=np.int64)  # -1: none
        self._run_words = self._run_terms.copy()  # in phrases
        self._letter = analysis.characters

    @property
    def terms(self) -> list[str]:
        """Return the terms met so far, by number."""
        return list(self._number)

    def count(self, texts: Sequence[str]) -> Counts:
        """Return the counts of the terms of each of `texts`, in order of first occurrence."""
        lowered = [text.lower() for text in texts]
        packed = "".join(f"{text}\0" for text in lowered).encode(CODE_POINTS, "surrogatepass")
        lengths = np.array([len(text) + 1 for text in lowered], dtype=np.int64)
        return self._counts(np.frombuffer(packed, dtype=np.uint32), np.cumsum(lengths))

    def count_packed(self, texts: Texts, numbers: Ints) -> Counts:
        """Return the counts for those of `texts` with these `numbers`."""
        return self.count([texts.text(number) for number in numbers.tolist()])

    def _counts(self, points: NDArray[np.uint32], text_ends: Ints) -> Counts:
        terms, words, starts = self._terms_of(points)
        ends = np.searchsorted(starts, text_ends)
        if self._phrases.terms:
            terms, ends = self._phrases.joined(terms, words, ends)
        text = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0))
        text, terms = text[terms >= 0], terms[terms >= 0]
        keys = text * max(len(self._number), 1) + terms
        _, first, tf = np.unique(keys, return_index=True, return_counts=True)
        in_order = np.argsort(first)
        counted = np.cumsum(np.bincount(text[first], minlength=ends.size))
        return Counts(terms[first[in_order]], tf[in_order].astype(np.int32), counted)

    def _terms_of(self, points: NDArray[np.uint32]) -> tuple[Numbers, Numbers, Ints]:
        """Return the term of each run, its word in phrases (-1: none), and where the run starts."""
        # A character that is no letter separates two runs, so there are at most this many.
        limit = points.size // 2 + 1
        runs, starts = np.empty(limit, dtype=np.int32), np.empty(limit, dtype=np.int64)
        words = np.empty(limit if self._phrases.terms else 0, dtype=np.int32)
        at = done = 0
        while at < points.size:
            known, first = self._size, done
            at, self._size, done = _find(
                points, at, self._letter, self._names, known, runs, starts, done
            )
            for run, word in enumerate(self._words(known), known):
                term = self._term(word)
                self._run_terms[run] = self._number[term] if term else -1
                self._run_words[run] = self._phrases.word(word)
            if words.size:
                words[first:done] = self._run_words[runs[first:done]]
            # From here on these are the runs' terms: a table that is emptied loses its runs.
            runs[first:done] = self._run_terms[runs[first:done]]
            if at < points.size:
                self._make_room()
        return runs[:done], words[:done], starts[:done]

    def _words(self, first: int) -> list[str]:
        """Return the runs from the number `first` on."""
        ends = self._names.at[first : self._size + 1]
        text = self._names.blob[ends[0] : ends[-1]].tobytes().decode(CODE_POINTS)
        return [text[low:high] for low, high in pairwise((ends - ends[0]).tolist())]

    def _make_room(self) -> None:
        """Make the table of runs twice as large, or empty it if it may not grow."""
        runs, letters = self._names.at.size, self._names.blob.size
        # An empty table may grow, as any one run must fit.
        if self._size and (runs >= MOST_RUNS or letters >= MOST_LETTERS):
            self._names, self._size = no_names(np.uint32), 0
            runs, letters = ROOM, 8 * ROOM
        used = int(self._names.at[self._size])
        self._names = with_room(self._names, self._size, 2 * runs - self._size, 2 * letters - used)
        self._run_terms = _longer(self._run_terms, self._names.at.size, -1)
        self._run_words = _longer(self._run_words, self._names.at.size, -1)


def _longer(array: Ints, size: int, value: int) -> Ints:
    return np.concatenate([array[:size], np.full(max(size - array.size, 0), value, np.int64)])


@compiled
def _find(
    points: Any, at: int, letter: Any, names: Any, size: int, runs: Any, starts: Any, done: int
) -> tuple[int, int, int]:
    """Number the runs of letters from `at` on, to the end or until there is no room for more."""
    while True:
        while at < points.size and not letter[points[at]]:
            at += 1
        if at == points.size or size + 1 == names.at.size:
            return at, size, done
        start = at
        while at < points.size and letter[points[at]]:
            at += 1
        if names.at[size] + at - start > names.blob.size:
            return start, size, done
        run = number(points, start, at, names, size)
        if run == size:
            size += 1
        runs[done], starts[done] = run, start
        done += 1
