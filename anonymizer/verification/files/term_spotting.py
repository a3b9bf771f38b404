"""Which terms the rows of a file seem to have, by a sum over their letters.

Each letter counts times a power of an odd number, modulo 2**64, so the sum over any text is the
difference of two running sums. Different texts may have the same sum, and the file may hold what no
row may. So what is spotted here must be compared with the file byte by byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...arrays import Bytes, Ints

_ODD = 0x9E3779B97F4A7C15  # any odd number of 64 bits
_QUOTE, _NEWLINE = b'"'[0], b"\n"[0]
_AT_ONCE = 1_000_000  # letters
Sums = NDArray[np.uint64]


def spot_terms(content: bytes, terms: Sequence[str], texts_before: int) -> tuple[Ints, Ints] | None:
    """Return where the terms of each line of `content` end, and their numbers; None if unsure."""
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
    sums = _sums(letters, begins, closes)
    encoded = [term.encode() for term in terms]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    closes = np.cumsum(lengths)
    blob = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    known = _sums(blob, closes - lengths, closes)
    order = np.argsort(known)
    known = known[order]
    at = np.minimum(np.searchsorted(known, sums), known.size - 1)
    return (ends, order[at]) if np.array_equal(known[at], sums) else None


def _sums(letters: Bytes, begins: Ints, closes: Ints) -> Sums:
    """Return the sum over each text; the texts ascend."""
    sums = np.empty(begins.size, dtype=np.uint64)
    powers, inverses = (_powers(odd, _AT_ONCE) for odd in (_ODD, pow(_ODD, -1, 2**64)))
    for low, high in _stretches(begins, closes):
        first, last = begins[low], closes[high - 1]
        # A text as long as a book has any sum: the comparison afterwards decides.
        if last - first >= powers.size:
            sums[low] = hash(letters[first:last].tobytes()) % 2**64
            continue
        running = np.zeros(last - first + 1, dtype=np.uint64)
        np.cumsum(letters[first:last] * powers[: last - first], out=running[1:])
        # The inverse power makes a sum independent of the place of its text.
        start = begins[low:high] - first
        sums[low:high] = (running[closes[low:high] - first] - running[start]) * inverses[start]
    return sums


def _stretches(begins: Ints, closes: Ints) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts within _AT_ONCE letters, or of a single text that is longer."""
    low = 0
    while low < begins.size:
        high = int(np.searchsorted(closes, begins[low] + _AT_ONCE, side="right"))
        high = max(high, low + 1)
        yield low, high
        low = high


@cache
def _powers(odd: int, largest: int) -> Sums:
    powers = np.full(largest + 1, odd, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers)
