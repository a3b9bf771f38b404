"""Files of records written down once more, to be held against what is there, byte for byte.

A record is a head, which ends where its terms begin; then its terms in sorted order, each with its
weight in the shortest digits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .finding import Floats, Ints
from .strict_lines import Cells

_AT_ONCE = 100_000  # cells


class _Pieces(NamedTuple):
    """Texts end to end, and for each its begin and length."""

    blob: NDArray[np.uint8]
    begins: Ints
    lengths: Ints


def quoted(texts: Sequence[str]) -> list[bytes]:
    """Return texts as JSON has them, all at once: no newline stands in one."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=("\n", ": ")).encode
    return encode([*texts])[1:-1].encode().split(b"\n")


def is_written(content: bytes, heads: Sequence[bytes], names: Sequence[str], cells: Cells) -> bool:
    """Tell whether a file has exactly these heads and cells, over terms of these names."""
    values, value = _numbered(cells.weights)
    terms, texts = len(names), [repr(number) for number in values.tolist()]
    pieces = _pieces(
        [name + b": " for name in quoted(names)]
        + [f"{text}, ".encode() for text in texts]
        + [f"{text}}}}}\n".encode() for text in texts]
        + [*heads]
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
