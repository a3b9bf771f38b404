"""Profiles on disk [I/O]: written whole or not at all, checked when read.

profiles.jsonl   {"user": "u1", "terms": {"kitten": 1.0}} on each line
profiles.npz     the same content as arrays, with their hash: the fast form
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

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
