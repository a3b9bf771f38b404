"""Profiles on disk [I/O]: written whole or not at all, checked when read.

profiles.jsonl   {"user": "u1", "terms": {"kitten": 1.0}} a line
profiles.npz     the same content as arrays, with their hash: the fast form
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .line_reading import read_rows
from .line_writing import row_lines, sorted_and_used
from .model import BadInput, BadParameter, Profiles
from .profiles import with_sorted_terms
from .records import Record, as_json, plain_errors, sync, sync_folder

_PROFILE: Record = {"user": "u1", "terms": {"kitten": 1.0}}  # a record by example
_OURS = "veil"  # begins the last part of a temporary's name: .profiles.jsonl.veil07af


def write_profiles(profiles: Profiles, path: Path) -> None:
    """Write profiles as .jsonl or .npz, for the owner's eyes only."""
    write = {".jsonl": _write_jsonl, ".npz": _write_npz}[_suffix(path)]
    with plain_errors(path, "written"):
        _sweep(path)
        with _temporary(path) as (temporary, file):
            write(profiles, file)
            sync(file)
            temporary.replace(path)
        sync_folder(path.parent)


def read_profiles(path: Path) -> Profiles:
    """Read profiles from .jsonl or .npz and refuse whatever is broken."""
    read = {".jsonl": _read_jsonl, ".npz": _read_npz}[_suffix(path)]
    with plain_errors(path, "read"), path.open("rb") as file:
        return read(file, path)


def fingerprint(profiles: Profiles) -> str:
    """Return the SHA-256 of users, terms and weights, however the terms are numbered."""
    return _hash(_arrays(profiles))


@contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, BufferedIOBase]]:
    """Open a file for what is under way, which is locked while its writer lives."""
    temporary = path.with_name(f".{path.name}.{_OURS}{secrets.token_hex(2)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            with suppress(OSError):  # where there are no locks, nobody sweeps either
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield temporary, file
    finally:
        temporary.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove what killed writers of this file left: it says who searched for what."""
    name = re.compile(rf"\.{re.escape(path.name)}\.{_OURS}[0-9a-f]{{4}}")
    for left in path.parent.glob(".*"):
        if name.fullmatch(left.name) and left.is_file() and not left.is_symlink():
            with suppress(OSError), left.open("ab") as file:  # it is in use, or not ours
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()


def _suffix(path: Path) -> str:
    if path.suffix not in (".jsonl", ".npz"):
        raise BadParameter(f"{path}: a file of profiles must end in .jsonl or .npz")
    return path.suffix


def _write_jsonl(profiles: Profiles, file: BufferedIOBase) -> None:
    file.writelines(row_lines(profiles, {"user": profiles.users}))


def _read_jsonl(file: BufferedIOBase, path: Path) -> Profiles:
    return read_rows(file, path, _PROFILE)[0]


def _arrays(profiles: Profiles) -> dict[str, NDArray[Any]]:
    """Return the content as arrays that are equal if and only if the content is."""
    content = profiles
    if not sorted_and_used(profiles):
        content = with_sorted_terms(profiles.users, profiles.terms, profiles.weights)
    return {
        "users": np.frombuffer(as_json(content.users), dtype=np.uint8),
        "terms": np.frombuffer(as_json(content.terms), dtype=np.uint8),
        "ends": content.weights.indptr.astype("<i8", copy=False),
        "columns": content.weights.indices.astype("<i4", copy=False),
        "weights": content.weights.data.astype("<f8", copy=False),
    }


def _hash(arrays: dict[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of each array's name, size and bytes, one after the other."""
    digest = hashlib.sha256()
    for name, values in arrays.items():
        digest.update(f"{name} {values.size}\n".encode())
        digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def _write_npz(profiles: Profiles, file: BufferedIOBase) -> None:
    arrays: dict[str, Any] = _arrays(profiles)
    np.savez(file, **arrays, sha256=_hash(arrays))


def _names(content: bytes) -> list[str]:
    """Return users or terms, which are texts, as in JSONL, and at least one."""
    names = json.loads(content)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError("a name is empty or no text, or there is none")
    return list(names)


def _read_npz(file: BufferedIOBase, path: Path) -> Profiles:
    try:
        with np.load(file, allow_pickle=False) as stored:
            users, terms = (_names(stored[name].tobytes()) for name in ("users", "terms"))
            entries = (stored["weights"], stored["columns"], stored["ends"])
            weights = csr_matrix(entries, shape=(len(users), len(terms)))
            weights.check_format(full_check=True)
            profiles = Profiles(tuple(users), tuple(terms), weights)
            if fingerprint(profiles) != str(stored["sha256"]):
                raise ValueError("the hash differs")
    except Exception as fault:  # a damaged archive fails in countless ways
        raise BadInput(f"{path}: damaged, or no file of profiles; make it again") from fault
    return profiles
