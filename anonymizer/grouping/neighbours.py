"""The profiles closest to a seed: an inverted index over the unassigned profiles, in shards."""
# Sums are made in 32 bits. Profiles that could be among the first, by the bound on the error, are
# summed again in 64 bits. A cosine is a whole number of 10 ** -12 here, so that ties are ties. So
# lists are in exact order of cosine, then of row.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints, Numbers
from ..compiled import compiled

ROW_BITS = 23  # an entry of a list is one number: 40 bits of cosine, then the row
MOST_ROWS = 1 << ROW_BITS
ROWS = MOST_ROWS - 1
HIGHEST = (1 << 40) - 1
UNITS = 1e12  # in a cosine of 1
ROUNDING = 1.26e-7  # twice the largest rounding error of one step in 32 bits
# Each product counts at least this much: a sum of 0 means that nothing was added.
TINY = np.float32(1e-30)
NOTHING = 2e-12  # a cosine below this can't be distinguished from 0

BLOCK = 64
MANY = 0.05  # products per profile
FARTHEST = 16  # candidates for the next seed


class Cells(NamedTuple):
    """A sparse matrix by rows, as compiled loops take it."""

    starts: Ints
    columns: Numbers
    values: Floats


class Shard(NamedTuple):
    """Some of the unassigned profiles, by term, and room to add up products with a seed."""

    rows: Numbers  # the profiles, ascending
    starts: Ints  # term -> where its profiles start
    places: Numbers  # positions in rows
    values: NDArray[np.float32]
    sums: NDArray[np.float32]  # all 0 between uses, like the target
    blocks: NDArray[np.float32]  # the same memory, block by block
    bits: Numbers  # and as whole numbers
    many: float  # with this many products or more, it does not pay to note who has any
    living: Numbers  # -1 where the profile is still unassigned, else 0
    tops: NDArray[np.float32]  # the largest sum of each block
    touched: Numbers
    entries: Ints
    target: Floats


class Lists(NamedTuple):
    """The results of the search for some seeds, shard by shard, in order."""

    seed: int  # the seed if the search was for one only, else -1
    batch_of: Numbers  # row -> position among the seeds, -1 if none
    closest: Ints  # shard x seed x place
    closest_count: Ints  # shard x seed
    farthest: Ints
    farthest_count: Ints  # -1 where it was not searched for
    cursor: Ints  # shard x seed: number of the closest that are used up


