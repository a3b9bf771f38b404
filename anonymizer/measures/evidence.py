"""The judge's own reading of a release folder [I/O]: its parts and what they say."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from array import array
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .finding import Broken, Finding, Findings, Ints, Marks, settled, told_rows
from .people import People, keys_of, open_file, sort_columns
from .strict_lines import CellReader, Cells, Fault, Record, read_lines, read_strictly

MANIFEST, ROWS, PRIVATE = "release.json", "rows.jsonl", "private"
MEMBERS, CHECKSUMS = "private/members.jsonl", "private/checksums.sha256"
DELETIONS = "private/deletions.jsonl"  # of methods that delete, where something was deleted
KEY = "private/key.json"  # of methods that keep a secret
FORMAT = 2
_ROW: Record = {"row": "g0001", "users": 4, "terms": {"kitten": 1.0}}
_MEMBER: Record = {"user": "u1", "row": "g0001"}
_MANIFEST: Record = {
    "format": FORMAT,
    "method": "none",
    "parameters": {},
    "seed": 0,
    "input_hash": "0a1b",
    "profiles": {},
    "facts": {},
    "sha256": {},
}
FORMAT_WORDS = {*_MANIFEST, ROWS}
_MEMBER_LINE = re.compile(r'\{"user": "([^"\\\x00-\x1f]+)", "row": "([^"\\\x00-\x1f]+)"\}\n')
_HASH = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?:\d\d")

Parts = dict[str, bytes]


class Rows(NamedTuple):
    """The published rows: names, how many users each claims, and its terms and weights."""

    names: list[str]
    users: Ints
    cells: Cells  # terms numbered as in the profiles; one nobody has is numbered behind them
    keys: Ints  # row * span + term, ascending
    span: int
    odd: Marks  # which lines are written otherwise than what they say is always written


def read_parts(release: Path) -> Parts:
    """Read the bytes of all parts, once; a folder that holds none of them is no release."""
    if not (release / MANIFEST).exists() and not (release / ROWS).exists():
        _no_release(release)
    parts = {}
    there = [name for name in (DELETIONS, KEY) if os.path.lexists(release / name)]
    for name in (MANIFEST, ROWS, MEMBERS, CHECKSUMS, *there):
        try:
            with open_file(release / name) as file:
                parts[name] = file.read()
        except OSError as fault:
            raise Broken("files", name, f"can't be read ({fault.strerror or fault})") from fault
    return parts


def _no_release(release: Path) -> NoReturn:
    from ..model import BadInput  # it brings scipy along, which a judge has no other use for

    raise BadInput(f"{release}: is no release; make one with: veilsearch anonymize PROFILES")


def judge_files(parts: Parts) -> Findings:
    """Check that every part is as it was when its checksum was written."""
    named = [name for name in (MANIFEST, ROWS, MEMBERS, DELETIONS, KEY) if name in parts]
    lines = {name: f"{_sha256(parts[name])}  {name}\n".encode() for name in named}
    written = parts[CHECKSUMS].splitlines(keepends=True)
    changed = [name for name in named if lines[name] not in written]
    for name in changed:
        yield Finding("files", False, name, "changed since its checksum was written")
    if not changed and sorted(written) != sorted(lines.values()):
        yield Finding("files", False, CHECKSUMS, "there is more in it than the parts' checksums")
    elif not changed:
        yield Finding("files", True, CHECKSUMS, "every part is as it was written")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def judge_parts(parts: Parts, deletes: bool, keeps_key: bool = False) -> Findings:
    """Check that nothing is told of deletions where the method makes none, and no key kept."""
    if DELETIONS in parts and not deletes:
        yield Finding("files", False, DELETIONS, "its method deletes nothing; remove the file")
    if KEY in parts and not keeps_key:
        yield Finding("files", False, KEY, "its method keeps no key; remove the file")


def judge_privacy(release: Path) -> Findings:
    """Check that only the owner may read the private part, and that nothing else lies about."""
    place, *files = (
        path.lstat().st_mode for path in (release / PRIVATE, *(release / PRIVATE).iterdir())
    )
    plain = stat.S_ISDIR(place) and all(map(stat.S_ISREG, files))
    open_ = [mode for mode in (place, *files) if mode & 0o077 and not stat.S_ISLNK(mode)]
    stray = {path.name for path in release.iterdir()} - {MANIFEST, ROWS, PRIVATE}
    faults = {
        "others may read it; take the right away: chmod -R go= private": bool(open_),
        "it, or something in it, is a link or no regular file; put the files themselves there": (
            not plain
        ),
        "something else lies beside release.json, rows.jsonl and private/": bool(stray),
    }
    yield from settled("private part", PRIVATE, faults, "only its owner may read it")


def read_manifest(parts: Parts) -> Record:
    """Return what release.json says, with all its names and the types they must have."""
    try:
        manifest = read_strictly(parts[MANIFEST])
        if type(manifest) is not dict or manifest.keys() != _MANIFEST.keys():
            raise ValueError(f"the names are not exactly {', '.join(_MANIFEST)}")
        if any(type(manifest[name]) is not type(value) for name, value in _MANIFEST.items()):
            raise ValueError("a value is of another type than it must be")
        if manifest["format"] != FORMAT:
            raise ValueError(f"format must be {FORMAT}; make the release again")
    except (ValueError, RecursionError) as fault:
        raise Broken("release.json", MANIFEST, str(fault)) from fault
    return manifest


def judge_manifest(manifest: Record, parts: Parts, people: People) -> Findings:
    """Check the hashes that release.json names, and that its seed is one."""
    faults = {
        "its hash of rows.jsonl is not that of rows.jsonl": (
            manifest["sha256"] != {ROWS: _sha256(parts[ROWS])}
        ),
        "seed is below 0": manifest["seed"] < 0,
    }
    yield from settled("release.json", MANIFEST, faults, "names the rows by their hash")
    other = {"it was made from other profiles": manifest["input_hash"] != people.fingerprint()}
    yield from settled("input", MANIFEST, other, "made from these very profiles")


def judge_identity(manifest: Record, rows: Rows, people: People, known: set[str]) -> Findings:
    """Check that nothing public names a person or a time; known are the words of the format."""
    line = (
        "is not written as rows are (terms not in sorted order, or other blanks, digits, escapes)"
    )
    yield from told_rows("identity", rows.odd, line, "how rows are written tells nothing")
    users = set(people.users)
    hashes = [manifest["input_hash"], *manifest["sha256"].values()]
    texts = {text for text in _texts(manifest) if text not in known}
    free = {text for text in texts if text not in hashes or not _HASH.fullmatch(text)}
    faults = {
        "it holds a user's id": bool(texts & users),
        "it holds a time": any(map(_TIME.search, texts)),
        "it holds words that are none of the format's": bool(free),
    }
    yield from settled("identity", MANIFEST, faults, "names no user and no time")
    namesakes = np.array([name in users for name in rows.names])
    yield from told_rows("identity", namesakes, "is named like a user", "no row is named like one")
    numbered = _numbered(len(rows.names), users)
    other = np.array([n != m for n, m in zip(rows.names, numbered, strict=True)])
    yield from told_rows("identity", other, "is not named by its number", "rows are numbered")


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _numbered(count: int, users: set[str]) -> list[str]:
    """Return g0001, g0002, ... with the fewest g that make none the namesake of a user."""
    width, letters = max(4, len(str(count))), "g"
    while True:
        names = [f"{letters}{number:0{width}d}" for number in range(1, count + 1)]
        if users.isdisjoint(names):
            return names
        letters += "g"


def read_rows(parts: Parts, people: People) -> Rows:
    """Return the published rows."""
    number = {term: at for at, term in enumerate(people.terms)}
    reader, names, users, odd = CellReader(number), [], array("q"), array("b")
    lines = BytesIO(parts[ROWS])
    try:
        for record in read_lines(BytesIO(parts[ROWS]), _ROW):
            names.append(record["row"])
            users.append(min(max(record["users"], -1), 2**60))
            reader.add(record["terms"])
            odd.append(next(lines) != _line_of(record))
        cells = reader.cells()
    except Fault as fault:
        raise Broken("rows", f"{ROWS}, line {fault.number}", str(fault)) from fault
    span = len(number)
    cells = sort_columns(cells, span)
    sizes = np.array(users, dtype=np.int64)
    return Rows(names, sizes, cells, keys_of(cells, span), span, np.array(odd, dtype=np.bool_))


def _line_of(record: Record) -> bytes:
    """Return a row's one line: what could be written in several ways could tell of a member."""
    terms = {term: float(weight) for term, weight in sorted(record["terms"].items())}
    row = {"row": record["row"], "users": record["users"], "terms": terms}
    return f"{json.dumps(row, ensure_ascii=False)}\n".encode()


