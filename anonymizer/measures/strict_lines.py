"""The judge's own reading of JSON lines: no name twice, no NaN, no half characters."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .finding import Floats, Ints

Record = dict[str, Any]
Numbering = Callable[[str], int]


class Cells(NamedTuple):
    """The terms and weights of records, end to end; record i has ends[i]:ends[i + 1]."""

    ends: Ints
    columns: Ints
    weights: Floats


class Fault(ValueError):
    """What is wrong with a line, by its number."""

    def __init__(self, number: int, why: object):
        super().__init__(str(why))
        self.number = number


def _refuse_constant(_name: str) -> None:
    raise ValueError("NaN or Infinity is no number")


def _once(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name stands twice")
    return record


_fast = json.JSONDecoder(parse_constant=_refuse_constant).decode
_strict = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_once).decode


def read_strictly(content: bytes) -> Any:
    """Read a JSON value: no name twice, no NaN, no half characters."""
    value = _strict(content.decode().removeprefix("\ufeff"))
    json.dumps(value, ensure_ascii=False).encode()  # half characters can't be encoded
    return value


def is_number(value: object) -> bool:
    """Tell whether a value is a finite number; true and false are none."""
    return type(value) is int or (type(value) is float and math.isfinite(value))


def is_whole(value: object, least: int, most: int) -> bool:
    """Tell whether a value is a whole number in a range; true and false are none."""
    return type(value) is int and least <= value <= most


def read_line(line: bytes, like: Record) -> Record:
    """Read an object that has exactly the names of the example, with values of the same types.

    Without a backslash each text of a line has two quotation marks, so that their number tells
    whether a name stands twice: only then, and where there are escapes, is the slow way taken.
    """
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
    """Count the texts in an object of texts, numbers and objects of numbers."""
    if type(record) is not dict:
        return 0
    inner = sum(len(value) for value in record.values() if type(value) is dict)
    return len(record) + inner + sum(type(value) is str for value in record.values())


def read_lines(lines: Iterable[bytes], like: Record) -> Iterator[Record]:
    """Yield each line's record; its first value is not empty and stands once."""
    first = next(iter(like))
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        try:
            record = read_line(line, like)
        except (ValueError, RecursionError) as fault:
            raise Fault(number, fault) from fault
        if not record[first] or record[first] in seen:
            raise Fault(number, f"the {first} {'stands twice' if record[first] else 'is empty'}")
        seen.add(record[first])
        yield record
    if not seen:
        raise Fault(1, "there is no line")


class CellReader:
    """Collects the terms and weights of records, with terms numbered by the given mapping."""

    def __init__(self, number: dict[str, int]):
        self.number = number  # grows by the terms it does not know
        self._columns, self._weights, self._ends = array("i"), array("d"), array("q", [0])

    def add(self, terms: Record) -> None:
        """Take in one record's terms; line numbers are counted along."""
        try:
            self._columns.extend(list(map(self.number.__getitem__, terms)))
        except KeyError:
            number = self.number
            self._columns.extend([number.setdefault(term, len(number)) for term in terms])
        if not terms or "" in terms:
            raise Fault(len(self._ends), "a term is empty" if terms else "there is no term")
        if not {*map(type, terms.values())} <= {float, int}:
            raise Fault(len(self._ends), "a weight is no number")
        try:
            self._weights.extend(terms.values())
        except OverflowError as fault:
            raise Fault(len(self._ends), "a weight is not finite") from fault
        self._ends.append(len(self._columns))

    def cells(self) -> Cells:
        """Return all that was collected; every weight is finite and above 0."""
        ends = np.array(self._ends, dtype=np.int64)
        weights = np.frombuffer(self._weights, dtype=np.float64)
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
        if bad.size:
            line = int(np.searchsorted(ends, bad[0], side="right"))
            raise Fault(line, "a weight is not above 0 and finite")
        return Cells(ends, np.array(self._columns, dtype=np.int64), weights)
