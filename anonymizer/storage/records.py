"""Strict JSON records and the files they stand in [I/O]: checked when read, synced when written.

A record is described by an example: it must have the same names, and values of the same types.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput

Record = dict[str, Any]


def check_record(record: Record, example: Record) -> None:
    """Raise ValueError unless `record` is like `example`."""
    if record.keys() != example.keys():
        raise ValueError(f"the names are not exactly {', '.join(example)}")
    for name, value in example.items():
        if type(record[name]) is not type(value):
            raise ValueError(f"{name} must be of type {type(value).__name__}")
    if "terms" not in example:
        return
    terms: Mapping[str, float] = record["terms"]
    if not terms or "" in terms:
        raise ValueError("a term is empty" if terms else "there is no term")
    if not {type(weight) for weight in terms.values()} <= {int, float}:
        raise ValueError("a weight is no number")
    if not 0 < min(terms.values()) <= max(terms.values()) <= sys.float_info.max:
        raise ValueError("a weight is not above 0 and finite")


def read_object(line: bytes) -> Record:
    """Return the JSON object in `line`; refuse doubled names, NaN and half characters."""
    text = line.decode().removeprefix("\ufeff")
    record = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    if not isinstance(record, dict):
        raise ValueError("this is no JSON object")
    # Half a surrogate pair can be escaped in JSON, but not written as UTF-8: this raises then.
    if "\\ud" in text.lower():
        as_json(record)
    return record


def _unique(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name occurs twice")
    return record


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def rounded(value: float) -> float:
    """Return `value` as facts of a release state it: a real number with 12 digits."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def as_json(value: object, indent: int | None = None) -> bytes:
    """Return `value` as JSON with a line end."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, default=_plain)
    return f"{text}\n".encode()


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Return `rows`, the head first, as CSV."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise ValueError(f"{type(value).__name__} can't be written as JSON")


@contextmanager
def plain_errors(path: Path, done: str) -> Iterator[None]:
    """Turn an error of the system or of JSON into one line: `path` can't be `done`, and why."""
    try:
        yield
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or str(fault)
        where = getattr(fault, "filename", None) or path
        # The name of an unfinished file would say nothing to the user.
        if Path(os.fsdecode(where)).name.startswith(f".{path.name}."):
            where = path
        raise BadInput(f"{where}: can't be {done} ({why}); check path, rights and space") from fault


def names_of(content: bytes) -> tuple[str, ...]:
    """Return the users or terms that `content` lists in JSON: texts, at least one, none empty."""
    names = json.loads(content)
    if not names or {*map(type, names)} != {str} or "" in names:
        raise ValueError("a name is empty or no text, or there is none")
    return tuple(names)
