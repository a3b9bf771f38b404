"""The rows that a release must have, as the bytes that it must have written.

The rows of a large release take longer to read than all else takes to judge. Members, profiles and
parameters settle them, so they are written down once more and held against the file byte for byte.
Where that fits, what must be there is there; where it does not, the file is read strictly, and
either it differs in form only or there is a breach to name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .evidence import ROWS, Parts, Rows, read_partition
from .finding import Broken, Floats, Ints, Marks
from .people import People
from .strict_lines import Cells
from .tally import Tally, tally

Expected = Callable[[Mapping[str, Any], Tally], tuple[Marks, Floats]]

_HEAD = re.compile(rb'\{"row": "([a-z0-9]+)", "users": ([1-9][0-9]{0,17}), "terms": \{')
_AT_ONCE = 100_000  # cells


class Foreseen(NamedTuple):
    """What need not be read any more, as it was foreseen."""

    rows: Rows
    group_of: Ints
    tally: Tally


class _Heads(NamedTuple):
    names: list[str]
    users: list[int]
    texts: list[bytes]


class _Pieces(NamedTuple):
    """Texts end to end, and for each its begin and length."""

    blob: NDArray[np.uint8]
    begins: Ints
    lengths: Ints


def foresee(
    parts: Parts, people: People, parameters: Mapping[str, Any], expected: Expected
) -> Foreseen | None:
    """Return the rows if they are, byte for byte, what they must be; else nothing."""
    heads = _heads(parts[ROWS])
    if heads is None:
        return None
    try:
        group_of = read_partition(parts, heads.names, people)
        if np.bincount(group_of, minlength=len(heads.names)).min() == 0:
            return None
        counted = tally(people, group_of, len(people.terms))
        may, weights = expected(parameters, counted)
    except Broken:
        return None  # whoever reads strictly will name it
    keys, columns, sizes = counted.keys, counted.column, counted.distinct
    if not may.all():
        keys, columns, weights = keys[may], columns[may], weights[may]
        sizes = np.bincount(counted.group[may], minlength=len(heads.names))
    cells = Cells(np.append(0, np.cumsum(sizes)), columns, weights)
    if sizes.min() == 0 or not _written(parts[ROWS], heads, people, cells):
        return None
    users = np.array(heads.users, dtype=np.int64)
    rows = Rows(heads.names, users, cells, keys, counted.span, np.zeros(users.size, dtype=np.bool_))
    return Foreseen(rows, group_of, counted)


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


def _written(content: bytes, heads: _Heads, people: People, cells: Cells) -> bool:
    """Tell whether a file of rows is written exactly so."""
    values, value = _numbered(cells.weights)
    terms, texts = len(people.terms), [repr(number) for number in values.tolist()]
    quoted = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps makes one for each text
    pieces = _pieces(
        [f"{quoted(term)}: ".encode() for term in people.terms]
        + [f"{text}, ".encode() for text in texts]
        + [f"{text}}}}}\n".encode() for text in texts]
        + heads.texts
    )
    value += terms
    ends, sizes = cells.ends, np.diff(cells.ends)
    value[ends[1:] - 1] += values.size
    at, row = 0, 0
    file = np.frombuffer(content, dtype=np.uint8)
    while row < sizes.size:
        last = max(row + 1, int(np.searchsorted(ends, ends[row] + _AT_ONCE)) - 1)
        some = slice(int(ends[row]), int(ends[last]))
        first_head = terms + 2 * values.size + row
        order = _order(cells.columns[some], value[some], sizes[row:last], first_head)
        text = _text(pieces, order)
        if not np.array_equal(file[at : at + text.size], text):
            return False
        at, row = at + text.size, last
    return at == len(content)


def _numbered(weights: Floats) -> tuple[Floats, Ints]:
    """Return the different weights, ascending, and the number of each weight's among them."""
    values = np.unique(weights[:10_000])  # seldom are there others, and to sort all takes long
    value = np.minimum(np.searchsorted(values, weights), values.size - 1)
    other = values[value] != weights
    if other.any():
        values = np.unique(np.concatenate([values, weights[other]]))
        value = np.searchsorted(values, weights)
    return values, value


def _pieces(texts: Sequence[bytes]) -> _Pieces:
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    blob = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return _Pieces(blob, np.cumsum(lengths) - lengths, lengths)


def _order(term: Ints, value: Ints, sizes: Ints, first_head: int) -> Ints:
    """Return the pieces of some rows in order: a head, then term and value of each cell."""
    order = np.empty(2 * term.size + sizes.size, dtype=np.int64)
    rows = np.arange(sizes.size)
    cell = 2 * np.arange(term.size) + 1 + np.repeat(rows, sizes)
    order[cell], order[cell + 1] = term, value
    order[2 * (np.cumsum(sizes) - sizes) + rows] = first_head + rows
    return order


def _text(pieces: _Pieces, order: Ints) -> NDArray[np.uint8]:
    """Return the pieces' bytes, end to end."""
    lengths = pieces.lengths[order]
    ends = np.cumsum(lengths)
    source = np.repeat(pieces.begins[order] - (ends - lengths), lengths)
    source += np.arange(source.size)
    text: NDArray[np.uint8] = pieces.blob[source]
    return text
