"""Greedy constrained clustering (Zhu & Xiong 2010, algorithm 1): the same groups, without a scan.

The definition scans all unassigned profiles for each seed. Here an index of them brings each seed's
closest ones. The seeds to come are guessed (the next one is nearly always the first unassigned
profile that has nothing in common with the last), so that a batch is searched for at once. A list
of a seed's closest profiles stays right while others are assigned: the rest is still in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .compiled import compiled, cores, in_parallel
from .constraints import Bounds, holds, overall
from .growing import (
    ASSIGNED,
    GROUPS,
    MEMBERS,
    NONE,
    TERMS,
    finish,
    first_living,
    join,
    new_state,
    scaled_weights,
    settle,
)
from .model import BadInput, Grouping, Ints, Profiles, Progress, silent
from .neighbours import (
    MOST_ROWS,
    ROWS,
    Ints32,
    Lists,
    Shard,
    aim,
    cells_of,
    is_unlike,
    likeness,
    new_lists,
    search,
    shard_of,
)

BATCH = 64  # seeds searched for at once
CLOSEST = 48  # profiles a seed's list has at first
LONGER = 8  # times as many if that was not enough
LOOK = 3200  # unassigned profiles looked at for a next seed, before all are added up
STILL_THERE = 0.8  # of the indexed profiles, until the rest is indexed anew

# Why growing comes to a stop: the next seed was not searched for; a seed's list of closest, or of
# farthest profiles is used up; everybody is assigned.
NEXT, LONGER_LIST, FARTHER, DONE = 0, 1, 2, 3
UNKNOWN = -2  # a row that these lists don't tell


def cluster(
    profiles: Profiles,
    unit: csr_matrix,
    bounds: Bounds,
    first_seed: int,
    *,
    progress: Progress = silent,
) -> Grouping:
    """Run algorithm 1 with similarity to the seed, for unit rows without negative weights."""
    if len(profiles) > MOST_ROWS:
        raise BadInput(f"{len(profiles)} users are too many; at most {MOST_ROWS} can be grouped")
    return _Run(profiles, unit, bounds, progress).grouping(first_seed)


class _Run:
    """One run of the algorithm."""

    def __init__(
        self, profiles: Profiles, unit: csr_matrix, bounds: Bounds, progress: Progress
    ) -> None:
        self._bounds, self._overall, self._progress = bounds, overall(profiles), progress
        self._unit = cells_of(unit)
        self._terms = scaled_weights(profiles)
        self._width = unit.shape[1]
        self._state = new_state(len(profiles), len(profiles.terms), self._width)
        self._batch_of = np.full(len(profiles), NONE, dtype=np.int32)
        self._batch = np.zeros(0, dtype=np.int32)
        self._shards: list[Shard] = []
        self._indexed = 0
        self._look = LOOK

    def grouping(self, first_seed: int) -> Grouping:
        """Assign everybody, from the first seed on."""
        lists = longer = self._next_batch(first_seed)
        seed, status = first_seed, NEXT
        while status != DONE:
            status, seed = _grow(
                seed,
                status == FARTHER,
                self._unit,
                self._terms,
                self._bounds,
                self._overall,
                self._state,
                lists,
                longer,
                LOOK,
            )
            self._progress(int(self._state.count[ASSIGNED]))
            if status == NEXT:
                lists = longer = self._next_batch(seed)
            elif status == LONGER_LIST:
                before = longer if longer.seed == seed else lists
                longer = self._searched_for_one(seed, LONGER * before.closest.shape[2], False)
            elif status == FARTHER:
                longer = self._searched_for_one(seed, 0, True)
        settle(self._like_seeds, self._terms, self._bounds, self._overall, self._state)
        return Grouping(self._state.group_of)

    def _like_seeds(self, row: int) -> Ints:
        seeds = self._state.seeds[: self._state.count[GROUPS]]
        alike: Ints = likeness(row, seeds, self._unit, self._state.target)
        return alike

    def _next_batch(self, seed: int) -> Lists:
        """Guess which seeds follow this one, and search for all of them."""
        self._batch_of[self._batch] = NONE
        batch = np.empty(BATCH, dtype=np.int32)
        size, far = _guess(seed, self._look, self._unit, self._state, self._batch_of, batch)
        self._batch = batch[:size]
        self._look = LOOK // 32 if far and size == 1 else LOOK
        sizes = np.diff(self._terms.starts)[self._batch]
        alone = (sizes >= self._bounds.terms) & (self._bounds.members <= 1)
        alone &= (self._bounds.entropy <= 0) & (self._bounds.distance >= 1)
        return self._searched(NONE, self._batch, CLOSEST, alone, far)

    def _searched_for_one(self, seed: int, wanted: int, far: bool) -> Lists:
        return self._searched(seed, np.array([seed], np.int32), wanted, np.array([far]), far)

    def _searched(
        self, seed: int, seeds: Ints32, wanted: int, alone: NDArray[np.bool_], far: bool
    ) -> Lists:
        """Search all shards for seeds, for the closest profiles of those not content alone."""
        self._index_again()
        lists = new_lists(seed, self._batch_of, len(self._shards), seeds.size, wanted)

        def search_in(number: int) -> None:
            shard = self._shards[number]
            search(seeds, alone, far, shard, self._unit, self._state.group_of, lists, number)

        in_parallel(search_in, range(len(self._shards)))
        return lists

    def _index_again(self) -> None:
        """Index the profiles still unassigned, when a fifth of the indexed ones is gone."""
        living = self._state.group_of.size - int(self._state.count[ASSIGNED])
        if self._shards and living >= STILL_THERE * self._indexed:
            return
        rows = np.flatnonzero(self._state.group_of < 0).astype(np.int32)
        self._indexed = rows.size
        self._shards = []  # let go of the old ones first
        shares = np.array_split(rows, cores())
        self._shards = in_parallel(lambda share: shard_of(share, self._unit, self._width), shares)


@compiled
def _guess(seed: int, look: int, unit: Any, state: Any, batch_of: Any, batch: Any) -> Any:
    """Fill a batch with the seeds that probably follow; tell whether the last one's is unknown."""
    for place in range(batch.size):
        batch[place] = seed
        batch_of[seed] = place
        seed = _without_likeness(seed, look, unit, state, batch_of)
        if seed < 0:
            return place + 1, True
    return batch.size, False


