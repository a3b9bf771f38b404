"""What happens to a release after its making [I/O]: rows are withdrawn, and profiles change.

All rows that are left stay byte for byte. A private note of each cohort says what has changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BadInput
from .json_lines import written_records
from .parts import (
    CHANGES,
    CUT,
    DELETIONS,
    FIRST_ROW,
    LOG,
    ROWS,
    SLOTS,
    WITHDRAWN,
    Cohort,
    part_and_shard,
    rows_named,
    write_cohorts,
)
from .records import Record, as_json, check_record, read_object, rounded
from .released_log import lines_without

# What happened to a release since it was made. There is no hash of what it was: with it a guess of
# what somebody had who was forgotten could be proved.
_CHANGES: Record = {
    "withdrawn": 0,  # rows
    "left": 0,  # people of the making who have no profile any more
    "stood": ["u1"],  # people with a profile whose row was withdrawn
    "edited": ["g0001"],  # rows with a member whose profile has changed
}
_HEAD = re.compile(rb'\{"row": "([^"\\]+)", "users": ([0-9]+), ')


class Withdrawal(NamedTuple):
    """What `without_rows` did to a release."""

    withdrawn: int  # rows
    left: int  # rows that still stand for people of their own; 0: nothing was written
    lines: frozenset[bytes]  # of the rows withdrawn


def without_rows(
    cohorts: Sequence[Cohort],
    output: Path,
    leaving: Collection[str],
    *,
    known: bool,
    input_hash: str,
) -> Withdrawal:
    """Write a release of `cohorts` to `output` without the rows of `leaving`; return what is left.

    All other rows stay byte for byte. With `known`, people who leave keep their profiles; else
    nothing of them stays. `input_hash` is the fingerprint of the profiles from now on.
    """
    changed = [_without_rows(cohort, frozenset(leaving), known) for cohort in cohorts]
    withdrawn, left, lines = zip(*(done for _, done in changed), strict=True)
    done = Withdrawal(sum(withdrawn), sum(left), frozenset().union(*lines))
    if done.left:
        write_cohorts([cohort for cohort, _ in changed], output, input_hash)
    return done


def _without_rows(
    cohort: Cohort, leaving: frozenset[str], known: bool
) -> tuple[Cohort, Withdrawal]:
    """Return `cohort` without the rows of `leaving`, and what is left of it."""
    manifest = dict(cohort.manifest)
    served, fallback = cohort.served, _fallback_row(cohort)
    gone = {row for user, row in served.items() if user in leaving}
    # It holds nothing of those it serves. So it goes with the last of them, and else stays with its
    # number of people: who leaves then takes nothing away.
    if any(row == fallback and (known or user not in leaving) for user, row in served.items()):
        gone.discard(fallback)
    heads = [
        _head(content, low, cohort.folder / name)
        for name, content in cohort.of_part(ROWS)
        for low, _ in _places_of_lines(content)
    ]
    mean_rows = int(bool(fallback) and fallback not in gone)
    # A mean over groups stands for nobody when all groups are gone.
    if sum(row not in gone for row, _ in heads) == mean_rows:
        mean_rows, gone = 0, {row for row, _ in heads}
    sizes = [size for row, size in heads if row not in gone]
    lost_lines = frozenset(
        content[low:high]
        for name, content in cohort.of_part(ROWS)
        for low, high in _places_of_rows(content, gone, cohort.folder / name)
    )
    done = Withdrawal(len(lost_lines), len(sizes) - mean_rows, lost_lines)
    changes = _changes(cohort)
    stood = {user for user, row in served.items() if row in gone} | {*changes["stood"]}
    deleted = rows_named(cohort.parts.get(DELETIONS, b""))
    if not known:
        changes["left"] += len(leaving & {*served, *stood, *deleted})
    changes["stood"] = sorted(stood if known else stood - leaving)
    changes["edited"] = [row for row in changes["edited"] if row not in gone]
    if done.withdrawn:
        changes["withdrawn"] += done.withdrawn
        facts = manifest["facts"]
        manifest["facts"] = {**facts, **counts_of(facts, sizes, mean_rows)}
        manifest[WITHDRAWN] = {"rows": changes["withdrawn"]}
    lost = stood if known else leaving | stood
    # File by file: a shard that nobody leaves keeps its bytes, and is linked, not written.
    changed = {
        name: _left_of(part, content, gone, lost, cohort.folder / name)
        for part in CUT
        for name, content in cohort.of_part(part)
    }
    return _noted(replace(cohort, manifest=manifest), changed, changes), done


def _left_of(part: str, content: bytes, gone: Set[str], lost: Set[str], path: Path) -> bytes:
    """Return the `content` of `path`, of `part`, without rows that are `gone` and people `lost`."""
    if part == ROWS:
        return _without_places(content, _places_of_rows(content, gone, path))
    if part == LOG:
        return lines_without(content, gone)
    if part == SLOTS:
        return _without(content, (record["row"] for record in written_records(content)), gone)
    return _without(content, rows_named(content), lost)


def with_edited(
    cohorts: Sequence[Cohort],
    output: Path,
    owners: Collection[str],
    terms: Collection[str],
    input_hash: str,
) -> int:
    """Write a release of `cohorts` to `output`, where `owners` have lost `terms` of their profile.

    Return how many rows hold a share of their terms. No row changes. What was deleted of the owners
    names these terms no more, and no slot has an occurrence of theirs. Without `owners`, people
    came to the profiles, who stand in no row.
    """
    edited, count = list[Cohort](), 0
    for cohort in cohorts:
        served, changes = cohort.served, _changes(cohort)
        rows = {served[one] for one in owners if one in served}
        changes["edited"] = sorted(rows.union(changes["edited"]))
        changed = {
            name: b"".join(left(content, owners, terms))
            for part, left in ((DELETIONS, _without_terms), (SLOTS, _without_occurrences))
            for name, content in cohort.of_part(part)
        }
        edited.append(_noted(cohort, changed, changes))
        count += len(rows - {_fallback_row(cohort)})
    write_cohorts(edited, output, input_hash)
    return count


def _noted(cohort: Cohort, changed: Mapping[str, bytes], changes: Record) -> Cohort:
    """Return `cohort` with parts `changed`, and with `changes` as its note."""
    same = all(cohort.files[name] == content for name, content in changed.items())
    # The first cohort notes any change of the profiles. A later one without a note stays as it
    # was made, so all of it can be counted again.
    if FIRST_ROW in cohort.manifest and same and changes == _changes(cohort):
        return cohort
    files = {**cohort.files, **changed, CHANGES: as_json(changes)}
    for name in changed:
        if not files[name] and part_and_shard(name)[0] in (DELETIONS, SLOTS):
            del files[name]
    same_files = {name for name, content in files.items() if content == cohort.files.get(name)}
    sums = {name: sha for name, sha in cohort.sums.items() if name in same_files}
    return replace(cohort, files=files, sums=sums)


def people_named(cohorts: Sequence[Cohort]) -> set[str]:
    """Return who the private parts of `cohorts` name."""
    named = people_who_stood(cohorts)
    for cohort in cohorts:
        named |= {*cohort.served, *rows_named(cohort.parts.get(DELETIONS, b""))}
    return named


def people_gone(cohorts: Sequence[Cohort]) -> int:
    """Return how many people stood in a row of `cohorts` that was withdrawn."""
    notes = map(_changes, cohorts)
    return sum(note["left"] + len(note["stood"]) for note in notes)


def people_who_stood(cohorts: Sequence[Cohort]) -> set[str]:
    """Return those people of `cohorts` who have a profile and whose row is withdrawn."""
    return {user for cohort in cohorts for user in _changes(cohort)["stood"]}


def counts_of(facts: Mapping[str, Any], sizes: list[int], mean_rows: int) -> Record:
    """Return those of `facts` that count rows of `sizes`; the last `mean_rows` are no groups'."""
    groups = sizes[: len(sizes) - mean_rows]
    counts = {
        "users": sum(sizes),
        "groups": len(groups),
        "single_person_rows": groups.count(1),
        "smallest_group": min(groups, default=0),
        "mean_group": rounded(sum(groups) / max(1, len(groups))),
        "largest_group": max(groups, default=0),
    }
    return {name: value for name, value in counts.items() if name in facts}


