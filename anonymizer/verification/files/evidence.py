"""The judge's own reader of a release folder [I/O]: its parts and what they say."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from array import array
from collections.abc import Iterator, Mapping, Sequence, Set
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, cast

import numpy as np

from ...arrays import Ints, Marks
from ...errors import BadInput
from ..finding import Broken, CountedLine, Finding, Findings, row_findings, settled
from .profiles import JudgedProfiles, keys_of, open_file, sort_columns
from .strict_lines import CellReader, LineFault, Record, TermCells, read_lines, read_strictly

MANIFEST, ROWS, PRIVATE = "release.json", "rows.jsonl", "private"
LOG = "log.tsv"  # only if the method releases a log
MEMBERS, CHECKSUMS = "private/members.jsonl", "private/checksums.sha256"
DELETIONS = "private/deletions.jsonl"  # only if the method deleted something
KEY = "private/key.json"  # only of methods that keep a secret
SLOTS = "private/slots.jsonl"  # only of methods that publish vocabularies
TAXONOMY = "private/taxonomy.tsv"  # only if such a method was given one
BASE = "private/base.jsonl"  # only of methods that begin with terms of a corpus
CUT = (ROWS, MEMBERS, LOG, DELETIONS, SLOTS)  # may be cut into shards: rows-0000.jsonl, ...
CHANGES = "private/changes.json"  # only if people left or profiles changed since
_OF_SOME = {
    LOG: "releases no log",
    DELETIONS: "deletes nothing",
    KEY: "keeps no key",
    SLOTS: "publishes no vocabularies",
    TAXONOMY: "takes no taxonomy",
    BASE: "takes no terms of a corpus",
}
COHORTS = "cohorts"  # only if people joined later: a folder for each later cohort
WITHDRAWN = "withdrawn"  # in release.json, only if a row was withdrawn
FIRST_ROW = "first_row"  # in release.json, only of a later cohort: the number of its first row
FORMAT = 3
_ROW: Record = {"row": "g0001", "users": 4, "terms": {"kitten": 1.0}}
_MEMBER: Record = {"user": "u1", "row": "g0001"}


class Manifest(TypedDict, total=False):
    """The content of release.json, once it was read strictly."""

    format: int
    method: str
    parameters: dict[str, object]
    seed: int
    input_hash: str
    profiles: dict[str, object]
    facts: dict[str, object]
    sha256: dict[str, str]
    withdrawn: dict[str, object]  # only if a row was withdrawn
    first_row: int  # only of a later cohort


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
_CHANGES: Record = {
    "withdrawn": 0,
    "left": 0,
    "stood": ["u1"],
    "edited": ["g0001"],
}
FORMAT_WORDS = {*_MANIFEST, ROWS, LOG, WITHDRAWN, FIRST_ROW, "rows"}
_MEMBER_LINE = re.compile(r'\{"user": "([^"\\\x00-\x1f]+)", "row": "([^"\\\x00-\x1f]+)"\}\n')
_LIKE_ROW = re.compile(r"g+[0-9]{4,}")
_ROW_LINE = re.compile(rb'^\{"row": "([^"\\]+)"', re.MULTILINE)
_MEMBER_REST = len('{"user": "", "row": ""}\n')
_DELETIONS_OF = re.compile(rb'^\{"user": ("(?:[^"\\]|\\.)*"), ', re.MULTILINE)
_SHARD = re.compile(r"-([0-9]{4})(?=\.)")
_HASH = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?:\d\d")

SHARDS_HOLD = "each shard is about its own rows and people"

Parts = dict[str, bytes]


class Changes(NamedTuple):
    """What happened to a release since it was made, by its own private note."""

    withdrawn: int = 0  # rows
    left: int = 0  # people of the making who have no profile any more
    stood: Set[str] = frozenset()  # people with a profile whose row was withdrawn
    edited: Set[str] = frozenset()  # rows with a member whose profile has changed
    there: bool = False  # whether there is a note

    @property
    def happened(self) -> bool:
        """Return whether anything did: people who came later are noted, but change no row."""
        return bool(self.withdrawn or self.left or self.stood or self.edited)


class JudgedRows(NamedTuple):
    """The published rows: names, how many users each claims, and its terms and weights."""

    names: list[str]
    users: Ints
    cells: TermCells  # term numbers of the profiles; terms that nobody has are numbered behind them
    keys: Ints  # row * span + term, ascending
    span: int
    odd: Marks  # the lines that are not written in the one form of their content
    terms: Sequence[str]  # by number: those of the profiles, then those that only rows have


class Numbering(NamedTuple):
    """What the rows of a cohort may be called: by numbers, and never like a user."""

    first: int  # the number of its first row
    withdrawn: int  # rows of it
    users: Set[str]  # of this cohort and of earlier ones
    left: bool  # whether some of them have left, so that nobody knows their ids
    last: int = 0  # of a shard: the number of the last row of all shards


def cohort_places(release: Path) -> list[str]:
    """Return where in the folder `release` its cohorts are: "", then "cohorts/0002/", ..."""
    if not (release / MANIFEST).exists() and not (release / ROWS).exists():
        raise BadInput(f"{release}: is no release; make one with: veilsearch anonymize PROFILES")
    folder = release / COHORTS
    if not os.path.lexists(folder):
        return [""]
    # lstat, so that a link is seen as a link.
    there = sorted(folder.iterdir()) if stat.S_ISDIR(folder.lstat().st_mode) else []
    names = [path.name for path in there]
    numbered = [f"{number:04d}" for number in range(2, len(names) + 2)]
    real = all(stat.S_ISDIR(path.lstat().st_mode) for path in there)
    if not names or names != numbered or not real:
        line = "must be a folder of the folders 0002, 0003, ... and of nothing else"
        raise Broken("cohorts", COHORTS, line)
    return ["", *(f"{COHORTS}/{name}/" for name in names)]


def part_of(name: str) -> str:
    """Return the part that the file `name` is, or is a shard of."""
    part = _SHARD.sub("", name)
    return part if part in CUT else name


def shard_of(part: str, number: int) -> str:
    """Return the name of shard `number` of `part`."""
    return part.replace(".", f"-{number:04d}.")


def file_names(release: Path) -> list[str]:
    """Return the names of the files of the folder `release`, a cohort: parts, or shards of them."""
    cut = [
        path.relative_to(release).as_posix()
        for place in (release, release / PRIVATE)
        if place.is_dir()
        for path in sorted(place.iterdir())
    ]
    cut = [name for name in cut if part_of(name) != name]
    shards = 1 + max(
        (int(name[-10:-6]) for name in cut if part_of(name) in (ROWS, MEMBERS)), default=-1
    )
    must = [shard_of(part, number) for part in (ROWS, MEMBERS) for number in range(shards)]
    there = [name for name in (*_OF_SOME, CHANGES) if os.path.lexists(release / name)]
    # Nobody would be served by the rows of such a file, and all could be in it.
    if both := [name for name in (ROWS, MEMBERS) if shards and os.path.lexists(release / name)]:
        raise Broken("files", both[0], "there are shards of it, too; remove it")
    return [MANIFEST, *(must or (ROWS, MEMBERS)), CHECKSUMS, *there, *sorted({*cut} - {*must})]


def read_files(release: Path, names: Sequence[str]) -> Parts:
    """Return the bytes of the files `names` of the folder `release`, a cohort, read only once."""
    # Only once, so that the bytes that are judged are the bytes that are published.
    files = {}
    for name in names:
        try:
            with open_file(release / name) as file:
                files[name] = file.read()
        except OSError as fault:
            raise Broken("files", name, f"can't be read ({fault.strerror or fault})") from fault
    return files


def joined(files: Parts) -> Parts:
    """Return the parts in `files`, each whole."""
    pieces: dict[str, list[bytes]] = {}
    for name in sorted(files):
        pieces.setdefault(part_of(name), []).append(files[name])
    return {name: some[0] if len(some) == 1 else b"".join(some) for name, some in pieces.items()}


def judge_files(sums: Mapping[str, str], checksums: bytes) -> Findings:
    """Yield whether files with the SHA-256 in `sums` are as when `checksums` were written."""
    lines = {name: f"{sha256}  {name}\n".encode() for name, sha256 in sums.items()}
    written = checksums.splitlines(keepends=True)
    changed = [name for name in lines if lines[name] not in written]
    for name in changed:
        yield Finding("files", False, name, "changed since its checksum was written")
    if not changed and sorted(written) != sorted(lines.values()):
        yield Finding("files", False, CHECKSUMS, "it holds more than the checksums of the parts")
    elif not changed:
        yield Finding("files", True, CHECKSUMS, "every part is as it was written")


def shard_ends(files: Parts) -> Ints | None:
    """Return the number of the last row of each shard in `files`; None if there are no shards."""
    shards = [name for name in sorted(files) if part_of(name) == ROWS != name]
    if not shards:
        return None
    return np.cumsum([files[name].count(b"\n") for name in shards]) - 1


def judge_shards(files: Parts) -> Findings:
    """Yield whether each shard of members in `files` is about rows of the same shard."""
    shards = [name for name in sorted(files) if part_of(name) == ROWS != name]
    wrong = []
    for number, name in enumerate(shards):
        place = shard_of(MEMBERS, number)
        there = {match[1].decode(errors="replace") for match in _ROW_LINE.finditer(files[name])}
        if not {*read_members(files[place], place)[1]} <= there:
            wrong.append(place)
    for name in wrong:
        yield Finding("shards", False, name, "is about a row of another shard")
    if shards and not wrong:
        yield Finding("shards", True, MEMBERS, SHARDS_HOLD)


def sha256_of(content: bytes) -> str:
    """Return the SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()


