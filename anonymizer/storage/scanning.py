"""The terms of many lines of JSON, read by one compiled loop.

It knows only the form in which they are written here: `"kitten": 1.0, "puppy": 0.5}}` and a line
end. Whatever is not clearly of this form is left to the strict reader.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from ..arrays import Floats, Ints
from ..compiled import compiled
from ..numbering import no_names, number, reserve, texts, with_room
from .json_lines import Scanned

_QUOTE, _COMMA, _COLON, _BLANK, _END, _DOT = (ord(letter) for letter in '",: }.')
_TENS = 10.0 ** np.arange(16)
_OPENED = b', "terms": {'  # what stands between the other fields of a record and its terms


class TermScanner:
    """Numbers the terms of all lines that it is given."""

    def __init__(self) -> None:
        self._names, self._size, self._rows = no_names(), 0, 0
        self._row_of = np.empty(0, dtype=np.int64)  # term -> the last row that has it

    def scanned(self, block: bytes, lines: Sequence[bytes]) -> tuple[list[bytes], Scanned] | None:
        """Return the `lines` of `block` without their terms, and these; None if unclear."""
        at = [line.find(_OPENED) for line in lines]
        if min(at) < 0 or b"\\" in block:
            return None
        try:
            block.decode()
        except UnicodeDecodeError:
            return None
        ends = np.cumsum([0, *map(len, lines)])
        most = block.count(b'": ')
        self._reserve(most, len(block))
        result = Scanned(np.empty(most, np.int32), np.empty(most), np.zeros(len(lines), np.int64))
        odd = np.empty((most, 3), dtype=np.int64)
        raw, starts = np.frombuffer(block, np.uint8), ends[:-1] + at + len(_OPENED)
        known = (self._names, self._size, self._row_of, self._rows)
        self._size, cells, odds = _scan(raw, starts, ends, *known, *result, odd)
        self._rows += len(lines)
        columns, weights = result.columns[: max(cells, 0)], result.weights[: max(cells, 0)]
        if cells < 0 or not _put(block, odd[:odds], weights):
            return None
        heads = [line[:end] + b"}" for line, end in zip(lines, at, strict=True)]
        return heads, Scanned(columns, weights, result.sizes)

    def number(self, term: str) -> int:
        """Return the number of `term`."""
        text = np.frombuffer(term.encode(), np.uint8)
        self._reserve(1, text.size)
        result = int(number(text, 0, text.size, self._names, self._size))
        if result == self._size:
            self._row_of[result] = -1
            self._size += 1
        return result

    def terms(self) -> list[str]:
        """Return the terms by number; nothing can be numbered after it."""
        return texts(self._names, self._size).strings()

    def _reserve(self, more: int, letters: int) -> None:
        self._names = with_room(self._names, self._size, more, letters)
        reserve(self._row_of, self._size, more)


def _put(block: bytes, odd: Ints, weights: Floats) -> bool:
    """Put the `odd` numbers of `block` into `weights`; return whether all weights are right."""
    spans = odd.tolist()
    try:
        values = orjson.loads(b"[%b]" % b",".join(block[low:high] for _, low, high in spans))
    except ValueError:
        return False
    if len(values) != len(spans) or not {*map(type, values)} <= {int, float}:
        return False
    weights[odd[:, 0]] = values
    # orjson rounds a whole number above the largest float down to it.
    return bool(np.all((weights > 0) & (weights < sys.float_info.max)))


@compiled
def _scan(  # noqa: PLR0913, C901 a compiled loop
    raw: Any,
    starts: Any,
    ends: Any,
    names: Any,
    size: int,
    row_of: Any,
    rows: int,
    columns: Any,
    weights: Any,
    sizes: Any,
    odd: Any,
) -> tuple[int, int, int]:
    """Read the terms of each line; return the counts of terms, cells (-1: unclear), odd numbers."""
    cells, odds = 0, 0
    for line in range(starts.size):
        at, end, first = starts[line], ends[line + 1], cells
        while at < end:
            low = at + 1
            at = low
            while at < end and raw[at] != _QUOTE and raw[at] >= _BLANK:
                at += 1
            opened = raw[low - 1] == _QUOTE and at > low and at + 4 < end and raw[at] == _QUOTE
            if not (opened and raw[at + 1] == _COLON and raw[at + 2] == _BLANK):
                return size, -1, 0
            term = number(raw, low, at, names, size)
            if term == size:
                size += 1
            elif row_of[term] == rows + line:
                return size, -1, 0
            row_of[term], columns[cells] = rows + line, term
            at = _weigh(raw, at + 3, end, cells, weights, odd, odds)
            if weights[cells] < 0:
                odds += 1
            cells += 1
            if at + 2 < end and raw[at] == _COMMA and raw[at + 1] == _BLANK:
                at += 2
                continue
            last = at + 2 == end or (at + 3 == end and raw[at + 2] == 10)
            if not (last and raw[at] == _END and raw[at + 1] == _END):
                return size, -1, 0
            break
        sizes[line] = cells - first
        if not sizes[line]:
            return size, -1, 0
    return size, cells, odds


@compiled
def _weigh(raw: Any, start: int, end: int, cell: int, weights: Any, odd: Any, odds: int) -> int:
    """Read the number at `start` into `weights`, or note it as odd; return where it ends."""
    at, value, places = start, np.int64(0), -1
    while (
        at < end and at - start < 16 and (48 <= raw[at] <= 57 or (raw[at] == _DOT and places < 0))
    ):
        if raw[at] == _DOT:
            places = 0
        else:
            value = value * 10 + np.int64(raw[at]) - 48
            places += places >= 0
        at += 1
    # Up to 15 digits are exact as a float, and so are these powers of ten: the quotient is rounded
    # once, as by the reader of JSON.
    digits = at - start - (places >= 0)
    zero = raw[start] == 48 and at > start + 1 and raw[start + 1] != _DOT
    ended = at < end and (raw[at] == _COMMA or raw[at] == _END)
    if ended and 0 < digits <= 15 and places != 0 and raw[start] != _DOT and not zero:
        weights[cell] = value / _TENS[max(places, 0)]
        return at
    while at < end and raw[at] != _COMMA and raw[at] != _END:
        at += 1
    weights[cell], odd[odds, 0], odd[odds, 1], odd[odds, 2] = -1.0, cell, start, at
    return at
