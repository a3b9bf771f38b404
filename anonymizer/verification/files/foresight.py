"""The rows that a release must have, as the bytes that it must have written.

The rows of a large release take longer to read than all else takes to judge. Members, profiles and
parameters decide them, so the judge writes them again and compares byte by byte. If the file
differs, it is read strictly: either it differs only in form, or there is a breach to name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Floats, Ints, Marks
from ..finding import Broken
from ..tally import ExpectedShares, Tally, tally
from .evidence import ROWS, JudgedRows, Parts, members_of, read_partition
from .profiles import JudgedProfiles
from .rewriting import is_written
from .strict_lines import TermCells

Expected = Callable[
    [Mapping[str, Any], Tally, Parts, JudgedProfiles], tuple[Marks, Floats] | ExpectedShares
]

_HEAD = re.compile(rb'\{"row": "([a-z0-9]+)", "users": ([1-9][0-9]{0,17}), "terms": \{')


class Foreseen(NamedTuple):
    """What need not be read any more, because it is as foreseen."""

    rows: JudgedRows
    group_of: Ints
    tally: Tally
    shares: ExpectedShares | None


def foresee(
    parts: Parts,
    people: JudgedProfiles,
    parameters: Mapping[str, Any],
    expected: Expected | None,
    leaves_out: bool = False,
) -> Foreseen | None:
    """Return the rows in `parts` if they are, byte by byte, what `expected` gives; else None."""
    if expected is None:
        return None
    heads = _heads(parts[ROWS])
    names = [head[1].decode() for head in heads]
    if not names or len({*names}) < len(names):
        return None
    try:
        group_of = read_partition(parts, names, people, leaves_out)
        if members_of(group_of, len(names)).min() == 0:
            return None
        counted = tally(people, group_of, len(people.terms))
        foreseen = expected(parameters, counted, parts, people)
    except Broken:
        return None  # the strict reader will name the breach
    if isinstance(foreseen, ExpectedShares):
        shares, keys = foreseen, foreseen.keys
        row, columns = np.divmod(keys, counted.span)
        sizes = np.bincount(row, minlength=counted.sizes.size)
        weights = foreseen.having / foreseen.among
    else:
        (may, weights), shares = foreseen, None
        keys, columns, sizes = counted.keys, counted.column, counted.distinct
        if not may.all():
            keys, columns, weights = keys[may], columns[may], weights[may]
            sizes = np.bincount(counted.group[may], minlength=counted.sizes.size)
    cells = TermCells(np.append(0, np.cumsum(sizes)), columns, weights)
    texts = [head[0] for head in heads]
    if sizes.min() == 0 or not is_written(parts[ROWS], texts, people.terms, cells):
        return None
    users = np.array([int(head[2]) for head in heads], dtype=np.int64)
    plain = np.zeros(users.size, dtype=np.bool_)
    rows = JudgedRows(names, users, cells, keys, counted.span, plain, people.terms)
    return Foreseen(rows, group_of, counted, shares)


def _heads(content: bytes) -> list[re.Match[bytes]]:
    """Return the beginning of each line, or nothing if one does not begin as rows do."""
    heads, at = [], 0
    while at < len(content):
        head = _HEAD.match(content, at)
        at = content.find(b"\n", at) + 1
        if head is None or at == 0:
            return []
        heads.append(head)
    return heads