def judge_parts(parts: Parts, keeps: Set[str]) -> Findings:
    """Yield a breach for each of `parts` that only some methods have, if it is none of `keeps`."""
    if LOG in keeps and LOG not in parts:
        raise Broken("files", LOG, "is missing")
    for name, why in _OF_SOME.items():
        if name in parts and name not in keeps:
            yield Finding("files", False, name, f"its method {why}; remove the file")


def judge_privacy(release: Path, first: bool) -> Findings:
    """Yield whether only the owner may read the private part of `release`, and nothing is extra.

    Only the `first` cohort's folder holds the others.
    """
    # lstat, so that a link is seen as a link.
    place, *files = (
        path.lstat().st_mode for path in (release / PRIVATE, *(release / PRIVATE).iterdir())
    )
    plain = stat.S_ISDIR(place) and all(map(stat.S_ISREG, files))
    open_ = [mode for mode in (place, *files) if mode & 0o077 and not stat.S_ISLNK(mode)]
    known = {MANIFEST, ROWS, LOG, PRIVATE} | ({COHORTS} if first else set())
    stray = {part_of(path.name) for path in release.iterdir()} - known
    faults = {
        "others may read it; take the right away: chmod -R go= private": bool(open_),
        "it, or something in it, is a link or no regular file; put the files themselves there": (
            not plain
        ),
        "there is more in the folder than release.json, rows.jsonl and private/": bool(stray),
    }
    yield from settled("private part", PRIVATE, faults, "only its owner may read it")