def _fallback_row(cohort: Cohort) -> str:
    """Return the name of the fallback row of `cohort`, which is its last one; "" if it has none."""
    rows = cohort.parts[ROWS]
    count = rows.count(b"\n")
    groups = cohort.manifest["facts"].get("groups", count)
    last = rows.rfind(b"\n", 0, -1) + 1
    return _head(rows, last, cohort.folder / ROWS)[0] if groups < count else ""


def _places_of_lines(content: bytes) -> list[tuple[int, int]]:
    """Return where each line of `content` begins and ends."""
    # Rows are long, so no line is copied that can stay where it is.
    places, low = [], 0
    while high := content.find(b"\n", low) + 1:
        places.append((low, high))
        low = high
    return places


def _without_places(content: bytes, gone: Sequence[tuple[int, int]]) -> bytes:
    """Return `content` without what is between each two places that are `gone`."""
    whole = memoryview(content)
    begins, ends = [0, *(high for _, high in gone)], [*(low for low, _ in gone), len(content)]
    return b"".join(whole[low:high] for low, high in zip(begins, ends, strict=True))


def _places_of_rows(content: bytes, rows: Set[str], path: Path) -> list[tuple[int, int]]:
    """Return where each line of `content`, which is that of `path`, begins and ends, of `rows`."""
    places = _places_of_lines(content)
    return [at for at in places if _head(content, at[0], path)[0] in rows]


