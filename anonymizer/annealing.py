"""Annealing: groups of alike users, by exchanging two users of different groups over and over.

What rises is J, the sum over groups of the length of the sum of the members' vectors, which is the
square root of the sum of all likenesses inside (of each member to itself, too). An exchange that
changes J by d is taken if d > T·ln(U), U drawn between 0 and 1, while T falls. Groups keep their
sizes. Of the partitions at the ends of blocks the best one stays.

With limits on how many members of a group have a term, a count beyond its limits costs a penalty
that rises from block to block; only a partition without any is then worth keeping.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from .compiled import compiled
from .model import BadParameter, Ints, Numbers, Progress, silent
from .similarity import Likeness

BLOCKS = 600
HOT, COLD = 0.02, 0.0005  # T
LIGHT, HEAVY = 0.002, 0.5  # the penalty of a count that is one beyond its limits
_MANY = 10_000  # users; with more of them, exchanges are dear and each of them wins less
_LARGE = 16  # members, of whom an exchange would look at all
_REPAIRS = 120  # blocks more, where some count is still beyond its limits


class Limits(NamedTuple):
    """How many members may have each term: a line for groups of the smallest size, one for others.

    The columns are terms that some group could have too often or too seldom.
    """

    has: csr_matrix  # users x columns
    least: Numbers  # 2 x columns
    most: Numbers


class Annealed(NamedTuple):
    """A partition, how good it is, and by how much all counts are beyond their limits."""

    group_of: Ints
    objective: float
    excess: int


class _State(NamedTuple):
    """Who is where, and what is known of each group."""

    place: Any  # place -> user; groups lie one after another
    starts: Any  # group -> its first place
    group_at: Any  # place -> group
    insides: Any  # group -> sum of all likenesses inside
    pairs: Any  # users x users; none if there are vectors
    toward: Any  # groups x users: the user's likenesses to all members; none if groups are small
    vectors: Any  # users x dimensions
    sums: Any  # groups x dimensions
    ends: Any  # users' columns, laid end to end
    columns: Any
    least: Any  # groups' kind x columns
    most: Any
    kind: Any  # group -> line of limits
    counts: Any  # groups x columns
    excess: Any  # group -> by how much its counts are beyond their limits


def steps_for(users: int) -> int:
    """Return how many exchanges to try: 8,000 a user, and 1,000 for each beyond the 10,000th."""
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
    """Deal all users out to groups of these sizes; return the best partition.

    It is the one of the least excess, and among these that of the highest objective.
    """
    users = likeness.vectors.shape[0]
    _refuse(sizes, users)
    state = _state(likeness, sizes, rng.permutation(users), limits)
    blocks = np.diff(np.arange(BLOCKS + 1) * steps // BLOCKS)  # exchanges of each
    best = Annealed(np.empty(0, dtype=np.int64), -np.inf, -1)
    for number in range(BLOCKS + (0 if limits is None else _REPAIRS)):
        if number >= BLOCKS and not state.excess.any():
            break
        heat, weight = _schedule(number)
        tried = int(blocks[min(number, BLOCKS - 1)])
        places = rng.integers(sizes.sum(), size=(tried, 2), dtype=np.int32)
        _exchange(state, places, heat * np.log1p(-rng.random(tried)), weight)
        _measure(state)
        found = _found(state)
        if best.excess < 0 or (-found.excess, found.objective) > (-best.excess, best.objective):
            best = found._replace(group_of=_group_of(state))
        progress(min(number + 1, BLOCKS) * users // BLOCKS)
    return best


def _schedule(number: int) -> tuple[float, float]:
    """Return T and the penalty of a block; in repairs, all else gives way to the limits."""
    done = min(1.0, number / (BLOCKS - 1))
    repairs = max(0, number + 1 - BLOCKS)
    return HOT * (COLD / HOT) ** done, LIGHT * (HEAVY / LIGHT) ** done * 2 ** (repairs / 8)


def _found(state: _State) -> Annealed:
    objective = float(np.sqrt(np.maximum(state.insides, 0.0)).sum())
    return Annealed(np.empty(0, dtype=np.int64), objective, int(state.excess.sum()))


def _refuse(sizes: Ints, users: int) -> None:
    if not sizes.size or sizes.min() < 1 or int(sizes.sum()) != users:
        raise BadParameter(f"groups of {sizes.sum()} members can't be made of {users} users")


def _group_of(state: _State) -> Ints:
    group_of = np.empty(state.place.size, dtype=np.int64)
    group_of[state.place] = state.group_at
    return group_of


def _state(likeness: Likeness, sizes: Ints, dealt: Ints, limits: Limits | None) -> _State:
    groups, large = sizes.size, bool(likeness.pairs.size) and sizes.min() >= _LARGE
    if limits is None:
        none = np.zeros((2, 0), dtype=np.int32)
        limits = Limits(csr_matrix((likeness.vectors.shape[0], 0)), none, none)
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
        counts=np.zeros((groups, limits.has.shape[1]), dtype=_narrowest(int(sizes.max()))),
        excess=np.zeros(groups, dtype=np.int64),
    )
    _count(state)
    _add_up(state)
    _measure(state)
    return state


def _narrowest(most: int) -> type[np.signedinteger[Any]]:
    return np.int8 if most < 2**7 else np.int16 if most < 2**15 else np.int32


@compiled
def _count(state: Any) -> None:
    """Count the members who have each column, and what is beyond the limits."""
    for at in range(state.place.size):
        user, group = state.place[at], state.group_at[at]
        for i in range(state.ends[user], state.ends[user + 1]):
            state.counts[group, state.columns[i]] += 1
    for group in range(state.excess.size):
        for column in range(state.counts.shape[1]):
            state.excess[group] += _beyond(state, group, column, state.counts[group, column])


@compiled
def _add_up(state: Any) -> None:
    """Add up how alike each user is to each large group, which exchanges keep up to date."""
    if state.toward.shape[0]:
        for at in range(state.place.size):
            state.toward[state.group_at[at]] += state.pairs[state.place[at]]


@compiled
def _measure(state: Any) -> None:
    """Add up each group anew: sums that were added to and subtracted from drift away."""
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
    """Try one exchange a pair of places; it is taken if it brings more than its bar."""
    for step in range(bars.size):
        a, b = places[step]
        g, h = state.group_at[a], state.group_at[b]
        if g == h:
            continue
        u, v = state.place[a], state.place[b]
        inside_g, inside_h = _insides_after(state, u, v, g, h)
        gain = _root(inside_g) - _root(state.insides[g])
        gain += _root(inside_h) - _root(state.insides[h])
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
    """Return what is inside g without u and with v, and inside h without v and with u.

    With V the sum of g, |V - u + v|² = |V|² + |u|² + |v|² - 2 V·u + 2 V·v - 2 u·v.
    """
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
    """Return how much more a group's counts are beyond the limits after an exchange."""
    more = 0
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
    """Let one leave a group and one join it, in its counts and its sums."""
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


@compiled
def _root(square: float) -> float:
    """Return a length from its square, which rounding may have made negative."""
    return float(np.sqrt(max(square, 0.0)))
