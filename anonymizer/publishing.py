"""The published file [I/O]: all of a release that may leave, in one file, as it was verified.

A released log goes into a file next to it, FILE.log.tsv, whose hash the first line states.

first line       the public part of release.json, with the SHA-256 of all that follows; for each
                 later cohort the number of its rows and of the first one, and its facts; names
                 in one order, so that their order says nothing
following lines  the bytes of rows.jsonl: {"row": "g0001", "users": 4, "terms": {...}} a line,
                 cohort by cohort

What the judge can recount stands by its name, what it can't under `quoted`: readers may doubt it.
There also stands the certificate, with the hash of the rows that were attacked.
Facts are only those that the rows show. Others can't be recounted once a profile changed: if they
were missing from then on, the file would say that somebody changed theirs.

Two values of release.json are not published. The hash of the input would let anybody who guesses
the profiles prove the guess, and would link releases of the same people. The seed decides who opens
a group, so someone with most of the profiles could replay the run with it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from io import BytesIO
from itertools import accumulate, combinations
from operator import ne
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict, cast

import numpy as np

from .arrays import Ints
from .certificate import CERTIFICATE, certificate_faults
from .errors import BadInput
from .model import ROW_NAME, Profiles, is_short
from .publishing_shards import NAMED, NOT_NAMED, PublishedShards, Stood
from .storage.changes import counts_of
from .storage.files import replaced_whole, sync, write_file
from .storage.json_lines import read_rows
from .storage.parts import (
    COHORTS,
    FIRST_ROW,
    LOG,
    ROWS,
    WITHDRAWN,
    Cohort,
    read_cohorts,
    row_hash,
)
from .storage.records import Record, as_json, check_record, plain_errors, read_object
from .storage.releases import release_of
from .verification.choices import choice_faults, person_of, persons_of
from .verification.finding import Finding, Verdict, row_findings

if TYPE_CHECKING:
    from .verification.case import Case, CohortCase
    from .verification.files.streamed import HashedNames
    from .verification.promises.record import Judge

_FORMATS = "veilsearch published release "
FORMAT = f"{_FORMATS}2"
QUOTED = "quoted"
_ABOUT: Record = {  # an example of the first line
    "format": FORMAT,
    "method": "none",
    "parameters": {},
    "facts": {},
    QUOTED: {},
    "sha256": "0a1b",
}
_COHORT: Record = {"rows": 5, FIRST_ROW: 5, "facts": {}, WITHDRAWN: {}}  # of a later cohort
_ROW: Record = {"row": "g0001", "users": 4, "terms": {"kitten": 1.0}}
_HEAD = f'{{"format": "{_FORMATS}'.encode()  # of any version: what holds rows is to be found
# People behind a row: readers of JSON that use floats confuse larger numbers.
_MOST = 2**53
# Users at most of a release in shards. Of a million people, attacks took over 8 GiB.
ATTACKED = 1 << 18
_TELLING = 3  # digits of an id: shorter ones are in too many numbers to be meant


class FirstLine(TypedDict):
    """The first line of a published file: the method, and what it states about the release."""

    format: str
    method: str
    parameters: dict[str, object]  # those that the judge recounts
    facts: dict[str, object]
    # other parameters, how profiles were made, and the certificate
    quoted: dict[str, dict[str, object]]
    sha256: str
    log: NotRequired[str]  # the SHA-256 of the released log
    cohorts: NotRequired[list[dict[str, object]]]  # the later ones, if there are any
    withdrawn: NotRequired[dict[str, object]]  # how many rows


@dataclass(frozen=True)
class PublishedFile:
    """The content of a published file: rows, how many people each is of, and the first line."""

    rows: Profiles
    sizes: Ints
    about: FirstLine
    fallback: tuple[int, ...]  # numbers of the rows that are no group's, but a mean of groups


class PublishedRows(NamedTuple):
    """What a published file holds, sound or not."""

    sha256: str  # of the rows, as it says; empty if the first line is damaged
    cohorts: int  # 0 if the first line is damaged
    lines: frozenset[bytes]  # of the rows


class Candidate(NamedTuple):
    """What a ledger must know about a release that is about to be published."""

    stood: Stood  # may be gone through more than once
    sha256: str  # of the rows
    once: bool  # the promise holds for only one release of the same people
    users: int
    rows: int
    method: str
    parameters: Mapping[str, object]
    certificate: Mapping[str, object] = {}


class _Refused(Exception):
    """An earlier release of the same people forbids this one."""


Others = Callable[[Candidate], Iterable[Finding]]
Earlier = Callable[[str], Record]


def publish(
    release: Path,
    profiles: Path,
    output: Path,
    others: Others = lambda _: (),
    earlier: Earlier = lambda _: {},
) -> Verdict:
    """Return the verdict on `release`; write it to `output` unless it or `others` has a breach.

    The certificate that `earlier` gives for the hash of its rows stays, or is empty. Then the
    release is attacked, with the `profiles`.
    """
    from .verification.judge import examine, examine_shards

    _refuse_foreign(output, release)
    shards = PublishedShards(release)
    case = examine_shards(release, profiles, shards.add) or examine(release, profiles)
    in_shards = case.streamed is not None
    ids = _ids(case)
    for cohort in case.cohorts:
        cohort.findings += [*_unpromised(cohort), *_alone(cohort)]
        cohort.findings += shards.named() if in_shards else _named(cohort, ids)
        cohort.findings += _numbers_named(cohort, ids)
    certificate: Record = {}
    if case.verdict.holds:
        sha256 = shards.sha256
        if not in_shards:
            sha256 = hashlib.sha256(b"".join(one.parts[ROWS] for one in case.cohorts)).hexdigest()
        certificate = earlier(sha256) or _certified(case, release, profiles, sha256)
    if case.verdict.holds:
        first = case.cohorts[0]
        # The bytes that were verified: the files may have changed since.
        cohorts = [(cohort.manifest, cohort.parts) for cohort in case.cohorts]
        rows = shards.rows() if in_shards else (parts[ROWS] for _, parts in cohorts)
        log = first.parts.get(LOG)
        with plain_errors(output, "written"), suppress(_Refused), replaced_whole(output) as file:
            os.fchmod(file.fileno(), 0o644)  # it is public
            file.write(_first_of(cohorts, certificate, sha256))
            file.writelines(rows)
            # On the disk before `others` notes in the ledger that it is published.
            sync(file)
            once = first.judge is not None and first.judge.promise.once
            counts = case.checked["users"], case.checked["rows"]
            given = first.manifest["method"], first.manifest["parameters"]
            stood = shards if in_shards else _stood(case)
            candidate = Candidate(stood, sha256, once, *counts, *given, certificate)
            case.findings += others(candidate)
            # Raised in here, so that the unfinished file is removed and the old one stays.
            if not case.verdict.holds:
                raise _Refused
            _write_log(log, log_next_to(output))
    return case.verdict


def _certified(case: Case, release: Path, profiles: Path, sha256: str) -> Record:
    """Return the certificate of `case`, a folder `release`; add to it what beats the promise.

    Return nothing where rows are gone or stand for people by whole queries, or where shards are of
    more people than attacks can hold. With differential
    privacy there is none either: figures counted from profiles would break it.
    """
    from .certificate import certified
    from .methods import promise_of
    from .storage.profiles import fingerprint, read_profiles

    judge, streamed = case.cohorts[0].judge, case.streamed
    if streamed is not None and len(streamed) > ATTACKED:
        return {}
    private = judge is not None and judge.promise.bounds == "differential"
    if private or case.everybody.queries is not None or case.checked.get("rows_withdrawn"):
        return {}
    people = read_profiles(profiles)
    everybody = streamed or case.everybody
    if fingerprint(people) != everybody.fingerprint():
        raise BadInput(f"{profiles}: changed while it was read; publish again")
    # Who came later, and waits, is in nothing that is promised.
    cohorts = [Cohort(release / one.place, {**one.manifest}, one.files) for one in case.cohorts]
    if streamed is None:
        people = people.some(np.flatnonzero([user in case.users for user in people.users]))
    else:
        cohorts = read_cohorts(release)
        if cohorts[0].sums != case.cohorts[0].sums:
            raise BadInput(f"{release}: changed while it was read; publish again")
    made = release_of(cohorts, promise_of)
    if len({*made.users} & {*people.users}) < 2:
        return {}
    compare = not any(cohort.changes.happened for cohort in case.cohorts)
    count = sum(int(one.rows.users.sum()) for one in case.cohorts if one.rows is not None)
    count = count if streamed is None else len(streamed)
    certificate, beaten = certified(made, people, sha256, people=count, compare=compare)
    remedy = "don't use this release, and report the fault"
    case.findings += [Finding("attack", False, ROWS, f"{line}; {remedy}") for line in beaten]
    return certificate


def _write_log(log: bytes | None, path: Path) -> None:
    """Write the released `log` to `path`; without one, remove that of the file before."""
    if log is None:
        path.unlink(missing_ok=True)
        return
    with replaced_whole(path) as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(log)
        sync(file)


def log_next_to(published: Path) -> Path:
    """Return where the released log of the file `published` is, if it has one."""
    return published.with_name(f"{published.name}.{LOG}")


_Cohort = tuple[Mapping[str, Any], Mapping[str, bytes]]  # what release.json says, and all parts


def _judge_of(about: Mapping[str, Any]) -> Judge:
    """Return the judge of what a manifest or a sound first line is `about`."""
    # Loaded where a published file is read: to look for one takes no judge.
    from .verification.judge import judge_of

    given = {**about["parameters"], **about.get(QUOTED, {}).get("parameters", {})}
    judge = judge_of(about["method"], given)
    if judge is None:
        raise ValueError("its method can't be judged")
    return judge


def _content(cohorts: Sequence[_Cohort], certificate: Record) -> tuple[bytes, str]:
    """Return the published file of `cohorts` with its `certificate`, and the hash of its rows."""
    rows = b"".join(parts[ROWS] for _, parts in cohorts)
    sha256 = hashlib.sha256(rows).hexdigest()
    return _first_of(cohorts, certificate, sha256) + rows, sha256


def _first_of(cohorts: Sequence[_Cohort], certificate: Record, sha256: str) -> bytes:
    """Return the first line of the published file of `cohorts`, whose rows have this hash."""
    (first, _), *later = cohorts
    given, quoted = first["parameters"], _judge_of(first).quoted
    about = {
        "format": FORMAT,
        "method": first["method"],
        "parameters": {name: given[name] for name in given if name not in quoted},
        QUOTED: {
            "parameters": {name: given[name] for name in given if name in quoted},
            "profiles": first["profiles"],
            **({CERTIFICATE: certificate} if certificate else {}),
        },
        **_of_cohort(first),
    }
    if LOG in cohorts[0][1]:
        about["log"] = hashlib.sha256(cohorts[0][1][LOG]).hexdigest()
    if later:
        about[COHORTS] = [
            {"rows": parts[ROWS].count(b"\n"), FIRST_ROW: manifest[FIRST_ROW]}
            | _of_cohort(manifest)
            for manifest, parts in later
        ]
    return _first_line({**about, "sha256": sha256})


def _first_line(about: Mapping[str, Any]) -> bytes:
    """Return the one form of a first line that says what is in `about`."""
    return as_json({"format": about["format"], **_in_order(about)})


def _in_order(value: Any) -> Any:
    """Return `value` with all names in it in sorted order."""
    if isinstance(value, Mapping):
        return {name: _in_order(value[name]) for name in sorted(value)}
    return [*map(_in_order, value)] if isinstance(value, list) else value


def _of_cohort(manifest: Mapping[str, Any]) -> Record:
    """Return what is public of a cohort alone: of its facts those that its rows show."""
    from .verification.facts import COUNTS

    facts = {name: value for name, value in manifest["facts"].items() if name in COUNTS}
    gone = {WITHDRAWN: manifest[WITHDRAWN]} if WITHDRAWN in manifest else {}
    return {"facts": facts, **gone}


def write_successor(release: Path, published: PublishedRows, output: Path) -> bool:
    """Write `published` to `output` without the rows that `release` lost; return whether it did.

    It is not written if no row is left, or a row would be new.
    """
    cohorts = [(cohort.manifest, cohort.parts) for cohort in read_cohorts(release)]
    cohorts = cohorts[: published.cohorts]
    lines = b"".join(parts[ROWS] for _, parts in cohorts).splitlines(keepends=True)
    if not lines or not published.lines.issuperset(lines):
        return False
    with plain_errors(output, "written"):
        write_file(output, [_content(cohorts, {})[0]], 0o644)
    return True


def _stood(case: Case) -> set[tuple[bytes, str]]:
    """Return who stands in which row of `case`: the hash of the row's line, and the person."""
    users, stood = case.everybody.users, set[tuple[bytes, str]]()
    persons = persons_of(users, case.cohorts[0].manifest["profiles"])
    person = dict(zip(users, persons, strict=True))
    for cohort in case.cohorts:
        if cohort.profiles is not None and cohort.group_of is not None:
            lines = cohort.parts[ROWS].splitlines()
            rows = [row_hash(line) for line in lines]
            placed = zip(cohort.group_of.tolist(), cohort.profiles.users, strict=True)
            stood |= {(rows[row], person[user]) for row, user in placed if row >= 0}
    return stood


