"""How far terms are apart: the length of the path between them in a taxonomy.

A path goes up from one term to a node that is above both, or is one of them, and down to the other.
Only pairs of at most `eps` steps are kept. They are found by bounded walks upwards, never by a look
at all pairs. Terms of the same nodes are of one class, and at distance 0. A term that the taxonomy
lacks is a class of its own, and close to nothing else. At eps=0 so is every term.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints, Numbers
from ..compiled import compiled
from ..errors import BadParameter
from ..terms.taxonomy import Taxonomy

_MOST_PAIRS = 1 << 29  # they take 4 GB


class TermDistances(NamedTuple):
    """Class i is `distance[at[i]:at[i + 1]]` from the classes `near` there, itself among them."""

    class_of: Numbers  # of each term
    at: Ints
    near: Numbers  # ascending for each class
    distance: Numbers

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return self.at.size - 1

    def between(self, one: int, other: int) -> int:
        """Return the distance of terms `one` and `other`; -1 if it is more than eps."""
        low, high = self.at[self.class_of[one]], self.at[self.class_of[one] + 1]
        place = low + int(np.searchsorted(self.near[low:high], self.class_of[other]))
        near = place < high and self.near[place] == self.class_of[other]
        return int(self.distance[place]) if near else -1


def term_distances(
    terms: Sequence[str], taxonomy: Taxonomy | None, eps: float, *, every_sense: bool
) -> TermDistances:
    """Return the distances of at most `eps` between `terms`, by their first or `every_sense`."""
    nodes = nodes_of(terms, taxonomy if eps else None, every_sense=every_sense)
    number: dict[object, int] = {}
    keys: list[object] = [own or term for own, term in zip(nodes, terms, strict=True)]
    class_of = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int32)
    if taxonomy is None or not eps:
        same = np.arange(len(number), dtype=np.int32)
        return TermDistances(class_of, np.arange(len(number) + 1), same, np.zeros_like(same))
    starts = [key if isinstance(key, tuple) else () for key in number]
    starts_at = np.cumsum([0, *map(len, starts)], dtype=np.int64)
    flat = np.array([node for own in starts for node in own], dtype=np.int64)
    # No path is longer than twice around all nodes.
    reach = int(min(eps, 2 * taxonomy.at.size))
    walks = _walks(flat, starts_at, taxonomy.parents, taxonomy.at, reach)
    by_node = np.lexsort((walks[1], walks[0]))
    owner = np.repeat(np.arange(len(number), dtype=np.int32), np.diff(walks[2]))
    nodes_at = np.searchsorted(walks[0][by_node], np.arange(taxonomy.at.size))
    climbs = (nodes_at, owner[by_node], walks[1][by_node])
    at, near, distance = _pairs(*walks, *climbs, reach, _MOST_PAIRS)
    if at[-1] > _MOST_PAIRS:
        raise BadParameter(f"eps={eps} makes more than {_MOST_PAIRS} pairs of terms; lower it")
    return TermDistances(class_of, at, near, distance)


def nodes_of(
    terms: Sequence[str], taxonomy: Taxonomy | None, *, every_sense: bool
) -> list[tuple[int, ...]]:
    """Return the nodes of each of `terms` in `taxonomy`: its first one, or those of every sense."""
    if taxonomy is None:
        return [()] * len(terms)
    most = None if every_sense else 1
    return [tuple(taxonomy.nodes_of(term)[:most]) for term in terms]


@compiled
def _walks(
    starts: Any, starts_at: Any, parents: Any, parents_at: Any, reach: int
) -> tuple[Any, Any, Any]:
    """Return the nodes within `reach` steps above the starts of each class, and the steps."""
    count = starts_at.size - 1
    seen = np.full(parents_at.size - 1, -1, dtype=np.int64)
    queue, depth = np.empty(seen.size, dtype=np.int64), np.empty(seen.size, dtype=np.int32)
    nodes, steps = np.empty(1024, dtype=np.int64), np.empty(1024, dtype=np.int32)
    at, end = np.zeros(count + 1, dtype=np.int64), 0
    for one in range(count):
        size = 0
        for start in starts[starts_at[one] : starts_at[one + 1]]:
            if seen[start] != one:
                seen[start], queue[size], depth[size] = one, start, 0
                size += 1
        low = 0
        while low < size:
            node, step = queue[low], depth[low]
            low += 1
            if step == reach:
                break
            for parent in parents[parents_at[node] : parents_at[node + 1]]:
                if seen[parent] != one:
                    seen[parent], queue[size], depth[size] = one, parent, step + 1
                    size += 1
        while end + size > nodes.size:
            nodes = np.concatenate((nodes, np.empty_like(nodes)))
            steps = np.concatenate((steps, np.empty_like(steps)))
        nodes[end : end + size], steps[end : end + size] = queue[:size], depth[:size]
        end += size
        at[one + 1] = end
    return nodes[:end].copy(), steps[:end].copy(), at


@compiled
def _pairs(
    nodes: Any,
    steps: Any,
    at: Any,
    nodes_at: Any,
    owners: Any,
    climbs: Any,
    reach: int,
    most: int,
) -> tuple[Any, Any, Any]:
    """Return for each class the classes within `reach`, ascending, and how far they are.

    `owners` of each node stand in the order of their `climbs` to it.
    """
    count = at.size - 1
    least = np.full(count, -1, dtype=np.int32)
    met = np.empty(count, dtype=np.int32)
    near, far = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.int32)
    ends, end = np.zeros(count + 1, dtype=np.int64), 0
    for one in range(count):
        size = 1
        met[0], least[one] = one, 0
        for place in range(at[one], at[one + 1]):
            for other in range(nodes_at[nodes[place]], nodes_at[nodes[place] + 1]):
                steps_both = steps[place] + climbs[other]
                if steps_both > reach:
                    break
                known = least[owners[other]]
                if known < 0:
                    met[size] = owners[other]
                    size += 1
                if known < 0 or steps_both < known:
                    least[owners[other]] = steps_both
        ascending = np.sort(met[:size])
        if end + size > most:
            ends[count] = most + 1
            break
        while end + size > near.size:
            near = np.concatenate((near, np.empty_like(near)))
            far = np.concatenate((far, np.empty_like(far)))
        for other in ascending:
            near[end], far[end], least[other] = other, least[other], -1
            end += 1
        ends[one + 1] = end
    return ends, near[:end].copy(), far[:end].copy()
