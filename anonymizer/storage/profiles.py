"""Profiles on disk [I/O]: written whole or not at all, checked when read.

profiles.jsonl   {"user": "u1", "terms": {"kitten": 1.0}} on each line
profiles.npz     the same content as arrays, with their hash: the fast form, which need not be
                 read whole
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from operator import lt
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..errors import BadInput, BadParameter
from ..model import Profiles
from .arrays import hash_of
from .files import AT_ONCE, replaced_whole
from .json_lines import read_rows, row_lines
from .records import Record, as_json, names_of, plain_errors

SUFFIXES = (".jsonl", ".npz")
_HEAD = re.compile(rb'\{"user": "([^"\\]+)", ')
_PROFILE: Record = {"user": "u1", "terms": {"kitten": 1.0}}  # a record by example


def write_profiles(profiles: Profiles, path: Path) -> None:
    """Write `profiles` to `path` as .jsonl or .npz; only the owner may read them."""
    suffix = _suffix(path)
    with plain_errors(path, "written"), replaced_whole(path) as file:
        if suffix == ".npz":
            arrays: dict[str, Any] = _arrays(profiles)
            np.savez(file, **arrays, sha256=hash_of(arrays))
        else:
            file.writelines(row_lines(profiles, {"user": profiles.users}))


def write_rest(
    rest: Profiles, output: Path, path: Path, users: Sequence[str], owners: Collection[str]
) -> None:
    """Write `rest` to `output`: of the profiles of `users` at `path`, only `owners`' have changed.

    In a .jsonl file the lines of all others stay byte for byte.
    """
    if _suffix(path) == ".npz":
        write_profiles(rest, output)
        return
    with (
        plain_errors(output, "written"),
        replaced_whole(output) as file,
        path.open("rb", AT_ONCE) as lines,
    ):
        for user, line in zip(users, lines, strict=True):
            if user not in owners:
                file.write(line)
            elif user in rest.row_of:
                file.write(as_json({"user": user, "terms": rest.row(user)}))


def read_profiles(path: Path) -> Profiles:
    """Return the profiles in the .jsonl or .npz file at `path`; refuse a broken file."""
    suffix = _suffix(path)
    with plain_errors(path, "read"), path.open("rb") as file:
        if suffix != ".npz":
            return read_rows(file, path, _PROFILE)[0]
        try:
            with np.load(file, allow_pickle=False) as stored:
                users, terms = (names_of(stored[name].tobytes()) for name in ("users", "terms"))
                entries = (stored["weights"], stored["columns"], stored["ends"])
                weights = csr_matrix(entries, shape=(len(users), len(terms)))
                weights.check_format(full_check=True)
                profiles = Profiles(users, terms, weights)
                if fingerprint(profiles) != str(stored["sha256"]):
                    raise ValueError("the hash differs")
        # A damaged archive fails in countless ways, so no narrower error will do.
        except Exception as fault:
            raise BadInput(f"{path}: damaged, or no file of profiles; make it again") from fault
        return profiles


@dataclass(frozen=True)
class StoredProfiles:
    """Profiles in a file, checked, of which a block at a time is in memory."""

    path: Path
    terms: tuple[str, ...]
    users: int
    fingerprint: str
    whole: bool = False  # must be read at once

    def blocks(self) -> Iterator[Profiles]:
        """Yield the profiles, all over `terms`, in blocks of users."""
        if self.whole:
            yield read_profiles(self.path)
            return
        try:
            with plain_errors(self.path, "read"), _Members(self.path) as members:
                yield from _blocks(members, self.terms)
        except BadInput:
            raise
        except Exception as fault:
            raise BadInput(f"{self.path}: changed while it was read; try again") from fault


def open_profiles(path: Path) -> StoredProfiles:
    """Return the profiles in the file at `path`, after one pass over it; refuse a broken file.

    Only an .npz file, with arrays that are not packed, is not read whole.
    """
    if _suffix(path) == ".npz":
        with plain_errors(path, "read"):
            path.open("rb").close()
        try:
            with _Members(path) as members:
                return _checked(members, path)
        except _PackedError:
            pass
        # A damaged archive fails in countless ways, so no narrower error will do.
        except Exception as fault:
            raise BadInput(f"{path}: damaged, or no file of profiles; make it again") from fault
    profiles = read_profiles(path)
    return StoredProfiles(path, profiles.terms, len(profiles), fingerprint(profiles), whole=True)


class _PackedError(Exception):
    """An array is compressed, so it can't be read in pieces."""


_BLOCK = 1 << 20  # bytes of names that are read at once: some 100,000 users
_TYPES = {"users": "|u1", "terms": "|u1", "ends": "<i8", "columns": "<i4", "weights": "<f8"}