def read_manifest(parts: Parts, first: bool = True) -> Manifest:
    """Return the content of release.json in `parts`: exactly the names and types it must have.

    Only the `first` cohort's does not state the number of its first row.
    """
    like = _MANIFEST if first else {**_MANIFEST, FIRST_ROW: 5}
    try:
        manifest = read_strictly(parts[MANIFEST])
        if type(manifest) is not dict or manifest.keys() - {WITHDRAWN} != like.keys():
            raise ValueError(f"the names are not exactly {', '.join(like)}")
        if any(type(manifest[name]) is not type(value) for name, value in like.items()):
            raise ValueError("a value has a wrong type")
        if manifest["format"] != FORMAT:
            raise ValueError(f"format must be {FORMAT}; make the release again")
    except (ValueError, RecursionError) as fault:
        raise Broken("release.json", MANIFEST, str(fault)) from fault
    return cast(Manifest, manifest)


def judge_manifest(
    manifest: Manifest, sums: Mapping[str, str], fingerprint: str, first_row: int
) -> Findings:
    """Yield whether `manifest` fits files of these `sums` and profiles of `fingerprint`.

    The first row of the cohort is number `first_row`.
    """
    known, sums = {*sums}, {name: sums[name] for name in sums if part_of(name) in (ROWS, LOG)}
    faults = {
        f"its hash of {name} is wrong": manifest["sha256"].get(name) != sha256
        for name, sha256 in sums.items()
    } | {
        "it has the hash of another file": manifest["sha256"].keys() != sums.keys(),
        "seed is below 0": manifest["seed"] < 0,
        f"{FIRST_ROW} must be {first_row}, as there were {first_row - 1} rows before": (
            manifest.get(FIRST_ROW, 1) != first_row
        ),
        # The order of names would be published, and could carry a message.
        "names are not in sorted order": any(
            list(names) != sorted(names)
            for names in (manifest["parameters"], manifest["profiles"], manifest["facts"])
        ),
    }
    yield from settled("release.json", MANIFEST, faults, "has the hash of the rows")
    other = {"it was made from other profiles": manifest["input_hash"] != fingerprint}
    good = "made from exactly these profiles"
    if CHANGES in known:
        good = "these are the profiles it was made from, without those who left and what changed"
    elif FIRST_ROW in manifest:
        good = "made from its own people's profiles, which are among these"
    yield from settled("input", MANIFEST, other, good)


