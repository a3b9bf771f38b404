"""Which terms the rows of a file seem to have: told by a sum over their letters, not strictly.

Each letter counts times a power of an odd number, modulo 2**64, so that the sum over any text is
the difference of two running sums. Texts that differ may come to the same sum, and the file may
hold what no row may: what is spotted here must be held against the file byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .finding import Ints

_ODD = 0x9E3779B97F4A7C15  # any odd number of 64 bits
_QUOTE, _NEWLINE = b'"'[0], b"\n"[0]
_AT_ONCE = 1_000_000  # letters
Sums = NDArray[np.uint64]
Letters = NDArray[np.uint8]


class Spotted(NamedTuple):
    """The terms of each line, as they are numbered; line i has ends[i]:ends[i + 1]."""

    ends: Ints
    columns: Ints


def spot_terms(content: bytes, terms: Sequence[str], texts_before: int) -> Spotted | None:
    """Return the terms on each line, which stand behind so many other texts; nothing if unsure."""
    letters = np.frombuffer(content, dtype=np.uint8)
    if b"\\" in content or not content.endswith(b"\n"):
        return None
    quotes = np.flatnonzero(letters == _QUOTE)
    lines = np.append(0, np.flatnonzero(letters == _NEWLINE) + 1)
    edges = np.searchsorted(quotes, lines)
    sizes, odd = np.divmod(np.diff(edges) - 2 * texts_before, 2)
    if odd.any() or sizes.min() < 0:
        return None
    ends = np.append(0, np.cumsum(sizes))
    place = np.repeat(edges[:-1] + 2 * texts_before - 2 * ends[:-1], sizes)
    place += 2 * np.arange(ends[-1])
    begins, closes = quotes[place] + 1, quotes[place + 1]
    columns = _numbers(_sums(letters, begins, closes), terms)
    return None if columns is None else Spotted(ends, columns)


def _numbers(sums: Sums, terms: Sequence[str]) -> Ints | None:
    """Return the number of the term that has each sum; nothing if none has one of them."""
    encoded = [term.encode() for term in terms]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    closes = np.cumsum(lengths)
    blob = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    known = _sums(blob, closes - lengths, closes)
    order = np.argsort(known)
    known = known[order]
    at = np.minimum(np.searchsorted(known, sums), known.size - 1)
    return order[at] if np.array_equal(known[at], sums) else None


def _sums(letters: Letters, begins: Ints, closes: Ints) -> Sums:
    """Return the sum over each text; texts follow one another."""
    sums = np.empty(begins.size, dtype=np.uint64)
    powers, inverses = (_powers(odd) for odd in (_ODD, pow(_ODD, -1, 2**64)))
    for low, high in _stretches(begins, closes):
        first, last = begins[low], closes[high - 1]
        if last - first >= powers.size:  # a text as long as a book
            sums[low] = hash(letters[first:last].tobytes()) % 2**64
            continue
        running = np.zeros(last - first + 1, dtype=np.uint64)
        np.cumsum(letters[first:last] * powers[: last - first], out=running[1:])
        start = begins[low:high] - first
        sums[low:high] = (running[closes[low:high] - first] - running[start]) * inverses[start]
    return sums


def _stretches(begins: Ints, closes: Ints) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts that lie within so many letters; or one that alone is longer."""
    low = 0
    while low < begins.size:
        high = int(np.searchsorted(closes, begins[low] + _AT_ONCE, side="right"))
        high = max(high, low + 1)
        yield low, high
        low = high


def _powers(odd: int) -> Sums:
    powers = np.full(_AT_ONCE + 1, odd, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers)