class _Members:
    """The arrays of an .npz file, read piece by piece."""

    def __init__(self, path: Path):
        with np.load(path, allow_pickle=False) as stored:
            self.sha256 = str(stored["sha256"])
        self._starts: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        self._file = path.open("rb")
        try:
            self._find_all(path)
        except BaseException:
            self._file.close()
            raise

    def _find_all(self, path: Path) -> None:
        with ZipFile(path) as archive:
            for name, dtype in _TYPES.items():
                about = archive.getinfo(f"{name}.npy")
                if about.compress_type != ZIP_STORED:
                    raise _PackedError
                # Behind a local head of 30 bytes, of which the last four count name and extra.
                self._file.seek(about.header_offset + 26)
                more = sum(struct.unpack("<HH", self._file.read(4)))
                self._file.seek(more, os.SEEK_CUR)
                version = np.lib.format.read_magic(self._file)
                head = getattr(np.lib.format, f"read_array_header_{version[0]}_{version[1]}")
                shape, _, kind = head(self._file)
                if kind.str != dtype or len(shape) != 1:
                    raise ValueError("an array is of another type")
                self.sizes[name], self._starts[name] = shape[0], self._file.tell()

    def __enter__(self) -> _Members:
        return self

    def __exit__(self, *_fault: object) -> None:
        self._file.close()

    def read(self, name: str, low: int, high: int) -> NDArray[Any]:
        """Return the values `low` to `high` of the array `name`."""
        # Not by a memory map: its pages would count as memory of the process.
        dtype = np.dtype(_TYPES[name])
        self._file.seek(self._starts[name] + low * dtype.itemsize)
        return np.fromfile(self._file, dtype, high - low)

    def all(self, name: str) -> Iterator[NDArray[Any]]:
        """Yield the array `name` in pieces."""
        for low in range(0, self.sizes[name], _BLOCK):
            yield self.read(name, low, min(low + _BLOCK, self.sizes[name]))


def _names(members: _Members) -> Iterator[tuple[str, ...]]:
    """Yield the users in `members`, some at a time."""
    # They are one JSON list. A cut within a name leaves an odd number of quotation marks, so only
    # a cut between names can be read.
    rest = b""
    for piece in members.all("users"):
        rest += piece.tobytes()
        cut = len(rest)
        while (cut := rest.rfind(b'", "', 0, cut)) >= 0:
            try:
                names = names_of(b"[" + rest[: cut + 1].removeprefix(b"[") + b"]")
            except ValueError:
                continue
            rest = rest[cut + 3 :]
            yield names
            break
    yield names_of(b"[" + rest.removeprefix(b"["))


def _blocks(members: _Members, terms: tuple[str, ...]) -> Iterator[Profiles]:
    """Yield the profiles in `members`, all over `terms`."""
    low = 0
    for users in _names(members):
        ends = members.read("ends", low, low + len(users) + 1)
        cells = int(ends[0]), int(ends[-1])
        columns, weights = members.read("columns", *cells), members.read("weights", *cells)
        matrix = csr_matrix((weights, columns, ends - ends[0]), shape=(len(users), len(terms)))
        matrix.check_format(full_check=True)
        if not matrix.has_canonical_format:
            raise ValueError("terms of a user are not in order")
        yield Profiles(users, terms, matrix)
        low += len(users)
    if low + 1 != members.sizes["ends"]:
        raise ValueError("there are more profiles than users")


def _checked(members: _Members, path: Path) -> StoredProfiles:
    """Return the profiles in `members`, those of `path`, if they are as they were written."""
    digest = hashlib.sha256()
    for name in _TYPES:
        digest.update(f"{name} {members.sizes[name]}\n".encode())
        for piece in members.all(name):
            digest.update(piece.data)
    if digest.hexdigest() != members.sha256:
        raise ValueError("the hash differs")
    terms = names_of(members.read("terms", 0, members.sizes["terms"]).tobytes())
    used, hashes = np.zeros(len(terms), dtype=bool), list[NDArray[Any]]()
    cells = 0
    for block in _blocks(members, terms):
        used[block.weights.indices] = True
        cells += block.weights.nnz
        # The hashes of 64 bits, as the names of everybody take ten times more.
        hashes.append(np.fromiter(map(hash, block.users), np.int64, len(block)))
    all_hashes = np.concatenate(hashes)
    in_order = used.all() and all(map(lt, terms, terms[1:]))
    if not in_order or {members.sizes["columns"], members.sizes["weights"]} != {cells}:
        raise ValueError("terms are not in order, or nobody has one")
    if np.unique(all_hashes).size != all_hashes.size:
        raise ValueError("a user occurs twice")
    return StoredProfiles(path, terms, all_hashes.size, members.sha256)


def read_others(path: Path, users: Collection[str]) -> Profiles | None:
    """Return the profiles at `path` except those of `users`; None if there are no others.

    In a .jsonl file the lines of `users` are passed over.
    """
    if _suffix(path) == ".npz":
        profiles = read_profiles(path)
    else:
        known = {user.encode() for user in users}
        with plain_errors(path, "read"), path.open("rb", AT_ONCE) as lines:
            heads = ((line, _HEAD.match(line)) for line in lines)
            others = [line for line, head in heads if not head or head[1] not in known]
        if not others:
            return None
        profiles = read_rows(BytesIO(b"".join(others)), path, _PROFILE)[0]
    rows = [row for row, user in enumerate(profiles.users) if user not in users]
    if not rows:
        return None
    return profiles.some(rows).in_order()


def fingerprint(profiles: Profiles) -> str:
    """Return the SHA-256 of the `profiles`, which does not depend on how terms are numbered."""
    return hash_of(_arrays(profiles))


def _suffix(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise BadParameter(f"{path}: a file of profiles must end in .jsonl or .npz")
    return path.suffix


def _arrays(profiles: Profiles) -> dict[str, NDArray[Any]]:
    """Return the content as arrays that are equal if and only if the content is."""
    content = profiles.in_order()
    return {
        "users": np.frombuffer(as_json(content.users), dtype=np.uint8),
        "terms": np.frombuffer(as_json(content.terms), dtype=np.uint8),
        "ends": content.weights.indptr.astype("<i8", copy=False),
        "columns": content.weights.indices.astype("<i4", copy=False),
        "weights": content.weights.data.astype("<f8", copy=False),
    }