def _refuse_foreign(output: Path, release: Path) -> None:
    """Refuse to replace anything but a published file, and to write into a release."""
    if output.resolve().is_relative_to(release.resolve()):
        raise BadInput(f"{output}: lies in the release; name a file outside of it")
    if os.path.lexists(log_next_to(output)) and not os.path.lexists(output):
        raise BadInput(f"{log_next_to(output)}: exists already; remove it or name another file")
    # lexists, so that a link to nothing is not replaced either.
    if not os.path.lexists(output):
        return
    with plain_errors(output, "read"):
        if output.is_file() and not output.is_symlink():
            with output.open("rb") as file:
                if _is_head(file.read(len(_HEAD))):
                    return
    raise BadInput(
        f"{output}: exists already and is not a published file; remove it or name another"
    )


def _unpromised(cohort: CohortCase) -> list[Finding]:
    """Find that the method of `cohort` promises nothing: it is there to be compared with."""
    if cohort.judge is None or cohort.judge.promise.bounds != "nothing":
        return []
    line = "its method promises nothing, so its rows stay with the owner; take another method"
    return [Finding("promise", False, "release.json", line)]


def _alone(cohort: CohortCase) -> list[Finding]:
    """Find the rows of one person, in one session or several: such a row is their profile."""
    if cohort.people is None:
        return []
    if cohort.judge is not None and cohort.judge.single_rows is not None:
        fault = cohort.judge.single_rows(cohort.manifest["parameters"], "people" in cohort.checked)
        if cohort.checked.get("rows_withdrawn"):
            fault = (
                "rows were withdrawn, so fewer rows than k may be alike, and someone who knows who "
                "left would know their row; this release can be published no more. A new one, by "
                "anonymize --second and publish --second, gives everybody a second row"
            )
        line = fault or cohort.judge.single_line
        return [Finding("groups", not fault, "rows.jsonl", line)]
    rows, good = np.flatnonzero(cohort.people == 1), "no row stands for one person alone"
    hides = cohort.judge is not None and cohort.judge.promise.hides_members
    if hides and cohort.rows is not None and _has_fallback(cohort.rows.users):
        rows = rows[rows < cohort.people.size - 1]
        good = "no group is one person alone, and the last row holds nothing of those it serves"
    if not rows.size:
        return [Finding("groups", True, "rows.jsonl", good)]
    where = f"rows.jsonl, line {rows[0] + 1}"
    remedy = "anonymize with --set k=2"
    if "people" in cohort.checked:  # users are sessions, two of which may be of one person
        larger = "a smaller p" if hides else "a larger k"
        remedy = f"users are sessions, so make profiles with --granularity user, or take {larger}"
    line = f"{rows.size} rows stand for one person each, so each is a profile; {remedy}"
    if rows.size == 1:
        line = f"1 row stands for one person, so it is a profile; {remedy}"
    return [Finding("groups", False, where, line)]