def _head(content: bytes, place: int, path: Path) -> tuple[str, int]:
    """Return the name of the row at `place` in `content`, that of `path`, and its people."""
    head = _HEAD.match(content, place)
    if head is None:
        raise BadInput(f"{path}: a row can't be read; make the release again")
    return head[1].decode(), int(head[2])


def _without(lines: bytes, names: Iterable[str], gone: Set[str]) -> bytes:
    """Return `lines`, which are about `names`, without those about one that is `gone`."""
    pairs = zip(lines.splitlines(keepends=True), names, strict=True)
    return b"".join(line for line, name in pairs if name not in gone)


def _without_occurrences(
    lines: bytes, owners: Collection[str], terms: Collection[str]
) -> Iterator[bytes]:
    """Yield `lines` of slots without the occurrences that `owners` had of `terms`."""
    for line in lines.splitlines(keepends=True):
        slot = read_object(line)
        before = slot["occurrences"]
        slot["occurrences"] = [
            [user, term] for user, term in before if user not in owners or term not in terms
        ]
        if slot["occurrences"]:
            yield line if len(slot["occurrences"]) == len(before) else as_json(slot)


def _without_terms(
    lines: bytes, owners: Collection[str], terms: Collection[str]
) -> Iterator[bytes]:
    """Yield `lines` of deletions, those of `owners` without `terms`, where they have any left."""
    for line in lines.splitlines(keepends=True):
        record = read_object(line)
        if record["user"] not in owners:
            yield line
            continue
        record["terms"] = {t: at for t, at in record["terms"].items() if t not in terms}
        if record["terms"]:
            yield as_json(record)


def _changes(cohort: Cohort) -> Record:
    """Return what has changed in `cohort` so far."""
    if CHANGES in cohort.parts:
        return read_changes(cohort.parts[CHANGES], cohort.folder / CHANGES)
    return {name: type(value)() for name, value in _CHANGES.items()}


def read_changes(content: bytes, path: Path) -> Record:
    """Return the note in `content`, which is that of the file `path`."""
    try:
        changes = read_object(content)
        check_record(changes, _CHANGES)
        if not all(isinstance(name, str) for name in (*changes["stood"], *changes["edited"])):
            raise ValueError("a name is no text")
    except (ValueError, RecursionError) as fault:
        raise BadInput(f"{path}: {fault}; make the release again") from fault
    return changes
