"""The group that is growing: who has joined, which terms they bring, and who is left over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled
from .constraints import Bounds, holds, scaled_down
from .model import Floats, Ints, Profiles, Unsatisfiable
from .neighbours import Cells, cells_of

NONE = -1


class State(NamedTuple):
    """Who is assigned so far, and the group that is growing."""

    group_of: Any  # -1 while unassigned
    following: Any  # row -> itself, or a later row if it is assigned
    seeds: Any  # group -> its first member
    members: Any  # of the growing group, in order of joining
    terms: Any  # its distinct terms
    weights: Any  # its summed weight of each
    place: Any  # term -> place among them, -1 if none
    count: Any  # groups complete, members, terms, profiles assigned
    target: Any  # all 0 between uses


GROUPS, MEMBERS, TERMS, ASSIGNED = 0, 1, 2, 3  # places in State.count


def scaled_weights(profiles: Profiles) -> Cells:
    """Return the weights, scaled so that sums don't overflow."""
    cells = cells_of(profiles.weights)
    return cells._replace(values=scaled_down(cells.values))


def satisfies(members: Ints, terms: Cells, bounds: Bounds, overall: Floats) -> bool:
    """Tell whether some users are a group that satisfies all bounds."""
    state = new_state(members.size, overall.size, 0)
    for member in members.tolist():
        add_terms(member, terms, state)
    size = int(state.count[TERMS])
    fits: bool = holds(bounds, members.size, state.terms, state.weights, size, overall)
    return fits


def new_state(users: int, terms: int, width: int) -> State:
    """Return the state in which nobody is assigned."""
    return State(
        group_of=np.full(users, NONE, dtype=np.int64),
        following=np.arange(users + 1, dtype=np.int32),
        seeds=np.zeros(users, dtype=np.int64),
        members=np.zeros(users, dtype=np.int64),
        terms=np.zeros(terms, dtype=np.int64),
        weights=np.zeros(terms),
        place=np.full(terms, NONE, dtype=np.int32),
        count=np.zeros(4, dtype=np.int64),
        target=np.zeros(width),
    )


@compiled
def first_living(row: int, following: Any) -> Any:
    """Return the first unassigned row from this one on, and shorten the way there."""
    last = row
    while following[last] != last:
        last = following[last]
    while following[row] != last:
        following[row], row = last, following[row]
    return last


@compiled
def join(row: int, terms: Any, state: Any) -> None:
    """Assign a profile to the growing group."""
    state.group_of[row] = state.count[GROUPS]
    state.following[row] = row + 1
    state.members[state.count[MEMBERS]] = row
    state.count[MEMBERS] += 1
    state.count[ASSIGNED] += 1
    add_terms(row, terms, state)


@compiled
def add_terms(row: int, terms: Any, state: Any) -> None:
    """Add a profile's terms to those of the growing group."""
    for i in range(terms.starts[row], terms.starts[row + 1]):
        term = terms.columns[i]
        at = state.place[term]
        if at < 0:
            at = state.count[TERMS]
            state.place[term], state.terms[at], state.weights[at] = at, term, 0.0
            state.count[TERMS] += 1
        state.weights[at] += terms.values[i]


@compiled
def finish(seed: int, state: Any) -> None:
    """Complete the growing group, and begin with nobody again."""
    count = state.count
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
    """Send each member of a last, incomplete group to the complete group it is most alike.

    Of equals the oldest; where a bound may be lost by joining, the first that keeps it.
    """
    leftovers = state.members[: state.count[MEMBERS]].copy()
    if leftovers.size and not state.count[GROUPS]:
        raise Unsatisfiable("no group of these users satisfies all bounds; loosen l or t")
    state.group_of[leftovers] = NONE
    for row in leftovers.tolist():
        for group in np.argsort(-alike(row), kind="stable").tolist():
            state.group_of[row] = group
            members = np.flatnonzero(state.group_of == group)
            if not bounds.may_be_lost or satisfies(members, terms, bounds, overall):
                break
        else:
            raise Unsatisfiable(
                "some of the users fit into no group without breaking its bounds; loosen l or t"
            )