def read_changes(parts: Parts, manifest: Manifest) -> Changes:
    """Return the private note in `parts` on what has changed; `manifest` must say the same."""
    public = manifest.get(WITHDRAWN)
    if CHANGES not in parts:
        if public is not None:
            raise Broken("changes", CHANGES, "is missing, though rows were withdrawn")
        return Changes()
    try:
        note = read_strictly(parts[CHANGES])
        if type(note) is not dict or note.keys() != _CHANGES.keys():
            raise ValueError(f"the names are not exactly {', '.join(_CHANGES)}")
        if any(type(note[name]) is not type(value) for name, value in _CHANGES.items()):
            raise ValueError("a value has a wrong type")
        if not all(type(text) is str for name in ("stood", "edited") for text in note[name]):
            raise ValueError("a name is no text")
        if min(note["withdrawn"], note["left"]) < 0:
            raise ValueError("a count is wrong")
    except (ValueError, RecursionError) as fault:
        raise Broken("changes", CHANGES, str(fault)) from fault
    stated = {"rows": note["withdrawn"]} if note["withdrawn"] else None
    if public != stated:
        raise Broken("changes", MANIFEST, f"{WITHDRAWN} is not what {CHANGES} says")
    return Changes(note["withdrawn"], note["left"], {*note["stood"]}, {*note["edited"]}, there=True)


