"""The judge's own reader of an .npz file of profiles that does not fit into memory [I/O].

One pass checks all of it, and keeps some integers for each user and each term. Names are kept as
hashes of 64 bits. Further passes get the profiles of some users.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Ints, Marks
from ...errors import BadInput
from .profiles import JudgedProfiles, Weighed, open_file
from .strict_lines import TermCells, read_strictly

_AT_ONCE = 1 << 20  # bytes of names
_TYPES = {"users": "|u1", "terms": "|u1", "ends": "<i8", "columns": "<i4", "weights": "<f8"}
_NAME = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


class _Users(NamedTuple):
    first: int  # number of the first user
    users: list[str]
    ends: Ints  # from 0
    columns: NDArray[np.int32]
    weights: NDArray[np.float64]


class HashedNames:
    """Names by hashes of 64 bits: of other texts one in 10^12 is taken for one of them."""

    def __init__(self, hashes: Ints):
        """Keep these `hashes`, and where each stood."""
        self.places = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self.places]

    def __len__(self) -> int:
        return int(self._sorted.size)

    @property
    def distinct(self) -> bool:
        """Return whether no two names have the same hash."""
        return not np.any(self._sorted[1:] == self._sorted[:-1])

    def find(self, texts: Sequence[str]) -> Ints:
        """Return where each of `texts` stood among the names; -1 for others."""
        wanted = _hashes(texts)
        at = np.minimum(np.searchsorted(self._sorted, wanted), self._sorted.size - 1)
        return np.where(self._sorted[at] == wanted, self.places[at], -1)

    def marks(self, texts: Sequence[str]) -> Marks:
        """Return marks for those of `texts` that are names."""
        there: Marks = self.find(texts) >= 0
        return there

    def isdisjoint(self, texts: Iterable[str]) -> bool:
        """Return whether none of `texts` is a name."""
        return not self.marks([*texts]).any()


class StreamedProfiles:
    """Profiles in a file of which a block of users at a time is in memory."""

    def __init__(self, path: Path, marks: Callable[[str], bool]):
        """Read the file at `path` once, and keep those users that `marks` picks."""
        self._path = path
        self.marked = set[str]()
        self.sessions = True  # whether all users are called like sessions
        try:
            with open_file(path) as file:
                self._where = dict(_places(file))
                self._read_all(file, marks)
        except OSError as fault:
            why = fault.strerror or fault
            raise BadInput(f"{path}: can't be read ({why}); check path and rights") from fault
        except Exception as fault:  # a damaged archive fails in many ways
            raise BadInput(f"{path}: damaged, or no file of profiles; make it again") from fault

    def _read_all(self, file: BufferedReader, marks: Callable[[str], bool]) -> None:
        # The arrays stand in the file as the fingerprint hashes them, if all is in its one form:
        # that is what the rest of this pass makes sure of.
        digest = hashlib.sha256()
        for name, (start, count) in self._where.items():
            dtype = np.dtype(_TYPES[name])
            digest.update(f"{name} {count}\n".encode())
            file.seek(start)
            for low in range(0, count, _AT_ONCE):
                digest.update(np.fromfile(file, dtype, min(_AT_ONCE, count - low)).data)
        self._fingerprint = digest.hexdigest()
        texts = self._array(file, "terms", 0, self._where["terms"][1]).tobytes()
        self.terms: list[str] = read_strictly(texts)
        if _as_line(self.terms) != texts or sorted({*self.terms}) != self.terms:
            raise ValueError("terms are not in order")
        self._cuts = [*self._cut(file)]
        self.having = np.zeros(len(self.terms), dtype=np.int64)
        hashes, folded, sizes, binary, whole = [], [], [0], True, True
        for block in self._blocks(file):
            terms = np.diff(block.ends)
            keys = np.repeat(np.arange(terms.size), terms) * len(self.terms) + block.columns
            sound = keys.size and terms.min() > 0 and np.all(keys[1:] > keys[:-1])
            if not (sound and 0 <= block.columns.min() <= block.columns.max() < len(self.terms)):
                raise ValueError("the terms of a user are not in order")
            if not np.all(np.isfinite(block.weights) & (block.weights > 0)):
                raise ValueError("a weight is not above 0")
            self.having += np.bincount(block.columns, minlength=len(self.terms))
            binary &= bool(np.all(block.weights == 1))
            whole &= bool(np.all(block.weights == np.floor(block.weights)))
            sizes.append(int(terms.max()))
            hashes.append(_hashes(block.users))
            # Most logs number their people, and then one array serves for both.
            folds = [user.casefold() for user in block.users]
            folded.append(hashes[-1] if folds == block.users else _hashes(folds))
            self.marked.update(filter(marks, block.users))
            self.sessions &= all("#" in user for user in block.users)
        self.weighed = Weighed(max(sizes), binary, whole)
        self.names = HashedNames(np.concatenate(hashes))
        alike = all(one is other for one, other in zip(hashes, folded, strict=True))
        self.folded = self.names if alike else HashedNames(np.concatenate(folded))
        if not self.names.distinct or not np.all(self.having):
            raise ValueError("a user occurs twice, or nobody has a term")
        cells = {self._where[name][1] for name in ("columns", "weights")}
        if cells != {int(self.having.sum())}:
            raise ValueError("there are more cells than terms of users")

    def __len__(self) -> int:
        return len(self.names)

    def fingerprint(self) -> str:
        """Return the SHA-256 that a release of these profiles must state as its input."""
        return self._fingerprint

    @property
    def nobody(self) -> JudgedProfiles:
        """Return the terms of these profiles, and none of the people."""
        none = TermCells(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))
        return JudgedProfiles([], self.terms, none, self.weighed.binary)

    def of(self, which: Ints, wanted: Sequence[int]) -> Iterator[JudgedProfiles]:
        """Yield the profiles of the users whose `which` is each number that is `wanted`.

        These are over all terms, and in memory together.
        """
        # The file is read from its begin to its end, and not here and there: disks are fast at
        # this, and people of a shard stand everywhere.
        pieces: dict[int, list[_Users]] = {number: [] for number in wanted}
        low, high = wanted[0], wanted[-1]
        try:
            with open_file(self._path) as file:
                for block in self._blocks(file):
                    own = which[block.first : block.first + len(block.users)]
                    for number in range(low, high + 1):
                        at = np.flatnonzero(own == number)
                        if at.size:
                            pieces[number].append(_some(block, at))
        except Exception as fault:
            raise BadInput(f"{self._path}: changed while it was read; verify again") from fault
        for number in wanted:
            blocks = pieces.pop(number)
            ends = np.cumsum(np.concatenate([[0], *(np.diff(block.ends) for block in blocks)]))
            columns = np.concatenate([block.columns for block in blocks]).astype(np.int64)
            weights = np.concatenate([block.weights for block in blocks])
            users = [user for block in blocks for user in block.users]
            cells = TermCells(ends, columns, weights)
            yield JudgedProfiles(users, self.terms, cells, bool(np.all(weights == 1)))

    def _array(self, file: BufferedReader, name: str, low: int, high: int) -> NDArray[Any]:
        dtype, (start, _) = np.dtype(_TYPES[name]), self._where[name]
        file.seek(start + low * dtype.itemsize)
        return np.fromfile(file, dtype, high - low)

    def _blocks(self, file: BufferedReader) -> Iterator[_Users]:
        """Yield the profiles in `file`, block by block."""
        first = 0
        for users in self._names(file):
            ends = self._array(file, "ends", first, first + len(users) + 1)
            cells = int(ends[0]), int(ends[-1])
            columns, weights = (self._array(file, of, *cells) for of in ("columns", "weights"))
            sizes = {columns.size, weights.size, cells[1] - cells[0]}
            if ends.size != len(users) + 1 or len(sizes) > 1:
                raise ValueError("arrays are too short")
            yield _Users(first, users, ends - ends[0], columns, weights)
            first += len(users)
        if first + 1 != self._where["ends"][1]:
            raise ValueError("there are more profiles than users")

    def _names(self, file: BufferedReader) -> Iterator[list[str]]:
        """Yield the users in `file`, some at a time, which are written as one JSON list."""
        # The first pass has found these to be in the one form, so they need no strict reader.
        for low, high in self._cuts:
            yield json.loads(b"[" + self._array(file, "users", low, high).tobytes() + b"]")

    def _cut(self, file: BufferedReader) -> Iterator[tuple[int, int]]:
        """Yield where some users begin and end in their list, which must be in the one form."""
        size, rest, at, begin = self._where["users"][1], b"", 0, b"["
        for low in range(0, size, _AT_ONCE):
            rest += self._array(file, "users", low, min(low + _AT_ONCE, size)).tobytes()
            ends = [match.end() for match in _NAME.finditer(rest, len(begin))]
            if not ends:
                continue
            piece = rest[len(begin) : ends[-1]]
            names = read_strictly(b"[" + piece + b"]")
            if not rest.startswith(begin) or b"[" + piece + b"]\n" != _as_line(names):
                raise ValueError("names are written in another way")
            if {*map(type, names)} != {str} or "" in names:
                raise ValueError("a name is no text, or empty")
            yield at + len(begin), at + ends[-1]
            rest, at, begin = rest[ends[-1] :], at + ends[-1], b", "
        if rest != b"]\n":
            raise ValueError("the list of names has no end")


def _places(file: BufferedReader) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield where each array begins in `file`, and how many values it has."""
    with zipfile.ZipFile(file) as archive:
        names = {about.filename: about for about in archive.infolist()}
        for name, dtype in _TYPES.items():
            about = names[f"{name}.npy"]
            file.seek(about.header_offset + 26)
            sizes = np.fromfile(file, "<u2", 2)
            file.seek(about.header_offset + 30 + int(sizes.sum()))
            version = np.lib.format.read_magic(file)
            read = getattr(np.lib.format, f"read_array_header_{version[0]}_{version[1]}")
            shape, _, kind = read(file)
            if kind.str != dtype or len(shape) != 1 or about.compress_type != zipfile.ZIP_STORED:
                raise ValueError("an array is of another type, or packed")
            yield name, (file.tell(), shape[0])


def _some(block: _Users, at: Ints) -> _Users:
    """Return the users `at` these places in `block`."""
    sizes = np.diff(block.ends)[at]
    ends = np.append(0, np.cumsum(sizes))
    cells = np.repeat(block.ends[at] - ends[:-1], sizes) + np.arange(ends[-1])
    users = [block.users[place] for place in at.tolist()]
    return _Users(block.first, users, ends, block.columns[cells], block.weights[cells])


def _hashes(users: Iterable[str]) -> Ints:
    # Python's own, with a key that each process draws: nobody can make two users meet.
    return np.array([*map(hash, users)], dtype=np.int64)


def _as_line(texts: list[str]) -> bytes:
    return f"{json.dumps(texts, ensure_ascii=False)}\n".encode()
