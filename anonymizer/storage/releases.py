"""Releases on disk [I/O]: written whole or not at all, checked when read, never made again.

RELEASE/release.json    format, method, parameters, how the profiles were made, seed, input hash,
                        facts, hash of the rows
RELEASE/rows.jsonl      {"row": "g0001", "users": 4, "terms": {...}} on each line
RELEASE/log.tsv         row <tab> query: a line for each event of the released log, by row and
                        query (if the method releases a log)
RELEASE/private/        for the owner only: which user has which row, which terms of users were
                        deleted (if the method deletes), the secret key (if the method has one),
                        slots and taxonomy (if the method matches terms of members), the base
                        (if the method begins with terms of a corpus), what has
                        changed since (if anything has), and the hashes of all files
RELEASE/cohorts/0002/   a later cohort, if there is one: the same parts, of other people

Each line of private/slots.jsonl is what a row publishes as one term, and what it stands for:
{"row": "g0001", "term": "wine", "occurrences": [["u1", "wine"], ["u2", "vino"]]}
Lines stand in the order of rows, terms and occurrences. Occurrences stand in the order in which
their users joined the row. private/taxonomy.tsv is the taxonomy that was given: child and parent.
Each line of private/base.jsonl is a topic of the corpus, with the number of documents that have a
term: {"topic": "topic 1", "terms": {"wine": 3}}.

Outside of private/ nothing names a user or holds a time. A row never changes: if one of its members
leaves, it is withdrawn, and every other row stays byte for byte. People who come later get rows in
a cohort of their own.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Ints
from ..errors import BadInput
from ..model import Profiles, Release, Slot, row_names
from ..promise import Promise
from .changes import people_named
from .files import AT_ONCE, replaced_folder
from .json_lines import read_fields, read_rows, record_lines, row_lines, written_records
from .parts import (
    BASE,
    COHORTS,
    DELETIONS,
    FIRST_ROW,
    FORMAT,
    KEY,
    LOG,
    MANIFEST,
    MEMBERS,
    PRIVATE,
    ROWS,
    SLOTS,
    TAXONOMY,
    Cohort,
    part_and_shard,
    part_files,
    read_cohorts,
    read_manifest,
    read_shards,
    write_cohorts,
    write_files,
    write_manifest,
)
from .records import Record, as_json, check_record, plain_errors, read_object
from .released_log import log_lines
from .uniting import united

PromiseOf = Callable[[str, Mapping[str, Any]], Promise]

# The records by example.
ROW: Record = {"row": "g0001", "users": 4, "terms": {"kitten": 1.0}}
MEMBER: Record = {"user": "u1", "row": "g0001"}
_KEY: Record = {"key": "0a1b"}


def write_release(
    release: Release,
    folder: Path,
    *,
    seed: int,
    input_hash: str,
    profiles: Mapping[str, Any] | None = None,
) -> None:
    """Write `release` to `folder`; one that is already there stays until this one is whole."""
    refuse_named_users(release)
    about = (release.method, release.parameters, profiles or {}, release.facts)
    manifest = manifest_of(*about, seed, input_hash)
    with plain_errors(folder, "written"):
        refuse_foreign_folder(folder)
        with replaced_folder(folder) as new:
            (new / PRIVATE).mkdir(mode=0o700)
            write_manifest(new, manifest, write_files(new, _parts_of(release).items(), {}))


def refuse_foreign_folder(folder: Path) -> None:
    """Raise BadInput if `folder` exists and is no release, so that it is not replaced by one."""
    if not os.path.lexists(folder):
        return
    real = folder.is_dir() and not folder.is_symlink()
    there = {part_and_shard(path.name)[0] for path in folder.iterdir()} if real else set()
    if there - {COHORTS, LOG} != {MANIFEST, ROWS, PRIVATE}:
        raise BadInput(f"{folder}: exists and is no release; remove it or name another folder")


def add_cohort(
    cohorts: Sequence[Cohort], output: Path, release: Release, *, seed: int, input_hash: str
) -> None:
    """Write the release of `cohorts` to the new folder `output`, with `release` as its last one.

    All rows that are there stay byte for byte; those of `release` are numbered on.
    """
    folder = cohorts[0].folder
    about, end = cohorts[0].manifest, cohorts[-1].end
    if (release.method, dict(release.parameters)) != (about["method"], about["parameters"]):
        raise BadInput(f"{folder}: has another method or other parameters than the new cohort")
    there, coming = people_named(cohorts), set(release.users)
    if release.deletions is not None:
        coming |= {*release.deletions.users}
    if there & coming:
        raise BadInput(f"{folder}: {len(there & coming)} of the new people stand in it already")
    names = row_names(len(release.rows), there | coming, first=end)
    release = replace(release, rows=replace(release.rows, users=names))
    refuse_named_users(release)
    given = (release.method, release.parameters, about["profiles"], release.facts)
    manifest = manifest_of(*given, seed, input_hash)
    parts = {name: b"".join(lines) for name, lines in _parts_of(release).items()}
    newest = Cohort(output, {**manifest, FIRST_ROW: end}, parts)
    write_cohorts([*cohorts, newest], output, input_hash)


def read_release(folder: Path, promise_of: PromiseOf) -> Release:
    """Return the release in `folder`, of all its cohorts; `promise_of` gives its method's promise.

    All parts must fit.
    """
    return release_of(read_cohorts(folder), promise_of)


def read_in_shards(folder: Path, promise_of: PromiseOf) -> Iterator[Release]:
    """Yield each shard of the release in `folder` as a release, one in memory at a time.

    `promise_of` gives their method's promise. A release that is not cut is one shard.
    """
    return (_release_of(shard, promise_of) for shard in read_shards(folder))


def release_of(cohorts: Sequence[Cohort], promise_of: PromiseOf) -> Release:
    """Return the release of all `cohorts`; `promise_of` gives its method's promise."""
    # A cohort may have lost all of its rows, as long as another one has some.
    releases = [_release_of(one, promise_of) for one in cohorts if one.parts[ROWS]]
    if not releases:
        where = cohorts[0].folder / ROWS
        raise BadInput(f"{where}: there is no line; make the release again")
    return united(releases)


