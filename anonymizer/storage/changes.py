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
    DELETIONS,
    FIRST_ROW,
    LOG,
    MEMBERS,
    ROWS,
    SLOTS,
    WITHDRAWN,
    Cohort,
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
    manifest, parts = dict(cohort.manifest), cohort.parts
    served, fallback = cohort.served, _fallback_row(cohort)
    gone = {row for user, row in served.items() if user in leaving}
    # It holds nothing of those it serves. So it goes with the last of them, and else stays with its
    # number of people: who leaves then takes nothing away.
    if any(row == fallback and (known or user not in leaving) for user, row in served.items()):
        gone.discard(fallback)
    places = _places_of_lines(parts[ROWS])
    heads = [_head(cohort, low) for low, _ in places]
    mean_rows = int(bool(fallback) and fallback not in gone)
    # A mean over groups stands for nobody when all groups are gone.
    if sum(row not in gone for row, _ in heads) == mean_rows:
        mean_rows, gone = 0, {row for row, _ in heads}
    sizes = [size for row, size in heads if row not in gone]
    lost_places = [at for at, (row, _) in zip(places, heads, strict=True) if row in gone]
    lost_lines = frozenset(parts[ROWS][low:high] for low, high in lost_places)
    done = Withdrawal(len(lost_lines), len(sizes) - mean_rows, lost_lines)
    changes = _changes(cohort)
    stood = {user for user, row in served.items() if row in gone} | {*changes["stood"]}
    deletions, slots = parts.get(DELETIONS, b""), parts.get(SLOTS, b"")
    deleted = rows_named(deletions)
    if not known:
        changes["left"] += len(leaving & {*served, *stood, *deleted})
    changes["stood"] = sorted(stood if known else stood - leaving)
    changes["edited"] = [row for row in changes["edited"] if row not in gone]
    if done.withdrawn:
        changes["withdrawn"] += done.withdrawn
        facts = manifest["facts"]
        manifest["facts"] = {**facts, **counts_of(facts, sizes, mean_rows)}
        manifest[WITHDRAWN] = {"rows": changes["withdrawn"]}
    lost = stood if known else leaving
    changed = {
        ROWS: _without_places(parts[ROWS], lost_places),
        MEMBERS: _without(parts[MEMBERS], served, lost | stood),
        DELETIONS: _without(deletions, deleted, lost | stood),
        SLOTS: _without(slots, (record["row"] for record in written_records(slots)), gone),
    }
    if LOG in parts:
        changed[LOG] = lines_without(parts[LOG], gone)
    return _noted(replace(cohort, manifest=manifest), changed, changes), done


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
        deletions = _without_terms(cohort.parts.get(DELETIONS, b""), owners, terms)
        slots = _without_occurrences(cohort.parts.get(SLOTS, b""), owners, terms)
        changed = {DELETIONS: b"".join(deletions), SLOTS: b"".join(slots)}
        edited.append(_noted(cohort, changed, changes))
        count += len(rows - {_fallback_row(cohort)})
    write_cohorts(edited, output, input_hash)
    return count


def _noted(cohort: Cohort, changed: Mapping[str, bytes], changes: Record) -> Cohort:
    """Return `cohort` with parts `changed`, and with `changes` as its note."""
    same = all(cohort.parts.get(name, b"") == content for name, content in changed.items())
    # The first cohort notes any change of the profiles. A later one without a note stays as it
    # was made, so all of it can be counted again.
    if FIRST_ROW in cohort.manifest and same and changes == _changes(cohort):
        return cohort
    parts = {**cohort.parts, **changed, CHANGES: as_json(changes)}
    for name in (DELETIONS, SLOTS):
        if not parts[name]:
            del parts[name]
    same_parts = {name for name, content in parts.items() if content == cohort.parts.get(name)}
    sums = {name: sha for name, sha in cohort.sums.items() if name in same_parts}
    return replace(cohort, parts=parts, sums=sums)


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
    return _head(cohort, rows.rfind(b"\n", 0, -1) + 1)[0] if groups < count else ""


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


def _head(cohort: Cohort, place: int) -> tuple[str, int]:
    """Return the name of the row of `cohort` that begins at `place`, and its number of people."""
    head = _HEAD.match(cohort.parts[ROWS], place)
    if head is None:
        raise BadInput(f"{cohort.folder / ROWS}: a row can't be read; make the release again")
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
