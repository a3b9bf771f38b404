"""Who is closest to a seed: an inverted index over the profiles still unassigned, in shards.

Sums are made in 32 bits, and whatever could be among the first by the bound on their error is
summed again in 64: a cosine is a whole number of 10 ** -12 here, so that ties are ties, and lists
are in order of cosine and then of row, to the last place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .compiled import compiled

ROW_BITS = 23  # a place in a list is one number: 40 bits of cosine, then the row
MOST_ROWS = 1 << ROW_BITS
ROWS = MOST_ROWS - 1
HIGHEST = (1 << 40) - 1
UNITS = 1e12  # in 1
ROUNDING = 1.26e-7  # of one step in 32 bits, twice what it can be
TINY = np.float32(1e-30)  # what a product counts at least, so that no sum stays 0
NOTHING = 2e-12  # no cosine below can be told from 0

BLOCK = 64
MANY = 0.05  # products a profile
FARTHEST = 16  # candidates for the next seed

Ints32 = NDArray[np.int32]


class Cells(NamedTuple):
    """A sparse matrix by rows, as compiled loops take it."""

    starts: Any
    columns: Any
    values: Any


class Shard(NamedTuple):
    """Some of the unassigned profiles, by term, and room to add up what they have in common."""

    rows: Any  # which, ascending
    starts: Any  # term -> where its profiles start
    places: Any  # positions in rows
    values: Any
    sums: Any  # all 0 between uses, like the target
    blocks: Any  # the same memory, block by block
    bits: Any  # and as whole numbers
    many: float  # products, from which on it does not pay to note who has any
    living: Any  # -1 where the profile is still unassigned, else 0
    tops: Any  # the largest sum of each block
    touched: Any
    found: Any
    target: Any


class Lists(NamedTuple):
    """What the search for some seeds found, shard by shard, in order."""

    seed: int  # if the search was for one alone, else -1
    batch_of: Any  # row -> position among the seeds, -1 if none
    closest: Any  # shard x seed x place
    closest_count: Any  # shard x seed
    farthest: Any
    farthest_count: Any  # -1 where it was not searched for
    cursor: Any  # shard x seed: how far the closest are used up


def new_lists(seed: int, batch_of: Ints32, shards: int, seeds: int, wanted: int) -> Lists:
    """Return lists with room for what is wanted, still empty."""
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
    """Return a matrix as compiled loops take it."""
    return Cells(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float64, copy=False),
    )


def shard_of(rows: Ints32, unit: Cells, width: int) -> Shard:
    """Index some profiles by term."""
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
def aim(row: int, unit: Any, target: Any, at_it: bool) -> None:
    """Lay a profile out by term, or clear it away."""
    for i in range(unit.starts[row], unit.starts[row + 1]):
        target[unit.columns[i]] = unit.values[i] if at_it else 0.0


@compiled
def units_of(row: int, unit: Any, target: Any) -> Any:
    """Return a profile's cosine with the target as a whole number of 10 ** -12."""
    total = 0.0
    for i in range(unit.starts[row], unit.starts[row + 1]):
        total += target[unit.columns[i]] * unit.values[i]
    return np.int64(np.rint(total * UNITS))


@compiled
def is_unlike(row: int, unit: Any, target: Any) -> Any:
    """Tell whether a profile's cosine with the target is 0, mostly by its first terms."""
    total = 0.0
    for i in range(unit.starts[row], unit.starts[row + 1]):
        total += target[unit.columns[i]] * unit.values[i]
        if total > NOTHING:
            return False
    return np.rint(total * UNITS) == 0


@compiled
def likeness(row: int, rows: Any, unit: Any, target: Any) -> Any:
    """Return the cosines of some profiles with one, in whole numbers."""
    found = np.empty(rows.size, dtype=np.int64)
    aim(row, unit, target, True)
    for i in range(rows.size):
        found[i] = units_of(rows[i], unit, target)
    aim(row, unit, target, False)
    return found


@compiled
def search(
    seeds: Any, alone: Any, far: bool, shard: Any, unit: Any, group_of: Any, lists: Any, number: int
) -> None:
    """List the closest, and if asked the farthest, profiles of a shard for each seed."""
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
        _leave_out(seed, rows, sums)
        aim(seed, unit, target, True)
        if not alone[b]:
            closest = lists.closest[number, b]
            count = noted
            if noted < 0:
                count = _note_likely(shard, closest.size, error)
            found = _list_closest(count, closest.size, error, shard, unit, group_of)
            lists.closest_count[number, b] = _keep_first(shard.found, found, closest)
        if far:
            farthest = lists.farthest[number, b]
            found = _list_farthest(seed, farthest.size, error, shard, unit, group_of)
            lists.farthest_count[number, b] = _keep_first(shard.found, found, farthest)
        aim(seed, unit, target, False)
        if noted < 0:
            sums[:] = 0
        for i in range(noted):
            sums[shard.touched[i]] = 0


