"""How many rows each combination of terms stands in: the judge's own counter, by sorting.

A row's terms are laid out from the rarest to the most common. A combination is listed once for each
row that has it, as a number made of its terms. Sorted, equal numbers stand together, and the
shortest run is the least support. Combinations are listed in blocks, by first terms. A first term
with too many for a block is looked at alone, with the terms behind it in its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints, Marks

BLOCK = 2_000_000  # combinations that are listed at the same time
_SMALL, _LARGE = 2**31, 2**63  # what 32 and 64 bits hold
Keys = NDArray[np.integer[Any]]


class Sets(NamedTuple):
    """Rows as sets of terms, end to end: row i has terms[ends[i]:ends[i + 1]], descending."""

    ends: Ints
    terms: NDArray[np.int32]  # numbered from the most common, 0
    span: int
    row: Ints  # cell -> its original row, which need not be i


class _Listing(NamedTuple):
    """Combinations whose first term is in a range, in all rows that have one."""

    keys: Keys  # one for each combination in each row
    last: Ints  # the cells of their last terms


def sets_of(ends: Ints, columns: Ints, row: Ints | None = None) -> Sets:
    """Return rows of `columns`, which end at `ends` and have no term twice, as sets of terms."""
    support = np.bincount(columns)
    usual = np.argsort(-support, kind="stable")
    rank = np.empty(support.size, dtype=np.int64)
    rank[usual] = np.arange(support.size)
    span = max(1, int(np.count_nonzero(support)))  # terms without support come last
    place = np.repeat(np.arange(ends.size - 1), np.diff(ends))
    keys = np.sort(place * span + (span - 1 - rank[columns]))
    terms = (span - 1 - (keys - place * span)).astype(np.int32)
    return Sets(ends, terms, span, place if row is None else row)


def least_support(sets: Sets, size: int) -> int:
    """Return how many rows have the rarest combination of `size` terms; 0 if there is none."""
    least = 0
    for block in _blocks(sets, size):
        if isinstance(block, _Listing):
            support = int(_runs(block.keys)[1].min()) if block.keys.size else 0
        else:
            support = least_support(block, size - 1)
        # 0 stands for no combination, so it must not be the minimum.
        least = min(least or support, support or least)
    return least


def rows_of_rare(sets: Sets, size: int, k: int, rows: int) -> Marks:
    """Return marks for rows with a combination of `size` terms that fewer than `k` rows have."""
    rare = np.zeros(rows, dtype=np.bool_)
    for block in _blocks(sets, size):
        if not isinstance(block, _Listing):
            rare |= rows_of_rare(block, size - 1, k, rows)
        elif block.keys.size:
            different, counts = _runs(block.keys)
            short = different[counts < k]
            if short.size:
                at = np.minimum(np.searchsorted(short, block.keys), short.size - 1)
                rare[sets.row[block.last[short[at] == block.keys]]] = True
    return rare


def _runs(keys: Keys) -> tuple[Keys, Ints]:
    """Return the different keys, ascending, and how often each occurs."""
    # np.unique takes far longer.
    keys = np.sort(keys)
    ends = np.flatnonzero(np.append(keys[1:] != keys[:-1], True))
    return keys[ends], np.diff(ends, prepend=-1)


def _blocks(sets: Sets, size: int) -> Iterator[_Listing | Sets]:
    """Yield all combinations, each in one listing; or what stands behind a term of too many."""
    if size == 1:
        yield _Listing(sets.terms, np.arange(sets.terms.size))
        return
    behind = np.repeat(sets.ends[1:], np.diff(sets.ends)) - np.arange(sets.terms.size) - 1
    first = np.flatnonzero(behind >= size - 1)
    order = np.sort(sets.terms[first].astype(np.int64) * sets.terms.size + first)
    first = order % max(1, sets.terms.size)
    term = sets.terms[first]
    total = np.append(0, np.cumsum(_ways(behind[first], size - 1)))
    edges = np.flatnonzero(np.diff(term, prepend=-1, append=-1))  # of the cells of one first term
    at = 0
    while at < edges.size - 1:
        fits = np.searchsorted(total[edges], total[edges[at]] + BLOCK, side="right") - 1
        # Keys count the first term from the block's lowest, so that they fit into 64 bits.
        limit = _LARGE // sets.span ** (size - 1)
        beyond = min(int(term[edges[at]]) + limit, sets.span)
        till = min(int(fits), int(np.searchsorted(term[edges[:-1]], beyond)))
        cells = first[edges[at] : edges[max(till, at + 1)]]
        yield _listed(sets, cells, behind, size) if till > at else _behind(sets, cells, behind)
        at = max(till, at + 1)


def _ways(among: Ints, size: int) -> NDArray[np.float64]:
    """Return how many combinations of `size` there are among each number of terms."""
    # SciPy has a function for this, but takes too long to load.
    ways = np.ones(among.size)
    for taken in range(size):
        ways = ways * (among - taken) / (taken + 1)
    return ways


def _listed(sets: Sets, first: Ints, behind: Ints, size: int) -> _Listing:
    """Return a listing of the combinations that begin in the cells `first`."""
    low, high = int(sets.terms[first[0]]), int(sets.terms[first[-1]])
    small = (high - low + 1) * high ** (size - 1) < _SMALL
    number: type[np.int32 | np.int64] = np.int32 if small else np.int64
    keys: Keys = (sets.terms[first] - np.int32(low)).astype(number)
    last = first
    for _ in range(size - 1):
        more = behind[last]
        ends = np.cumsum(more)
        keys = np.repeat(keys * number(high), more)
        last = np.repeat(last + 1 - (ends - more), more) + np.arange(keys.size)
        keys += sets.terms[last]
    return _Listing(keys, last)


def _behind(sets: Sets, first: Ints, behind: Ints) -> Sets:
    """Return the terms behind the cells `first`, which are of one term, row by row."""
    sizes = behind[first]
    ends = np.append(0, np.cumsum(sizes))
    cells = np.repeat(first + 1 - ends[:-1], sizes) + np.arange(ends[-1])
    return sets_of(ends, sets.terms[cells], sets.row[cells])
