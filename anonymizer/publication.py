"""The published file [I/O]: all of a release that may leave, in one file, as it was verified.

FILE's first line   what is public of release.json, with the SHA-256 of all that follows
then                the bytes of rows.jsonl: {"row": "g0001", "users": 4, "terms": {...}} a line

Two things that release.json says stay at home. The hash of the input would let anybody who guesses
the profiles prove the guess, and would tie releases of the same people to each other. The seed
settles who opens a group, and whoever knows most of the profiles could replay the run with it.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .line_reading import read_rows
from .measures.finding import Finding, Verdict, told_rows
from .measures.judging_choices import person_of, persons_of
from .measures.verification import PROMISES, Case, examine
from .model import BadInput, Ints, Profiles
from .records import (
    Record,
    as_json,
    check_record,
    plain_errors,
    read_object,
    sync,
    sync_folder,
)

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
_HEAD = f'{{"format": "{FORMAT}"'.encode()
_OURS = ".veilsearch-publish."  # nobody else's hidden files begin so
_TEMPORARY = re.compile(rf"{re.escape(_OURS)}[a-z0-9_]{{8}}")  # as tempfile names them
_NAME = re.compile(r"g+[0-9]+")
_MOST = 2**53  # people; beyond it a number is told apart by no reader of JSON
_YOUNG = 60  # seconds that a publisher may take to write


@dataclass(frozen=True)
class Published:
    """What a published file says: rows, how many people stand behind each, and the first line."""

    rows: Profiles
    sizes: Ints
    about: dict[str, Any]


class Candidate(NamedTuple):
    """What a ledger must know of a release that is about to be published."""

    people: str  # a hash of who they are, not of their profiles
    sha256: str  # of the rows
    once: bool  # nothing is promised of two releases of the same people
    users: int
    rows: int
    method: str
    parameters: Mapping[str, Any]


Others = Callable[[Candidate], Iterable[Finding]]


def publish(release: Path, profiles: Path, output: Path, others: Others = lambda _: ()) -> Verdict:
    """Verify a release and publish the very bytes that were verified; on any breach, nothing.

    What was published of the same people before is not seen from here: `others` judges by it.
    """
    _refuse_foreign(output, release)
    case = examine(release, profiles)
    case.findings += [*_alone(case), *_named(case)]
    if case.verdict.holds:
        content = as_json(_about(case)) + case.parts["rows.jsonl"]
        with plain_errors(output, "written"), _staged(output, content) as temporary:
            case.findings += others(_candidate(case))
            if case.verdict.holds:
                temporary.replace(output)
                sync_folder(output.parent)
    return case.verdict


def people_hash(users: Sequence[str], choices: Mapping[str, Any]) -> str:
    """Return a hash of who the people are, whatever their order, sessions and profiles."""
    persons = sorted({*persons_of(users, choices)})
    return hashlib.sha256(as_json({"people": persons})).hexdigest()


def _candidate(case: Case) -> Candidate:
    users = case.profiles.users if case.profiles else []
    people = people_hash(users, case.manifest["profiles"])
    once = case.promise is not None and case.promise.once
    counts = case.checked["users"], case.checked["rows"]
    given = case.manifest["method"], case.manifest["parameters"]
    return Candidate(people, case.manifest["sha256"]["rows.jsonl"], once, *counts, *given)


def _refuse_foreign(output: Path, release: Path) -> None:
    """Refuse to replace anything but a published file, and to write into a release."""
    if output.resolve().is_relative_to(release.resolve()):
        raise BadInput(f"{output}: lies in the release; name a file outside of it")
    if not os.path.lexists(output):
        return
    with plain_errors(output, "read"):
        if output.is_file() and not output.is_symlink():
            with output.open("rb") as file:
                if file.read(len(_HEAD)) == _HEAD:
                    return
    raise BadInput(
        f"{output}: is there already and is no published file; remove it or name another"
    )


def _alone(case: Case) -> list[Finding]:
    """Find the rows of one person, in one session or in many: such a row is their profile."""
    if case.people is None:
        return []
    if case.promise is not None and case.promise.lone_rows is not None:
        fault = case.promise.lone_rows(case.manifest["parameters"], "people" in case.checked)
        line = fault or "each row is one user's, and any m of its terms stand in k rows"
        return [Finding("groups", not fault, "rows.jsonl", line)]
    rows, good = np.flatnonzero(case.people == 1), "no row stands for one person alone"
    hides = case.promise is not None and case.promise.spare_row
    if hides and case.rows is not None and _spare(case.rows.users):
        rows = rows[rows < case.people.size - 1]
        good = "no group is one person alone, and the last row holds nothing of who has it"
    if not rows.size:
        return [Finding("groups", True, "rows.jsonl", good)]
    where = f"rows.jsonl, line {rows[0] + 1}"
    remedy = "anonymize with --set k=2"
    if "people" in case.checked:  # users are sessions, two of which may be of one person
        larger = "a smaller p" if hides else "a larger k"
        remedy = f"users are sessions, so make profiles with --granularity user, or take {larger}"
    line = f"{rows.size} rows stand for one person, whose profile they are; {remedy}"
    if rows.size == 1:
        line = f"1 row stands for one person, whose profile it is; {remedy}"
    return [Finding("groups", False, where, line)]


def _spare(users: Ints) -> bool:
    """Tell whether the last of equally large rows is of fewer users, and holds nothing of them."""
    return bool(users[-1] < users[0])


def _named(case: Case) -> list[Finding]:
    """Find the terms and numbers equal to an id: nobody could tell that they are but that."""
    if case.profiles is None or case.rows is None:
        return []
    ids = {*case.profiles.users}
    if "people" in case.checked:  # users are their sessions
        ids.update(map(person_of, case.profiles.users))
    folded = {user.casefold() for user in ids}  # Carol's term may be carol
    terms = enumerate(case.profiles.terms)
    named = [number for number, term in terms if term.casefold() in folded]
    row, column = np.divmod(case.rows.keys, case.rows.span)
    wrong = np.bincount(row[np.isin(column, named)], minlength=len(case.rows.names)) > 0
    line = "has a term that is a user's id; give the people other ids and make the profiles anew"
    return [
        *told_rows("identity", wrong, line, "no term is a user's id"),
        *_numbered_like_users(case.manifest["profiles"], ids),
    ]


def _numbered_like_users(choices: Mapping[str, Any], ids: Set[str]) -> list[Finding]:
    """Find the numbers told of how profiles were made that are an id; no rows prove these."""
    wrong = [name for name, value in choices.items() if _spellings(value) & ids]
    line = (
        f"{', '.join(sorted(wrong))} of the profiles is a number that is a user's id, too; give "
        "the people other ids, or choose another number, and make the profiles anew"
    )
    return [Finding("identity", False, "release.json", line)] * bool(wrong)


def _spellings(value: object) -> set[str]:
    """Return how a number may be written; nothing of what is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return set()
    whole = {str(int(value))} if isinstance(value, int) or value.is_integer() else set()
    return {str(value), *whole}


