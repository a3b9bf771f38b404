"""The published file [I/O]: all of a release that may leave, in one file, as it was verified.

FILE's first line   what is public of release.json, with the SHA-256 of all that follows
then                the bytes of rows.jsonl: {"row": "g0001", "users": 4, "terms": {...}} a line
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from .line_reading import read_rows
from .model import BadInput, Ints, Profiles
from .records import Record, check_record, plain_errors, read_object

FORMAT = "veilsearch published release 1"
_ABOUT: Record = {  # the first line by example
    "format": FORMAT,
    "method": "none",
    "parameters": {},
    "profiles": {},
    "facts": {},
    "sha256": "0a1b",
}
_ROW: Record = {"row": "g0001", "users": 4, "terms": {"kitten": 1.0}}


@dataclass(frozen=True)
class Published:
    """What a published file says: rows, how many people stand behind each, and the first line."""

    rows: Profiles
    sizes: Ints
    about: dict[str, Any]


def read_published(path: Path) -> Published:
    """Read a published file and refuse it unless it is whole and each row is sound."""
    with plain_errors(path, "read"):
        content = path.read_bytes()
    first, _, lines = content.partition(b"\n")
    about = _read_about(first, path)
    if hashlib.sha256(lines).hexdigest() != about["sha256"]:
        raise BadInput(f"{path}: changed since it was published; get it again")
    rows, users = read_rows(BytesIO(lines), Path(f"{path}, rows"), _ROW)
    sizes = np.array(users, dtype=np.int64)
    if np.any(sizes < 2):
        raise BadInput(f"{path}: a row stands for fewer than two people; publish it again")
    return Published(rows, sizes, about)


def _read_about(line: bytes, path: Path) -> Record:
    try:
        about = read_object(line)
        if about.get("format") != FORMAT:
            raise ValueError("the first line is not that of a published release")
        check_record(about, _ABOUT)
    except (ValueError, RecursionError) as fault:
        raise BadInput(
            f"{path}: {fault}; name a file made by: veilsearch publish RELEASE -o FILE"
        ) from fault
    return about