def _has_fallback(users: Ints) -> bool:
    """Return whether the last of these rows, which are equally large, is the fallback row."""
    return bool(users[-1] < users[0])


class _Ids(NamedTuple):
    """The ids of people and their sessions."""

    ids: Set[str] | HashedNames
    folded: Set[str]  # Carol's term may be carol


def _ids(case: Case) -> _Ids:
    """Return the ids of everybody in `case`."""
    if case.streamed is not None:
        return _Ids(case.streamed.names, set())
    ids = {*case.everybody.users}
    if "people" in case.checked:  # users are their sessions
        ids.update([person_of(user) for user in ids])
    return _Ids(ids, {user.casefold() for user in ids})


def _named(cohort: CohortCase, ids: _Ids) -> list[Finding]:
    """Find the terms and numbers of `cohort` that equal one of `ids`.

    A term may be called like a person if somebody else has it: people search for mark and rose.
    """
    if cohort.profiles is None or cohort.rows is None:
        return []
    folded = [term.casefold() for term in cohort.profiles.terms]
    names = [person_of(user).casefold() for user in cohort.profiles.users]
    own = np.array([term in ids.folded for term in folded])
    user = np.repeat(np.arange(len(names)), cohort.profiles.sizes)
    column = cohort.profiles.cells.columns
    for at in np.flatnonzero(own[column]).tolist():
        if person_of(folded[column[at]]) != names[user[at]]:
            own[column[at]] = False
    row, column = np.divmod(cohort.rows.keys, cohort.rows.span)
    known = column < own.size
    wrong = np.bincount(row[known][own[column[known]]], minlength=len(cohort.rows.names)) > 0
    # No profile has these terms: they are bags or more general, or a profile changed since.
    lines, there = cohort.parts[ROWS].splitlines(), {*folded}
    own_only = {folded[at] for at in np.flatnonzero(own).tolist()}
    for at in np.unique(row[~known]).tolist():
        terms = set(map(str.casefold, read_object(lines[at])["terms"]))
        terms |= {term for bag in terms for term in bag.split("|")}
        wrong[at] |= not (own_only | (ids.folded - there)).isdisjoint(terms)
    findings = [*row_findings("identity", wrong, NAMED, NOT_NAMED)]
    events = cohort.parts.get(LOG, b"").decode().splitlines()
    if any(event.partition("\t")[2].casefold() in ids.folded for event in events):
        line = "a query is a user's id; give the people other ids and make the release again"
        findings.append(Finding("identity", False, LOG, line))
    return findings