@compiled
def _without_likeness(seed: int, look: int, unit: Any, state: Any, batch_of: Any) -> Any:
    """Return the first unassigned row, not in a batch, whose cosine with a seed is 0."""
    found = UNKNOWN
    aim(seed, unit, state.target, True)
    row = first_living(0, state.following)
    while row < state.group_of.size and look > 0:
        if batch_of.size == 0 or batch_of[row] < 0:
            if row != seed and is_unlike(row, unit, state.target):
                found = row
                break
            look -= 1
        row = first_living(row + 1, state.following)
    aim(seed, unit, state.target, False)
    return found


# -- growing groups --------------------------------------------------------------------------------


@compiled
def _grow(
    seed: int,
    seeking: bool,
    unit: Any,
    terms: Any,
    bounds: Any,
    overall: Any,
    state: Any,
    lists: Any,
    longer: Any,
    look: int,
) -> tuple[int, int]:
    """Complete groups, from a seed or from the search for the next one on, until lists end."""
    while True:
        if not seeking:
            status = _complete(seed, terms, bounds, overall, state, lists, longer)
            if status != NEXT:
                return status, seed
        following = _next_seed(seed, unit, state, lists, longer, look)
        if following == UNKNOWN:
            return FARTHER, seed
        seed, seeking = following, False
        if lists.batch_of[seed] < 0:
            return NEXT, seed


@compiled
def _complete(
    seed: int, terms: Any, bounds: Any, overall: Any, state: Any, lists: Any, longer: Any
) -> int:
    """Let the closest unassigned profiles join a seed until the bounds hold."""
    count = state.count
    if count[MEMBERS] == 0:
        join(seed, terms, state)
    while not holds(bounds, count[MEMBERS], state.terms, state.weights, count[TERMS], overall):
        row = _closest_left(seed, state.group_of, lists, longer)
        if row == UNKNOWN:
            return LONGER_LIST
        if row == NONE:  # nobody left has anything in common with the seed: rows in their order
            row = first_living(0, state.following)
        if row == state.group_of.size:
            return DONE
        join(row, terms, state)
    finish(seed, state)
    return DONE if count[ASSIGNED] == state.group_of.size else NEXT


@compiled
def _closest_left(seed: int, group_of: Any, lists: Any, longer: Any) -> Any:
    """Return the closest unassigned profile of those that have anything in common with a seed."""
    b, found = lists.batch_of[seed], lists
    if longer.seed == seed:
        b, found = 0, longer
    best = NONE
    for shard in range(found.closest.shape[0]):
        at, end = found.cursor[shard, b], found.closest_count[shard, b]
        while at < end and group_of[found.closest[shard, b, at] & ROWS] >= 0:
            at += 1
        found.cursor[shard, b] = at
        if at < end:
            if best < 0 or found.closest[shard, b, at] < best:
                best = found.closest[shard, b, at]
        elif end == found.closest.shape[2]:
            return UNKNOWN
    return best & ROWS if best >= 0 else NONE


@compiled
def _farthest_left(seed: int, group_of: Any, lists: Any, longer: Any) -> Any:
    """Return the unassigned profile that is least like a seed, if it was searched for."""
    b, found = lists.batch_of[seed], lists
    if longer.seed == seed:
        b, found = 0, longer
    best = NONE
    for shard in range(found.farthest.shape[0]):
        at, end = 0, found.farthest_count[shard, b]
        while at < end and group_of[found.farthest[shard, b, at] & ROWS] >= 0:
            at += 1
        if at < end:
            if best < 0 or found.farthest[shard, b, at] < best:
                best = found.farthest[shard, b, at]
        elif end < 0 or end == found.farthest.shape[2]:
            return UNKNOWN
    return best & ROWS if best >= 0 else UNKNOWN


@compiled
def _next_seed(seed: int, unit: Any, state: Any, lists: Any, longer: Any, look: int) -> Any:
    """Return the unassigned profile least like a seed, or that it takes a search to tell."""
    row = _farthest_left(seed, state.group_of, lists, longer)
    if row == UNKNOWN:
        row = _without_likeness(seed, look, unit, state, np.empty(0, np.int32))
    return row
