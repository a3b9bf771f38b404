"""Rows that anybody's code made of published profiles [I/O]: a release without release.json.

FOLDER/rows.jsonl             {"row": "g1", "users": 4, "terms": {"wine": 0.5}} on each line
FOLDER/private/members.jsonl  {"user": "u1", "row": "g1"} on each line; people may be without a row
FOLDER/parameters.json        if there is any: {"p": 0.1}, texts and numbers by name

Nothing is known of how such rows were made. So they promise nothing, and nothing is verified.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput
from ..model import Profiles, Release
from ..promise import UNKNOWN
from .json_lines import read_fields, read_rows
from .parts import MANIFEST, MEMBERS, ROWS
from .records import plain_errors, read_object
from .releases import MEMBER, ROW, PromiseOf, read_hash, read_release, row_of_members

PARAMETERS = "parameters.json"


def is_foreign(folder: Path) -> bool:
    """Return whether `folder` holds rows and no release.json."""
    return (folder / ROWS).is_file() and not (folder / MANIFEST).exists()


def read_any(folder: Path, promise_of: PromiseOf) -> Release:
    """Return the release in `folder`, ours or anybody's; `promise_of` gives the promise of ours."""
    if not is_foreign(folder):
        return read_release(folder, promise_of)
    with plain_errors(folder, "read"):
        with (folder / ROWS).open("rb") as file:
            rows, sizes = read_rows(file, folder / ROWS, ROW)
        with (folder / MEMBERS).open("rb") as file:
            members = read_fields(file, folder / MEMBERS, MEMBER)
        parameters = _parameters(folder / PARAMETERS)
    row_of_user = row_of_members(rows, members["row"], folder / MEMBERS)
    wrong = np.bincount(row_of_user, minlength=len(rows)) != sizes
    if wrong.any():
        where = f"{folder / ROWS}, line {np.argmax(wrong) + 1}"
        raise BadInput(f"{where}: users must be the number of lines of {MEMBERS} with this row")
    name = method_in(folder)
    return Release(rows, tuple(members["user"]), row_of_user, name, parameters, promise=UNKNOWN)


def method_in(folder: Path) -> str:
    """Return what the rows in `folder` are called: its name and a slash, as no method is called."""
    return f"{folder.resolve().name}/"


def hash_of_rows(folder: Path) -> str:
    """Return a hash of the rows in `folder`, and of who has them if the rows are anybody's."""
    if not is_foreign(folder):
        return read_hash(folder)
    with plain_errors(folder, "read"):
        parts = [(folder / name).read_bytes() for name in (ROWS, MEMBERS)]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def refuse_other_people(release: Release, profiles: Profiles) -> None:
    """Refuse a `release` that names people who have none of the `profiles`."""
    strangers = len({*release.users} - {*profiles.users})
    if strangers:
        raise BadInput(
            f"{release.method}: {strangers} of {len(release.users)} people have no profile here; "
            "make the rows of these profiles"
        )


def _parameters(path: Path) -> dict[str, Any]:
    """Return the parameters in the file `path`; none if it does not exist."""
    if not path.exists():
        return {}
    try:
        given = read_object(path.read_bytes())
    except (ValueError, RecursionError) as fault:
        raise BadInput(f"{path}: {fault}") from fault
    p = given.get("p", 0.5)
    if not all(type(value) in (str, int, float) for value in given.values()):
        raise BadInput(f"{path}: each value must be a text or a number")
    if type(p) not in (int, float) or not 0 < p < 1:
        raise BadInput(f"{path}: p must be a number above 0 and below 1")
    return dict(given)
