"""Rows of an experiment as text: one line a question, unit, mode and pool; and back. [I/O]

A value is written with up to 12 decimals, as it was rounded when it was measured, so that what is
read back is what was written. What is undefined is empty in CSV and null in JSON.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UsageError
from ..evaluation import MEASURES
from .outcomes import Block, Floats, Ints, Unit

HEAD = ("unit", "mode", "pool", "person", "query", "hits")
COLUMNS = (*HEAD, *MEASURES)
Blocks = Mapping[tuple[str, str, int], Block]


def csv_rows(blocks: Sequence[Block], person: Ints) -> Iterator[bytes]:
    """Yield the head, then all lines of a block at a time."""
    yield (",".join(COLUMNS) + "\n").encode()
    for block in blocks:
        begin = f"{block.unit},{block.mode},{block.pool},"
        cells = _cells(block, person, "")
        yield "".join(f"{begin}{','.join(row)}\n" for row in zip(*cells, strict=True)).encode()


def csv_units(units: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a line a unit, to be joined to the rows: its tables, parameters and facts."""
    plain = ("method", "seed", "weights", "vectors")
    given, facts = (
        list(dict.fromkeys(name for unit in units for name in unit[part]))
        for part in ("parameters", "facts")
    )
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("unit", "tables", *plain, *given, *facts))
    for unit in units:
        chosen = [_off(unit["parameters"], name) for name in given]
        found = [unit["facts"].get(name, "") for name in facts]
        told = (unit["name"], " ".join(unit["tables"]), *(unit[name] for name in plain))
        lines.writerow((*told, *chosen, *found))
    return text.getvalue().encode()


def _off(parameters: Mapping[str, Any], name: str) -> Any:
    """Return a parameter's value; what is not one of this unit's is empty."""
    value = parameters.get(name, "")
    return "off" if value is None else value


def json_rows(blocks: Sequence[Block], person: Ints) -> Iterator[bytes]:
    """Yield all lines of a block at a time."""
    names = [f'"{name}": ' for name in COLUMNS[3:]]
    for block in blocks:
        begin = f'{{"unit": "{block.unit}", "mode": "{block.mode}", "pool": {block.pool}, '
        cells = _cells(block, person, "null")
        named = [
            [name + cell for cell in column] for name, column in zip(names, cells, strict=True)
        ]
        yield "".join(f"{begin}{', '.join(row)}}}\n" for row in zip(*named, strict=True)).encode()


def _cells(block: Block, person: Ints, undefined: str) -> list[list[str]]:
    """Return the columns that differ within a block, as texts."""
    numbers = (person, np.arange(1, person.size + 1), block.hits)
    columns = [[str(number) for number in column.tolist()] for column in numbers]
    for name in MEASURES:
        values = block.values[name].tolist()
        columns.append([undefined if v != v else repr(v) for v in values])  # noqa: PLR0124 NaN
    return columns


def read_csv_rows(path: Path, units: Sequence[Unit]) -> Blocks:
    """Read rows back that `csv_rows` wrote of these units, in their order."""
    asked = [(unit.name, mode, pool) for unit in units for mode, pool in unit.asked]
    text = path.read_bytes()
    if not text.startswith((",".join(COLUMNS) + "\n").encode()):
        raise UsageError(f"{path} has other columns than {', '.join(COLUMNS)}")
    lines = list(csv.reader(io.StringIO(text.decode())))[1:]
    if not asked and not lines:
        return {}
    if not asked or not lines or len(lines) % len(asked):
        raise UsageError(f"{path} does not hold as many rows of each unit, mode and pool")
    size = len(lines) // len(asked)
    blocks = {}
    for at, key in enumerate(asked):
        some = lines[at * size : (at + 1) * size]
        if any((line[0], line[1], line[2]) != (key[0], key[1], str(key[2])) for line in some):
            raise UsageError(f"{path} holds other units than are listed beside it")
        blocks[key] = Block(*key, *_values(some))
    return blocks


def _values(lines: list[list[str]]) -> tuple[Ints, dict[str, Floats]]:
    columns = list(zip(*lines, strict=True))
    hits = np.array(columns[5], dtype=np.int64)
    found = (
        np.array([float(cell) if cell else np.nan for cell in column]) for column in columns[6:]
    )
    return hits, dict(zip(MEASURES, found, strict=True))
