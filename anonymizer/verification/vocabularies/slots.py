"""The judge's own reading of the slots: which occurrences of members a published term stands for.

A slot is a line: the row, the term that it publishes there, and occurrences, each a member and a
term of theirs. Two slots may be alike, as somebody may have a term more than once.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Ints, Marks
from ..files.evidence import SLOTS, Parts
from ..files.strict_lines import LineFault, read_line
from ..finding import Broken

_SLOT = {"row": "g0001", "term": "wine", "occurrences": [["u1", "wine"]]}
NOBODY = -1  # for a user, a row or a term that there is none of


class Slots(NamedTuple):
    """Slots, with numbers for rows, users and terms; NOBODY if one is not known."""

    line: Ints  # slot -> the number of its line
    row: Ints  # slot -> row
    term: Ints  # slot -> the published term, numbered as in rows
    ends: Ints  # slot i has the occurrences ends[i]:ends[i + 1]
    user: Ints  # occurrence -> user
    own: Ints  # occurrence -> the term of this user, numbered as in rows
    terms: Sequence[str]  # names of terms, by number
    late: Marks  # slots that must stand before the one before: by row, term, then occurrences

    @property
    def sizes(self) -> Ints:
        """Return the number of occurrences of each slot."""
        return np.diff(self.ends)

    @property
    def slot(self) -> Ints:
        """Return the slot of each occurrence."""
        return np.repeat(np.arange(self.row.size), self.sizes)

    def of(self, wanted: Marks) -> Slots:
        """Return only the slots that are `wanted`."""
        inside, ends = np.repeat(wanted, self.sizes), np.append(0, np.cumsum(self.sizes[wanted]))
        return Slots(
            self.line[wanted],
            self.row[wanted],
            self.term[wanted],
            ends,
            self.user[inside],
            self.own[inside],
            self.terms,
            self.late[wanted],
        )


def read_slots(
    parts: Parts, rows: Sequence[str], users: Sequence[str], terms: Sequence[str]
) -> Slots:
    """Return the slots in `parts`, with the numbers of `rows`, `users` and `terms`."""
    if SLOTS not in parts:
        raise Broken("slots", SLOTS, "is missing, so nobody can check what a term stands for")
    row_of, user_of, number = (
        {name: at for at, name in enumerate(s)} for s in (rows, users, terms)
    )
    row, term, ends, user, own = (array("q", [0] * first) for first in (0, 0, 1, 0, 0))
    last, late = (NOBODY, "", list[list[str]]()), array("b")
    for at, content in enumerate(BytesIO(parts[SLOTS]), 1):
        record = _read(content, at)
        pairs = record["occurrences"]
        row.append(row_of.get(record["row"], NOBODY))
        term.append(number.get(record["term"], NOBODY))
        user.extend([user_of.get(pair[0], NOBODY) for pair in pairs])
        own.extend([number.get(pair[1], NOBODY) for pair in pairs])
        ends.append(len(user))
        now = row[-1], record["term"], pairs
        late.append(now < last)
        last = now
    line = np.arange(1, len(row) + 1)
    rows_, terms_, ends_, users_, own_ = (
        np.array(values, dtype=np.int64) for values in (row, term, ends, user, own)
    )
    marks = np.array(late, dtype=np.bool_)
    return Slots(line, rows_, terms_, ends_, users_, own_, terms, marks)


def _read(line: bytes, number: int) -> Mapping[str, Any]:
    """Return the record of `line`; raise Broken unless it is a slot."""
    try:
        record = read_line(line, _SLOT)
        pairs = record["occurrences"]
        if not pairs or not all(type(pair) is list and len(pair) == 2 for pair in pairs):
            raise ValueError("occurrences are not pairs of a user and a term")
        if not all(type(text) is str for pair in pairs for text in pair):
            raise ValueError("a user or a term is no text")
    except (ValueError, RecursionError) as fault:
        where = f"{SLOTS}, line {number}"
        raise Broken("slots", where, str(LineFault(number, fault))) from fault
    return record
