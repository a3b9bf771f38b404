"""Whether the private record of deletions is exactly what the rows lack of the profiles.

The record is long, so what it must be is written down once more with the passes that it tells, and
held against it byte for byte; where that does not fit, it is read strictly.
"""

from __future__ import annotations

from io import BytesIO
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .evidence import DELETIONS
from .finding import Broken, Finding, Findings, Floats, Ints, Marks
from .grounds import Grounds
from .people import People, keys_of
from .rewriting import is_written, quoted
from .strict_lines import CellReader, Cells, Fault, read_lines

_RECORD = {"user": "u1", "terms": {"smith": 1.0}}
_QUOTE, _ZERO, _NINE = b'"'[0], b"0"[0], b"9"[0]
_DIGITS = 15  # of a pass; more are read strictly


class _Told(NamedTuple):
    """What the record tells: keys are user * terms + term."""

    keys: Ints
    line: Ints
    passes: Floats


def judge_deletions(grounds: Grounds, in_one_pass: bool) -> Findings:
    """Check that each cell that is not released, and no other, is said to have been deleted."""
    gone, content = _gone(grounds), grounds.parts.get(DELETIONS)
    count = int(np.count_nonzero(gone))
    if content is None:
        if count:
            line = f"is missing, though {count} terms of users were deleted"
            yield Finding("deletions", False, DELETIONS, line)
        else:
            yield Finding("deletions", True, DELETIONS, "is absent, as nothing was deleted")
        return
    passes = _foreseen(grounds.people, gone, content) if count else None
    if passes is None:
        try:
            told = _read(content, grounds.people)
        except Fault as fault:
            raise Broken("deletions", f"{DELETIONS}, line {fault.number}", str(fault)) from fault
        yield from _judge_cells(
            told, keys_of(grounds.people.cells, len(grounds.people.terms)), gone
        )
        passes = told.passes
    if in_one_pass and (passes != 1).any():
        yield Finding("deletions", False, DELETIONS, "algorithm insert makes one pass, 1, alone")
    yield from _judge_passes(passes)


def _gone(grounds: Grounds) -> Marks:
    """Mark the cells of the profiles that no row releases."""
    people, rows, group_of = grounds.people, grounds.rows, grounds.group_of
    released = np.zeros(people.cells.columns.size, dtype=np.bool_)
    served = np.flatnonzero(group_of >= 0)
    user_of = np.empty(len(rows.names), dtype=np.int64)
    user_of[group_of[served]] = served
    terms = len(people.terms)
    row = np.repeat(user_of * terms, np.diff(rows.cells.ends))
    columns = rows.cells.columns
    own = columns < terms  # others are numbered behind
    keys = keys_of(people.cells, terms)
    wanted = row[own] + columns[own]
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    released[at[keys[at] == wanted]] = True
    return ~released


def _foreseen(people: People, gone: Marks, content: bytes) -> Floats | None:
    """Return the passes if all else of the record is what it must be; else nothing."""
    passes = _passes_said(content)
    if passes is None or passes.size != np.count_nonzero(gone):
        return None
    kept_ends = np.append(0, np.cumsum(gone))[people.cells.ends]
    sizes = np.diff(kept_ends)
    losers = np.flatnonzero(sizes)
    users = quoted([people.users[user] for user in losers.tolist()])
    heads = [b'{"user": ' + user + b', "terms": {' for user in users]
    cells = Cells(np.append(0, np.cumsum(sizes[losers])), people.cells.columns[gone], passes)
    return passes if is_written(content, heads, people.terms, cells) else None


def _passes_said(content: bytes) -> Floats | None:
    """Return the numbers behind the names, in a record without escapes.

    Each text has two quotation marks then, and what stands behind the second of a name is a colon.
    """
    letters = np.frombuffer(content, dtype=np.uint8)
    if b"\\" in content:
        return None
    at = np.flatnonzero(letters == _QUOTE)[1::2] + 3  # behind: ":
    at = at[at < letters.size]
    at = at[(letters[at] >= _ZERO) & (letters[at] <= _NINE)]
    return _whole_at(letters, at)


def _whole_at(letters: NDArray[np.uint8], at: Ints) -> Floats | None:
    """Return the whole numbers that begin at these places; nothing if one is too long."""
    values, going = np.zeros(at.size), np.arange(at.size)
    for place in range(_DIGITS):
        digits = letters[np.minimum(at[going] + place, letters.size - 1)]
        more = (digits >= _ZERO) & (digits <= _NINE)
        going = going[more]
        if not going.size:
            return values
        values[going] = 10 * values[going] + (digits[more] - _ZERO)
    return None


def _read(content: bytes, people: People) -> _Told:
    """Read the record; a user or term of no profile is a fault of its line."""
    number = {user: at for at, user in enumerate(people.users)}
    reader = CellReader({term: at for at, term in enumerate(people.terms)})
    users: list[int] = []
    for record in read_lines(BytesIO(content), _RECORD):
        if record["user"] not in number:
            raise Fault(len(users) + 1, "the user has no profile")
        users.append(number[record["user"]])
        reader.add(record["terms"])
    cells, terms = reader.cells(), len(people.terms)
    line = np.repeat(np.arange(len(users)), np.diff(cells.ends))
    unknown = np.flatnonzero(cells.columns >= terms)
    if unknown.size:
        raise Fault(int(line[unknown[0]]) + 1, "has a term that its user has not")
    keys = np.array(users, dtype=np.int64)[line] * terms + cells.columns
    return _Told(keys, line + 1, cells.weights)


def _judge_cells(told: _Told, keys: Ints, gone: Marks) -> Findings:
    """Check which cells are told: those of profiles, and of these the ones not released."""
    at = np.minimum(np.searchsorted(keys, told.keys), keys.size - 1)
    own = keys[at] == told.keys
    released = own & ~gone[at]
    missing = int(np.count_nonzero(gone)) - int(np.count_nonzero(own & gone[at]))
    faults = {"has a term that its user has not": ~own, "has a term that the row has": released}
    for line, wrong in faults.items():
        if wrong.any():
            where = f"{DELETIONS}, line {told.line[wrong].min()}"
            yield Finding("deletions", False, where, line)
    if missing:
        line = f"{missing} terms of users stand neither in it nor in a row"
        yield Finding("deletions", False, DELETIONS, line)


def _judge_passes(passes: Floats) -> Findings:
    """Check that passes are whole numbers from 1; one of which all was given back is not told."""
    ordered = np.sort(passes)  # np.unique takes far longer
    if np.any(ordered < 1) or np.any(ordered != np.floor(ordered)):
        line = "a pass is not a whole number from 1"
        yield Finding("deletions", False, DELETIONS, line)
    else:
        count = int(np.count_nonzero(np.diff(ordered, prepend=0)))
        times = "1 pass" if count == 1 else f"{count} passes"
        line = f"{passes.size} terms of users were deleted, in {times}"
        yield Finding("deletions", True, DELETIONS, line)
