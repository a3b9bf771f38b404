"""Texts -> counts of their terms: the terms of `Analysis.terms`, but many times faster."""
# Compiled loops cut texts into runs of letters and look each run up in a hash table of the runs
# met so far. Only a new run goes through the analysis.

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import count, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints, Marks, Numbers
from ..compiled import compiled, same
from ..model import Texts
from .phrases import Phrases, joined

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
        self._number: defaultdict[str, int] = defaultdict(count().__next__)
        self._phrases = phrases or Phrases({})
        numbers = [self._number[term] for term in self._phrases.terms]
        self._phrase_numbers = np.array(numbers, dtype=np.int32)
        self._term = analysis.term
        self._table = _RunTable(ROOM, 16 * ROOM)
        self._letter = analysis.characters
        self._last_row = np.full(ROOM, -1, dtype=np.int64)  # term -> the last row that has it
        self._place = np.zeros(ROOM, dtype=np.int64)  # term -> where that row counts it
        self._rows = 0

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
        """Return the counts for the texts with these `numbers`; no string is made for each."""
        lengths = texts.at[numbers + 1] - texts.at[numbers]
        points = np.empty(int(lengths.sum()) + numbers.size, dtype=np.uint32)
        ends = np.empty(numbers.size, dtype=np.int64)
        used = _spread(texts.blob, texts.at, numbers, points, ends)
        # Normalized queries are in lower case, so this slow way is rarely taken.
        if _changes_in_lower_case()[points[:used]].any():
            return self.count([texts.text(number) for number in numbers.tolist()])
        return self._counts(points[:used], ends)

    def _counts(self, points: NDArray[np.uint32], text_ends: Ints) -> Counts:
        terms, words, starts = self._terms_of(points)
        ends = np.searchsorted(starts, text_ends)
        if self._phrases.terms:
            terms, ends = joined(self._phrases.tree, self._phrase_numbers, terms, words, ends)
        if len(self._number) > self._place.size:
            self._last_row = _longer(self._last_row, 2 * len(self._number), -1)
            self._place = _longer(self._place, 2 * len(self._number), 0)
        columns, tf = np.empty_like(terms), np.empty_like(terms)
        counted = np.zeros(ends.size, dtype=np.int64)
        _count(terms, ends, self._rows, self._last_row, self._place, columns, tf, counted)
        self._rows += ends.size
        used = int(counted[-1]) if counted.size else 0
        return Counts(columns[:used].copy(), tf[:used].copy(), counted)

    def _terms_of(self, points: NDArray[np.uint32]) -> tuple[Numbers, Numbers, Ints]:
        """Return the term of each run, its word in phrases (-1: none), and where the run starts."""
        # A character that is no letter separates two runs, so there are at most this many.
        limit = points.size // 2 + 1
        runs, starts = np.empty(limit, dtype=np.int32), np.empty(limit, dtype=np.int64)
        words = np.empty(limit if self._phrases.terms else 0, dtype=np.int32)
        at = done = 0
        while at < points.size:
            table, known, first = self._table, self._table.size, done
            at, table.size, done = _find(
                points, at, self._letter, *table.arrays, table.size, runs, starts, done
            )
            for run, word in enumerate(table.words(known), known):
                term = self._term(word)
                table.terms[run] = self._number[term] if term else -1
                table.words_of_phrases[run] = self._phrases.word(word)
            if words.size:
                words[first:done] = table.words_of_phrases[runs[first:done]]
            # From here on these are the runs' terms: a table that is emptied loses its runs.
            runs[first:done] = table.terms[runs[first:done]]
            if at < points.size:
                self._table = _RunTable(ROOM, 16 * ROOM) if table.is_largest() else table.grown()
        return runs[:done], words[:done], starts[:done]


class _RunTable:
    """A hash table of runs of letters (open addressing), with the letters in an own array."""

    def __init__(self, room: int, letters: int) -> None:
        self.size = 0
        self.terms = np.full(room, -1, dtype=np.int32)
        self.words_of_phrases = np.full(room, -1, dtype=np.int32)
        self._slots = np.full(2 * room, -1, dtype=np.int32)
        self._hashes = np.zeros(room, dtype=np.uint64)
        self._letters = np.zeros(letters, dtype=np.uint32)
        self._ends = np.zeros(room + 1, dtype=np.int64)
        self.arrays = (self._slots, self._hashes, self._letters, self._ends)

    def words(self, first: int) -> list[str]:
        """Return the runs from the number `first` on."""
        ends = self._ends[first : self.size + 1]
        text = self._letters[ends[0] : ends[-1]].tobytes().decode(CODE_POINTS)
        marks = (ends - ends[0]).tolist()
        return [text[low:high] for low, high in pairwise(marks)]

    def is_largest(self) -> bool:
        """Return whether the table may not grow; an empty one may, as any one run must fit."""
        large = self.terms.size >= MOST_RUNS or self._letters.size >= MOST_LETTERS
        return large and self.size > 0

    def grown(self) -> _RunTable:
        """Return a table with the same runs, and twice the room for runs or for letters."""
        room, letters = self.terms.size, self._letters.size
        full = self.size == room
        table = _RunTable(room * (1 + full), letters * (2 - full))
        table.size = self.size
        for old, new in (
            (self.terms, table.terms),
            (self.words_of_phrases, table.words_of_phrases),
            (self._hashes, table._hashes),
            (self._letters, table._letters),
            (self._ends, table._ends),
        ):
            new[: old.size] = old
        _fill(table._slots, table._hashes, table.size)
        return table


