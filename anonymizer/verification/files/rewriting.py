"""Files of records written again, to be compared byte by byte with what is there.

A record is a head, which ends where its terms begin. Then come its terms in sorted order, each with
its weight in the shortest digits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from .strict_lines import TermCells

_AT_ONCE = 100_000  # cells


def quoted(texts: Sequence[str]) -> list[bytes]:
    """Return `texts` as JSON writes them."""
    # One call encodes all: JSON escapes newlines, so that they can separate the texts.
    encode = json.JSONEncoder(ensure_ascii=False, separators=("\n", ": ")).encode
    return encode([*texts])[1:-1].encode().split(b"\n")


def is_written(
    content: bytes, heads: Sequence[bytes], names: Sequence[str], cells: TermCells
) -> bool:
    """Return whether `content` is exactly these `heads` and `cells`, over terms called `names`."""
    weights = cells.weights
    # Few files have other weights behind the first cells, and sorting all takes long.
    values = np.unique(weights[:10_000])
    value = np.minimum(np.searchsorted(values, weights), values.size - 1)
    other = values[value] != weights
    if other.any():
        values = np.unique(np.concatenate([values, weights[other]]))
        value = np.searchsorted(values, weights)
    terms, texts = len(names), [repr(number) for number in values.tolist()]
    # All pieces in one array: terms, weights before others, weights at the end of a row, heads.
    pieces = [name + b": " for name in quoted(names)]
    pieces += [f"{text}, ".encode() for text in texts]
    pieces += [f"{text}}}}}\n".encode() for text in texts]
    pieces += heads
    blob = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    sizes_of = np.fromiter(map(len, pieces), np.int64, len(pieces))
    begins = np.cumsum(sizes_of) - sizes_of
    value += terms
    ends, sizes = cells.ends, np.diff(cells.ends)
    value[ends[1:] - 1] += values.size
    at, row = 0, 0
    file = np.frombuffer(content, dtype=np.uint8)
    while row < sizes.size:
        last = max(row + 1, int(np.searchsorted(ends, ends[row] + _AT_ONCE)) - 1)
        some = slice(int(ends[row]), int(ends[last]))
        # The pieces in order: a head, then term and value of each cell.
        order = np.empty(2 * (some.stop - some.start) + last - row, dtype=np.int64)
        rows, cell = np.arange(row, last), np.arange(some.start, some.stop)
        cell = 2 * (cell - some.start) + 1 + np.repeat(rows - row, sizes[row:last])
        order[cell], order[cell + 1] = cells.columns[some], value[some]
        order[2 * (ends[row:last] - some.start) + rows - row] = terms + 2 * values.size + rows
        lengths = sizes_of[order]
        till = np.cumsum(lengths)
        source = np.repeat(begins[order] - (till - lengths), lengths)
        source += np.arange(source.size)
        text = blob[source]
        if not np.array_equal(file[at : at + text.size], text):
            return False
        at, row = at + text.size, last
    return at == len(content)