@compiled
def _add_up(seed: int, unit: Any, shard: Any) -> Any:
    """Sum the products with a seed; count and note the profiles with any, or return -1 for most."""
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
def _leave_out(seed: int, rows: Any, sums: Any) -> None:
    at = np.searchsorted(rows, seed)
    if at < rows.size and rows[at] == seed:
        sums[at] = 0


@compiled
def _note_likely(shard: Any, wanted: int, error: float) -> Any:
    """Note the unassigned profiles that can be among those wanted; count them.

    If as many blocks have a profile of some sum or more, no profile of less is wanted.
    """
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
    """Note the profiles whose sums are above 0 and not below the least."""
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
    """Clear the sums of the assigned, and find each block's largest: sums in order are bits so."""
    for block in range(tops.size):
        top = np.int32(0)
        for at in range(BLOCK):
            bits[block, at] &= living[block, at]
            top = max(top, bits[block, at])
        tops[block] = top


@compiled
def _list_closest(
    count: int, wanted: int, error: float, shard: Any, unit: Any, group_of: Any
) -> Any:
    """Find those of the noted profiles that can be among the closest, with their exact cosines."""
    rows, sums, touched = shard.rows, shard.sums, shard.touched
    heap, size = np.empty(wanted, dtype=np.float32), 0
    for i in range(count):
        value = sums[touched[i]]
        if (size < wanted or value > heap[0]) and value > 0 and group_of[rows[touched[i]]] < 0:
            size = _push(heap, size, value)
    least = heap[0] * (1 - error) - NOTHING if size == wanted else 0.0
    found = 0
    for i in range(count):
        row = np.int64(rows[touched[i]])
        if sums[touched[i]] >= least and sums[touched[i]] > 0 and group_of[row] < 0:
            units = units_of(row, unit, shard.target)
            if units > 0:
                shard.found[found] = (HIGHEST - units) << ROW_BITS | row
                found += 1
    return found


@compiled
def _list_farthest(
    seed: int, wanted: int, error: float, shard: Any, unit: Any, group_of: Any
) -> Any:
    """Find the profiles that can be the least like a seed, with their exact cosines."""
    rows, sums = shard.rows, shard.sums
    found = 0
    for at in range(rows.size):
        row = np.int64(rows[at])
        if sums[at] <= NOTHING and group_of[row] < 0 and row != seed:
            unlike = sums[at] == 0 or units_of(row, unit, shard.target) == 0
            shard.found[found] = row
            found += unlike
            if found == wanted:
                return found
    heap, size = np.empty(wanted, dtype=np.float32), 0
    for at in range(rows.size):
        if (size < wanted or -sums[at] > heap[0]) and group_of[rows[at]] < 0 and rows[at] != seed:
            size = _push(heap, size, -sums[at])
    most = -heap[0] * (1 + error) + NOTHING if size == wanted else np.inf
    found = 0
    for at in range(rows.size):
        row = np.int64(rows[at])
        if sums[at] <= most and group_of[row] < 0 and row != seed:
            shard.found[found] = units_of(row, unit, shard.target) << ROW_BITS | row
            found += 1
    return found


@compiled
def _push(heap: Any, size: int, value: Any) -> Any:
    """Put a value on a heap of the largest; when it is full, the least one goes."""
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
def _keep_first(found: Any, count: int, kept: Any) -> Any:
    """Sort what was found and keep the first ones."""
    _sort(found, count)
    size = min(count, kept.size)
    for place in range(size):
        kept[place] = found[place]
    return size


@compiled
def _sort(values: Any, size: int) -> None:
    """Sort by a heap: numba takes a second or two to compile numpy's own way."""
    for start in range(size // 2 - 1, -1, -1):
        _sink(values, start, size)
    for end in range(size - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        _sink(values, 0, end)


@compiled
def _sink(values: Any, at: int, size: int) -> None:
    """Let a value sink to where no child of it is larger."""
    value = values[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        values[at] = values[child]
        at = child
    values[at] = value
