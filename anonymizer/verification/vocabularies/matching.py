"""What each slot's occurrences are like among themselves: how far apart, and which is typical."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...arrays import Floats, Ints
from .network import TermNetwork
from .slots import Slots

_AT_ONCE = 2_000_000  # pairs of terms


class Matching(NamedTuple):
    """What slots are, by their occurrences."""

    farthest: Floats  # slot -> the largest distance of two of its occurrences
    typical: Ints  # slot -> the term closest to the others; of equals, the one that joined first


def matching_of(slots: Slots, network: TermNetwork, *, only_equal: bool) -> Matching:
    """Return how far apart the occurrences of `slots` are by `network`.

    If `only_equal` terms are relevant to each other, all others are infinitely far apart.
    """
    if not slots.row.size:
        return Matching(np.empty(0), np.empty(0, dtype=np.int64))
    # Most occurrences of a slot are the same term, so each kind of them is looked at once.
    span = len(slots.terms)
    kinds, first, counts = np.unique(
        slots.slot * span + slots.own, return_index=True, return_counts=True
    )
    slot, term = np.divmod(kinds, span)
    ends = np.append(0, np.cumsum(np.bincount(slot, minlength=slots.row.size)))
    keys = np.unique(np.concatenate([_pairs(term, cells, span) for cells in _blocks(ends)]))
    names = slots.terms
    distances = np.array(
        [
            _NO_WAY if only_equal and one != other else network.distance(names[one], names[other])
            for one, other in zip(*(part.tolist() for part in np.divmod(keys, span)), strict=True)
        ]
    )
    farthest, sums = np.zeros(slots.row.size), np.zeros(kinds.size)
    for cells in _blocks(ends):
        shape = (*cells.shape, cells.shape[1])
        apart = distances[np.searchsorted(keys, _pairs(term, cells, span))].reshape(shape)
        farthest[slot[cells[:, 0]]] = apart.max((1, 2))
        sums[cells] = (apart * counts[cells][:, None]).sum(2)
    order = np.lexsort((first, sums, slot))
    return Matching(farthest, term[order[ends[:-1]]])


_NO_WAY = float("inf")


def _blocks(ends: Ints) -> Iterator[Ints]:
    """Yield numbers between `ends`: a line for each of some slots that are equally large."""
    sizes = np.diff(ends)
    for size in np.unique(sizes).tolist():
        alike, step = ends[:-1][sizes == size], max(1, _AT_ONCE // size**2)
        for low in range(0, alike.size, step):
            yield alike[low : low + step, None] + np.arange(size)


def _pairs(term: Ints, cells: Ints, span: int) -> Ints:
    """Return a number for each two terms of a line of `cells`; their order plays no part."""
    one, other = term[cells][:, :, None], term[cells][:, None, :]
    pairs: Ints = (np.minimum(one, other) * span + np.maximum(one, other)).reshape(-1)
    return pairs
