"""Profiles on disk [I/O]: written whole or not at all, checked when read.

profiles.jsonl   {"user": "u1", "terms": {"kitten": 1.0}} a line
profiles.npz     the same content as arrays, with their hash: the fast form
"""

from __future__ import annotations

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
from .records import Record, as_json, plain_errors, sync
from .whole_files import hash_of, names_of, replaced_whole

_PROFILE: Record = {"user": "u1", "terms": {"kitten": 1.0}}  # a record by example


def write_profiles(profiles: Profiles, path: Path) -> None:
    """Write profiles as .jsonl or .npz, for the owner's eyes only."""
    write = {".jsonl": _write_jsonl, ".npz": _write_npz}[_suffix(path)]
    with plain_errors(path, "written"), replaced_whole(path) as file:
        write(profiles, file)
        sync(file)


def read_profiles(path: Path) -> Profiles:
    """Read profiles from .jsonl or .npz and refuse whatever is broken."""
    read = {".jsonl": _read_jsonl, ".npz": _read_npz}[_suffix(path)]
    with plain_errors(path, "read"), path.open("rb") as file:
        return read(file, path)


def fingerprint(profiles: Profiles) -> str:
    """Return the SHA-256 of users, terms and weights, however the terms are numbered."""
    return hash_of(_arrays(profiles))


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


def _write_npz(profiles: Profiles, file: BufferedIOBase) -> None:
    arrays: dict[str, Any] = _arrays(profiles)
    np.savez(file, **arrays, sha256=hash_of(arrays))


def _read_npz(file: BufferedIOBase, path: Path) -> Profiles:
    try:
        with np.load(file, allow_pickle=False) as stored:
            users, terms = (names_of(stored[name].tobytes()) for name in ("users", "terms"))
            entries = (stored["weights"], stored["columns"], stored["ends"])
            weights = csr_matrix(entries, shape=(len(users), len(terms)))
            weights.check_format(full_check=True)
            profiles = Profiles(users, terms, weights)
            if fingerprint(profiles) != str(stored["sha256"]):
                raise ValueError("the hash differs")
    except Exception as fault:  # a damaged archive fails in countless ways
        raise BadInput(f"{path}: damaged, or no file of profiles; make it again") from fault
    return profiles
