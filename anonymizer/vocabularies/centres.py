"""The centre of a cluster: bags of matched terms, one term of each member.

A term is close to a bag if it is close to each of its terms, and its distance is the sum. What a
new member does not match is suppressed, on both sides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints, Numbers
from ..compiled import compiled
from .matching import Savings

NOBODY = -1  # in place of the term of a member who does not match


class Centre(NamedTuple):
    """Bag b is `terms[b]`, a term of each member; it stands in the centre `stand[b]` times."""

    terms: Numbers  # bags x members, in the order in which members joined; NOBODY: no match
    stand: Ints
    at: Ints
    near: Numbers  # classes close to bag b are near[at[b] : at[b + 1]], ascending
    sums: Ints  # the sum of their distances to its terms
    within: Ints  # of each bag, the sum of the distances between its terms


class Costs(NamedTuple):
    """What a matching pays, in whole units: distances are multiplied, so that omega is whole."""

    omega: int  # of what stays unmatched, for each member of the centre
    scale: int  # a unit of distance
    most_pairs: bool  # model 1: the most pairs there can be, then the least distance
    whole: int = 0  # of smaller bags all pairs count when somebody joins, not only the new ones


@compiled
def opened(terms: Any, counts: Any, distances: Any) -> Any:
    """Return the centre of the one vocabulary with `counts` of `terms`."""
    size = terms.size
    at = np.zeros(size + 1, dtype=np.int64)
    for bag in range(size):
        of = distances.class_of[terms[bag]]
        at[bag + 1] = at[bag] + distances.at[of + 1] - distances.at[of]
    near, sums = np.empty(at[size], dtype=np.int32), np.empty(at[size], dtype=np.int64)
    for bag in range(size):
        of = distances.class_of[terms[bag]]
        near[at[bag] : at[bag + 1]] = distances.near[distances.at[of] : distances.at[of + 1]]
        sums[at[bag] : at[bag + 1]] = distances.distance[distances.at[of] : distances.at[of + 1]]
    within = np.zeros(size, dtype=np.int64)
    return Centre(terms.copy().reshape(size, 1), counts.copy(), at, near, sums, within)


@compiled
def joined(centre: Any, flow: Any, bags: Any, columns: Any, terms: Any, distances: Any) -> Any:
    """Return `centre` after a vocabulary joined, whose term `columns[c]` matches as `flow` says."""
    rows, matched = np.nonzero(flow)
    size, members = rows.size, centre.terms.shape[1]
    joint = np.empty((size, members + 1), dtype=np.int32)
    stand, at = np.empty(size, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
    within = np.empty(size, dtype=np.int64)
    most = 0
    for bag in range(size):
        old = bags[rows[bag]]
        most += centre.at[old + 1] - centre.at[old]
    near, sums = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int64)
    end = 0
    for bag in range(size):
        old, term = bags[rows[bag]], terms[columns[matched[bag]]]
        joint[bag, :members], joint[bag, members] = centre.terms[old], term
        stand[bag] = flow[rows[bag], matched[bag]]
        of = distances.class_of[term]
        here = centre.near[centre.at[old] : centre.at[old + 1]]
        within[bag] = centre.within[old] + centre.sums[centre.at[old] + np.searchsorted(here, of)]
        place, stop = distances.at[of], distances.at[of + 1]
        for other in range(centre.at[old], centre.at[old + 1]):
            while place < stop and distances.near[place] < centre.near[other]:
                place += 1
            if place < stop and distances.near[place] == centre.near[other]:
                near[end] = centre.near[other]
                sums[end] = centre.sums[other] + distances.distance[place]
                end += 1
        at[bag + 1] = end
    return Centre(joint, stand, at, near[:end].copy(), sums[:end].copy(), within)


@compiled
def savings_of(centre: Any, costs: Any, large: int, slot: Any) -> Any:
    """Return what matches with `centre` save.

    `slot` is -1 for each class, and again after `cleared`. In model 1 a pair weighs `large`, less
    its distance.
    """
    members = (centre.terms != NOBODY).sum(axis=1)
    full = 2 * costs.omega * members
    held = costs.omega * members * (members - 1) - costs.scale * centre.within
    held[members >= costs.whole] = 0
    classes, size = np.empty(centre.near.size, dtype=np.int32), 0
    sizes = np.zeros(centre.near.size + 1, dtype=np.int64)
    for bag in range(centre.stand.size):
        for place in range(centre.at[bag], centre.at[bag + 1]):
            near = centre.near[place]
            if costs.most_pairs or full[bag] + held[bag] > costs.scale * centre.sums[place]:
                if slot[near] < 0:
                    slot[near], classes[size] = size, near
                    size += 1
                sizes[slot[near] + 1] += 1
    at = np.cumsum(sizes[: size + 1])
    best, room = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    filled = at[:size].copy()
    bags, weights = np.empty(at[size], dtype=np.int32), np.empty(at[size], dtype=np.int64)
    for bag in range(centre.stand.size):
        for place in range(centre.at[bag], centre.at[bag + 1]):
            saving = full[bag] + held[bag] - costs.scale * centre.sums[place]
            own = slot[centre.near[place]]
            if not costs.most_pairs and saving <= 0:
                continue
            bags[filled[own]] = bag
            weights[filled[own]] = saving
            if costs.most_pairs:
                weights[filled[own]] = large - costs.scale * centre.sums[place]
            filled[own] += 1
            room[own] += centre.stand[bag]
            best[own] = max(best[own], saving)
    return Savings(slot, classes[:size].copy(), at, bags, weights, best, room)


@compiled
def cleared(savings: Any) -> None:
    """Clear the slots of `savings`, for the next ones."""
    for near in savings.classes:
        savings.slot[near] = -1
