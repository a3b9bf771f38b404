"""The rows that a release must have, as the bytes that it must have written.

The rows of a large release take longer to read than all else takes to judge. Members, profiles and
parameters settle them, so they are written down once more and held against the file byte for byte.
Where that fits, what must be there is there; where it does not, the file is read strictly, and
either it differs in form only or there is a breach to name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .evidence import ROWS, Parts, Rows, members_of, read_partition
from .finding import Broken, Floats, Ints, Marks
from .grounds import Shares
from .people import People
from .rewriting import is_written
from .strict_lines import Cells
from .tally import Tally, tally

Expected = Callable[[Mapping[str, Any], Tally, Parts, People], tuple[Marks, Floats] | Shares]

_HEAD = re.compile(rb'\{"row": "([a-z0-9]+)", "users": ([1-9][0-9]{0,17}), "terms": \{')


class Foreseen(NamedTuple):
    """What need not be read any more, as it was foreseen."""

    rows: Rows
    group_of: Ints
    tally: Tally
    shares: Shares | None


class _Heads(NamedTuple):
    names: list[str]
    users: list[int]
    texts: list[bytes]


def foresee(
    parts: Parts,
    people: People,
    parameters: Mapping[str, Any],
    expected: Expected,
    leaves_out: bool = False,
) -> Foreseen | None:
    """Return the rows if they are, byte for byte, what they must be; else nothing."""
    heads = _heads(parts[ROWS])
    if heads is None:
        return None
    try:
        group_of = read_partition(parts, heads.names, people, leaves_out)
        if members_of(group_of, len(heads.names)).min() == 0:
            return None
        counted = tally(people, group_of, len(people.terms))
        found = expected(parameters, counted, parts, people)
    except Broken:
        return None  # whoever reads strictly will name it
    shares = found if isinstance(found, Shares) else None
    keys, cells = _of_shares(counted, shares) if shares else _of_marks(counted, *found)
    if np.diff(cells.ends).min() == 0:
        return None
    if not is_written(parts[ROWS], heads.texts, people.terms, cells):
        return None
    users = np.array(heads.users, dtype=np.int64)
    rows = Rows(heads.names, users, cells, keys, counted.span, np.zeros(users.size, dtype=np.bool_))
    return Foreseen(rows, group_of, counted, shares)


def _of_marks(counted: Tally, may: Marks, weights: Floats) -> tuple[Ints, Cells]:
    """Return the cells of members that are marked, of all their weights."""
    keys, columns, sizes = counted.keys, counted.column, counted.distinct
    if not may.all():
        keys, columns, weights = keys[may], columns[may], weights[may]
        sizes = np.bincount(counted.group[may], minlength=counted.sizes.size)
    return keys, Cells(np.append(0, np.cumsum(sizes)), columns, weights)


def _of_shares(counted: Tally, shares: Shares) -> tuple[Ints, Cells]:
    """Return the cells of shares."""
    row, columns = np.divmod(shares.keys, counted.span)
    sizes = np.bincount(row, minlength=counted.sizes.size)
    ends = np.append(0, np.cumsum(sizes))
    return shares.keys, Cells(ends, columns, shares.having / shares.among)


def _heads(content: bytes) -> _Heads | None:
    """Return how each line begins, if all begin as rows do and no name stands twice."""
    heads, at = _Heads([], [], []), 0
    while at < len(content):
        found = _HEAD.match(content, at)
        if found is None:
            return None
        heads.names.append(found[1].decode())
        heads.users.append(int(found[2]))
        heads.texts.append(found[0])
        at = content.find(b"\n", at) + 1
        if at == 0:
            return None
    return heads if heads.names and len({*heads.names}) == len(heads.names) else None
