"""Annealing: groups of alike users, by exchanging two users of different groups over and over.

The objective is J, the sum over groups of the length of the sum of the members' vectors. The square
of this length is the sum of all likenesses inside the group (of each member to itself, too). An
exchange that changes J by d is taken if d > T·ln(U), where U is drawn between 0 and 1, and T falls.
Groups keep their sizes. The result is the best of the partitions at the ends of blocks.

With limits on how many members of a group have a term, a count beyond its limits costs a penalty
that rises from block to block. Then only a partition without such counts is worth keeping.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints, Numbers
from ..compiled import compiled
from ..model import Progress, silent
from ..similarity.documents import Likeness
from .vectors import root

BLOCKS = 600
HOT, COLD = 0.02, 0.0005  # T at the beginning and at the end
LIGHT, HEAVY = 0.002, 0.5  # first and last penalty of a count that is one beyond its limits
# With more users than this, exchanges take longer and each of them gains less.
_MANY = 10_000
# An exchange would look at all members. In groups of this size or more, sums are kept instead.
_LARGE = 16
_REPAIRS = 120  # more blocks, if some count is still beyond its limits


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
    starts: Ints  # group -> its first place
    group_at: Numbers  # place -> group
    insides: Floats  # group -> sum of all likenesses inside
    pairs: NDArray[np.float32]  # users x users; none if there are vectors
    toward: Floats  # groups x users: sum of likenesses to the members; none if groups are small
    vectors: NDArray[np.float32]  # users x dimensions
    sums: NDArray[np.float32]  # groups x dimensions
    ends: Ints  # users' columns, laid end to end
    columns: Numbers
    least: Numbers  # groups' kind x columns
    most: Numbers
    kind: Ints  # group -> line of limits
    counts: NDArray[np.integer[Any]]  # groups x columns
    excess: Ints  # group -> by how much its counts are beyond their limits


def steps_for(users: int) -> int:
    """Return how many exchanges to try: 8,000 for each of `users`, 1,000 after the 10,000th."""
    return max(1_000_000, 8_000 * min(users, _MANY) + 1_000 * max(0, users - _MANY))


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
    best = Annealed(np.empty(0, dtype=np.int64), -np.inf, -1)
    for number in range(BLOCKS + (0 if limits is None else _REPAIRS)):
        if number >= BLOCKS and not state.excess.any():
            break
        # T and the penalty of the block; in repairs, the penalty grows until limits come first.
        done = min(1.0, number / (BLOCKS - 1))
        repairs = max(0, number + 1 - BLOCKS)
        heat, weight = HOT * (COLD / HOT) ** done, LIGHT * (HEAVY / LIGHT) ** done
        weight *= 2 ** (repairs / 8)
        tried = int(blocks[min(number, BLOCKS - 1)])
        places = rng.integers(sizes.sum(), size=(tried, 2), dtype=np.int32)
        _exchange(state, places, heat * np.log1p(-rng.random(tried)), weight)
        _measure(state)
        objective = float(np.sqrt(np.maximum(state.insides, 0.0)).sum())
        excess = int(state.excess.sum())
        if best.excess < 0 or (-excess, objective) > (-best.excess, best.objective):
            group_of = np.empty(state.place.size, dtype=np.int64)
            group_of[state.place] = state.group_at
            best = Annealed(group_of, objective, excess)
        progress(min(number + 1, BLOCKS) * users // BLOCKS)
    return best


def _state(likeness: Likeness, sizes: Ints, dealt: Ints, limits: Limits | None) -> _State:
    groups, large = sizes.size, bool(likeness.pairs.size) and sizes.min() >= _LARGE
    if limits is None:
        none = np.zeros((2, 0), dtype=np.int32)
        limits = Limits(csr_matrix((likeness.vectors.shape[0], 0)), none, none)
    # Groups x columns is the largest array, so its type is the narrowest that fits.
    largest = int(sizes.max())
    narrowest = np.int8 if largest < 2**7 else np.int16 if largest < 2**15 else np.int32
    state = _State(
        place=dealt.astype(np.int32),
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        group_at=np.repeat(np.arange(groups, dtype=np.int32), sizes),
        insides=np.empty(groups),
        pairs=likeness.pairs,
        toward=np.zeros((groups if large else 0, likeness.pairs.shape[0])),
        vectors=likeness.vectors,
        sums=np.empty((groups, likeness.vectors.shape[1]), dtype=np.float32),
        ends=limits.has.indptr.astype(np.int64),
        columns=limits.has.indices.astype(np.int32),
        least=limits.least.astype(np.int32),
        most=limits.most.astype(np.int32),
        kind=(sizes > sizes.min()).astype(np.int64),
        counts=np.zeros((groups, limits.has.shape[1]), dtype=narrowest),
        excess=np.zeros(groups, dtype=np.int64),
    )
    _count(state)
    _measure(state)
    return state


@compiled
def _count(state: Any) -> None:
    """Count members by column, what is beyond limits, and how alike users are to large groups."""
    for at in range(state.place.size):
        user, group = state.place[at], state.group_at[at]
        for i in range(state.ends[user], state.ends[user + 1]):
            state.counts[group, state.columns[i]] += 1
        if state.toward.shape[0]:  # exchanges keep it up to date
            state.toward[group] += state.pairs[user]
    for group in range(state.excess.size):
        for column in range(state.counts.shape[1]):
            state.excess[group] += _beyond(state, group, column, state.counts[group, column])


@compiled
def _measure(state: Any) -> None:
    """Add up the likenesses inside each group."""
    # From scratch: sums that are only changed by additions and subtractions drift away.
    for group in range(state.insides.size):
        low, high = state.starts[group], state.starts[group + 1]
        if state.toward.shape[0]:
            state.insides[group] = 0.0
            for at in range(low, high):
                state.insides[group] += state.toward[group, state.place[at]]
            continue
        if state.vectors.shape[1]:
            total = state.sums[group]
            total[:] = 0.0
            for at in range(low, high):
                total += state.vectors[state.place[at]]
            state.insides[group] = np.dot(total, total)
            continue
        inside = 0.0
        for at in range(low, high):
            for other in range(low, high):
                inside += state.pairs[state.place[at], state.place[other]]
        state.insides[group] = inside


@compiled
def _exchange(state: Any, places: Any, bars: Any, weight: float) -> None:
    """Try one exchange for each pair of places; take it if it gains more than its bar."""
    for step in range(bars.size):
        a, b = places[step]
        g, h = state.group_at[a], state.group_at[b]
        if g == h:
            continue
        u, v = state.place[a], state.place[b]
        inside_g, inside_h = _insides_after(state, u, v, g, h)
        gain = root(inside_g) - root(state.insides[g])
        gain += root(inside_h) - root(state.insides[h])
        # If not even the end of all excess were enough, no column has to be counted.
        if gain + weight * (state.excess[g] + state.excess[h]) <= bars[step]:
            continue
        more_g, more_h = _more_beyond(state, u, v, g), _more_beyond(state, v, u, h)
        if gain - weight * (more_g + more_h) <= bars[step]:
            continue
        state.place[a], state.place[b] = v, u
        state.insides[g], state.insides[h] = inside_g, inside_h
        state.excess[g] += more_g
        state.excess[h] += more_h
        _recount(state, u, v, g)
        _recount(state, v, u, h)


@compiled
def _insides_after(state: Any, u: int, v: int, g: int, h: int) -> Any:
    """Return the likenesses inside g with v instead of u, and inside h with u instead of v."""
    # With V the sum of g, |V - u + v|² = |V|² + |u|² + |v|² - 2 V·u + 2 V·v - 2 u·v.
    if state.vectors.shape[1]:
        first, second = state.vectors[u], state.vectors[v]
        both = np.dot(first, second)
        own = np.dot(first, first) + np.dot(second, second) - 2.0 * both
        across = np.dot(second, state.sums[g]) - np.dot(first, state.sums[g])
        back = np.dot(first, state.sums[h]) - np.dot(second, state.sums[h])
        return state.insides[g] + own + 2.0 * across, state.insides[h] + own + 2.0 * back
    first, second = state.pairs[u], state.pairs[v]
    own = first[u] + second[v] - 2.0 * first[v]
    across, back = 0.0, 0.0
    if state.toward.shape[0]:
        across += state.toward[g, v] - state.toward[g, u]
        back += state.toward[h, u] - state.toward[h, v]
        return state.insides[g] + own + 2.0 * across, state.insides[h] + own + 2.0 * back
    for at in range(state.starts[g], state.starts[g + 1]):
        across += second[state.place[at]] - first[state.place[at]]
    for at in range(state.starts[h], state.starts[h + 1]):
        back += first[state.place[at]] - second[state.place[at]]
    return state.insides[g] + own + 2.0 * across, state.insides[h] + own + 2.0 * back


@compiled
def _beyond(state: Any, group: int, column: int, count: int) -> int:
    """Return by how much a count is beyond the limits of its group."""
    kind = state.kind[group]
    over, under = count - state.most[kind, column], state.least[kind, column] - count
    return int(max(0, over, under))


@compiled
def _more_beyond(state: Any, leaving: int, joining: int, group: int) -> int:
    """Return how much more the counts of a group are beyond the limits after an exchange."""
    more = 0
    # The columns of both users ascend: walk along both, and look where only one has a column.
    i, j = state.ends[leaving], state.ends[joining]
    last, end = state.ends[leaving + 1], state.ends[joining + 1]
    while i < last or j < end:
        gone = state.columns[i] if i < last else state.counts.shape[1]
        come = state.columns[j] if j < end else state.counts.shape[1]
        column = min(gone, come)
        i += gone == column
        j += come == column
        if gone != come:
            count = state.counts[group, column]
            after = count - 1 if gone < come else count + 1
            more += _beyond(state, group, column, after) - _beyond(state, group, column, count)
    return more


@compiled
def _recount(state: Any, leaving: int, joining: int, group: int) -> None:
    """Replace `leaving` by `joining` in the counts and sums of a group."""
    for i in range(state.ends[leaving], state.ends[leaving + 1]):
        state.counts[group, state.columns[i]] -= 1
    for i in range(state.ends[joining], state.ends[joining + 1]):
        state.counts[group, state.columns[i]] += 1
    if state.vectors.shape[1]:
        state.sums[group] += state.vectors[joining] - state.vectors[leaving]
    if state.toward.shape[0]:
        own, come, gone = state.toward[group], state.pairs[joining], state.pairs[leaving]
        for user in range(own.size):
            own[user] += come[user] - gone[user]
