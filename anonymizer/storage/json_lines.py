"""Lines of JSON, one record per line: read strictly, and written as `as_json` writes them.

orjson reads a line fast, but it is less strict: of a name that occurs twice, it drops the first. So
a line that is not clearly right goes through the strict reader. That reader accepts it after all,
or says what is wrong with it.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BufferedIOBase
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from ..errors import BadInput
from ..model import Profiles
from .records import Record, check_record, read_object

# Cells written at once: larger blocks don't fit the processor's cache.
CELLS = 1 << 14

Fields = dict[str, list[Any]]  # a record's names -> the values of all records


def read_fields(file: BufferedIOBase, path: Path, example: Record) -> Fields:
    """Return the values of all records in `file` by name; the records have no terms."""
    records = [*_records(file, path, example)]
    return {name: [record[name] for record in records] for name in example}


def read_rows(file: BufferedIOBase, path: Path, example: Record) -> tuple[Profiles, list[int]]:
    """Return the rows in `file` by name, and the number of users that each stands for."""
    first = next(iter(example))
    names, users = list[str](), list[int]()
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new term gets the next number
    columns, weights, ends = array("i"), array("d"), array("q", [0])
    for record in _records(file, path, example):
        names.append(record[first])
        users.append(record.get("users", 1))
        columns.extend(map(numbers.__getitem__, record["terms"]))
        weights.extend(record["terms"].values())
        ends.append(len(columns))
    terms = sorted(numbers)
    rank = np.empty(len(terms), dtype=np.int32)
    rank[[numbers[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
    entries = (np.frombuffer(weights), rank[np.frombuffer(columns, np.int32)], np.array(ends))
    matrix = csr_matrix(entries, (len(names), len(terms)))
    return Profiles(tuple(names), tuple(terms), matrix), users


def written_records(content: bytes) -> Iterator[Record]:
    """Yield the record of each line of `content`, which is known to be as we wrote it."""
    return map(orjson.loads, content.splitlines())


def _records(file: Iterable[bytes], path: Path, example: Record) -> Iterator[Record]:
    """Yield the record of each line of `file`, or raise BadInput; `path` names the file."""
    strict = StrictReader(path, example)
    kinds = {name: type(value) for name, value in example.items()}
    first, texts = next(iter(example)), [*kinds.values()].count(str)
    for line in file:
        record = _plain_record(line, kinds, texts)
        if record is None or record[first] in strict.seen:
            record = strict.read(line)
        else:
            strict.skip(record[first])
        yield record
    strict.finish()


def _plain_record(line: bytes, kinds: Mapping[str, type], texts: int) -> Record | None:
    """Return the record in `line` if its values are of `kinds`, `texts` of them texts; else None.

    None says that the line is not clearly right.
    """
    if b"\\" in line or b'""' in line:  # an escape, or an empty text
        return None
    try:
        record: Record = orjson.loads(line)
        if any(type(record[name]) is not kind for name, kind in kinds.items()):
            return None
    except (ValueError, TypeError, LookupError):
        return None
    terms: Mapping[str, float] = record.get("terms", {})
    if "terms" in kinds:
        weights = terms.values()
        if not terms or not {*map(type, weights)} <= {int, float}:
            return None
        # orjson rounds a whole number above the largest float down to it.
        if not 0 < min(weights) <= max(weights) < sys.float_info.max:
            return None
    # Without escapes, each text has two quotation marks. Of a doubled name orjson returns one, so
    # the line has more marks than the texts that are returned.
    return record if line.count(b'"') == 2 * (len(kinds) + texts + len(terms)) else None


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

    def skip(self, first_value: str) -> None:
        """Count a line with this `first_value`, which is known to be right."""
        self._lines += 1
        self.seen.add(first_value)

    def finish(self) -> None:
        """Raise if there was no line."""
        if not self.seen:
            raise BadInput(f"{self._path}: there is no line; {self._remedy}")


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
