"""The released log: row <tab> query, a line for each event [I/O].

Lines stand in the order of rows, and within a row by query. So their order says nothing of when or
in which sequence queries came. A row's name is a pseudonym for this release only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ..errors import BadInput
from ..model import Profiles, QueryLog
from .json_lines import written_records
from .parts import LOG, MANIFEST, MEMBERS, read_cohorts


def log_lines(log: Profiles) -> Iterator[bytes]:
    """Yield the lines of `log`, row by row; its terms are queries."""
    ordered = log.in_order()
    queries = [f"\t{query}\n".encode() for query in ordered.terms]
    for row, name in enumerate(ordered.users):
        columns, counts = ordered.slice(row)
        head = name.encode()
        cells = zip(columns.tolist(), counts.astype(int).tolist(), strict=True)
        yield b"".join((head + queries[column]) * count for column, count in cells)


def lines_without(lines: bytes, rows: Collection[str]) -> bytes:
    """Return `lines` of a released log without those of `rows`."""
    gone = {row.encode() for row in rows}
    kept = lines.splitlines(keepends=True)
    return b"".join(line for line in kept if line.partition(b"\t")[0] not in gone)


def log_of(release: Path) -> Path | None:
    """Return the released log of the folder `release`, or of the folder around `release`."""
    path = release / LOG if release.is_dir() else release
    return path if path.name == LOG and (path.parent / MANIFEST).exists() else None


def by_people(log: QueryLog, release: Path) -> QueryLog:
    """Return `log`, of the folder `release`, with people in place of the names of rows."""
    user_of = people_of_rows(release)
    if not user_of.keys() >= {*log.users}:
        raise BadInput(f"{release / LOG}: has a row that nobody has; make the release again")
    return replace(log, users=tuple(user_of[row] for row in log.users))


def people_of_rows(release: Path) -> Mapping[str, str]:
    """Return who has each row of the folder `release`, where a row is of one person."""
    return {
        record["row"]: record["user"]
        for cohort in read_cohorts(release)
        for record in written_records(cohort.parts[MEMBERS])
    }
