"""The parts of a release folder [I/O]: named, checked when read, synced when written.

A later cohort is a folder of the same parts in `cohorts/` of the first one. Its rows are numbered
on, so no two rows of a release ever have the same name.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

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
_ALIKE = ("method", "parameters", "profiles", "input_hash")  # what the cohorts of a release share


@dataclass(frozen=True)
class Cohort:
    """A release, or a later cohort of one: the content of release.json, and all parts' bytes."""

    folder: Path
    manifest: Record
    parts: dict[str, bytes]
    # Of the parts that stand in `folder` as they are here, the SHA-256.
    sums: Mapping[str, str] = field(default_factory=dict)

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
    also = [name for name in OPTIONAL if f"  {name}\n".encode() in checksums]
    names = (MANIFEST, ROWS, MEMBERS, *also)
    parts = {name: (folder / name).read_bytes() for name in names}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    lines = {_sum_line(name, sha256): name for name, sha256 in sums.items()}
    changed = [name for line, name in lines.items() if line not in checksums]
    if len(checksums) != sum(map(len, lines)):
        changed.append(CHECKSUMS)
    if changed or manifest["sha256"] != _published(sums):
        part = folder / [*changed, ROWS][0]
        raise BadInput(
            f"{part}: changed since it was written; restore it from a copy, or make the release "
            "again if it was never published"
        )
    return Cohort(folder, manifest, parts, sums)


def read_manifest(folder: Path) -> Record:
    """Return the content of release.json in `folder`, of the right format; nothing else is read."""
    with plain_errors(folder, "read"):
        return _read_manifest(folder / MANIFEST)


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
            names = (ROWS, MEMBERS, *OPTIONAL)
            parts = {name: [cohort.parts[name]] for name in names if name in cohort.parts}
            write_parts(new, parts, {**cohort.manifest, "input_hash": input_hash}, kept)
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


def write_parts(
    new: Path, parts: Mapping[str, Iterable[bytes]], manifest: Record, there: Mapping[str, str]
) -> None:
    """Write the lines of `parts`, the `manifest` and all checksums to the folder `new`.

    Parts that are `there` already, by their SHA-256, are not written again.
    """
    sums = {
        name: there.get(name) or write_file(new / name, lines, 0o600)
        for name, lines in parts.items()
    }
    whole = as_json({**manifest, "sha256": _published(sums)}, indent=1)
    sums[MANIFEST] = write_file(new / MANIFEST, [whole])
    write_file(new / CHECKSUMS, [_sum_line(*entry) for entry in sums.items()], mode=0o600)
    sync_folder(new / PRIVATE)


def _published(sums: Mapping[str, str]) -> dict[str, str]:
    """Return those of `sums` that release.json states, in the order of their names."""
    return {name: sums[name] for name in sorted(PUBLISHED) if name in sums}


def _sum_line(name: str, sha256: str) -> bytes:
    return f"{sha256}  {name}\n".encode()