def _numbers_named(cohort: CohortCase, ids: _Ids) -> list[Finding]:
    """Find the numbers of `cohort` that somebody set and that show one of `ids`.

    Facts are no such numbers, as the judge recounts them, nor are defaults.
    """
    from .methods import METHODS, parameters_of

    manifest = cast(Mapping[str, Any], cohort.manifest)
    if cohort.people is None:  # its rows could not be judged
        return []
    method, given = manifest["method"], manifest["parameters"]
    # A package's method is not loaded to publish its releases: all its numbers count as set.
    usual = parameters_of(method) if method in METHODS.own else {}
    quoted = _judge_of(manifest).quoted
    named = [name for name, value in manifest["profiles"].items() if _shows(value, ids.ids)]
    for name, value in {**given, WITHDRAWN: manifest.get(WITHDRAWN, {}).get("rows")}.items():
        # People may be numbered from 1, and a group must be allowed five members.
        if value != usual.get(name) and _shows(value, ids.ids, 1 if name in quoted else _TELLING):
            named.append(name)
    if not named:
        return []
    line = (
        f"{', '.join(sorted(named))}: a number that is a user's id, or holds one in its digits; "
        "give the people other ids, or choose another number, and make the release again"
    )
    return [Finding("identity", False, "release.json", line)]


