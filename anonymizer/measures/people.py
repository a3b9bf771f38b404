"""The judge's own reading of a profiles file [I/O], .jsonl or .npz, whole or refused."""

from __future__ import annotations

import errno
import hashlib
import json
import stat
from dataclasses import dataclass
from io import BufferedIOBase, BufferedReader
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .finding import Ints
from .strict_lines import CellReader, Cells, Fault, read_lines, read_strictly

_PROFILE = {"user": "u1", "terms": {"kitten": 1.0}}


@dataclass(frozen=True)
class People:
    """Profiles as a file has them: terms in sorted order, each of them used, columns ascending."""

    users: list[str]
    terms: list[str]
    cells: Cells
    binary: bool  # every weight is 1

    @property
    def sizes(self) -> Ints:
        """Count each one's terms."""
        return np.diff(self.cells.ends)

    def fingerprint(self) -> str:
        """Return the SHA-256 that a release made from this must name as its input."""
        digest = hashlib.sha256()
        for name, values in self._arrays().items():
            digest.update(f"{name} {values.size}\n".encode())
            digest.update(np.ascontiguousarray(values).data)
        return digest.hexdigest()

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "users": np.frombuffer(_as_line(self.users), dtype=np.uint8),
            "terms": np.frombuffer(_as_line(self.terms), dtype=np.uint8),
            "ends": self.cells.ends.astype("<i8", copy=False),
            "columns": self.cells.columns.astype("<i4"),
            "weights": self.cells.weights.astype("<f8", copy=False),
        }


def _as_line(texts: list[str]) -> bytes:
    return f"{json.dumps(texts, ensure_ascii=False)}\n".encode()


def read_people(path: Path) -> People:
    """Read a profiles file; what is broken in it is bad input, for it is no part of a release."""
    read = {".jsonl": _from_lines, ".npz": _from_arrays}.get(path.suffix)
    if read is None:
        _refuse(f"{path}: a file of profiles must end in .jsonl or .npz")
    try:
        with open_file(path) as file:
            return read(file)
    except OSError as fault:
        _refuse(f"{path}: can't be read ({fault.strerror or fault}); check path and rights")
    except Fault as fault:
        _refuse(f"{path}, line {fault.number}: {fault}; each line must look like {_example()}")
    except Exception:  # a damaged archive fails in countless ways
        _refuse(f"{path}: damaged, or no file of profiles; make it again")


def open_file(path: Path) -> BufferedReader:
    """Open what is a file: a pipe would be waited for, and a device may have no end."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a folder is refused by its own words
        raise OSError(errno.EINVAL, "it is no regular file")
    return path.open("rb")


def _example() -> str:
    return json.dumps(_PROFILE)


def _refuse(line: str) -> NoReturn:
    from ..model import BadInput  # it brings scipy along, which a judge has no other use for

    raise BadInput(line)


def _from_lines(file: BufferedIOBase) -> People:
    users: list[str] = []
    number: dict[str, int] = {}
    reader = CellReader(number)
    for record in read_lines(file, _PROFILE):
        users.append(record["user"])
        reader.add(record["terms"])
    terms = sorted(number)
    rank = np.empty(len(terms), dtype=np.int64)
    rank[[number[term] for term in terms]] = np.arange(len(terms))
    ends, columns, weights = reader.cells()
    cells = sort_columns(Cells(ends, rank[columns], weights), len(terms))
    return People(users, terms, cells, bool(np.all(weights == 1)))


def keys_of(cells: Cells, terms: int) -> Ints:
    """Return record * terms + term for each cell."""
    records = np.arange(cells.ends.size - 1) * terms
    return np.repeat(records, np.diff(cells.ends)) + cells.columns


def ascending(keys: Ints) -> bool:
    """Tell whether keys ascend, none of them twice."""
    return bool(np.all(keys[1:] > keys[:-1]))


def sort_columns(cells: Cells, terms: int) -> Cells:
    """Return the cells with each record's terms ascending."""
    keys = keys_of(cells, terms)
    if ascending(keys):
        return cells
    order = np.argsort(keys, kind="stable")
    return Cells(cells.ends, cells.columns[order], cells.weights[order])


def _from_arrays(file: BufferedIOBase) -> People:
    with np.load(file, allow_pickle=False) as stored:
        users, terms = (read_strictly(stored[name].tobytes()) for name in ("users", "terms"))
        ends, columns, weights = (stored[name] for name in ("ends", "columns", "weights"))
        sha256 = str(stored["sha256"])
    if (ends.dtype.str, columns.dtype.str, weights.dtype.str) != ("<i8", "<i4", "<f8"):
        raise ValueError("the arrays are of other types")
    cells = Cells(ends, columns.astype(np.int64), weights)
    people = People(users, terms, cells, bool(np.all(weights == 1)))
    if not _sound(people) or people.fingerprint() != sha256:
        raise ValueError("the content is not sound")
    return people


def _sound(people: People) -> bool:
    """Tell whether arrays are what profiles can be."""
    ends, columns, weights = people.cells
    users, terms = people.users, people.terms
    return (
        all({*map(type, texts)} == {str} for texts in (users, terms))
        and len({*users}) == len(users) == ends.size - 1
        and all(one < other for one, other in pairwise(terms))
        and ends[0] == 0
        and ends[-1] == columns.size == weights.size
        and bool(np.all(np.diff(ends) > 0))
        and columns.min() >= 0
        and bool(np.all(np.bincount(columns, minlength=len(terms)) > 0))
        and columns.max() < len(terms)
        and ascending(keys_of(people.cells, len(terms)))
        and bool(np.all(np.isfinite(weights) & (weights > 0)))
    )