def new_lists(seed: int, batch_of: Numbers, shards: int, seeds: int, wanted: int) -> Lists:
    """Return empty lists with room for the number of profiles `wanted`."""
    shape = (shards, seeds)
    return Lists(
        seed,
        batch_of,
        np.empty((*shape, wanted), dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.empty((*shape, FARTHEST), dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
    )


def cells_of(matrix: csr_matrix) -> Cells:
    """Return `matrix` as compiled loops take it."""
    return Cells(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float64, copy=False),
    )


def shard_of(rows: Numbers, unit: Cells, width: int) -> Shard:
    """Return an index by term of the profiles in `rows`."""
    starts = np.zeros(width + 1, dtype=np.int64)
    _count_terms(rows, unit, starts)
    cells = int(starts[-1])
    places, values = np.empty(cells, dtype=np.int32), np.empty(cells, dtype=np.float32)
    _fill_in(rows, unit, starts.copy(), places, values)
    blocks = -(-rows.size // BLOCK)
    sums = np.zeros(blocks * BLOCK, dtype=np.float32)
    return Shard(
        rows,
        starts,
        places,
        values,
        sums,
        sums.reshape(blocks, BLOCK),
        sums.view(np.int32).reshape(blocks, BLOCK),
        MANY * rows.size,
        np.zeros((blocks, BLOCK), dtype=np.int32),
        np.empty(blocks, dtype=np.float32),
        np.empty(rows.size + 1, dtype=np.int32),
        np.empty(rows.size, dtype=np.int64),
        np.zeros(width),
    )


@compiled
def _count_terms(rows: Any, unit: Any, starts: Any) -> None:
    """Count each term's profiles, and sum up to where they start."""
    for row in rows:
        for i in range(unit.starts[row], unit.starts[row + 1]):
            starts[unit.columns[i] + 1] += 1
    for term in range(starts.size - 1):
        starts[term + 1] += starts[term]


@compiled
def _fill_in(rows: Any, unit: Any, at: Any, places: Any, values: Any) -> None:
    for place in range(rows.size):
        row = rows[place]
        for i in range(unit.starts[row], unit.starts[row + 1]):
            term = unit.columns[i]
            places[at[term]] = place
            values[at[term]] = unit.values[i]
            at[term] += 1


@compiled
def aim(row: int, unit: Any, target: Any, laid_out: bool) -> None:
    """Lay the profile `row` out by term in `target`, or clear it away."""
    for i in range(unit.starts[row], unit.starts[row + 1]):
        target[unit.columns[i]] = unit.values[i] if laid_out else 0.0


@compiled
def units_of(row: int, unit: Any, target: Any) -> Any:
    """Return the cosine of the profile `row` with the target as a whole number of 10 ** -12."""
    total = 0.0
    for i in range(unit.starts[row], unit.starts[row + 1]):
        total += target[unit.columns[i]] * unit.values[i]
    return np.int64(np.rint(total * UNITS))


@compiled
def is_unlike(row: int, unit: Any, target: Any) -> Any:
    """Return whether the cosine of the profile `row` with the target is 0."""
    total = 0.0
    # As no weight is negative, the first common term is mostly enough to say no.
    for i in range(unit.starts[row], unit.starts[row + 1]):
        total += target[unit.columns[i]] * unit.values[i]
        if total > NOTHING:
            return False
    return np.rint(total * UNITS) == 0


@compiled
def likeness(row: int, rows: Any, unit: Any, target: Any) -> Any:
    """Return the cosines of the profiles in `rows` with that of `row`, in whole numbers."""
    cosines = np.empty(rows.size, dtype=np.int64)
    aim(row, unit, target, True)
    for i in range(rows.size):
        cosines[i] = units_of(rows[i], unit, target)
    aim(row, unit, target, False)
    return cosines


@compiled
def search(
    seeds: Any, alone: Any, far: bool, shard: Any, unit: Any, group_of: Any, lists: Any, number: int
) -> None:
    """List for each of `seeds` the closest and, if `far`, the farthest profiles of a shard."""
    rows, sums, target = shard.rows, shard.sums, shard.target
    for at in range(rows.size):
        shard.living[at // BLOCK, at % BLOCK] = -1 if group_of[rows[at]] < 0 else 0
    for b in range(seeds.size):
        lists.farthest_count[number, b] = -1
        if alone[b] and not far:
            continue
        seed = seeds[b]
        error = 2 * (unit.starts[seed + 1] - unit.starts[seed] + 8) * ROUNDING
        noted = _add_up(seed, unit, shard)
        # A seed is not its own neighbour.
        own = np.searchsorted(rows, seed)
        if own < rows.size and rows[own] == seed:
            sums[own] = 0
        aim(seed, unit, target, True)
        if not alone[b]:
            closest = lists.closest[number, b]
            count = noted
            if noted < 0:
                count = _note_likely(shard, closest.size, error)
            listed = _list_closest(count, closest.size, error, shard, unit, group_of)
            lists.closest_count[number, b] = _keep_first(shard.entries, listed, closest)
        if far:
            farthest = lists.farthest[number, b]
            listed = _list_farthest(seed, farthest.size, error, shard, unit, group_of)
            lists.farthest_count[number, b] = _keep_first(shard.entries, listed, farthest)
        aim(seed, unit, target, False)
        if noted < 0:
            sums[:] = 0
        for i in range(noted):
            sums[shard.touched[i]] = 0


@compiled
def _add_up(seed: int, unit: Any, shard: Any) -> Any:
    """Add up products with `seed`; note and count the profiles with any, or return -1 for many."""
    first, last = unit.starts[seed], unit.starts[seed + 1]
    sums, touched, places, values = shard.sums, shard.touched, shard.places, shard.values
    products = 0
    for i in range(first, last):
        products += shard.starts[unit.columns[i] + 1] - shard.starts[unit.columns[i]]
    noting, count = products < shard.many, 0
    for i in range(first, last):
        term, weight = unit.columns[i], np.float32(unit.values[i])
        if noting:
            for j in range(shard.starts[term], shard.starts[term + 1]):
                at = places[j]
                touched[count] = at
                count += sums[at] == 0
                sums[at] += max(weight * values[j], TINY)
        else:
            for j in range(shard.starts[term], shard.starts[term + 1]):
                sums[places[j]] += weight * values[j]
    return count if noting else -1


@compiled
def _note_likely(shard: Any, wanted: int, error: float) -> Any:
    """Note the unassigned profiles that can be among those wanted; return their number."""
    # If `wanted` blocks each have a profile with some sum or more, none with less is wanted.
    tops = shard.tops
    _find_tops(shard.bits, shard.living, tops.view(np.int32))
    heap, size = np.empty(wanted, dtype=np.float32), 0
    for block in range(tops.size):
        if size < wanted or tops[block] > heap[0]:
            size = _push(heap, size, tops[block])
    least = np.float32(0)
    if size == wanted:
        least = np.float32(max(heap[0] * (1 - error) - NOTHING, 0.0))
    return _note_from(least, shard.blocks, tops, shard.touched)


@compiled
def _note_from(least: Any, blocks: Any, tops: Any, touched: Any) -> Any:
    """Note the profiles whose sums are above 0 and at least `least`; return their number."""
    count = 0
    for block in range(tops.size):
        if tops[block] >= least:
            for at in range(BLOCK):
                if blocks[block, at] >= least and blocks[block, at] > 0:
                    touched[count] = block * BLOCK + at
                    count += 1
    return count


@compiled
def _find_tops(bits: Any, living: Any, tops: Any) -> None:
    """Clear the sums of assigned profiles, and find the largest of each block."""
    # Bits of floats that are not negative, read as whole numbers, have the order of the floats.
    for block in range(tops.size):
        top = np.int32(0)
        for at in range(BLOCK):
            bits[block, at] &= living[block, at]
            top = max(top, bits[block, at])
        tops[block] = top


@compiled
def _list_closest(count: int, wanted: int, error: float, shard: Any, unit: Any, groups: Any) -> Any:
    """List the noted profiles that can be among the closest, with exact cosines; count them."""
    rows, sums, touched = shard.rows, shard.sums, shard.touched
    heap, size = np.empty(wanted, dtype=np.float32), 0
    for i in range(count):
        value = sums[touched[i]]
        if (size < wanted or value > heap[0]) and value > 0 and groups[rows[touched[i]]] < 0:
            size = _push(heap, size, value)
    least = heap[0] * (1 - error) - NOTHING if size == wanted else 0.0
    listed = 0
    for i in range(count):
        row = np.int64(rows[touched[i]])
        if sums[touched[i]] >= least and sums[touched[i]] > 0 and groups[row] < 0:
            units = units_of(row, unit, shard.target)
            # Sorted ascending, such entries are in order of falling cosine, then of row.
            if units > 0:
                shard.entries[listed] = (HIGHEST - units) << ROW_BITS | row
                listed += 1
    return listed


@compiled
def _list_farthest(seed: int, wanted: int, error: float, shard: Any, unit: Any, groups: Any) -> Any:
    """List the profiles that can be the least like `seed`, with exact cosines; count them."""
    rows, sums = shard.rows, shard.sums
    listed = 0
    for at in range(rows.size):
        row = np.int64(rows[at])
        if sums[at] <= NOTHING and groups[row] < 0 and row != seed:
            unlike = sums[at] == 0 or units_of(row, unit, shard.target) == 0
            shard.entries[listed] = row
            listed += unlike
            if listed == wanted:
                return listed
    heap, size = np.empty(wanted, dtype=np.float32), 0
    for at in range(rows.size):
        if (size < wanted or -sums[at] > heap[0]) and groups[rows[at]] < 0 and rows[at] != seed:
            size = _push(heap, size, -sums[at])
    limit = -heap[0] * (1 + error) + NOTHING if size == wanted else np.inf
    listed = 0
    for at in range(rows.size):
        row = np.int64(rows[at])
        if sums[at] <= limit and groups[row] < 0 and row != seed:
            shard.entries[listed] = units_of(row, unit, shard.target) << ROW_BITS | row
            listed += 1
    return listed


@compiled
def _push(heap: Any, size: int, value: Any) -> Any:
    """Put a value on a heap of the largest, in a full one instead of the least; return its size."""
    if size < heap.size:
        at = size
        while at > 0 and heap[(at - 1) // 2] > value:
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = value
        return size + 1
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value
    return size


@compiled
def _keep_first(entries: Any, count: int, kept: Any) -> Any:
    """Sort `count` entries and keep the first ones; return how many these are."""
    entries[:count].sort()
    size = min(count, kept.size)
    for i in range(size):  # not slices: see `_reorder` of profiles/events.py
        kept[i] = entries[i]
    return size