@cache
def _changes_in_lower_case() -> Marks:
    """Return a table of all code points: True for those that change in lower case."""
    return np.array([chr(point).lower() != chr(point) for point in range(sys.maxunicode + 1)])


@compiled
def _spread(blob: Any, at: Any, numbers: Any, points: Any, ends: Any) -> Any:
    """Decode texts to code points, with a 0 behind each; return the number of code points."""
    used = 0
    for i in range(numbers.size):
        byte, end = at[numbers[i]], at[numbers[i] + 1]
        while byte < end:
            first = np.uint32(blob[byte])
            more = (first >= 0xC0) + (first >= 0xE0) + (first >= 0xF0)
            point = first if more == 0 else first & np.uint32(0x3F >> more)
            for follower in range(byte + 1, byte + 1 + more):
                point = (point << np.uint32(6)) | np.uint32(blob[follower] & 0x3F)
            points[used] = point
            used += 1
            byte += 1 + more
        points[used] = 0
        used += 1
        ends[i] = used
    return used


def _longer(array: Ints, size: int, value: int) -> Ints:
    return np.concatenate([array, np.full(size - array.size, value, dtype=np.int64)])


@compiled
def _slot_of(
    points: Any, start: int, end: int, key: Any, slots: Any, hashes: Any, letters: Any, ends: Any
) -> Any:
    """Return the slot of a run, or the free one where it belongs."""
    mask = np.uint64(slots.size - 1)
    slot = (key ^ (key >> np.uint64(32))) & mask
    run = slots[slot]
    while run >= 0:
        if hashes[run] == key and same(points, start, end, letters, ends[run], ends[run + 1]):
            break
        slot = (slot + np.uint64(1)) & mask
        run = slots[slot]
    return slot


@compiled
def _find(  # noqa: PLR0913 a compiled loop
    points: Any,
    at: int,
    letter: Any,
    slots: Any,
    hashes: Any,
    letters: Any,
    ends: Any,
    size: int,
    runs: Any,
    starts: Any,
    done: int,
) -> tuple[int, int, int]:
    """Number the runs of letters from `at` on, to the end or until the table is full."""
    while True:
        while at < points.size and not letter[points[at]]:
            at += 1
        if at == points.size:
            return at, size, done
        # The key is the hash FNV-1a of the run's code points.
        start, key = at, np.uint64(14695981039346656037)
        while at < points.size and letter[points[at]]:
            key = (key ^ np.uint64(points[at])) * np.uint64(1099511628211)
            at += 1
        slot = _slot_of(points, start, at, key, slots, hashes, letters, ends)
        if slots[slot] < 0:
            if size == hashes.size or ends[size] + at - start > letters.size:
                return start, size, done
            slots[slot], hashes[size] = size, key
            letters[ends[size] : ends[size] + at - start] = points[start:at]
            ends[size + 1] = ends[size] + at - start
            size += 1
        runs[done], starts[done] = slots[slot], start
        done += 1


@compiled
def _fill(slots: Any, hashes: Any, size: int) -> None:
    """Put the known runs into empty slots."""
    mask = np.uint64(slots.size - 1)
    for run in range(size):
        slot = (hashes[run] ^ (hashes[run] >> np.uint64(32))) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = run


@compiled
def _count(
    terms: Any, ends: Any, row: int, last_row: Any, place: Any, columns: Any, tf: Any, counted: Any
) -> None:
    """Count the terms of each row; a term's count stands where the row has the term first."""
    at = used = 0
    for i in range(ends.size):
        while at < ends[i]:
            term = terms[at]
            at += 1
            if term < 0:
                continue
            if last_row[term] != row + i:
                last_row[term], place[term] = row + i, used
                columns[used], tf[used] = term, 0
                used += 1
            tf[place[term]] += 1
        counted[i] = used