def read_partition(
    parts: Parts, names: list[str], people: People, leaves_out: bool = False
) -> Ints:
    """Return each user's row number; each stands in exactly one of the rows of these names.

    Who has none is numbered -1, where users may be left out.
    """
    users, rows = _read_members(parts[MEMBERS])
    position = {user: at for at, user in enumerate(people.users)}
    row_of = {name: at for at, name in enumerate(names)}
    for number, (user, row) in enumerate(zip(users, rows, strict=True), 1):
        if user not in position or row not in row_of:
            fault = "there is no such row" if user in position else "the user has no profile"
            raise Broken("partition", f"{MEMBERS}, line {number}", fault)
    group_of = np.full(len(people.users), -1, dtype=np.int64)
    group_of[[position[user] for user in users]] = [row_of[row] for row in rows]
    lost = int(np.count_nonzero(group_of < 0))
    if lost and not leaves_out:
        raise Broken("partition", MEMBERS, f"{lost} users of the profiles have no row")
    return group_of


def _read_members(content: bytes) -> tuple[list[str], list[str]]:
    """Return users and their rows, no user twice; lines of the usual form are read all at once."""
    try:
        found = _MEMBER_LINE.findall(content.decode())
        users, rows = [user for user, _ in found], [row for _, row in found]
        if len({*users}) < len(users) or _lines_of(users, rows) != content:
            records = [*read_lines(BytesIO(content), _MEMBER)]
            users, rows = ([record[name] for record in records] for name in _MEMBER)
    except Fault as fault:
        raise Broken("partition", f"{MEMBERS}, line {fault.number}", str(fault)) from fault
    except UnicodeDecodeError as fault:
        raise Broken("partition", MEMBERS, "is no UTF-8") from fault
    return users, rows


def _lines_of(users: list[str], rows: list[str]) -> bytes:
    """Return members as they are usually written."""
    lines = [
        f'{{"user": "{user}", "row": "{row}"}}\n' for user, row in zip(users, rows, strict=True)
    ]
    return "".join(lines).encode()


def members_of(group_of: Ints, rows: int) -> Ints:
    """Count the members of each row."""
    return np.bincount(group_of[group_of >= 0], minlength=rows).astype(np.int64, copy=False)


def judge_partition(group_of: Ints, rows: Rows) -> Findings:
    """Check that each row says how many stand behind it, and that somebody does."""
    sizes = members_of(group_of, len(rows.names))
    empty = np.flatnonzero(sizes == 0)
    if empty.size:
        raise Broken("partition", f"{ROWS}, line {empty[0] + 1}", "nobody has this row")
    yield from told_rows(
        "partition",
        sizes != rows.users,
        "users is not the number of members",
        f"each of {sizes.sum()} users stands in exactly one of {sizes.size} rows",
    )
