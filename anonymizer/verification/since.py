"""Whether a release is an earlier one, without some rows and with new cohorts: no row changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BadInput
from .case import CohortCase
from .facts import COUNTS
from .files.evidence import (
    FIRST_ROW,
    LOG,
    MANIFEST,
    MEMBERS,
    ROWS,
    WITHDRAWN,
    Parts,
    cohort_places,
    file_names,
    joined,
    people_named,
    read_changes,
    read_files,
    read_manifest,
)
from .files.profiles import open_file
from .files.strict_lines import is_whole, read_strictly
from .finding import Broken, Finding, Findings, settled

_SAME = ("method", "parameters", "profiles", FIRST_ROW)


class _Earlier(NamedTuple):
    """What a cohort said before."""

    about: Mapping[str, Any]  # release.json, or what a published file says of the cohort
    rows: list[bytes]
    members: bytes | None = None  # None: a published file does not say who has which row
    users: Set[str] = frozenset()
    log: bytes | None = None  # None: it has none, or none is at hand
    certified: str = ""  # by a published file's certificate, the hash of all of its rows
    sha256: str = ""  # of all of its rows


def judge_since(cohorts: Sequence[CohortCase], older: Path) -> Findings:
    """Yield whether `cohorts` are those of `older` without the rows they withdrew, and new ones."""
    if not all(cohort.manifest for cohort in cohorts):
        return  # one could not be read, which another finding says
    earlier = _read(older)
    if len(cohorts) < len(earlier):
        line = f"there were {len(earlier)} cohorts, and there are {len(cohorts)}"
        yield Finding("since", False, MANIFEST, line)
    for cohort, before in zip(cohorts, earlier, strict=False):
        for finding in _judge(cohort, before, older.name):
            yield finding.at(cohort.place)
    known = {user for before in earlier for user in before.users}
    for cohort in cohorts[len(earlier) :]:
        faults = {"somebody of it had a row before": not known.isdisjoint(cohort.users)}
        good = f"a new cohort, of people that {older.name} does not have"
        for finding in settled("since", MEMBERS, faults, good):
            yield finding.at(cohort.place)


def _judge(cohort: CohortCase, earlier: _Earlier, name: str) -> Iterator[Finding]:
    """Yield whether `cohort` is the `earlier` one of release `name`, without withdrawn rows."""
    parts, manifest = cohort.parts, cohort.manifest
    there = parts[ROWS].splitlines(keepends=True)
    before = {line: at for at, line in enumerate(earlier.rows)}
    foreign = [number for number, line in enumerate(there, 1) if line not in before]
    if foreign:
        more = f"{len(foreign)} of {len(there)} rows: " if foreign[1:] else ""
        line = f"{more}is no row of {name}, byte for byte"
        yield Finding("since", False, f"{ROWS}, line {foreign[0]}", line)
        return
    places = [before[line] for line in there]
    gone = len(earlier.rows) - len(there)
    stated = _withdrawn(manifest) - _withdrawn(earlier.about)
    facts, then = manifest["facts"], earlier.about["facts"]
    faults = {
        "its rows stand in another order, or twice": places != sorted({*places}),
        f"{gone} rows are gone, but it says that {stated} were withdrawn": gone != stated,
        "it states another method, or other parameters or choices": any(
            manifest.get(name) != earlier.about.get(name) for name in _SAME
        ),
        "it states other facts of the making": (
            any(
                facts[name] != then[name]
                for name in (facts.keys() & then.keys()).difference(COUNTS)
            )
        ),
        "somebody stands in another row than before": _moved(parts, earlier.members),
        "the lines of its released log are not those of before": _relogged(parts, earlier.log),
        f"the certificate in {name} is of other rows than these": (
            earlier.certified not in ("", earlier.sha256)
        ),
    }
    good = f"each of {len(there)} rows is one of {name}, byte for byte"
    if gone:
        good += f"; {gone} {'was' if gone == 1 else 'were'} withdrawn"
    yield from settled("since", MANIFEST, faults, good)


def _withdrawn(about: Mapping[str, Any]) -> int:
    rows = about.get(WITHDRAWN, {}).get("rows", 0)
    return rows if type(rows) is int else -1


def _moved(parts: Parts, before: bytes | None) -> bool:
    """Return whether a member in `parts` stands in a row in which they did not stand `before`."""
    return before is not None and not {*parts[MEMBERS].splitlines()} <= {*before.splitlines()}


def _relogged(parts: Parts, before: bytes | None) -> bool:
    """Return whether the log in `parts` is not that of `before`, without the rows that are gone."""
    if before is None:
        return False
    names = {line.split(b'"')[3] for line in parts[ROWS].splitlines()}
    lines = before.splitlines(keepends=True)
    left = (line for line in lines if line.partition(b"\t")[0] in names)
    return parts.get(LOG) != b"".join(left)


def _read(older: Path) -> list[_Earlier]:
    """Return what the folder or published file `older` says of its cohorts; refuse others."""
    try:
        if older.is_dir():
            return [_read_folder(older / place, not place) for place in cohort_places(older)]
        with open_file(older) as file:
            first, *rows = file.read().splitlines(keepends=True)
        return [*_published(read_strictly(first), rows)]
    except OSError as fault:
        why = fault.strerror or fault
        raise BadInput(f"--since {older}: can't be read ({why}); check path and rights") from fault
    except (ValueError, KeyError, TypeError, RecursionError, Broken, BadInput) as fault:
        raise BadInput(
            f"--since {older}: is neither a release folder nor a published file; name one"
        ) from fault


def _read_folder(folder: Path, first: bool) -> _Earlier:
    """Return what the cohort in `folder` says; only the `first` one numbers its rows from 1."""
    parts = joined(read_files(folder, file_names(folder)))
    manifest = read_manifest(parts, first)
    users = people_named(parts, read_changes(parts, manifest).stood)
    rows = parts[ROWS].splitlines(keepends=True)
    return _Earlier(_sound(manifest), rows, parts[MEMBERS], users, parts.get(LOG))


def _published(about: Any, rows: list[bytes]) -> Iterator[_Earlier]:
    """Yield what the first line of a published file, `about`, and its `rows` say of each cohort."""
    quoted, begin = about["quoted"], 0
    parameters = {**about["parameters"], **quoted["parameters"]}
    certificate, sha256 = quoted.get("certificate", {}), hashlib.sha256(b"".join(rows)).hexdigest()
    certified = str(certificate["sha256"]) if certificate else ""
    first = _sound({**about, "parameters": parameters, "profiles": quoted["profiles"]})
    later = [_sound(cohort) for cohort in first.get("cohorts", [])]
    counts: list[Any] = [cohort.get("rows") for cohort in later]
    if not all(is_whole(count, 0, len(rows)) for count in counts):
        raise ValueError("it does not say how many rows cohorts have")
    for cohort, count in zip([first, *later], [len(rows) - sum(counts), *counts], strict=True):
        of_cohort = {**first, WITHDRAWN: {}, **cohort}
        lines = rows[begin : begin + count]
        yield _Earlier(of_cohort, lines, certified=certified, sha256=sha256)
        begin += count


def _sound(about: Any) -> Mapping[str, Any]:
    if type(about) is not dict or type(about.get("facts")) is not dict:
        raise ValueError("it states no facts")
    if type(about.get(WITHDRAWN, {})) is not dict or type(about.get("cohorts", [])) is not list:
        raise ValueError("it does not say how many rows were withdrawn, or what cohorts there are")
    return about
