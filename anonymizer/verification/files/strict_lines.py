"""The judge's own reader of JSON lines: no name twice, no NaN, no half characters."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Floats, Ints

Record = dict[str, Any]
DIGITS = 6  # of a number that nobody can recount: with more it could be somebody's id


class TermCells(NamedTuple):
    """The terms and weights of records, end to end; record i has ends[i]:ends[i + 1]."""

    ends: Ints
    columns: Ints
    weights: Floats


class LineFault(ValueError):
    """What is wrong with a line, and its number."""

    def __init__(self, number: int, why: object):
        super().__init__(str(why))
        self.number = number


def _refuse_constant(_name: str) -> None:
    raise ValueError("NaN or Infinity is no number")


def _once(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name occurs twice")
    return record


# A hook for each object makes the strict decoder slow.
_fast = json.JSONDecoder(parse_constant=_refuse_constant).decode
_strict = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_once).decode


def read_strictly(content: bytes) -> Any:
    """Return the JSON value of `content`; refuse a name twice, NaN and half characters."""
    value = _strict(content.decode().removeprefix("\ufeff"))
    # Escapes can write half a character (a surrogate), which can't be encoded.
    json.dumps(value, ensure_ascii=False).encode()
    return value


def is_real(value: object) -> bool:
    """Return whether `value` is a finite number, 0 or more, written with a point or exponent."""
    return type(value) is float and math.isfinite(value) and math.copysign(1, value) > 0


def is_short(value: float) -> bool:
    """Return whether `value` has at most 6 digits, without zeros at either end."""
    if type(value) is int:
        return len(str(value).rstrip("0")) <= DIGITS
    return value == float(f"{value:.{DIGITS}g}")


def is_whole(value: object, least: int, most: int) -> bool:
    """Return whether `value` is a whole number from `least` to `most`; true and false are not."""
    return type(value) is int and least <= value <= most


def read_line(line: bytes, like: Record) -> Record:
    """Return the object of `line`: exactly the names of `like`, and values of the same types."""
    # Without a backslash each text of a line has two quotation marks, so their number shows
    # whether a name occurs twice. Only then, and with escapes, is the slow decoder needed.
    if b"\\" in line:
        record = read_strictly(line)
    else:
        record = _fast(line.decode().removeprefix("\ufeff"))
        if line.count(b'"') != 2 * _texts(record):
            record = read_strictly(line)
    if type(record) is not dict or record.keys() != like.keys():
        raise ValueError(f"the names are not exactly {', '.join(like)}")
    for name, value in like.items():
        if type(record[name]) is not type(value):
            raise ValueError(f"{name} must be of type {type(value).__name__}")
    return record


def _texts(record: object) -> int:
    """Return the number of texts in an object of texts, numbers, objects of these, and lists."""
    if type(record) is not dict:
        return 0
    count = len(record)
    for value in record.values():
        if type(value) is dict:
            count += len(value)
        elif type(value) is list:
            inner = [pair for pair in value if type(pair) is list]
            count += sum(type(text) is str for pair in inner for text in pair)
        else:
            count += type(value) is str
    return count


def read_lines(lines: Iterable[bytes], like: Record) -> Iterator[Record]:
    """Yield the record of each of `lines`; its first value must not be empty or occur twice."""
    first = next(iter(like))
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        try:
            record = read_line(line, like)
        except (ValueError, RecursionError) as fault:
            raise LineFault(number, fault) from fault
        if not record[first] or record[first] in seen:
            raise LineFault(
                number, f"the {first} {'occurs twice' if record[first] else 'is empty'}"
            )
        seen.add(record[first])
        yield record
    if not seen:
        raise LineFault(1, "there is no line")


class CellReader:
    """Collects the terms and weights of records, with terms numbered by a given mapping."""

    def __init__(self, number: dict[str, int]):
        self.number = number  # unknown terms are added to it
        self._columns, self._weights, self._ends = array("i"), array("d"), array("q", [0])

    def add(self, terms: Record) -> None:
        """Add the `terms` of the next line's record."""
        # The fast way, if all terms are known.
        try:
            self._columns.extend(list(map(self.number.__getitem__, terms)))
        except KeyError:
            number = self.number
            self._columns.extend([number.setdefault(term, len(number)) for term in terms])
        if not terms or "" in terms:
            raise LineFault(len(self._ends), "a term is empty" if terms else "there is no term")
        if not {*map(type, terms.values())} <= {float, int}:
            raise LineFault(len(self._ends), "a weight is no number")
        try:
            self._weights.extend(terms.values())
        except OverflowError as fault:
            raise LineFault(len(self._ends), "a weight is not finite") from fault
        self._ends.append(len(self._columns))

    def cells(self) -> TermCells:
        """Return all cells; refuse a weight that is not finite and above 0."""
        ends = np.array(self._ends, dtype=np.int64)
        weights = np.frombuffer(self._weights, dtype=np.float64)
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
        if bad.size:
            line = int(np.searchsorted(ends, bad[0], side="right"))
            raise LineFault(line, "a weight is not above 0 and finite")
        return TermCells(ends, np.array(self._columns, dtype=np.int64), weights)
