"""The parts of a release folder [I/O]: named, checked when read, synced when written.

A later cohort is a folder of the same parts in `cohorts/` of the first one. Its rows are numbered
on, so no two rows of a release ever have the same name.

A part with lines of rows or people may be cut into shards, each a file: rows-0000.jsonl,
rows-0001.jsonl, ... End to end they are the part. Shard by shard, private/members-0000.jsonl
says who has the rows of rows-0000.jsonl.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from ..errors import BadInput
from .files import sync_folder, write_file
from .json_lines import written_records
from .records import Record, as_json, check_record, plain_errors, read_object

FORMAT = 3
MANIFEST = "release.json"
ROWS = "rows.jsonl"
LOG = "log.tsv"  # only of methods that release a log: row <tab> query, a line for each event
PRIVATE = "private"
MEMBERS = "private/members.jsonl"
DELETIONS = "private/deletions.jsonl"
KEY = "private/key.json"
SLOTS = "private/slots.jsonl"
TAXONOMY = "private/taxonomy.tsv"
BASE = "private/base.jsonl"
CHANGES = "private/changes.json"
OPTIONAL = (LOG, DELETIONS, KEY, SLOTS, TAXONOMY, BASE, CHANGES)  # not every release has them
CUT = (ROWS, MEMBERS, LOG, DELETIONS, SLOTS)  # what shards are of
MOST_SHARDS = 10_000  # their numbers have four digits, so that names in order are shards in order
CHECKSUMS = "private/checksums.sha256"  # as sha256sum writes and checks them
COHORTS = "cohorts"  # the folder of later cohorts: 0002, 0003, ...
WITHDRAWN = "withdrawn"  # in release.json, once a row was withdrawn
ROW_HASH = 8  # bytes of a row's short hash
FIRST_ROW = "first_row"  # in release.json of a later cohort: the number of its first row

_MANIFEST: Record = {
    "format": FORMAT,
    "method": "none",
    "parameters": {},
    "profiles": {},
    "seed": 0,
    "input_hash": "0a1b",
    "facts": {},
    "sha256": {},
}
_MEMBER = re.compile(r'\{"user": "([^"\\]+)", "row": "([^"\\]+)"\}\n')
PUBLISHED = (ROWS, LOG)  # of these release.json has the hash
_SHARD = re.compile(r"-([0-9]{4})(?=\.)")
_ALIKE = ("method", "parameters", "profiles", "input_hash")  # what the cohorts of a release share


@dataclass(frozen=True)
class Cohort:
    """A release, or a later cohort of one: the content of release.json, and all files' bytes."""

    folder: Path
    manifest: Record
    files: dict[str, bytes]  # parts, or shards of them
    # Of the files that stand in `folder` as they are here, the SHA-256.
    sums: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def parts(self) -> dict[str, bytes]:
        """Return all parts, each whole."""
        return joined(self.files)

    def of_part(self, part: str) -> list[tuple[str, bytes]]:
        """Return the name and the content of the files of `part`: it, or its shards in order."""
        names = sorted(name for name in self.files if part_and_shard(name)[0] == part)
        return [(name, self.files[name]) for name in names]

    @cached_property
    def served(self) -> dict[str, str]:
        """Return the row of each user, in order."""
        return rows_named(self.parts[MEMBERS])

    @property
    def end(self) -> int:
        """Return the number that the first row of the next cohort has."""
        there, gone = self.parts[ROWS].count(b"\n"), self.manifest.get(WITHDRAWN, {}).get("rows", 0)
        return int(self.manifest.get(FIRST_ROW, 1)) + there + int(gone)


def rows_named(lines: bytes) -> dict[str, str]:
    """Return the row of each user that `lines` name, in order; "" in lines without rows."""
    pairs = _MEMBER.findall(lines.decode())  # faster than a reader of JSON
    if len(pairs) < lines.count(b"\n"):
        pairs = [(record["user"], record.get("row", "")) for record in written_records(lines)]
    return dict(pairs)


def shard_name(part: str, number: int) -> str:
    """Return the name of shard `number`, from 0, of `part`."""
    name, dot, suffix = part.rpartition(".")
    return f"{name}-{number:04d}{dot}{suffix}"


def part_and_shard(name: str) -> tuple[str, int | None]:
    """Return the part that the file `name` is of, and its shard's number; None if it is whole."""
    match = _SHARD.search(name)
    if match is None or _SHARD.sub("", name) not in CUT:
        return name, None
    return _SHARD.sub("", name), int(match[1])