def _shows(value: object, ids: Set[str] | HashedNames, least: int = 1) -> bool:
    """Return whether the number `value` equals one of `ids`; a fraction may hold one, too.

    Only ids of `least` characters or more count.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if float(value).is_integer():
        texts = {str(value), str(int(value))}
        return not ids.isdisjoint({text for text in texts if len(text) >= least})
    digits = f"{Decimal(repr(value)):f}".replace(".", "")
    ends = combinations(range(len(digits) + 1), 2)
    inside = {digits[low:high] for low, high in ends if high - low >= _TELLING}
    return not ids.isdisjoint({text for text in {str(value), *inside} if len(text) >= least})


def read_published(path: Path) -> PublishedFile:
    """Return the content of the published file at `path`; refuse it unless each row is sound."""
    with plain_errors(path, "read"):
        content = path.read_bytes()
    first, _, lines = content.partition(b"\n")
    about = _read_about(first, path)
    if hashlib.sha256(lines).hexdigest() != about["sha256"]:
        raise BadInput(f"{path}: changed since it was published; get it again")
    rows, users = read_rows(BytesIO(lines), Path(f"{path}, rows"), _ROW)
    if max(users) > _MOST:
        raise BadInput(f"{path}: a row stands for more than {_MOST} people; publish it again")
    if not all(map(ROW_NAME.fullmatch, rows.users)):
        raise BadInput(f"{path}: a row is not named by its number, like g0001; publish it again")
    later: list[Record] = about.get("cohorts", [])
    counts = [int(cohort["rows"]) for cohort in later]
    counts = [len(users) - sum(counts), *counts]
    numbers = [int(name.lstrip("g")) for name in rows.users]
    begins = [0, *accumulate(counts)][:-1]
    firsts = [1, *(cohort[FIRST_ROW] for cohort in later)]
    fits = all(
        [*numbers[:begin], first - 1][-1] < first <= [*numbers[begin:], first][0]
        for begin, first in zip(begins, firsts, strict=True)
    )
    if min(counts) < 0 or numbers != sorted({*numbers}) or not fits:
        raise BadInput(f"{path}: its cohorts don't have the rows that it states; publish it again")
    facts, fallback = [about["facts"], *(cohort["facts"] for cohort in later)], list[int]()
    for begin, count, of_cohort in zip(begins, counts, facts, strict=True):
        end = begin + count
        means = _check_users(users[begin:end], about, of_cohort, path)
        fallback += range(end - means, end)
    return PublishedFile(rows, np.array(users, dtype=np.int64), about, tuple(fallback))


def _check_users(users: list[int], about: FirstLine, facts: Mapping[str, Any], path: Path) -> int:
    """Refuse single-person rows of a cohort; if the promise is about these, refuse all others.

    Refuse also `facts` that count its rows wrongly. Return how many rows at its end are no group's.
    """
    judge = _judge_of(about)
    means = int(bool(users) and judge.promise.hides_members and _has_fallback(np.array(users)))
    if judge.single_rows is None:
        if min(users[: len(users) - means], default=2) < 2:
            raise BadInput(f"{path}: a row stands for fewer than two people; publish it again")
    else:
        if {*users} - {1}:
            raise BadInput(f"{path}: a row is of more people than one; publish it again")
        sessions = about["quoted"]["profiles"].get("granularity") == "session"
        given = {**about["parameters"], **about["quoted"]["parameters"]}
        if fault := judge.single_rows(given, sessions):
            raise BadInput(f"{path}: {fault}")
    for name, value in counts_of(facts, users, means).items():
        if repr(facts[name]) != repr(value):
            raise BadInput(f"{path}: {name} is not that of its rows; get it again")
    return means


def check_published(
    path: Path, releases: Iterable[Sequence[Cohort]], earlier: Earlier = lambda _: {}
) -> None:
    """Refuse the published file at `path` unless it is sound, and as one of `releases` gives it.

    Each of these is a release's cohorts. If none has the file's rows, only the file is checked.
    Its certificate, if it has one, must be that which `earlier` gives for the hash of its rows.
    """
    about = read_published(path).about
    with plain_errors(path, "read"):
        content = path.read_bytes()
        log = hashlib.sha256(log_next_to(path).read_bytes()).hexdigest() if "log" in about else ""
    made, certificate = set[bytes](), cast(Record, about["quoted"].get(CERTIFICATE, {}))
    if certificate:
        certificate = earlier(about["sha256"]) or certificate
    for cohorts in releases:
        parts = [(cohort.manifest, cohort.parts) for cohort in cohorts]
        of_release, sha256 = _content(parts[: 1 + len(about.get("cohorts", []))], certificate)
        if sha256 == about["sha256"]:
            made.add(of_release)
    # No hash covers the first line, and other numbers in it would be sound, too.
    if log != about.get("log", "") or (made and content not in made):
        raise BadInput(f"{path}: changed since it was published; get it again")


def published_rows(path: Path) -> PublishedRows | None:
    """Return what the published file at `path` holds, sound or not; None for any other file."""
    with plain_errors(path, "read"), path.open("rb") as file:
        if not _is_head(file.read(len(_HEAD))):
            return None
        file.seek(0)
        first, *lines = file.read().splitlines(keepends=True)
    try:
        about = _read_about(first.removesuffix(b"\n"), path)
    except BadInput:
        return PublishedRows("", 0, frozenset(lines))
    return PublishedRows(about["sha256"], 1 + len(about.get("cohorts", [])), frozenset(lines))


def _is_head(head: bytes) -> bool:
    """Return whether a published file begins with `head`, of which one byte may be damaged."""
    # Else a flipped bit would hide the file's rows from forgetting.
    return len(head) == len(_HEAD) and sum(map(ne, head, _HEAD)) <= 1


def _read_about(line: bytes, path: Path) -> FirstLine:
    try:
        about = read_object(line)
        if about.get("format") != FORMAT:
            raise ValueError(f"the first line is not that of a published release, {FORMAT}")
        also: Record = {WITHDRAWN: {}, COHORTS: [], "log": "0a1b"}
        check_record({**also, **about}, {**_ABOUT, **also})
        for cohort in about.get(COHORTS, []):
            check_record({WITHDRAWN: {}, **cohort} if isinstance(cohort, dict) else {}, _COHORT)
        if faults := [*_faults(about)]:
            raise ValueError("; ".join(faults))
        if line + b"\n" != _first_line(about):
            raise ValueError("names are in another order, or a value is spelt in another way")
    except (ValueError, RecursionError) as fault:
        raise BadInput(
            f"{path}: {fault}; name a file made by: veilsearch publish RELEASE -o FILE"
        ) from fault
    return cast(FirstLine, about)


def _faults(about: Record) -> Iterator[str]:
    """Yield what this program never writes into a first line: it could carry a message."""
    from .verification.facts import COUNTS

    quoted = about[QUOTED]
    check_record({CERTIFICATE: {}, **quoted}, {"parameters": {}, "profiles": {}, CERTIFICATE: {}})
    judge = _judge_of(about)
    if CERTIFICATE in quoted:
        yield from certificate_faults(quoted[CERTIFICATE], about["sha256"], about["parameters"])
    if about["parameters"].keys() & judge.quoted or quoted["parameters"].keys() - judge.quoted:
        yield "a parameter that nobody can recount is not quoted, or another one is"
    yield from judge.faults({**about["parameters"], **quoted["parameters"]})
    yield from choice_faults(quoted["profiles"])
    for cohort in (about, *about.get(COHORTS, [])):
        gone = cohort.get(WITHDRAWN, {"rows": 0})
        check_record(gone, {"rows": 1})
        if min(cohort.get("rows", 0), gone["rows"]) < 0 or not is_short(gone["rows"]):
            yield "a number of rows is below 0 or too long"
        if cohort["facts"].keys() - {*COUNTS}:
            yield "a fact is not one that its rows show"
