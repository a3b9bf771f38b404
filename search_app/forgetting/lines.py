"""Remove people or terms from a workspace's logs, held-out queries, lecture and truths [I/O]."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

from anonymizer.storage.files import write_file
from anonymizer.storage.records import read_object

from ..errors import UsageError, plain_when_writing
from ..settings import Settings
from ..tasks.town import truth_path
from ..workspace.folder import Current, Workspace, with_check, write_whole
from ..workspace.lecture import NAME as LECTURE_FILE
from ..workspace.profile_choices import analysis_of, choices_of
from ..workspace.replacing import Replacement
from ..workspace.tables import is_database
from .needles import Needles

_HELD_OUT = ".held-out.tsv"
_BOM = b"\xef\xbb\xbf"
_HEADERS = ("anonid\tquery\t", "user\tquery\t")
_AOL_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d.*")
_DIGITS = re.compile(r"\d{1,12}")
_AT_ONCE = 1 << 22  # bytes
IsGone = Callable[[str], bool]  # whether a query goes


class LineColumns(NamedTuple):
    """Which columns of a file of lines hold user and query."""

    user: int
    query: int


LOG, HELD_OUT, LECTURE = LineColumns(0, 1), LineColumns(1, 2), LineColumns(1, 0)


@dataclass(frozen=True)
class Rewritten:
    """How many lines were dropped from a file, and its hashes before and after."""

    dropped: int
    before: str
    after: str


def forget_lines(
    workspace: Workspace,
    settings: Settings,
    people: Set[str],
    terms: Collection[str] | None,
    replacement: Replacement,
) -> Callable[[Current], str]:
    """Rewrite these files without the lines of `people` (with `terms`: the lines that have one).

    Return a function that gives the hash of the current log as it is now.
    """
    gone = _is_gone(workspace, settings, terms)
    renamed: dict[str, str] = {}
    for path in sorted(workspace.root.glob(f"[!.]*{_HELD_OUT}")):
        done = _write_without(path, replacement.place(path), HELD_OUT, people, gone)
        if done.dropped:
            _note_held_out(path, done, replacement)
    lecture = workspace.root / LECTURE_FILE
    if terms is None and lecture.is_file():
        _write_without(lecture, replacement.place(lecture), LECTURE, people, gone)
    for path in sorted(workspace.root.glob("[!.]*")):
        if is_database(path) or path.name.endswith(_HELD_OUT) or not _is_log(path):
            continue
        done = _write_without(path, replacement.place(path), LOG, people, gone)
        if done.dropped:
            renamed[done.before] = done.after
        _forget_in_truth(truth_path(path), done, people, terms is None, replacement)
    return lambda current: renamed.get(current.log_sha256, current.log_sha256)


def _note_held_out(path: Path, done: Rewritten, replacement: Replacement) -> None:
    """Make the choices of the profiles next to `path` state the new hash of these queries."""
    made = path.with_name(f"{path.name.removesuffix(_HELD_OUT)}.made.json")
    staged = replacement.place(made)
    if made in replacement.removed or not (staged.exists() or made.exists()):
        return
    with suppress(ValueError, RecursionError):  # damaged: doctor reports it
        record = read_object((staged if staged.exists() else made).read_bytes())
        if record.get("held_out") == done.before:
            write_whole(staged, with_check({**record, "held_out": done.after}))


def _is_gone(workspace: Workspace, settings: Settings, terms: Collection[str] | None) -> IsGone:
    """Return the test whether a query of who leaves goes: without `terms` all do."""
    if terms is None:
        return lambda _query: True
    from anonymizer.storage.profiles import fingerprint, read_profiles

    # Queries are analysed as they were for the current profiles: else the terms would differ.
    choices = {}
    if workspace.current().profiles:
        profiles = workspace.find("profiles")
        choices = choices_of(profiles, fingerprint(read_profiles(profiles)))
    counter = analysis_of(choices, settings)

    def has_term(query: str) -> bool:
        columns = counter.count([query]).columns.tolist()
        return not set(terms).isdisjoint(counter.terms[column] for column in columns)

    return has_term


def _forget_in_truth(
    path: Path, done: Rewritten, people: Set[str], whole: bool, replacement: Replacement
) -> None:
    """Make the truth at `path` fit its rewritten log: the new hash, and no `people` if `whole`."""
    if not path.exists():
        return
    try:
        truth = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(truth[part], dict) for part in ("users", "interests")):
            raise ValueError("a part is missing")
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise UsageError(f"{path} is missing or damaged; remove it") from fault
    knows = whole and not people.isdisjoint(truth["users"])
    if not done.dropped and not knows:
        return
    if truth.get("log_sha256") == done.before:
        truth["log_sha256"] = done.after
    if knows:
        truth = _truth_without(truth, people, done.dropped)
    write_whole(replacement.place(path), with_check(truth))


def _is_log(path: Path) -> bool:
    """Return whether the first line of `path` is that of a log: a header, or user, query, time."""
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


def _write_without(
    path: Path, output: Path, shape: LineColumns, people: Set[str], gone: IsGone
) -> Rewritten:
    """Copy `path` to `output` without the lines of `people` whose query is `gone`."""
    before, dropped, needles = hashlib.sha256(), 0, Needles(people)

    def is_dropped(line: bytes) -> bool:
        columns = line.removeprefix(_BOM).rstrip(b"\r\n").split(b"\t")
        whose, query = (b"".join(columns[at : at + 1]).decode("utf-8", "replace") for at in shape)
        # A slide of a lecture can name two people.
        named = {whose.strip()} | {part.strip() for part in whose.split(",") if shape == LECTURE}
        return len(columns) > shape.user and not people.isdisjoint(named) and gone(query)

    def others(file: BufferedReader) -> Iterator[bytes]:
        nonlocal dropped
        while block := file.read(_AT_ONCE) + file.readline():
            before.update(block)
            copied = 0
            # Only lines that hold an id somewhere are looked at: they are few.
            starts = {block.rfind(b"\n", 0, place) + 1 for place, _ in needles.places(block)}
            for start in sorted(starts):
                end = block.find(b"\n", start) + 1 or len(block)
                if is_dropped(block[start:end]):
                    dropped += 1
                    yield block[copied:start]
                    copied = end
            yield block[copied:]

    with plain_when_writing(output), path.open("rb") as file:
        after = write_file(output, others(file), 0o600)
        output.chmod(os.fstat(file.fileno()).st_mode & 0o777)
    if not dropped:
        output.unlink()
    return Rewritten(dropped, before.hexdigest(), after)


def _truth_without(truth: Mapping[str, Any], people: Set[str], lines: int) -> dict[str, Any]:
    """Return the `truth` of a town without `people`, whose `lines` are gone from its log."""
    # Other counts over the whole town would still count them and can't be made again.
    users = {name: about for name, about in truth["users"].items() if name not in people}
    interests = {
        label: [fan for fan in fans if fan not in people]
        for label, fans in truth["interests"].items()
    }
    interests = {label: fans for label, fans in interests.items() if fans}
    labels, examples = tuple(truth.get("examples", {})), {}
    # The lecture shows a pair of people with different interests. For each label take its most
    # devoted fan who is no fan of the other.
    for label in labels:
        others = {fan for other in labels if other != label for fan in interests.get(other, [])}
        only = [fan for fan in interests.get(label, []) if fan not in others]
        if only:
            examples[label] = only[0]
    counts = {"users": len(users), "lines": truth.get("counts", {}).get("lines", lines) - lines}
    rest = {"users": users, "interests": interests, "examples": examples, "counts": counts}
    return {**truth, **rest}
