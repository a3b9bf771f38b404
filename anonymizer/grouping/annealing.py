"""Annealing: groups of alike users, by exchanging two users of different groups over and over.

The objective is J, the sum over groups of the length of the sum of the members' vectors. The square
of this length is the sum of all likenesses inside the group (of each member to itself, too). An
exchange that changes J by d is taken if d > T·ln(U), where U is drawn between 0 and 1, and T falls.
Groups keep their sizes. The result is the best of the partitions at the start and at the ends of
blocks.

Most exchanges of two random users are hopeless. So four in five are of a random user u with a
random member of the group of one of the users nearest to u, and the others of two random users. No
guarantee leans on these draws: they may depend on profiles in the order of their content, on the
seed and on nothing else, whatever their distribution.

With limits on how many members of a group have a term, a count beyond its limits costs a penalty
that rises from block to block. Then only a partition without such counts is worth keeping.

All sums are of whole numbers, and so exact on every machine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Ints, Numbers
from ..compiled import compiled
from ..model import Progress, silent
from ..similarity.documents import UNIT, Likeness

BLOCKS = 600
HOT, COLD = 0.01, 0.001  # T at the beginning and at the end
LIGHT, HEAVY = 0.02, 0.5  # first and last penalty of a count that is one beyond its limits
_REPAIRS = 120  # more blocks, if some count is still beyond its limits
_NEAR, _RANDOM = 4, 1  # exchanges with the group of somebody near, for each of two random users


class Limits(NamedTuple):
    """How many members may have each term: one line for the smallest groups, one for others."""

    has: csr_matrix  # users x columns
    least: Numbers  # 2 x columns
    most: Numbers


class Annealed(NamedTuple):
    """A partition, its objective, and by how much all counts are beyond their limits."""

    group_of: Ints
    objective: float
    excess: int


class _State(NamedTuple):
    """Who is where, and what is known of each group."""

    place: Numbers  # place -> user; groups lie one after another
    at: Numbers  # user -> place
    starts: Ints  # group -> its first place
    group_at: Numbers  # place -> group
    insides: Ints  # group -> sum of all likenesses inside, times UNIT²
    vectors: NDArray[np.int16]  # users x axes
    rest: Ints  # user -> what the axes leave out of 1, the likeness to oneself, times UNIT²
    nearest: Numbers  # users x others
    sums: NDArray[np.integer[Any]]  # groups x axes
    ends: Ints  # users' columns, laid end to end
    columns: Numbers
    limits: Numbers  # groups' kind x columns x (least, most)
    kind: Ints  # group -> line of limits
    marks: NDArray[np.int8]  # column; all 0 between uses
    counts: NDArray[np.integer[Any]]  # groups x columns
    excess: Ints  # group -> by how much its counts are beyond their limits


def steps_for(users: int) -> int:
    """Return how many exchanges to try: 200 for each of `users`, at least 4 million."""
    return max(4_000_000, 200 * users)


def anneal(
    likeness: Likeness,
    sizes: Ints,
    rng: np.random.Generator,
    *,
    steps: int,
    limits: Limits | None = None,
    progress: Progress = silent,
) -> Annealed:
    """Return the partition into groups of `sizes` of least excess, then of highest objective."""
    users = likeness.vectors.shape[0]
    state = _state(likeness, sizes, rng.permutation(users), limits)
    blocks = np.diff(np.arange(BLOCKS + 1) * steps // BLOCKS)  # exchanges of each
    best = _partition(state)
    for number in range(BLOCKS + (0 if limits is None else _REPAIRS)):
        if number >= BLOCKS and not state.excess.any():
            break
        # T and the penalty of the block; in repairs, the penalty grows until limits come first.
        done = min(1.0, number / (BLOCKS - 1))
        repairs = max(0, number + 1 - BLOCKS)
        heat, weight = HOT * (COLD / HOT) ** done, LIGHT * (HEAVY / LIGHT) ** done
        weight *= 2 ** (repairs / 8)
        tried = int(blocks[min(number, BLOCKS - 1)])
        draws = _draws(tried, users, likeness.nearest.shape[1], rng)
        _exchange(state, draws, UNIT * heat * np.log1p(-rng.random(tried)), UNIT * weight)
        best = max(best, _partition(state), key=_worth)  # of equals the first
        progress(min(number + 1, BLOCKS) * users // BLOCKS)
    return best


def _partition(state: _State) -> Annealed:
    group_of = state.group_at[state.at].astype(np.int64)
    objective = float(np.sqrt(state.insides).sum()) / UNIT
    return Annealed(group_of, objective, int(state.excess.sum()))


def _worth(annealed: Annealed) -> tuple[int, float]:
    return -annealed.excess, annealed.objective


def _draws(tried: int, users: int, near: int, rng: np.random.Generator) -> Numbers:
    """Return a line for each exchange: a user, who of the nearest or -1, and the one to exchange.

    The last is a place, or the share of the way through a group times 2 ** 31.
    """
    draws = np.empty((tried, 3), dtype=np.int32)
    draws[:, 0] = rng.integers(users, size=tried)
    draws[:, 1] = rng.integers(near * (_NEAR + _RANDOM), size=tried) // _NEAR
    draws[draws[:, 1] >= near, 1] = -1
    draws[:, 2] = rng.integers(2**31, size=tried)
    return draws


def _state(likeness: Likeness, sizes: Ints, dealt: Ints, limits: Limits | None) -> _State:
    groups, (users, axes) = sizes.size, likeness.vectors.shape
    if limits is None:
        none = np.zeros((2, 0), dtype=np.int32)
        limits = Limits(csr_matrix((users, 0)), none, none)
    # Groups x columns is the largest array, so its type is the narrowest that fits.
    largest = int(sizes.max())
    narrowest = np.int8 if largest < 2**7 else np.int16 if largest < 2**15 else np.int32
    at = np.empty(users, dtype=np.int32)
    at[dealt] = np.arange(users, dtype=np.int32)
    state = _State(
        place=dealt.astype(np.int32),
        at=at,
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        group_at=np.repeat(np.arange(groups, dtype=np.int32), sizes),
        insides=np.zeros(groups, dtype=np.int64),
        vectors=likeness.vectors,
        rest=np.zeros(users, dtype=np.int64),
        nearest=likeness.nearest,
        # Each member adds UNIT at most, so these fit, too.
        sums=np.zeros((groups, axes), dtype=np.int32 if largest < 2**19 else np.int64),
        ends=limits.has.indptr.astype(np.int64),
        columns=limits.has.indices.astype(np.int32),
        limits=np.stack([limits.least, limits.most], axis=2).astype(np.int32),
        kind=(sizes > sizes.min()).astype(np.int64),
        marks=np.zeros(limits.has.shape[1], dtype=np.int8),
        counts=np.zeros((groups, limits.has.shape[1]), dtype=narrowest),
        excess=np.zeros(groups, dtype=np.int64),
    )
    _count(state)
    return state


@compiled
def _count(state: Any) -> None:
    """Count members by column, what is beyond limits, and add up vectors."""
    for at in range(state.place.size):
        user, group = state.place[at], state.group_at[at]
        for i in range(state.ends[user], state.ends[user + 1]):
            state.counts[group, state.columns[i]] += 1
        own = np.int64(0)
        for axis in range(state.vectors.shape[1]):
            state.sums[group, axis] += state.vectors[user, axis]
            own += np.int64(state.vectors[user, axis]) ** 2
        if own:  # a user without a vector is like nobody
            state.rest[user] = max(0, UNIT * UNIT - own)
        state.insides[group] += state.rest[user]
    for group in range(state.excess.size):
        for axis in range(state.vectors.shape[1]):
            state.insides[group] += np.int64(state.sums[group, axis]) ** 2
        for column in range(state.counts.shape[1]):
            limits, count = state.limits[state.kind[group], column], state.counts[group, column]
            state.excess[group] += max(0, count - limits[1], limits[0] - count)


@compiled
def _exchange(state: Any, draws: Any, bars: Any, weight: float) -> None:
    """Try one exchange for each line of `draws`; take it if it gains more than its bar."""
    for step in range(bars.size):
        u, near, share = draws[step]
        a = state.at[u]
        g = state.group_at[a]
        low, high = 0, state.place.size
        if near >= 0:
            h = state.group_at[state.at[state.nearest[u, near]]]
            low, high = state.starts[h], state.starts[h + 1]
        b = low + ((np.int64(share) * (high - low)) >> 31)
        h = state.group_at[b]
        if g == h:
            continue
        v = state.place[b]
        inside_g, inside_h = _insides_after(state, u, v, g, h)
        gain = np.sqrt(float(inside_g)) - np.sqrt(float(state.insides[g]))
        gain += np.sqrt(float(inside_h)) - np.sqrt(float(state.insides[h]))
        # If not even the end of all excess were enough, no column has to be counted.
        if gain + weight * (state.excess[g] + state.excess[h]) <= bars[step]:
            continue
        more_g, more_h = _more_beyond(state, u, v, g, h)
        if gain - weight * (more_g + more_h) <= bars[step]:
            continue
        state.place[a], state.place[b] = v, u
        state.at[u], state.at[v] = b, a
        state.insides[g], state.insides[h] = inside_g, inside_h
        state.excess[g] += more_g
        state.excess[h] += more_h
        _recount(state, u, v, g)
        _recount(state, v, u, h)


@compiled
def _insides_after(state: Any, u: int, v: int, g: int, h: int) -> Any:
    """Return the likenesses inside g with v instead of u, and inside h with u instead of v."""
    # With V the sum of g and d = v - u, |V + d|² = |V|² + 2 V·d + |d|².
    first, second = state.vectors[u], state.vectors[v]
    here, there = state.sums[g], state.sums[h]
    own, across, back = np.int64(0), np.int64(0), np.int64(0)
    for axis in range(first.size):
        apart = second[axis] - first[axis]
        own += apart * apart
        across += apart * here[axis]
        back += apart * there[axis]
    rest = state.rest[v] - state.rest[u]
    return state.insides[g] + own + 2 * across + rest, state.insides[h] + own - 2 * back - rest


@compiled
def _more_beyond(state: Any, u: int, v: int, g: int, h: int) -> Any:
    """Return how much more counts are beyond limits in g with v for u, and in h with u for v."""
    # Without branches, which a processor would guess wrong half of the time.
    more_g, more_h, marks = 0, 0, state.marks
    for i in range(state.ends[u], state.ends[u + 1]):
        marks[state.columns[i]] = 1
    for i in range(state.ends[v], state.ends[v + 1]):
        column = state.columns[i]
        alone = 1 - marks[column]
        marks[column] = 0
        more_g += alone * _by_one_more(state, g, column)
        more_h += alone * _by_one_less(state, h, column)
    for i in range(state.ends[u], state.ends[u + 1]):
        column = state.columns[i]
        alone = marks[column]
        marks[column] = 0
        more_g += alone * _by_one_less(state, g, column)
        more_h += alone * _by_one_more(state, h, column)
    return more_g, more_h


@compiled
def _by_one_more(state: Any, group: int, column: int) -> int:
    """Return how much farther beyond its limits a count is with one more."""
    limits, count = state.limits[state.kind[group], column], state.counts[group, column]
    return int(count >= limits[1]) - int(count < limits[0])


@compiled
def _by_one_less(state: Any, group: int, column: int) -> int:
    """Return how much farther beyond its limits a count is with one less."""
    limits, count = state.limits[state.kind[group], column], state.counts[group, column]
    return int(count <= limits[0]) - int(count > limits[1])


@compiled
def _recount(state: Any, leaving: int, joining: int, group: int) -> None:
    """Replace `leaving` by `joining` in the counts and sums of a group."""
    for i in range(state.ends[leaving], state.ends[leaving + 1]):
        state.counts[group, state.columns[i]] -= 1
    for i in range(state.ends[joining], state.ends[joining + 1]):
        state.counts[group, state.columns[i]] += 1
    for axis in range(state.vectors.shape[1]):
        state.sums[group, axis] += state.vectors[joining, axis] - state.vectors[leaving, axis]
