"""Greedy constrained clustering (Zhu & Xiong 2010, algorithm 1): the same groups, without a scan.

By its definition, the algorithm scans all unassigned profiles for each seed. Here an index of them
gives the profiles closest to a seed. The next seed is nearly always the first unassigned profile
that has nothing in common with the last one. So the next seeds are guessed, and a batch is searched
at once. A list of a seed's closest profiles stays right while others are assigned, because the rest
is still in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints, Marks, Numbers
from ..compiled import compiled, cores, in_parallel
from ..errors import BadInput
from ..model import Grouping, Profiles, Progress, silent
from .bounds import Bounds, holds, overall
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
from .neighbours import (
    MOST_ROWS,
    ROWS,
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
CLOSEST = 48  # length of a seed's list at first
LONGER = 8  # factor by which a list grows that was too short
LOOK = 3200  # unassigned profiles looked at for a next seed, before all are searched
STILL_THERE = 0.8  # share of indexed profiles unassigned; below it they are indexed again

# Why growing stops: the next seed was not searched for; a seed's list of closest, or of farthest,
# profiles is used up; everybody is assigned.
NEXT, LONGER_LIST, FARTHER, DONE = 0, 1, 2, 3
UNKNOWN = -2  # instead of a row that the lists don't contain


def cluster(
    profiles: Profiles,
    unit: csr_matrix,
    bounds: Bounds,
    first_seed: int,
    *,
    everybody: Floats | None = None,
    progress: Progress = silent,
) -> Grouping:
    """Return algorithm 1's groups of `profiles`; the rows of `unit` have no negative weights.

    `everybody` has the share of each term in the weight of all users, if these are some of them.
    """
    if len(profiles) > MOST_ROWS:
        raise BadInput(
            f"{len(profiles)} users are too many to be grouped at once, which {MOST_ROWS} can be; "
            "take more --parts"
        )
    return _Run(profiles, unit, bounds, everybody, progress).grouping(first_seed)


class _Run:
    """One run of the algorithm."""

    def __init__(
        self,
        profiles: Profiles,
        unit: csr_matrix,
        bounds: Bounds,
        everybody: Floats | None,
        progress: Progress,
    ) -> None:
        self._bounds, self._progress = bounds, progress
        self._overall = overall(profiles) if everybody is None else everybody
        self._unit = cells_of(unit)
        self._terms = scaled_weights(profiles)
        self._fixed = self._unit, self._terms, bounds, self._overall
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
        seed, status, state = first_seed, NEXT, self._state
        while status != DONE:
            status, seed = _grow(seed, status == FARTHER, self._fixed, state, lists, longer, LOOK)
            self._progress(int(state.counts[ASSIGNED]))
            if status == NEXT:
                lists = longer = self._next_batch(seed)
            elif status == LONGER_LIST:
                before = longer if longer.seed == seed else lists
                longer = self._searched_for_one(seed, LONGER * before.closest.shape[2], False)
            elif status == FARTHER:
                longer = self._searched_for_one(seed, 0, True)
        settle(self._like_seeds, self._terms, self._bounds, self._overall, state)
        return Grouping(state.group_of)

    def _like_seeds(self, row: int) -> Ints:
        seeds = self._state.seeds[: self._state.counts[GROUPS]]
        alike: Ints = likeness(row, seeds, self._unit, self._state.target)
        return alike

    def _next_batch(self, seed: int) -> Lists:
        """Return the lists for `seed` and for the seeds that are guessed to follow it."""
        self._batch_of[self._batch] = NONE
        batch = np.empty(BATCH, dtype=np.int32)
        size, far = _guess(seed, self._look, self._unit, self._state, self._batch_of, batch)
        self._batch = batch[:size]
        # Where nearly all profiles have something in common, guesses fail: then look at fewer.
        self._look = LOOK // 32 if far and size == 1 else LOOK
        # A seed that satisfies the bounds alone needs no list of closest profiles.
        sizes = np.diff(self._terms.starts)[self._batch]
        alone = (sizes >= self._bounds.terms) & (self._bounds.members <= 1)
        alone &= (self._bounds.entropy <= 0) & (self._bounds.distance >= 1)
        return self._searched(NONE, self._batch, CLOSEST, alone, far)

    def _searched_for_one(self, seed: int, wanted: int, far: bool) -> Lists:
        return self._searched(seed, np.array([seed], np.int32), wanted, np.array([far]), far)

    def _searched(self, seed: int, seeds: Numbers, wanted: int, alone: Marks, far: bool) -> Lists:
        """Return the lists for `seeds` of all shards; those marked `alone` get no closest ones."""
        living = self._state.group_of.size - int(self._state.counts[ASSIGNED])
        if not self._shards or living < STILL_THERE * self._indexed:
            rows = np.flatnonzero(self._state.group_of < 0).astype(np.int32)
            self._indexed = rows.size
            self._shards = []  # frees the old ones first
            shares, unit, width = np.array_split(rows, cores()), self._unit, self._width
            self._shards = in_parallel(lambda share: shard_of(share, unit, width), shares)
        lists = new_lists(seed, self._batch_of, len(self._shards), seeds.size, wanted)

        def search_in(number: int) -> None:
            shard = self._shards[number]
            search(seeds, alone, far, shard, self._unit, self._state.group_of, lists, number)

        in_parallel(search_in, range(len(self._shards)))
        return lists


@compiled
def _guess(seed: int, look: int, unit: Any, state: Any, batch_of: Any, batch: Any) -> Any:
    """Fill `batch` with probable next seeds; return its size, and whether the next is unknown."""
    for place in range(batch.size):
        batch[place] = seed
        batch_of[seed] = place
        seed = _without_likeness(seed, look, unit, state, batch_of)
        if seed < 0:
            return place + 1, True
    return batch.size, False


@compiled
def _without_likeness(seed: int, look: int, unit: Any, state: Any, batch_of: Any) -> Any:
    """Return the first unassigned row, not in a batch, whose cosine with `seed` is 0."""
    unlike = UNKNOWN
    aim(seed, unit, state.target, True)
    row = first_living(0, state.following)
    while row < state.group_of.size and look > 0:
        if batch_of.size == 0 or batch_of[row] < 0:
            if row != seed and is_unlike(row, unit, state.target):
                unlike = row
                break
            look -= 1
        row = first_living(row + 1, state.following)
    aim(seed, unit, state.target, False)
    return unlike


# -- growing groups --------------------------------------------------------------------------------


@compiled
def _grow(
    seed: int, seeking: bool, fixed: Any, state: Any, lists: Any, longer: Any, look: int
) -> tuple[int, int]:
    """Complete groups, from `seed` or from the search for the next seed on, until lists end."""
    unit, terms, bounds, overall = fixed
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
    """Let the closest unassigned profiles join `seed` until the bounds hold; return the status."""
    count = state.counts
    if count[MEMBERS] == 0:
        join(seed, terms, state)
    while not holds(bounds, count[MEMBERS], state.terms, state.weights, count[TERMS], overall):
        row = _closest_left(seed, state.group_of, lists, longer)
        if row == UNKNOWN:
            return LONGER_LIST
        # No unassigned profile has anything in common with the seed: take rows in their order.
        if row == NONE:
            row = first_living(0, state.following)
        if row == state.group_of.size:
            return DONE
        join(row, terms, state)
    finish(seed, state)
    return DONE if count[ASSIGNED] == state.group_of.size else NEXT


@compiled
def _closest_left(seed: int, group_of: Any, lists: Any, longer: Any) -> Any:
    """Return the closest unassigned profile with anything in common with `seed`, or NONE."""
    b, source = lists.batch_of[seed], lists
    if longer.seed == seed:
        b, source = 0, longer
    best = NONE
    for shard in range(source.closest.shape[0]):
        at, end = source.cursor[shard, b], source.closest_count[shard, b]
        while at < end and group_of[source.closest[shard, b, at] & ROWS] >= 0:
            at += 1
        source.cursor[shard, b] = at
        if at < end:
            if best < 0 or source.closest[shard, b, at] < best:
                best = source.closest[shard, b, at]
        # A full list is used up, so the shard may have more.
        elif end == source.closest.shape[2]:
            return UNKNOWN
    return best & ROWS if best >= 0 else NONE


@compiled
def _farthest_left(seed: int, group_of: Any, lists: Any, longer: Any) -> Any:
    """Return the unassigned profile that is least like `seed`, UNKNOWN if lists don't have it."""
    b, source = lists.batch_of[seed], lists
    if longer.seed == seed:
        b, source = 0, longer
    best = NONE
    for shard in range(source.farthest.shape[0]):
        at, end = 0, source.farthest_count[shard, b]
        while at < end and group_of[source.farthest[shard, b, at] & ROWS] >= 0:
            at += 1
        if at < end:
            if best < 0 or source.farthest[shard, b, at] < best:
                best = source.farthest[shard, b, at]
        elif end < 0 or end == source.farthest.shape[2]:
            return UNKNOWN
    return best & ROWS if best >= 0 else UNKNOWN


@compiled
def _next_seed(seed: int, unit: Any, state: Any, lists: Any, longer: Any, look: int) -> Any:
    """Return the unassigned profile least like `seed`, UNKNOWN if it takes a search."""
    row = _farthest_left(seed, state.group_of, lists, longer)
    if row == UNKNOWN:
        row = _without_likeness(seed, look, unit, state, np.empty(0, np.int32))
    return row
