"""Profiles and columns -> lines of JSON: the bytes `as_json` gives, each text encoded once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .compiled import compiled
from .model import Floats, Ints, Profiles
from .pieces import Pieces, joined, pieces

CELLS = 1 << 18  # in a block of lines
Columns = Mapping[str, Sequence[object]]  # a record's names -> the values of all records


def record_lines(columns: Columns) -> Iterator[bytes]:
    """Yield a line a record."""
    for head in _heads(columns):
        yield f"{head}}}\n".encode()


def row_lines(rows: Profiles, columns: Columns) -> Iterator[bytes]:
    """Yield blocks of lines, one a row: what the columns say, then its terms in sorted order."""
    weights, terms = _by_sorted_terms(rows)
    heads = [f'{head}, "terms": {{' for head in _heads(columns)]
    names = pieces([f"{text}: " for text in json_texts(terms)])
    ends: Ints = weights.indptr.astype(np.int64)
    for low, high in pairwise(_cuts(ends)):
        cells = slice(ends[low], ends[high])
        within = ends[low : high + 1] - ends[low]
        yield _block(names, heads[low:high], within, weights.indices[cells], weights.data[cells])


def json_texts(values: Sequence[object]) -> list[str]:
    """Write each value as JSON; a line end in a text is escaped, so it can part the values."""
    if not values:
        return []
    texts = json.dumps(list(values), ensure_ascii=False, allow_nan=False, separators=("\n", ": "))
    return texts[1:-1].split("\n")


def sorted_and_used(profiles: Profiles) -> bool:
    """Tell whether the terms are numbered in sorted order and all stand in a profile."""
    if not all(one < other for one, other in pairwise(profiles.terms)):
        return False
    return bool(np.bincount(profiles.weights.indices, minlength=len(profiles.terms)).all())


def _heads(columns: Columns) -> Iterator[str]:
    """Yield each record's text without its last brace."""
    pattern = "{" + ", ".join(f'"{name}": %s' for name in columns)
    texts = [json_texts(values) for values in columns.values()]
    return (pattern % values for values in zip(*texts, strict=True))


def _by_sorted_terms(rows: Profiles) -> tuple[csr_matrix, Sequence[str]]:
    """Return the matrix and its terms, in sorted order."""
    terms = rows.terms
    if all(one < other for one, other in pairwise(terms)):
        return rows.weights, terms
    order = sorted(range(len(terms)), key=terms.__getitem__)
    matrix = csr_matrix(rows.weights[:, order])
    matrix.sort_indices()
    return matrix, [terms[number] for number in order]


def _cuts(ends: Ints) -> list[int]:
    """Cut rows into blocks of some cells each; a longer row is a block of its own."""
    rows = ends.size - 1
    marks = np.searchsorted(ends, np.arange(0, ends[-1], CELLS), side="right")
    return sorted({0, *np.minimum(marks, rows).tolist(), rows})


def _block(
    names: Pieces, heads: Sequence[str], ends: Ints, columns: NDArray[np.int32], weights: Floats
) -> bytes:
    """Join one block's lines: a head, then the name and the weight of each cell."""
    distinct, number = numbered(weights)
    texts = [repr(weight) for weight in distinct.tolist()]
    within = [f"{text}, " for text in texts]
    last = [f"{text}}}}}\n" for text in texts]
    rows = len(heads)
    row = np.repeat(np.arange(rows), np.diff(ends))
    at = 2 * np.arange(columns.size) + row + 1
    order = np.empty(2 * columns.size + rows, dtype=np.int32)
    order[2 * ends[:-1] + np.arange(rows)] = ~np.arange(rows)
    order[at] = columns
    number[ends[1:] - 1] += len(texts)
    order[at + 1] = ~(number + rows)
    return joined(names, pieces([*heads, *within, *last]), order)


def numbered(values: Floats) -> tuple[Floats, NDArray[np.int32]]:
    """Return the distinct values, by first occurrence, and the number of each value's own."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    slots = np.full(1 << int(2 * bits.size + 1).bit_length(), -1, dtype=np.int32)
    first = np.empty(bits.size, dtype=np.int64)
    number = np.empty(bits.size, dtype=np.int32)
    found = _numbered(bits, slots, first, number)
    return values[first[:found]], number


@compiled
def _numbered(bits: Any, slots: Any, first: Any, number: Any) -> int:
    """Number equal bits alike, in open addressing."""
    mask = np.uint64(slots.size - 1)
    found = 0
    for i in range(bits.size):
        key = bits[i] * np.uint64(0x9E3779B97F4A7C15)
        slot = (key ^ (key >> np.uint64(32))) & mask
        while slots[slot] >= 0 and bits[first[slots[slot]]] != bits[i]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            slots[slot], first[found] = found, i
            found += 1
        number[i] = slots[slot]
    return found