def judge_identity(
    manifest: Manifest, rows: JudgedRows, numbering: Numbering, known: set[str]
) -> Findings:
    """Yield whether `manifest` and `rows` name a person or a time; `known` words are allowed.

    Rows must be called as `numbering` says.
    """
    # A row that may be written in several forms could carry a message in its form.
    line = (
        "is not written as rows are (terms not in sorted order, or other blanks, digits, escapes)"
    )
    yield from row_findings("identity", rows.odd, line, "the form of rows reveals nothing")
    users = numbering.users
    # Hashes are free text, so they must look like hashes.
    hashes = [manifest["input_hash"], *manifest["sha256"].values()]
    texts = {text for text in texts_in(manifest) if text not in known}
    free = {text for text in texts if text not in hashes or not _HASH.fullmatch(text)}
    faults = {
        "it holds a user's id": bool(texts & users),
        "it holds a time": any(map(_TIME.search, texts)),
        "it holds words that are not the format's": bool(free),
    }
    yield from settled("identity", MANIFEST, faults, "names no user and no time")
    namesakes = np.array([name in users for name in rows.names])
    yield from row_findings(
        "identity", namesakes, "is named like a user", "no row is named like a user"
    )
    misnamed = _misnamed(rows.names, numbering)
    yield from row_findings("identity", misnamed, "is not named by its number", "rows are numbered")


def like_row(text: str) -> bool:
    """Return whether a row could be called `text`."""
    return _LIKE_ROW.fullmatch(text) is not None


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, also names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def _misnamed(names: list[str], numbering: Numbering) -> Marks:
    """Return marks for `names` that are not in the order of numbers, with gaps for withdrawn."""
    behind = numbering.first + len(names) + numbering.withdrawn
    last = max(numbering.last, behind - 1)
    width = max(4, len(str(last)))
    numbers = [f"{number:0{width}d}" for number in range(numbering.first, behind)]
    letters = "g"
    # Someone who left may have been called g0001: then the names had more letters, and still have.
    if numbering.left and names:
        letters *= max(1, len(names[0]) - len(names[0].lstrip("g")))
    while not numbering.users.isdisjoint(f"{letters}{number}" for number in numbers):
        letters += "g"
    place_of = {f"{letters}{number}": at for at, number in enumerate(numbers)}
    places = np.array([place_of.get(name, -1) for name in names], dtype=np.int64)
    if not numbering.withdrawn:
        misplaced: Marks = places != np.arange(len(names))
        return misplaced
    return np.append(-1, places[:-1]) >= places


def read_rows(parts: Parts, people: JudgedProfiles) -> JudgedRows:
    """Return the published rows of `parts`, with the term numbers of `people`."""
    number = {term: at for at, term in enumerate(people.terms)}
    reader, names, users, odd = CellReader(number), [], array("q"), array("b")
    lines = BytesIO(parts[ROWS])
    try:
        for record in read_lines(BytesIO(parts[ROWS]), _ROW):
            names.append(record["row"])
            # JSON has no largest number, but the array of 64 bits has.
            users.append(min(max(record["users"], -1), 2**60))
            reader.add(record["terms"])
            terms = {term: float(weight) for term, weight in sorted(record["terms"].items())}
            row = {"row": record["row"], "users": record["users"], "terms": terms}
            odd.append(next(lines) != f"{json.dumps(row, ensure_ascii=False)}\n".encode())
        cells = reader.cells()
    except LineFault as fault:
        raise Broken("rows", f"{ROWS}, line {fault.number}", str(fault)) from fault
    span = len(number)
    cells = sort_columns(cells, span)
    sizes = np.array(users, dtype=np.int64)
    return JudgedRows(
        names,
        sizes,
        cells,
        keys_of(cells, span),
        span,
        np.array(odd, dtype=np.bool_),
        [*number],
    )


def no_rows() -> JudgedRows:
    """Return the rows of a cohort that has none any more."""
    none = np.empty(0, dtype=np.int64)
    cells = TermCells(np.zeros(1, dtype=np.int64), none, np.empty(0))
    return JudgedRows([], none, cells, none, 0, np.empty(0, dtype=np.bool_), [])


