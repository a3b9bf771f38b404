"""A person's lines in logs, held-out queries and a town's truth [I/O]: found, and left out."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .errors import UsageError, plain_when_writing
from .workspace import write_whole

_BOM = b"\xef\xbb\xbf"
_HEADERS = ("anonid\tquery\t", "user\tquery\t")
_AOL_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d.*")
_DIGITS = re.compile(r"\d{1,12}")
IsGone = Callable[[str], bool]  # of a query


class Shape(NamedTuple):
    """In which columns a file of lines has user and query."""

    user: int
    query: int


LOG, HELD_OUT, LECTURE = Shape(0, 1), Shape(1, 2), Shape(1, 0)


@dataclass(frozen=True)
class Rewritten:
    """How many lines went, and the hashes of a file before and after."""

    dropped: int
    before: str
    after: str


def is_log(path: Path) -> bool:
    """Tell whether a file's first line is one of a query log with user, query, time by columns."""
    try:
        with path.open("rb") as file:
            first = file.readline(1 << 16).removeprefix(_BOM).decode()
    except (OSError, UnicodeDecodeError):
        return False
    if first.lower().startswith(_HEADERS):
        return True
    columns = first.rstrip("\r\n").split("\t")
    time = columns[2] if 3 <= len(columns) <= 5 else ""
    return bool(_AOL_TIME.fullmatch(time) or (len(columns) == 3 and _DIGITS.fullmatch(time)))


def write_without(path: Path, output: Path, shape: Shape, user: str, gone: IsGone) -> Rewritten:
    """Write a file without the lines of a user whose query is gone; all others stay as they are."""
    before, after, dropped = hashlib.sha256(), hashlib.sha256(), 0
    with plain_when_writing(output), path.open("rb") as lines:
        mode = os.fstat(lines.fileno()).st_mode & 0o777
        with os.fdopen(os.open(output, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            for line in lines:
                before.update(line)
                if _is_of(line, shape, user, gone):
                    dropped += 1
                    continue
                after.update(line)
                file.write(line)
            file.flush()
            os.fsync(file.fileno())
        output.chmod(mode)
    if not dropped:
        output.unlink()
    return Rewritten(dropped, before.hexdigest(), after.hexdigest())


def _is_of(line: bytes, shape: Shape, user: str, gone: IsGone) -> bool:
    columns = line.removeprefix(_BOM).rstrip(b"\r\n").split(b"\t")
    if len(columns) <= shape.user:
        return False
    if columns[shape.user].decode("utf-8", "replace").strip() != user:
        return False
    query = columns[shape.query] if len(columns) > shape.query else b""
    return gone(query.decode("utf-8", "replace"))


def read_truth(path: Path) -> dict[str, Any]:
    """Read a town's truth."""
    try:
        truth = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(truth[part], dict) for part in ("users", "interests")):
            raise ValueError("a part is missing")
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise UsageError(f"{path} is missing or damaged; remove it") from fault
    return dict(truth)


def truth_without(truth: Mapping[str, Any], user: str, lines: int) -> dict[str, Any]:
    """Return a town's truth without a person, whose lines of the log are gone.

    What else was counted over the whole town can't be counted again, so it goes too.
    """
    users = {name: person for name, person in truth["users"].items() if name != user}
    interests = {
        label: [fan for fan in fans if fan != user] for label, fans in truth["interests"].items()
    }
    interests = {label: fans for label, fans in interests.items() if fans}
    examples = truth.get("examples", {})
    counts = {"users": len(users), "lines": truth.get("counts", {}).get("lines", lines) - lines}
    return {
        **truth,
        "users": users,
        "interests": interests,
        "examples": _examples(tuple(examples), interests),
        "counts": counts,
    }


def _examples(labels: tuple[str, ...], interests: Mapping[str, list[str]]) -> dict[str, str]:
    """Name for each of the lecture's pair its most devoted fan who is none of the other's."""
    found = {}
    for label in labels:
        others = {fan for other in labels if other != label for fan in interests.get(other, [])}
        only = [fan for fan in interests.get(label, []) if fan not in others]
        if only:
            found[label] = only[0]
    return found


def write_truth(truth: Mapping[str, Any], path: Path) -> None:
    """Write a town's truth as `town` does."""
    write_whole(path, json.dumps(truth, indent=1, ensure_ascii=False) + "\n")
