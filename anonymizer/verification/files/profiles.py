"""The judge's own reader of a profiles file [I/O], .jsonl or .npz: all of it, or it is refused.

A query log has profiles, too: the words of each person's queries.
"""

from __future__ import annotations

import errno
import hashlib
import json
import stat
from collections.abc import Set
from dataclasses import dataclass
from io import BufferedIOBase, BufferedReader
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from ...arrays import Ints
from ...errors import BadInput
from .logs import JudgedQueries, profiles_of, read_queries
from .strict_lines import CellReader, LineFault, TermCells, read_lines, read_strictly

_PROFILE = {"user": "u1", "terms": {"kitten": 1.0}}


class Weighed(NamedTuple):
    """What the choices by which profiles were made show in them."""

    largest: int  # number of terms
    binary: bool  # every weight is 1
    whole: bool  # every weight is a whole number


@dataclass(frozen=True)
class JudgedProfiles:
    """Profiles as a file has them: terms in sorted order, each in use, columns ascending."""

    users: list[str]
    terms: list[str]
    cells: TermCells
    binary: bool  # every weight is 1
    queries: JudgedQueries | None = None  # of all people of the log, if the file is one

    @property
    def sizes(self) -> Ints:
        """Return the number of terms of each profile."""
        return np.diff(self.cells.ends)

    @property
    def weighed(self) -> Weighed:
        """Return what the choices by which they were made show in them."""
        weights = self.cells.weights
        whole = self.binary or bool(np.all(weights == np.floor(weights)))
        return Weighed(int(self.sizes.max()), self.binary, whole)

    def of(self, users: Set[str]) -> JudgedProfiles:
        """Return the profiles of those of `users` who have one, with the terms of these."""
        stays = np.array([user in users for user in self.users], dtype=np.bool_)
        if stays.all():
            return self
        cells = np.repeat(stays, self.sizes)
        columns, weights = self.cells.columns[cells], self.cells.weights[cells]
        used = np.bincount(columns, minlength=len(self.terms)) > 0
        ends = np.append(0, np.cumsum(self.sizes[stays]))
        renumbered = TermCells(ends, (np.cumsum(used) - 1)[columns], weights)
        names, terms = (
            [kept for kept, there in zip(all_, marks.tolist(), strict=True) if there]
            for all_, marks in ((self.users, stays), (self.terms, used))
        )
        return JudgedProfiles(names, terms, renumbered, bool(np.all(weights == 1)), self.queries)

    def fingerprint(self) -> str:
        """Return the SHA-256 that a release of these profiles must state as its input."""
        digest = hashlib.sha256()
        # Types and byte order are fixed, so every machine gets the same digest.
        arrays = {
            "users": np.frombuffer(_as_line(self.users), dtype=np.uint8),
            "terms": np.frombuffer(_as_line(self.terms), dtype=np.uint8),
            "ends": self.cells.ends.astype("<i8", copy=False),
            "columns": self.cells.columns.astype("<i4"),
            "weights": self.cells.weights.astype("<f8", copy=False),
        }
        for name, values in arrays.items():
            digest.update(f"{name} {values.size}\n".encode())
            digest.update(np.ascontiguousarray(values).data)
        return digest.hexdigest()


def _as_line(texts: list[str]) -> bytes:
    return f"{json.dumps(texts, ensure_ascii=False)}\n".encode()


def read_people(path: Path) -> JudgedProfiles:
    """Return the profiles in the file `path`, or of that log; refuse a broken file as bad input."""
    # Not as a breach: the file is no part of the release.
    read = {".jsonl": _from_lines, ".npz": _from_arrays}.get(path.suffix)
    try:
        with open_file(path) as file:
            if read and not (path.suffix == ".jsonl" and _is_of_log(file.readline())):
                file.seek(0)
                return read(file)
        queries = read_queries(path)
    except OSError as fault:
        _refuse(f"{path}: can't be read ({fault.strerror or fault}); check path and rights")
    except LineFault as fault:
        like = json.dumps(_PROFILE)
        _refuse(f"{path}, line {fault.number}: {fault}; each line must look like {like}")
    except Exception:  # a damaged archive fails in many ways
        _refuse(f"{path}: damaged, or no file of profiles; make it again")
    users, terms, cells = profiles_of(queries)
    if not users:
        line = "a file of profiles must end in .jsonl or .npz, and no line here is one of a log"
        _refuse(f"{path}: {line}")
    return JudgedProfiles(users, terms, cells, bool(np.all(cells.weights == 1)), queries)


def _is_of_log(line: bytes) -> bool:
    """Return whether the JSON in `line` is that of a query, and not of a profile."""
    try:
        return "query" in read_strictly(line)
    except (ValueError, TypeError, RecursionError):
        return False


def open_file(path: Path) -> BufferedReader:
    """Return the regular file at `path`, opened to read."""
    # A pipe would make the judge wait, a device may have no end; a folder fails by itself.
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(errno.EINVAL, "it is no regular file")
    return path.open("rb")


def _refuse(line: str) -> NoReturn:
    raise BadInput(line)


def _from_lines(file: BufferedIOBase) -> JudgedProfiles:
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
    cells = sort_columns(TermCells(ends, rank[columns], weights), len(terms))
    return JudgedProfiles(users, terms, cells, bool(np.all(weights == 1)))


def keys_of(cells: TermCells, terms: int) -> Ints:
    """Return record * `terms` + term for each of `cells`."""
    records = np.arange(cells.ends.size - 1) * terms
    return np.repeat(records, np.diff(cells.ends)) + cells.columns


def ascending(keys: Ints) -> bool:
    """Return whether `keys` ascend, none of them twice."""
    return bool(np.all(keys[1:] > keys[:-1]))


def sort_columns(cells: TermCells, terms: int) -> TermCells:
    """Return `cells` with the terms of each record ascending."""
    keys = keys_of(cells, terms)
    if ascending(keys):
        return cells
    order = np.argsort(keys, kind="stable")
    return TermCells(cells.ends, cells.columns[order], cells.weights[order])


def _from_arrays(file: BufferedIOBase) -> JudgedProfiles:
    # Without pickles: these could run code.
    with np.load(file, allow_pickle=False) as stored:
        users, terms = (read_strictly(stored[name].tobytes()) for name in ("users", "terms"))
        ends, columns, weights = (stored[name] for name in ("ends", "columns", "weights"))
        sha256 = str(stored["sha256"])
    if (ends.dtype.str, columns.dtype.str, weights.dtype.str) != ("<i8", "<i4", "<f8"):
        raise ValueError("the arrays are of other types")
    cells = TermCells(ends, columns.astype(np.int64), weights)
    people = JudgedProfiles(users, terms, cells, bool(np.all(weights == 1)))
    if not _sound(people) or people.fingerprint() != sha256:
        raise ValueError("the content is not sound")
    return people


def _sound(people: JudgedProfiles) -> bool:
    """Return whether the arrays can be those of profiles."""
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
