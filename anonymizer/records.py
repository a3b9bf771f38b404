"""Strict JSON records and the files they stand in [I/O]: checked when read, synced when written.

A record is described by an example: it must have the same names, and values of the same types.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from .model import BadInput, Profiles
from .profiles import with_sorted_terms

Record = dict[str, Any]


def read_rows(file: Iterable[bytes], path: Path, example: Record) -> tuple[Profiles, list[int]]:
    """Return the rows by name, and how many users each stands for."""
    names, users = [], []
    number: dict[str, int] = {}
    columns, weights, ends = array("q"), array("d"), array("q", [0])
    for record in read_records(file, path, example):
        names.append(record[next(iter(example))])
        users.append(record.get("users", 1))
        columns.extend([number.setdefault(term, len(number)) for term in record["terms"]])
        weights.extend(record["terms"].values())
        ends.append(len(columns))
    entries = (np.array(weights), np.array(columns), np.array(ends))
    matrix = csr_matrix(entries, shape=(len(names), len(number)))
    return with_sorted_terms(names, list(number), matrix), users


def read_records(file: Iterable[bytes], path: Path, example: Record) -> Iterator[Record]:
    """Yield each line's record, which is like the example and alone with its first value."""
    remedy = f"each line must look like {json.dumps(example)}"
    first, seen = next(iter(example)), set()
    for number, line in enumerate(file, 1):
        try:
            record = read_object(line)
            check_record(record, example)
            if not record[first] or record[first] in seen:
                raise ValueError(f"the {first} {'stands twice' if record[first] else 'is empty'}")
        except (ValueError, RecursionError) as fault:
            raise BadInput(f"{path}, line {number}: {fault}; {remedy}") from fault
        seen.add(record[first])
        yield record
    if not seen:
        raise BadInput(f"{path}: there is no line; {remedy}")


def check_record(record: Record, example: Record) -> None:
    """Raise ValueError unless the record is like the example."""
    if record.keys() != example.keys():
        raise ValueError(f"the names are not exactly {', '.join(example)}")
    for name, value in example.items():
        if type(record[name]) is not type(value):
            raise ValueError(f"{name} must be of type {type(value).__name__}")
    if "terms" in example:
        _check_terms(record["terms"])


def _check_terms(terms: Mapping[str, float]) -> None:
    if not terms or "" in terms:
        raise ValueError("a term is empty" if terms else "there is no term")
    if not {type(weight) for weight in terms.values()} <= {int, float}:
        raise ValueError("a weight is no number")
    if not 0 < min(terms.values()) <= max(terms.values()) <= sys.float_info.max:
        raise ValueError("a weight is not above 0 and finite")


def read_object(line: bytes) -> Record:
    """Read a JSON object: no name twice, no NaN, no half characters."""
    text = line.decode().removeprefix("\ufeff")
    record = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    if not isinstance(record, dict):
        raise ValueError("this is no JSON object")
    if "\\ud" in text.lower():
        as_json(record)
    return record


def _unique(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name stands twice")
    return record


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def as_json(value: object, indent: int | None = None) -> bytes:
    """Write a value as JSON with a line end."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, default=_plain)
    return f"{text}\n".encode()


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise ValueError(f"{type(value).__name__} can't be written as JSON")


def row_lines(rows: Profiles, heads: Iterable[Record]) -> Iterator[bytes]:
    """Yield a line a row: its head and then its terms in sorted order."""
    for row, head in enumerate(heads):
        yield as_json({**head, "terms": dict(sorted(rows.at(row).items()))})


@contextmanager
def plain_errors(path: Path, done: str) -> Iterator[None]:
    """Turn what the system or JSON refuses into one line that names the file."""
    try:
        yield
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or str(fault)
        where = getattr(fault, "filename", None) or path
        if Path(os.fsdecode(where)).name.startswith(f".{path.name}."):
            where = path  # its temporary name says nothing to a user
        raise BadInput(f"{where}: can't be {done} ({why}); check path, rights and space") from fault


def write_file(path: Path, lines: Iterable[bytes], mode: int = 0o666) -> str:
    """Write a new file down to the disk and return its SHA-256."""
    digest = hashlib.sha256()
    path.touch(mode)
    with path.open("wb") as file:
        for line in lines:
            file.write(line)
            digest.update(line)
        sync(file)
    return digest.hexdigest()


def sync(file: BufferedIOBase) -> None:
    """Have a file's content on the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Have a folder's entries on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def exchange(one: Path, other: Path) -> bool:
    """Swap two paths at once, so that a kill finds either whole; False where that can't be had."""
    try:
        swap = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):  # neither Linux nor a new libc
        return False
    here, swapping = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(swap(here, os.fsencode(one), here, os.fsencode(other), swapping) == 0)