def _about(case: Case) -> Record:
    public = {name: case.manifest[name] for name in ("method", "parameters", "profiles", "facts")}
    return {"format": FORMAT, **public, "sha256": case.manifest["sha256"]["rows.jsonl"]}


@contextmanager
def _staged(output: Path, content: bytes) -> Iterator[Path]:
    """Write a file under a temporary name, to be renamed; what a killed writer left goes."""
    _sweep(output.parent)
    handle, name = tempfile.mkstemp(prefix=_OURS, dir=output.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            temporary.chmod(0o644)  # it is public
            sync(file)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    for path in folder.iterdir():
        if _TEMPORARY.fullmatch(path.name):
            with suppress(OSError):  # its writer may be done by now, or be somebody else
                if time.time() - path.stat().st_mtime > _YOUNG:
                    path.unlink()


def read_published(path: Path) -> Published:
    """Read a published file and refuse it unless it is whole and each row is sound."""
    with plain_errors(path, "read"):
        content = path.read_bytes()
    first, _, lines = content.partition(b"\n")
    about = _read_about(first, path)
    if hashlib.sha256(lines).hexdigest() != about["sha256"]:
        raise BadInput(f"{path}: changed since it was published; get it again")
    rows, users = read_rows(BytesIO(lines), Path(f"{path}, rows"), _ROW)
    _check_users(users, about, path)
    if max(users) > _MOST:
        raise BadInput(f"{path}: a row stands for more than {_MOST} people; publish it again")
    if not all(map(_NAME.fullmatch, rows.users)):
        raise BadInput(f"{path}: a row is not named by its number, like g0001; publish it again")
    return Published(rows, np.array(users, dtype=np.int64), about)


def _check_users(users: Sequence[int], about: Record, path: Path) -> None:
    """Refuse rows of one person unless the method's promise protects these, and then all others."""
    promise = PROMISES.get(about["method"])
    if promise is None or promise.lone_rows is None:
        spare = promise is not None and promise.spare_row and _spare(np.array(users))
        if min(users[: len(users) - spare]) < 2:
            raise BadInput(f"{path}: a row stands for fewer than two people; publish it again")
        return
    if (min(users), max(users)) != (1, 1):
        raise BadInput(f"{path}: a row is not one person's alone; publish it again")
    sessions = about["profiles"].get("granularity") == "session"
    if fault := promise.lone_rows(about["parameters"], sessions):
        raise BadInput(f"{path}: {fault}")


def published_hash(path: Path) -> str:
    """Return the SHA-256 of the rows that a published file has; nothing of any other file."""
    with plain_errors(path, "read"), path.open("rb") as file:
        if file.read(len(_HEAD)) != _HEAD:
            return ""
        file.seek(0)
        return str(_read_about(file.readline().removesuffix(b"\n"), path)["sha256"])


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
