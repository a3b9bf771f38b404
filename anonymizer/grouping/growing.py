"""The growing group: who has joined, which terms they bring, and who stays without a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints, Numbers
from ..compiled import compiled
from ..errors import Unsatisfiable
from ..model import Profiles
from .bounds import Bounds, holds, scaled_down
from .neighbours import Cells, cells_of

NONE = -1


class State(NamedTuple):
    """Who is assigned so far, and the group that is growing."""

    group_of: Ints  # -1 while unassigned
    # Row -> itself while unassigned, else a later row: a path to the next unassigned one.
    following: Numbers
    seeds: Ints  # group -> its first member
    members: Ints  # of the growing group, in order of joining
    terms: Ints  # its distinct terms
    weights: Floats  # its summed weight of each
    place: Numbers  # term -> place among them, -1 if none
    counts: Ints  # groups complete, members, terms, profiles assigned
    target: Floats  # all 0 between uses


GROUPS, MEMBERS, TERMS, ASSIGNED = 0, 1, 2, 3  # places in State.counts


def scaled_weights(profiles: Profiles) -> Cells:
    """Return the weights of `profiles`, scaled so that sums don't overflow."""
    cells = cells_of(profiles.weights)
    return cells._replace(values=scaled_down(cells.values))


def satisfies(members: Ints, terms: Cells, bounds: Bounds, overall: Floats) -> bool:
    """Return whether a group of these `members` satisfies all bounds."""
    state = new_state(members.size, overall.size, 0)
    for member in members.tolist():
        add_terms(member, terms, state)
    size = int(state.counts[TERMS])
    fits: bool = holds(bounds, members.size, state.terms, state.weights, size, overall)
    return fits


def new_state(users: int, terms: int, width: int) -> State:
    """Return the state of this number of `users` in which nobody is assigned."""
    return State(
        group_of=np.full(users, NONE, dtype=np.int64),
        following=np.arange(users + 1, dtype=np.int32),
        seeds=np.zeros(users, dtype=np.int64),
        members=np.zeros(users, dtype=np.int64),
        terms=np.zeros(terms, dtype=np.int64),
        weights=np.zeros(terms),
        place=np.full(terms, NONE, dtype=np.int32),
        counts=np.zeros(4, dtype=np.int64),
        target=np.zeros(width),
    )


@compiled
def first_living(row: int, following: Any) -> Any:
    """Return the first unassigned row from `row` on."""
    # All rows passed on the way are pointed to it, so that the next search is short.
    last = row
    while following[last] != last:
        last = following[last]
    while following[row] != last:
        following[row], row = last, following[row]
    return last


@compiled
def join(row: int, terms: Any, state: Any) -> None:
    """Assign the profile `row` to the growing group."""
    state.group_of[row] = state.counts[GROUPS]
    state.following[row] = row + 1
    state.members[state.counts[MEMBERS]] = row
    state.counts[MEMBERS] += 1
    state.counts[ASSIGNED] += 1
    add_terms(row, terms, state)


@compiled
def add_terms(row: int, terms: Any, state: Any) -> None:
    """Add the terms of the profile `row` to those of the growing group."""
    for i in range(terms.starts[row], terms.starts[row + 1]):
        term = terms.columns[i]
        at = state.place[term]
        if at < 0:
            at = state.counts[TERMS]
            state.place[term], state.terms[at], state.weights[at] = at, term, 0.0
            state.counts[TERMS] += 1
        state.weights[at] += terms.values[i]


@compiled
def finish(seed: int, state: Any) -> None:
    """Complete the growing group of `seed`, and begin an empty one."""
    count = state.counts
    state.seeds[count[GROUPS]] = seed
    count[GROUPS] += 1
    for i in range(count[TERMS]):
        state.place[state.terms[i]] = NONE
    count[MEMBERS] = count[TERMS] = 0


def settle(
    alike: Callable[[int], NDArray[Any]],
    terms: Cells,
    bounds: Bounds,
    overall: Floats,
    state: State,
) -> None:
    """Send members of the incomplete last group to the most similar groups that keep the bounds."""
    unassigned = state.members[: state.counts[MEMBERS]].copy()
    if unassigned.size and not state.counts[GROUPS]:
        raise Unsatisfiable("no group of these users satisfies all bounds; loosen l or t")
    state.group_of[unassigned] = NONE
    for row in unassigned.tolist():
        # A stable sort: of equally similar groups, the oldest comes first.
        for group in np.argsort(-alike(row), kind="stable").tolist():
            state.group_of[row] = group
            members = np.flatnonzero(state.group_of == group)
            if not bounds.may_be_lost or satisfies(members, terms, bounds, overall):
                break
        else:
            raise Unsatisfiable(
                "some of the users fit into no group without breaking its bounds; loosen l or t"
            )
