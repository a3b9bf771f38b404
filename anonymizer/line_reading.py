"""Lines of JSON -> columns and rows: strict, and fast where lines have the form that is written.

Blocks of lines are scanned by compiled code. Whatever line has another form, right or wrong, goes
through the strict reader in its place, which tells what is wrong with it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from io import BufferedIOBase
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .line_scanning import (
    LEAST_CELL,
    TERMS,
    WHOLE,
    Scanned,
    cut,
    empty_table,
    forgotten,
    scan,
    shape_of,
    texts_of,
    with_room,
)
from .model import Floats, Profiles
from .records import Record, StrictReader

BLOCK = 1 << 20  # bytes
MOST_NUMBERS = 1 << 16  # distinct ones that are kept from block to block

Fields = dict[str, list[Any]]


def read_fields(file: BufferedIOBase, path: Path, example: Record) -> Fields:
    """Return the records' values by name; terms are left out."""
    return _read(file, path, example).fields


def read_rows(file: BufferedIOBase, path: Path, example: Record) -> tuple[Profiles, list[int]]:
    """Return the rows by name, and how many users each stands for."""
    reading = _read(file, path, example)
    names = reading.fields[next(iter(example))]
    return reading.rows(names), reading.fields.get("users", [1] * len(names))


def _read(file: BufferedIOBase, path: Path, example: Record) -> _Reading:
    reading = _Reading(path, example)
    while block := file.read(BLOCK) + file.readline():
        reading.read(block)
    reading.strict.finish()
    return reading


class _Reading:
    """What has been read so far."""

    def __init__(self, path: Path, example: Record) -> None:
        self.strict = StrictReader(path, example)
        self.fields: Fields = {name: [] for name in example if name != "terms"}
        self._first = next(iter(example))
        self._shape = shape_of(example)
        self._names, self._tokens = empty_table(), empty_table()
        self._number: dict[str, int] = {}  # term -> column
        self._column = np.empty(0, dtype=np.int32)  # the same by the number in the table
        self._value = np.empty(0)  # by the number in the table; NaN if it is no good weight
        self._lines = 0
        self._columns: list[NDArray[np.int32]] = []
        self._weights: list[Floats] = []
        self._sizes: list[NDArray[np.int64]] = []

    def read(self, block: bytes) -> None:
        """Read whole lines."""
        most = len(block) // LEAST_CELL + 1
        if self._tokens.size[0] > MOST_NUMBERS:
            forgotten(self._tokens)
            self._value = np.empty(0)
        self._names = with_room(self._names, most, len(block))
        self._tokens = with_room(self._tokens, most, len(block))
        scanned, starts = scan(block, self._shape, self._lines, self._names, self._tokens)
        fine = scanned.fine & _is_utf8(block)
        if fine.any():
            self._learn()
            fine &= self._weighed(scanned)
        for low, high in _runs(fine):
            if not (fine[low] and self._add(block, scanned, low, high)):
                ends = starts[low : high + 1].tolist()
                self._add_strictly(block, ends, self._lines + low + 1)
        self._lines += starts.size - 1

    def rows(self, names: Sequence[str]) -> Profiles:
        """Return the rows, their terms in sorted order."""
        terms = sorted(self._number)
        rank = np.empty(len(terms), dtype=np.int32)
        rank[[self._number[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
        columns = rank[_taken(self._columns)]
        ends = np.concatenate([[0], np.cumsum(_taken(self._sizes))])
        entries = (_taken(self._weights), columns, ends)
        matrix = csr_matrix(entries, shape=(len(names), len(terms)))
        return Profiles(tuple(names), tuple(terms), matrix)

    def _learn(self) -> None:
        """Give each new text its column, each new number its value."""
        new = texts_of(self._names, self._column.size)
        columns = [self._number.setdefault(term, len(self._number)) for term in new]
        self._column = np.append(self._column, np.array(columns, dtype=np.int32))
        values = _values(texts_of(self._tokens, self._value.size))
        self._value = np.append(self._value, values)

    def _weighed(self, scanned: Scanned) -> NDArray[np.bool_]:
        """Mark the lines whose weights are all above 0 and finite."""
        used = scanned.cells[-1]
        bad = np.flatnonzero(np.isnan(self._value))
        at = np.flatnonzero(np.isin(scanned.weights[:used], bad)) if bad.size else bad
        good = np.ones(scanned.fine.size, dtype=np.bool_)
        good[np.searchsorted(scanned.cells, at, side="right") - 1] = False
        return good

    def _add(self, block: bytes, scanned: Scanned, low: int, high: int) -> bool:
        """Add lines that were taken apart; False, with nothing added, if a first value is known."""
        found = {
            name: _field(block, scanned.spans[low:high, 2 * at : 2 * at + 2], kind)
            for at, (name, kind) in enumerate(
                zip(self.strict.names, self._shape.kinds, strict=True)
            )
            if kind != TERMS
        }
        if not self.strict.accept(found[self._first]):
            return False
        for name, values in found.items():
            self.fields[name] += values
        cells = slice(scanned.cells[low], scanned.cells[high])
        self._columns.append(self._column[scanned.terms[cells]])
        self._weights.append(self._value[scanned.weights[cells]])
        self._sizes.append(np.diff(scanned.cells[low : high + 1]))
        return True

    def _add_strictly(self, block: bytes, ends: list[int], first_line: int) -> None:
        """Add lines that only the strict reader can judge."""
        columns: list[int] = []
        weights: list[float] = []
        sizes = []
        for line, start in enumerate(ends[:-1]):
            record = self.strict.read(block[start : ends[line + 1]], first_line + line)
            for name, values in self.fields.items():
                values.append(record[name])
            terms = record.get("terms", {})
            columns += [self._number.setdefault(term, len(self._number)) for term in terms]
            weights += terms.values()
            sizes.append(len(terms))
        self._columns.append(np.array(columns, dtype=np.int32))
        self._weights.append(np.array(weights, dtype=np.float64))
        self._sizes.append(np.array(sizes, dtype=np.int64))


def _taken(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Put parts together and let go of them."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def _is_utf8(block: bytes) -> bool:
    try:
        return block.isascii() or bool(block.decode())
    except UnicodeDecodeError:
        return False


def _runs(fine: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines that are alike."""
    marks = [0, *(np.flatnonzero(np.diff(fine)) + 1).tolist(), fine.size]
    yield from pairwise(marks)


def _field(block: bytes, spans: NDArray[np.int64], kind: int) -> list[Any]:
    """Return a field's values in some lines."""
    if kind == WHOLE:
        whole: list[Any] = spans[:, 1].tolist()
        return whole
    low, high = int(spans[0, 0]), int(spans[-1, 1])
    return cut(block[low:high], (spans - low).ravel().tolist())[::2]


def _values(tokens: list[str]) -> Floats:
    """Return what numbers say, NaN for what is no weight."""
    try:
        values = np.array(json.loads(f"[{','.join(tokens)}]"), dtype=np.float64)
    except ValueError:
        values = np.array([_value(token) for token in tokens], dtype=np.float64)
    values[~((values > 0) & (values <= sys.float_info.max))] = np.nan
    return values


def _value(token: str) -> float:
    try:
        return float(json.loads(token))
    except ValueError:
        return 0.0
