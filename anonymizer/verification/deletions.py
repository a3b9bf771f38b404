"""Whether the private record of deletions is exactly what the rows lack of the profiles.

The record is long, so the judge writes down what it must be, with the passes that it states, and
compares byte by byte. If they differ, the record is read strictly.
"""

from __future__ import annotations

from io import BytesIO

import numpy as np

from ..arrays import Floats, Ints, Marks
from .files.evidence import DELETIONS
from .files.profiles import JudgedProfiles, keys_of
from .files.rewriting import is_written, quoted
from .files.strict_lines import CellReader, LineFault, TermCells, read_lines
from .finding import Broken, Finding, Findings
from .tally import Grounds

_RECORD = {"user": "u1", "terms": {"smith": 1.0}}
_QUOTE, _ZERO, _NINE = b'"'[0], b"0"[0], b"9"[0]
# Digits of a pass: a float holds so long a number exactly. Longer ones are read strictly.
_DIGITS = 15


def judge_deletions(grounds: Grounds, in_one_pass: bool) -> Findings:
    """Yield whether the record of `grounds` has exactly the cells that are not released."""
    gone, content = _gone(grounds), grounds.parts.get(DELETIONS)
    known = _recounted(grounds)
    gone &= np.repeat(known, grounds.people.sizes)
    count = int(np.count_nonzero(gone))
    if content is None:
        if count:
            line = f"is missing, though {count} terms of users were deleted"
            yield Finding("deletions", False, DELETIONS, line)
        else:
            yield Finding("deletions", True, DELETIONS, "is absent, as nothing was deleted")
        return
    passes = _foreseen(grounds.people, gone, content) if count and known.all() else None
    if passes is None:
        try:
            stated, line_of, passes = _read(content, grounds.people)
        except LineFault as fault:
            raise Broken("deletions", f"{DELETIONS}, line {fault.number}", str(fault)) from fault
        keys = keys_of(grounds.people.cells, len(grounds.people.terms))
        judged = known[stated // len(grounds.people.terms)]
        stated, line_of, passes = stated[judged], line_of[judged], passes[judged]
        at = np.minimum(np.searchsorted(keys, stated), keys.size - 1)
        own = keys[at] == stated
        released = own & ~gone[at]
        missing = int(np.count_nonzero(gone)) - int(np.count_nonzero(own & gone[at]))
        faults = {"has a term that its user lacks": ~own, "has a term that the row has": released}
        for line, wrong in faults.items():
            if wrong.any():
                where = f"{DELETIONS}, line {line_of[wrong].min()}"
                yield Finding("deletions", False, where, line)
        if missing:
            line = f"{missing} terms of users are neither in it nor in a row"
            yield Finding("deletions", False, DELETIONS, line)
    if in_one_pass and (passes != 1).any():
        yield Finding("deletions", False, DELETIONS, "algorithm insert makes only one pass, 1")
    # Passes are whole numbers from 1, with gaps: a pass whose cells were all given back is absent.
    ordered = np.sort(passes)  # np.unique takes far longer
    if np.any(ordered < 1) or np.any(ordered != np.floor(ordered)):
        line = "a pass is not a whole number from 1"
        yield Finding("deletions", False, DELETIONS, line)
    else:
        count = int(np.count_nonzero(np.diff(ordered, prepend=0)))
        times = "1 pass" if count == 1 else f"{count} passes"
        line = f"{passes.size} terms of users were deleted, in {times}"
        yield Finding("deletions", True, DELETIONS, line)


def _recounted(grounds: Grounds) -> Marks:
    """Return marks for the users whose profile is as it was when the release was made."""
    edited, group_of = grounds.tally.edited, grounds.group_of
    if edited is None:
        return np.ones(group_of.size, dtype=np.bool_)
    return (group_of >= 0) & ~edited[group_of]


def _gone(grounds: Grounds) -> Marks:
    """Return marks for the cells of the profiles that no row releases."""
    people, rows, group_of = grounds.people, grounds.rows, grounds.group_of
    released = np.zeros(people.cells.columns.size, dtype=np.bool_)
    served = np.flatnonzero(group_of >= 0)
    user_of = np.empty(len(rows.names), dtype=np.int64)
    user_of[group_of[served]] = served
    terms = len(people.terms)
    row = np.repeat(user_of * terms, np.diff(rows.cells.ends))
    columns = rows.cells.columns
    own = columns < terms  # terms that no profile has are numbered behind
    keys = keys_of(people.cells, terms)
    wanted = row[own] + columns[own]
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    released[at[keys[at] == wanted]] = True
    return ~released


def _foreseen(people: JudgedProfiles, gone: Marks, content: bytes) -> Floats | None:
    """Return the passes if the rest of the record is what it must be; else None."""
    passes = _stated_passes(content)
    if passes is None or passes.size != np.count_nonzero(gone):
        return None
    kept_ends = np.append(0, np.cumsum(gone))[people.cells.ends]
    sizes = np.diff(kept_ends)
    losers = np.flatnonzero(sizes)
    users = quoted([people.users[user] for user in losers.tolist()])
    heads = [b'{"user": ' + user + b', "terms": {' for user in users]
    cells = TermCells(np.append(0, np.cumsum(sizes[losers])), people.cells.columns[gone], passes)
    return passes if is_written(content, heads, people.terms, cells) else None


def _stated_passes(content: bytes) -> Floats | None:
    """Return the numbers behind the names, or None if the record has escapes or long numbers.

    Without escapes each text has two quotation marks, and a colon follows the second of a name.
    """
    letters = np.frombuffer(content, dtype=np.uint8)
    if b"\\" in content:
        return None
    at = np.flatnonzero(letters == _QUOTE)[1::2] + 3  # behind: ":
    at = at[at < letters.size]
    at = at[(letters[at] >= _ZERO) & (letters[at] <= _NINE)]
    values, going = np.zeros(at.size), np.arange(at.size)
    for place in range(_DIGITS):
        digits = letters[np.minimum(at[going] + place, letters.size - 1)]
        more = (digits >= _ZERO) & (digits <= _NINE)
        going = going[more]
        if not going.size:
            return values
        values[going] = 10 * values[going] + (digits[more] - _ZERO)
    return None


def _read(content: bytes, people: JudgedProfiles) -> tuple[Ints, Ints, Floats]:
    """Return the key of each cell, user * terms + term, its line and its pass."""
    number = {user: at for at, user in enumerate(people.users)}
    reader = CellReader({term: at for at, term in enumerate(people.terms)})
    users: list[int] = []
    for record in read_lines(BytesIO(content), _RECORD):
        if record["user"] not in number:
            raise LineFault(len(users) + 1, "its user has no profile")
        users.append(number[record["user"]])
        reader.add(record["terms"])
    cells, terms = reader.cells(), len(people.terms)
    line = np.repeat(np.arange(len(users)), np.diff(cells.ends))
    unknown = np.flatnonzero(cells.columns >= terms)
    if unknown.size:
        raise LineFault(int(line[unknown[0]]) + 1, "has a term that its user lacks")
    keys = np.array(users, dtype=np.int64)[line] * terms + cells.columns
    return keys, line + 1, cells.weights
