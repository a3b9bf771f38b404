"""Lines of JSON, one record per line: read strictly, and written as `as_json` writes them.

orjson reads whole blocks of lines fast, but it is less strict: of a name that occurs twice, it
drops the first. A compiled loop reads the terms, and knows one form only. So a block that is not
clearly right goes through the strict reader line by line. That reader accepts it after all, or says
what is wrong with which line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedIOBase, BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints, Numbers
from ..errors import BadInput
from ..model import Profiles
from .records import Record, check_record, read_object

# Bytes read and cells written at once: larger blocks don't fit the processor's cache.
BLOCK = 1 << 17
CELLS = 1 << 14

Fields = dict[str, list[Any]]  # a record's names -> the values of all records


class Scanned(NamedTuple):
    """The terms of some lines: their numbers and weights, and how many each line has."""

    columns: Numbers
    weights: Floats
    sizes: Ints


def read_fields(file: BufferedIOBase, path: Path, example: Record) -> Fields:
    """Return the values of all records in `file` by name, without terms."""
    return _read(file, path, example).fields


def read_rows(file: BufferedIOBase, path: Path, example: Record) -> tuple[Profiles, list[int]]:
    """Return the rows in `file` by name, and the number of users that each stands for."""
    reading = _read(file, path, example)
    names = reading.fields[next(iter(example))]
    return reading.rows(names), reading.fields.get("users", [1] * len(names))


def written_records(content: bytes) -> Iterator[Record]:
    """Yield the record of each line of `content`, which is known to be as we wrote it."""
    return map(orjson.loads, content.splitlines())


def _read(file: BufferedIOBase, path: Path, example: Record) -> _Reading:
    reading = _Reading(path, example)
    while block := file.read(BLOCK) + file.readline():
        reading.read(block)
    reading.strict.finish()
    return reading


class StrictReader:
    """Reads one record per line, which must be like the example; no first value may occur twice."""

    def __init__(self, path: Path, example: Record) -> None:
        self.seen: set[str] = set()  # first values
        self._path, self._example, self._lines = path, example, 0
        self._remedy = f"each line must look like {json.dumps(example)}"

    def read(self, line: bytes) -> Record:
        """Return the record of the next `line`, or raise BadInput."""
        self._lines += 1
        first = next(iter(self._example))
        try:
            record = read_object(line)
            check_record(record, self._example)
            if not record[first] or record[first] in self.seen:
                raise ValueError(f"the {first} {'occurs twice' if record[first] else 'is empty'}")
        except (ValueError, RecursionError) as fault:
            where = f"{self._path}, line {self._lines}"
            raise BadInput(f"{where}: {fault}; {self._remedy}") from fault
        self.seen.add(record[first])
        return record

    def skip(self, first_values: Sequence[str]) -> None:
        """Count lines with these `first_values`, which are known to be right."""
        self._lines += len(first_values)
        self.seen.update(first_values)

    def finish(self) -> None:
        """Raise if there was no line."""
        if not self.seen:
            raise BadInput(f"{self._path}: there is no line; {self._remedy}")


class _Reading:
    """The records that were read so far."""

    def __init__(self, path: Path, example: Record) -> None:
        self.strict = StrictReader(path, example)
        self.fields: Fields = {name: [] for name in example if name != "terms"}
        self._example = example
        # Imported here: what only opens a workspace loads no compiled loops.
        from .scanning import TermScanner

        self._scanner = TermScanner()
        self._columns: list[Numbers] = []
        self._weights: list[Floats] = []
        self._sizes: list[Ints] = []

    def read(self, block: bytes) -> None:
        """Read the whole lines of `block`."""
        lines = BytesIO(block).readlines()
        scanned = self._scanner.scanned(block, lines) if "terms" in self._example else (lines, None)
        columns = self._at_once(scanned[0]) if scanned else None
        if scanned and columns:
            self.strict.skip(columns[next(iter(columns))])
            self._add(columns, scanned[1])
            return
        records = [self.strict.read(line) for line in lines]
        terms: list[dict[str, float]] = [record.pop("terms", {}) for record in records]
        numbers = [self._scanner.number(term) for row in terms for term in row]
        weights = np.array([weight for row in terms for weight in row.values()], dtype=np.float64)
        cells = Scanned(np.array(numbers, dtype=np.int32), weights, np.array([*map(len, terms)]))
        self._add({name: [record[name] for record in records] for name in self.fields}, cells)

    def _add(self, columns: Fields, cells: Scanned | None) -> None:
        """Add lines by their `columns` and the `cells` of their terms."""
        if cells:
            self._columns.append(cells.columns)
            self._weights.append(cells.weights)
            self._sizes.append(cells.sizes)
        for name, known in self.fields.items():
            known.extend(columns[name])

    def _at_once(self, lines: Sequence[bytes]) -> Fields | None:
        """Return the values of `lines` without terms by name; None if unclear."""
        # Without escapes, each text has two quotation marks. Of a doubled name orjson returns one,
        # so the lines have more marks than the texts that are returned.
        block = b"".join(lines)
        if b"\\" in block or b'""' in block:  # an escape, or an empty text
            return None
        try:
            records = [*map(orjson.loads, lines)]
            columns = {name: [record[name] for record in records] for name in self.fields}
        except (ValueError, TypeError, LookupError):
            return None
        kinds = {name: type(self._example[name]) for name in self.fields}
        if any({*map(type, columns[name])} != {kind} for name, kind in kinds.items()):
            return None
        first = {*columns[next(iter(columns))]}
        texts = (len(kinds) + [*kinds.values()].count(str)) * len(lines)
        alone = len(first) == len(lines) and first.isdisjoint(self.strict.seen)
        return columns if alone and block.count(b'"') == 2 * texts else None

    def rows(self, names: Sequence[str]) -> Profiles:
        """Return the rows, their terms in sorted order."""
        ends = np.concatenate([[0], np.cumsum(_taken(self._sizes))])
        terms, columns = self._scanner.terms(), _taken(self._columns)
        used = np.flatnonzero(np.bincount(columns, minlength=len(terms))).tolist()
        by_name = sorted(used, key=terms.__getitem__)
        rank = np.empty(len(terms), dtype=np.int32)
        rank[by_name] = np.arange(len(by_name), dtype=np.int32)
        entries = (_taken(self._weights), rank[columns], ends)
        matrix = csr_matrix(entries, (len(names), len(by_name)))
        return Profiles(tuple(names), tuple(terms[number] for number in by_name), matrix)


def _taken(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the parts as one array, and free them."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def record_lines(columns: Mapping[str, Sequence[object]]) -> Iterator[bytes]:
    """Yield one line per record; `columns` has the values of all records by name."""
    for head in _heads(columns):
        yield f"{head}}}\n".encode()


def row_lines(rows: Profiles, columns: Mapping[str, Sequence[object]]) -> Iterator[bytes]:
    """Yield blocks of lines, one line for each of `rows`: its `columns`, then its sorted terms."""
    rows = rows.in_order()
    heads = [f'{head}, "terms": {{'.encode() for head in _heads(columns)]
    names = np.array([f", {text}: ".encode() for text in json_texts(rows.terms)], dtype=np.object_)
    ends: Ints = rows.weights.indptr.astype(np.int64)
    marks = np.searchsorted(ends, np.arange(0, ends[-1], CELLS), side="right")
    # Each block has about CELLS cells; a longer row is a block of its own.
    for low, high in pairwise(sorted({0, *np.minimum(marks, len(rows)).tolist(), len(rows)})):
        cells = slice(ends[low], ends[high])
        parts = [b""] * (2 * (cells.stop - cells.start))
        parts[::2] = names[rows.weights.indices[cells]].tolist()
        parts[1::2] = _digits(rows.weights.data[cells])
        starts = (2 * (ends[low:high] - cells.start)).tolist()
        for first, head in zip(starts, heads[low:high], strict=True):
            parts[first] = b"}}\n" * (first > 0) + head + parts[first].removeprefix(b", ")
        yield b"".join([*parts, b"}}\n"])


def json_texts(values: Sequence[object]) -> list[str]:
    """Return each of `values` as JSON."""
    if not values:
        return []
    # One call writes all: JSON escapes line ends in texts, so a line end can separate the values.
    texts = json.dumps(list(values), ensure_ascii=False, allow_nan=False, separators=("\n", ": "))
    return texts[1:-1].split("\n")


def _heads(columns: Mapping[str, Sequence[object]]) -> Iterator[str]:
    """Return the text of each record without its last brace."""
    pattern = "{" + ", ".join(f'"{name}": %s' for name in columns)
    texts = [json_texts(values) for values in columns.values()]
    return (pattern % values for values in zip(*texts, strict=True))


def _digits(weights: Floats) -> list[bytes]:
    """Return weights as Python writes them."""
    # orjson is faster, but writes exponents in another way, where there are any.
    texts = orjson.dumps(weights, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].split(b",")
    for at in np.flatnonzero((weights < 1e-4) | (weights >= 1e16)).tolist():
        texts[at] = repr(float(weights[at])).encode()
    return texts