def read_partition(
    parts: Parts,
    names: list[str],
    people: JudgedProfiles,
    leaves_out: bool = False,
    stood: Set[str] = frozenset(),
) -> Ints:
    """Return each user's row among `names`; -1 for users without one.

    Only those who `stood` in a withdrawn row have none, and others if `leaves_out` allows it.
    """
    users, rows = read_members(parts[MEMBERS])
    position = {user: at for at, user in enumerate(people.users)}
    row_of = {name: at for at, name in enumerate(names)}
    for number, (user, row) in enumerate(zip(users, rows, strict=True), 1):
        if user not in position or row not in row_of:
            why = "there is no such row" if user in position else "its user has no profile"
            raise Broken("partition", f"{MEMBERS}, line {number}", why)
    group_of = np.full(len(people.users), -1, dtype=np.int64)
    group_of[[position[user] for user in users]] = [row_of[row] for row in rows]
    rowless = [people.users[at] for at in np.flatnonzero(group_of < 0).tolist()]
    if not stood <= {*rowless}:
        raise Broken("partition", CHANGES, "somebody has a row, or no profile, who left one")
    lost = len(rowless) - len(stood)
    if lost and not leaves_out:
        raise Broken("partition", MEMBERS, f"{lost} users of the profiles have no row")
    return group_of


def people_named(parts: Parts, stood: Set[str]) -> set[str]:
    """Return the users of a cohort: those that `parts` name, and those that `stood` in a row."""
    members = read_members(parts[MEMBERS])[0] if parts[MEMBERS] else []
    try:
        deleted = [*map(read_strictly, _DELETIONS_OF.findall(parts.get(DELETIONS, b"")))]
    except ValueError as fault:
        raise Broken("deletions", DELETIONS, f"a user can't be read ({fault})") from fault
    return {*members, *deleted, *stood}


def read_members(content: bytes, place: str = MEMBERS) -> tuple[list[str], list[str]]:
    """Return the users in `content`, that of the file at `place`, and the row of each."""
    try:
        # Faster than parsing; anything but the usual form is then read strictly.
        text = content.decode()
        lines = _MEMBER_LINE.findall(text)
        users, rows = [user for user, _ in lines], [row for _, row in lines]
        # Matches don't overlap. So there is nothing else if they are as long as all together.
        usual = len(text) == sum(map(len, (*users, *rows))) + _MEMBER_REST * len(lines)
        if len({*users}) < len(users) or not usual:
            records = [*read_lines(BytesIO(content), _MEMBER)]
            users, rows = ([record[name] for record in records] for name in _MEMBER)
    except LineFault as fault:
        raise Broken("partition", f"{place}, line {fault.number}", str(fault)) from fault
    except UnicodeDecodeError as fault:
        raise Broken("partition", place, "is no UTF-8") from fault
    return users, rows


def members_of(group_of: Ints, rows: int) -> Ints:
    """Return the number of members in `group_of` of each of `rows` rows."""
    return np.bincount(group_of[group_of >= 0], minlength=rows).astype(np.int64, copy=False)


def sizes_made(group_of: Ints, rows: JudgedRows, left: int) -> Ints:
    """Return how many members in `group_of` each of `rows` had at the making.

    The last one may be a fallback row, which is smaller than the others. It keeps its number when
    people served by it are forgotten, at most those who `left`.
    """
    sizes, stated = members_of(group_of, len(rows.names)), rows.users
    if 0 < sizes[-1] < stated[-1] < stated[0] and stated[-1] - sizes[-1] <= left:
        sizes[-1] = stated[-1]
    return sizes


def judge_partition(group_of: Ints, sizes: Ints, rows: JudgedRows) -> Findings:
    """Yield whether each of `rows` states its number of members, of `sizes`, one or more.

    Users stand in them by `group_of`.
    """
    empty = np.flatnonzero(sizes == 0)
    if empty.size:
        raise Broken("partition", f"{ROWS}, line {empty[0] + 1}", "nobody has this row")
    yield from row_findings(
        "partition",
        sizes != rows.users,
        "users is not the number of members",
        CountedLine(
            "each of {} users is in exactly one of {} rows",
            int(np.count_nonzero(group_of >= 0)),
            int(sizes.size),
        ),
    )
