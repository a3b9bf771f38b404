"""Rows of an experiment as text, one line per question, unit, mode and pool; and back. [I/O]"""
# A value has up to 12 decimals, as it was rounded when measured, so it is read back unchanged. An
# undefined value is empty in CSV and null in JSON.

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.arrays import Ints
from anonymizer.storage.records import csv_text

from ...errors import UsageError
from ...measures.precision import MEASURES
from ...measures.relevance import RELEVANCE
from ..design import Unit
from ..outcomes import Block

HEAD = ("unit", "mode", "pool", "person", "query", "hits")
COLUMNS = (*HEAD, *MEASURES)
LABELLED = (*COLUMNS, *RELEVANCE)  # where queries have relevance of their own
Blocks = Mapping[tuple[str, str, int], Block]


def csv_rows(blocks: Sequence[Block], person: Ints) -> Iterator[bytes]:
    """Yield the head, then all lines of each of `blocks`; `person` is each query's person."""
    yield (",".join(_columns(blocks)) + "\n").encode()
    for block in blocks:
        begin = f"{block.unit},{block.mode},{block.pool},"
        cells = _cells(block, person, "")
        yield "".join(f"{begin}{','.join(row)}\n" for row in zip(*cells, strict=True)).encode()


def _columns(blocks: Sequence[Block]) -> tuple[str, ...]:
    return (*HEAD, *blocks[0].values) if blocks else COLUMNS


def csv_units(units: Sequence[Mapping[str, Any]]) -> bytes:
    """Return CSV with one line per unit, to join to the rows: its tables, parameters and facts."""
    plain = ("method", "seed", "weights", "vectors")
    given, facts = (
        list(dict.fromkeys(name for unit in units for name in unit[part]))
        for part in ("parameters", "facts")
    )
    lines: list[Sequence[object]] = [("unit", "tables", *plain, *given, *facts)]
    for unit in units:
        values = [unit["parameters"].get(name, "") for name in given]
        chosen = ["off" if value is None else value for value in values]
        known = [unit["facts"].get(name, "") for name in facts]
        first = (unit["name"], " ".join(unit["tables"]), *(unit[name] for name in plain))
        lines.append((*first, *chosen, *known))
    return csv_text(lines).encode()


def json_rows(blocks: Sequence[Block], person: Ints) -> Iterator[bytes]:
    """Yield all lines of each of `blocks`; `person` is each query's person."""
    names = [f'"{name}": ' for name in _columns(blocks)[3:]]
    for block in blocks:
        begin = f'{{"unit": "{block.unit}", "mode": "{block.mode}", "pool": {block.pool}, '
        cells = _cells(block, person, "null")
        named = [[name + cell for cell in texts] for name, texts in zip(names, cells, strict=True)]
        yield "".join(f"{begin}{', '.join(row)}}}\n" for row in zip(*named, strict=True)).encode()


def _cells(block: Block, person: Ints, undefined: str) -> list[list[str]]:
    """Return the columns that differ within `block`, as texts."""
    numbers = (person, np.arange(1, person.size + 1), block.hits)
    columns = [[str(number) for number in column.tolist()] for column in numbers]
    for measured in block.values.values():
        values = measured.tolist()
        columns.append([undefined if v != v else repr(v) for v in values])  # noqa: PLR0124 NaN
    return columns


def read_csv_rows(path: Path, units: Sequence[Unit]) -> Blocks:
    """Return the blocks that `csv_rows` wrote of `units`, in their order, to the file `path`."""
    keys = [(unit.name, mode, pool) for unit in units for mode, pool in unit.asked]
    text = path.read_bytes()
    head = tuple(text.partition(b"\n")[0].decode(errors="replace").split(","))
    if head not in (COLUMNS, LABELLED):
        raise UsageError(
            f"{path} must have the columns {', '.join(COLUMNS)}; run the experiment again"
        )
    lines = list(csv.reader(io.StringIO(text.decode())))[1:]
    if not keys and not lines:
        return {}
    if not keys or not lines or len(lines) % len(keys):
        raise UsageError(f"{path} must have the same number of rows for each block; make it again")
    size = len(lines) // len(keys)
    blocks = {}
    for at, key in enumerate(keys):
        some = lines[at * size : (at + 1) * size]
        if any((line[0], line[1], line[2]) != (key[0], key[1], str(key[2])) for line in some):
            raise UsageError(f"{path} has rows of units that units.jsonl lacks; make it again")
        columns = list(zip(*some, strict=True))
        arrays = (np.array([float(cell or "nan") for cell in column]) for column in columns[6:])
        values = dict(zip(head[len(HEAD) :], arrays, strict=True))
        blocks[key] = Block(*key, np.array(columns[5], dtype=np.int64), values)
    return blocks
