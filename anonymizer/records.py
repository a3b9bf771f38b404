"""Strict JSON records and the files they stand in [I/O]: checked when read, synced when written.

A record is described by an example: it must have the same names, and values of the same types.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np

from .model import BadInput

Record = dict[str, Any]


class StrictReader:
    """Reads each line's record, which is like the example and alone with its first value."""

    def __init__(self, path: Path, example: Record) -> None:
        self.names = tuple(example)
        self._path, self._example = path, example
        self._remedy = f"each line must look like {json.dumps(example)}"
        self._seen: set[str] = set()  # first values

    def read(self, line: bytes, number: int) -> Record:
        """Return a line's record, or raise."""
        first = self.names[0]
        try:
            record = read_object(line)
            check_record(record, self._example)
            if not record[first] or record[first] in self._seen:
                raise ValueError(f"the {first} {'stands twice' if record[first] else 'is empty'}")
        except (ValueError, RecursionError) as fault:
            where = f"{self._path}, line {number}"
            raise BadInput(f"{where}: {fault}; {self._remedy}") from fault
        self._seen.add(record[first])
        return record

    def accept(self, values: Sequence[str]) -> bool:
        """Take first values of records that are right otherwise, if none of them is known."""
        new = set(values)
        if len(new) < len(values) or not self._seen.isdisjoint(new):
            return False
        self._seen |= new
        return True

    def finish(self) -> None:
        """Raise if there was no line."""
        if not self._seen:
            raise BadInput(f"{self._path}: there is no line; {self._remedy}")


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