def joined(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the parts in `files`, each whole: shards end to end."""
    pieces: dict[str, list[bytes]] = {}
    for name in sorted(files):
        pieces.setdefault(part_and_shard(name)[0], []).append(files[name])
    return {name: some[0] if len(some) == 1 else b"".join(some) for name, some in pieces.items()}


def row_hash(line: bytes) -> bytes:
    """Return the short hash of a row by its `line` in rows.jsonl."""
    return hashlib.sha256(line.rstrip(b"\n")).digest()[:ROW_HASH]


def cohort_folder(release: Path, number: int) -> Path:
    """Return the folder of cohort `number` of the folder `release`; the first one is itself."""
    return release / COHORTS / f"{number:04d}" if number > 1 else release


def cohort_folders(release: Path) -> list[Path]:
    """Return the folders of all cohorts of the folder `release`, the first one first."""
    later = (release / COHORTS).glob("[0-9]*") if (release / COHORTS).is_dir() else ()
    return [release, *sorted(later)]


def read_cohorts(release: Path) -> list[Cohort]:
    """Return all cohorts of the folder `release` if each is as it was written, and they fit."""
    with plain_errors(release, "read"):
        cohorts = [_read_cohort(folder) for folder in cohort_folders(release)]
    for number, cohort in enumerate(cohorts, 1):
        before = cohorts[number - 2] if number > 1 else None
        first = cohort.manifest.get(FIRST_ROW)
        fits = cohort.folder == cohort_folder(release, number)
        alike = all(cohort.manifest[name] == cohorts[0].manifest[name] for name in _ALIKE)
        if not (fits and alike and first == (before.end if before else None)):
            where = cohort.folder / MANIFEST
            raise BadInput(f"{where}: does not fit the cohort before; make the release again")
    return cohorts


def _read_cohort(folder: Path) -> Cohort:
    manifest = _read_manifest(folder / MANIFEST)
    checksums = (folder / CHECKSUMS).read_bytes()
    cohort = _read_files(folder, manifest, files_in(folder, checksums), checksums)
    lines = (sum_line(*entry) for entry in cohort.sums.items())
    if len(checksums) != sum(map(len, lines)):
        _refuse_changed(folder / CHECKSUMS)
    if manifest["sha256"] != _published(cohort.sums):
        _refuse_changed(folder / cohort.of_part(ROWS)[0][0])
    return cohort


def _read_files(folder: Path, manifest: Record, names: Iterable[str], checksums: bytes) -> Cohort:
    """Return the cohort in `folder` with the files `names` alone; they must have `checksums`."""
    files = {name: (folder / name).read_bytes() for name in names}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    for name, sha256 in sums.items():
        if sum_line(name, sha256) not in checksums:
            _refuse_changed(folder / name)
    return Cohort(folder, manifest, files, sums)


def read_shards(release: Path) -> Iterator[Cohort]:
    """Yield each shard of each cohort of the folder `release` like a cohort, checked by itself.

    A cohort that is not cut is its own only shard. Shards that have lost all their rows are
    passed over.
    """
    with plain_errors(release, "read"):
        for folder in cohort_folders(release):
            manifest = _read_manifest(folder / MANIFEST)
            checksums = (folder / CHECKSUMS).read_bytes()
            names = files_in(folder, checksums)
            whole = [name for name in names if part_and_shard(name)[1] is None]
            listed = [name for name in names if part_and_shard(name)[0] in PUBLISHED]
            if sorted(listed) != sorted(manifest["sha256"]):
                _refuse_changed(folder / MANIFEST)
            for number in sorted({part_and_shard(name)[1] or 0 for name in names}):
                own = [name for name in names if part_and_shard(name)[1] == number]
                shard = _read_files(folder, manifest, [*whole, *own], checksums)
                if shard.parts[ROWS]:
                    yield shard


def _refuse_changed(path: Path) -> NoReturn:
    raise BadInput(
        f"{path}: changed since it was written; restore it from a copy, or make the release "
        "again if it was never published"
    )


def files_in(folder: Path, checksums: bytes) -> list[str]:
    """Return the names of the files of the cohort in `folder`, which has these `checksums`.

    The manifest comes first. Refuse a folder with a shard that has no checksum.
    """
    lines = checksums.decode(errors="replace").splitlines()
    listed = {line.partition("  ")[2] for line in lines}
    count = sum(part_and_shard(name)[0] == ROWS != name for name in listed)
    names = [MANIFEST]
    for part in (ROWS, MEMBERS, *OPTIONAL):
        shards = [shard_name(part, number) for number in range(count)]
        if part in OPTIONAL:
            names += [name for name in (part, *shards) if name in listed]
        else:
            names += shards or [part]
    # A shard that is not listed would be served by nobody, and published by a careless copy.
    for inside in (folder, folder / PRIVATE):
        for place in inside.glob("*-[0-9][0-9][0-9][0-9].*"):
            if place.relative_to(folder).as_posix() not in names:
                _refuse_changed(place)
    return names


def read_manifest(folder: Path) -> Record:
    """Return the content of release.json in `folder`, of the right format; nothing else is read."""
    with plain_errors(folder, "read"):
        return _read_manifest(folder / MANIFEST)


def part_files(release: Path, part: str) -> list[Path]:
    """Return the files of `part`, of rows or members, of all cohorts of the folder `release`.

    Cohorts come in order, and in a cohort its shards.
    """
    return [
        folder / (part if shard is None else shard_name(part, shard))
        for folder in cohort_folders(release)
        for of, shard in map(part_and_shard, sorted(read_manifest(folder)["sha256"]))
        if of == ROWS
    ]


def _read_manifest(path: Path) -> Record:
    try:
        manifest = read_object(path.read_bytes())
        if manifest.get("format") != FORMAT:
            raise ValueError(f"format={manifest.get('format')!r} must be {FORMAT}")
        also: Record = {WITHDRAWN: {}, FIRST_ROW: 1}
        check_record({**also, **manifest}, {**_MANIFEST, **also})
    except (ValueError, RecursionError) as fault:
        raise BadInput(f"{path}: {fault}; make the release again") from fault
    return manifest


def write_cohorts(cohorts: Sequence[Cohort], output: Path, input_hash: str) -> None:
    """Write `cohorts` to the new folder `output`, as made from profiles of `input_hash`."""
    with plain_errors(output, "written"):
        for number, cohort in enumerate(cohorts, 1):
            new = cohort_folder(output, number)
            new.mkdir(parents=True)
            (new / PRIVATE).mkdir(mode=0o700)
            kept = {name: sha for name, sha in cohort.sums.items() if _linked(cohort, new, name)}
            files = {name: [content] for name, content in cohort.files.items() if name != MANIFEST}
            manifest = {**cohort.manifest, "input_hash": input_hash}
            write_manifest(new, manifest, write_files(new, files.items(), kept))
            sync_folder(new)
            sync_folder(new.parent)


def _linked(cohort: Cohort, new: Path, name: str) -> bool:
    """Give the part `name` of `cohort` a second name in the folder `new`; return whether it has."""
    # No part is ever written in its place. So one that stays as it is, as nearly all rows do when
    # people join, need not be written again. Its content is on the disk since it was made.
    source = cohort.folder / name
    try:
        if name == MANIFEST or source.is_symlink():
            return False
        os.link(source, new / name)
    except OSError:  # another disk, or one without links
        return False
    return True


def write_files(
    new: Path, files: Iterable[tuple[str, Iterable[bytes]]], there: Mapping[str, str]
) -> dict[str, str]:
    """Write the name and lines of each of `files` to the folder `new`; return their SHA-256.

    Files that are `there` already, by their SHA-256, are not written again.
    """
    return {name: there.get(name) or write_file(new / name, lines, 0o600) for name, lines in files}


def write_manifest(new: Path, manifest: Record, sums: dict[str, str]) -> None:
    """Write the `manifest` and all checksums to the folder `new`, whose files have these `sums`."""
    whole = as_json({**manifest, "sha256": _published(sums)}, indent=1)
    sums[MANIFEST] = write_file(new / MANIFEST, [whole])
    write_file(new / CHECKSUMS, [sum_line(*entry) for entry in sums.items()], mode=0o600)
    sync_folder(new / PRIVATE)


def _published(sums: Mapping[str, str]) -> dict[str, str]:
    """Return those of `sums` that release.json states, in the order of their names."""
    return {name: sums[name] for name in sorted(sums) if part_and_shard(name)[0] in PUBLISHED}


def sum_line(name: str, sha256: str) -> bytes:
    """Return the line of the file `name` in the checksums."""
    return f"{sha256}  {name}\n".encode()