def _release_of(cohort: Cohort, promise_of: PromiseOf) -> Release:
    """Return what `cohort` says, as a release by itself."""
    folder, manifest, parts = cohort.folder, cohort.manifest, cohort.parts
    rows, sizes = read_rows(BytesIO(parts[ROWS]), folder / ROWS, ROW)
    members = read_fields(BytesIO(parts[MEMBERS]), folder / MEMBERS, MEMBER)
    row_of_user = row_of_members(rows, members["row"], folder / MEMBERS)
    _refuse_other_shards(cohort, row_of_user, rows.users)
    method, parameters, facts = (manifest[name] for name in ("method", "parameters", "facts"))
    promise = promise_of(method, parameters)
    served = np.bincount(row_of_user, minlength=len(rows))
    wrong = served != sizes
    # A fallback row keeps its number of people when some of them are forgotten.
    if promise.hides_members and 0 < served[-1] < sizes[-1] < sizes[0]:
        wrong[-1] = False
    if wrong.any():
        where = f"{folder / ROWS}, line {np.argmax(wrong) + 1}"
        raise BadInput(f"{where}: users is not the number of members; make the release again")
    key = _read_key(parts[KEY], folder / KEY) if KEY in parts else None
    users = tuple(members["user"])
    release = Release(rows, users, row_of_user, method, parameters, facts, key=key, promise=promise)
    slots = _read_slots(parts.get(SLOTS, b""), rows, folder / SLOTS)
    return replace(release, slots=slots, taxonomy=_read_taxonomy(parts.get(TAXONOMY, b"")))


def _refuse_other_shards(cohort: Cohort, row_of_user: Ints, names: Sequence[str]) -> None:
    """Refuse `cohort` if its shards stand in another order, or serve people of other shards.

    Its rows have these `names`.
    """
    lines = {
        part: [content.count(b"\n") for _, content in cohort.of_part(part)]
        for part in (ROWS, MEMBERS)
    }
    ends = np.cumsum(lines[ROWS])
    own = np.searchsorted(ends, row_of_user, side="right")
    if not np.array_equal(own, np.repeat(np.arange(len(lines[MEMBERS])), lines[MEMBERS])):
        where = cohort.folder / MEMBERS
        raise BadInput(f"{where}: a shard has a row of another one; make the release again")
    firsts = [names[at] for at in np.unique(np.append(0, ends[:-1])).tolist() if at < len(names)]
    if firsts != sorted(firsts):
        raise BadInput(f"{cohort.folder / ROWS}: shards are swapped; make the release again")


def row_of_members(rows: Profiles, named: Sequence[str], path: Path) -> Ints:
    """Return the number of each row that is `named` in the file `path`; each must be of `rows`."""
    row_of_user = np.array([rows.row_of.get(row, -1) for row in named], dtype=np.int64)
    if row_of_user.min() < 0:
        where = f"{path}, line {int(np.argmin(row_of_user)) + 1}"
        raise BadInput(f"{where}: there is no such row; make the release again")
    return row_of_user


def read_hash(folder: Path) -> str:
    """Return the SHA-256 of the published rows of the release in `folder`, of all its cohorts."""
    paths = part_files(folder, ROWS)
    if paths == [folder / ROWS]:
        return str(read_manifest(folder)["sha256"][ROWS])
    digest = hashlib.sha256()
    with plain_errors(folder, "read"):
        for path in paths:
            with path.open("rb") as file:
                while block := file.read(AT_ONCE):
                    digest.update(block)
    return digest.hexdigest()


def read_input_hash(folder: Path) -> str:
    """Return the fingerprint of the profiles that the release in `folder` was made from."""
    return str(read_manifest(folder)["input_hash"])


def row_lines_of(folder: Path) -> frozenset[bytes]:
    """Return the lines of all rows of the release in `folder`."""
    with plain_errors(folder, "read"):
        contents = [path.read_bytes() for path in part_files(folder, ROWS)]
    return frozenset(line for rows in contents for line in rows.splitlines(keepends=True))


def people_of(folder: Path) -> frozenset[str]:
    """Return who the private parts of the release in `folder` name."""
    return frozenset(people_named(read_cohorts(folder)))


def manifest_of(
    method: str,
    parameters: Mapping[str, object],
    profiles: Mapping[str, Any],
    facts: Mapping[str, object],
    seed: int,
    input_hash: str,
) -> Record:
    """Return the content of release.json that says all this, except the hash of rows."""
    return {
        "format": FORMAT,
        "method": method,
        "parameters": _by_name(parameters),
        "profiles": _by_name(profiles),
        "seed": seed,
        "input_hash": input_hash,
        "facts": _by_name(facts),
    }


def _by_name(values: Mapping[str, Any]) -> Record:
    """Return `values` in the order of their names, as any other order could carry a message."""
    return dict(sorted(values.items()))


def refuse_named_users(release: Release) -> None:
    """Raise BadInput if a user of `release` is named by one of its rows, parameters or facts."""
    users = set(release.users)
    # first_seed is the one parameter that may name a user: the member the first group grows from.
    seed = release.parameters.get("first_seed")
    if seed in users - {"given", "drawn"}:
        raise BadInput("first_seed holds a user's id, which no release may; write given or drawn")
    if any(isinstance(fact, str) and fact in users for fact in release.facts.values()):
        raise BadInput("a fact holds a user's id, which no release may; leave it out")
    if users.isdisjoint(release.rows.users):
        return
    rows = [release.rows.users[row] for row in release.row_of_user.tolist()]
    if any(user == row for user, row in zip(release.users, rows, strict=True)):
        raise BadInput("a row has the name of its user; call the rows g0001, g0002, ...")


def _parts_of(release: Release) -> dict[str, Iterable[bytes]]:
    """Return the lines of the parts of `release`, except the manifest."""
    return {
        **shard_parts(release),
        **head_parts(release.key, release.base, release.taxonomy),
    }


def shard_parts(release: Release) -> dict[str, Iterable[bytes]]:
    """Return the lines of those parts of `release` that are about single rows or people."""
    names = release.rows.users
    served = [names[row] for row in release.row_of_user.tolist()]
    parts: dict[str, Iterable[bytes]] = {
        ROWS: row_lines(release.rows, {"row": names, "users": release.grouping.sizes.tolist()}),
        MEMBERS: record_lines({"user": release.users, "row": served}),
    }
    if release.log is not None:
        parts[LOG] = log_lines(release.log)
    if release.deletions is not None:
        parts[DELETIONS] = row_lines(release.deletions, {"user": release.deletions.users})
    if release.slots:
        slots = ({**slot._asdict(), "row": names[slot.row]} for slot in sorted(release.slots))
        parts[SLOTS] = map(as_json, slots)
    return parts


def head_parts(
    key: bytes | None, base: Profiles | None, taxonomy: Sequence[tuple[str, str]]
) -> dict[str, Iterable[bytes]]:
    """Return the lines of those parts that a release has once: `key`, `base` and `taxonomy`."""
    parts: dict[str, Iterable[bytes]] = {}
    if key is not None:
        parts[KEY] = [as_json({"key": key.hex()})]
    if base is not None:
        parts[BASE] = row_lines(base, {"topic": base.users})
    if taxonomy:
        parts[TAXONOMY] = [f"{child}\t{parent}\n".encode() for child, parent in taxonomy]
    return parts


def _read_slots(content: bytes, rows: Profiles, path: Path) -> tuple[Slot, ...]:
    """Return the slots in `content`, which is that of the file `path`, of these `rows`."""
    try:
        return tuple(
            Slot(
                rows.row_of[slot["row"]],
                slot["term"],
                tuple((user, own) for user, own in slot["occurrences"]),
            )
            for slot in written_records(content)
        )
    except (ValueError, TypeError, KeyError) as fault:
        raise BadInput(f"{path}: a slot can't be read; make the release again") from fault


def _read_taxonomy(content: bytes) -> tuple[tuple[str, str], ...]:
    """Return child and parent of each line of `content`."""
    pairs = (line.partition("\t") for line in content.decode().split("\n") if line)
    return tuple((child, parent) for child, _, parent in pairs)


def _read_key(content: bytes, path: Path) -> bytes:
    try:
        record = read_object(content)
        check_record(record, _KEY)
        return bytes.fromhex(record["key"])
    # The fault's own text might hold the key, so it is not shown.
    except (ValueError, RecursionError) as fault:
        raise BadInput(f"{path}: holds no key; make the release again") from fault
