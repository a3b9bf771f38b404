"""Algorithm 1 by a scan of everybody for each choice: for centroid linkage and for dense vectors.

With linkage "centroid", the profile closest to the mean of the members so far joins, not the one
closest to the seed. Users in no group at the end go to the group with the closest mean. With either
linkage, the next seed is the profile least similar to the last seed. The work grows with the square
of the number of users.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from ..compiled import compiled
from ..model import Grouping, Profiles, Progress, silent
from ..similarity.wordnet import DECIMALS
from .bounds import Bounds, holds, overall
from .growing import ASSIGNED, MEMBERS, TERMS, finish, join, new_state, scaled_weights, settle
from .vectors import add, dot, rows_of


def scan(
    profiles: Profiles,
    unit: csr_matrix | Floats,
    bounds: Bounds,
    first_seed: int,
    *,
    linkage: str = "seed",
    everybody: Floats | None = None,
    progress: Progress = silent,
) -> Grouping:
    """Return algorithm 1's groups of `profiles`, by their `unit` rows, with either `linkage`.

    `everybody` has the share of each term in the weight of all users, if these are some of them.
    """
    return _Scan(profiles, unit, bounds, linkage, everybody, progress).grouping(first_seed)


class _Scan:
    """One run of the algorithm."""

    def __init__(
        self,
        profiles: Profiles,
        unit: csr_matrix | Floats,
        bounds: Bounds,
        linkage: str,
        everybody: Floats | None,
        progress: Progress,
    ) -> None:
        self._rows, self._width = rows_of(unit), unit.shape[1]
        self._bounds, self._linkage = bounds, linkage
        self._terms = scaled_weights(profiles)
        self._overall = overall(profiles) if everybody is None else everybody
        self._state = new_state(len(profiles), len(profiles.terms), 0)
        self._lengths: list[float] = []  # of the groups' summed vectors
        self._complete_of = self._state.group_of  # at the end without an incomplete last group
        self._progress = progress

    def grouping(self, seed: int) -> Grouping:
        """Assign everybody, from the first seed on."""
        group_of = self._state.group_of
        while True:
            to_seed = self._complete(seed)
            if self._state.counts[MEMBERS] or self._everybody():
                break
            seed = _best(-to_seed, group_of)
        self._complete_of = group_of.copy()
        self._complete_of[self._state.members[: self._state.counts[MEMBERS]]] = -1
        settle(self._like_groups, self._terms, self._bounds, self._overall, self._state)
        return Grouping(group_of)

    def _complete(self, seed: int) -> Floats:
        """Let the closest join `seed` until the bounds hold; return all users' likeness to it."""
        total = np.zeros(self._width)
        add(self._rows, seed, total)
        to_seed = alike = np.round(self._products(total), DECIMALS)
        join(seed, self._terms, self._state)
        while not (fit := self._fits()) and not self._everybody():
            row = _best(alike, self._state.group_of)
            join(row, self._terms, self._state)
            if self._linkage == "centroid":
                add(self._rows, row, total)
                alike = np.round(self._products(total / _length(total)), DECIMALS)
            self._progress(int(self._state.counts[ASSIGNED]))
        if fit:
            self._lengths.append(_length(total))
            finish(seed, self._state)
        return to_seed

    def _products(self, target: Floats) -> Floats:
        """Return the product of every row with `target`."""
        products = np.empty(self._state.group_of.size)
        _multiply(self._rows, target, products)
        return products

    def _everybody(self) -> bool:
        return bool(self._state.counts[ASSIGNED] == self._state.group_of.size)

    def _fits(self) -> bool:
        state, size = self._state, self._state.counts[TERMS]
        members = state.counts[MEMBERS]
        return bool(holds(self._bounds, members, state.terms, state.weights, size, self._overall))

    def _like_groups(self, row: int) -> Any:
        own, groups = np.zeros(self._width), len(self._lengths)
        add(self._rows, row, own)
        products = self._products(own)
        if self._linkage == "seed":
            return np.round(products[self._state.seeds[:groups]], DECIMALS)
        assigned = self._complete_of >= 0
        sums = np.bincount(self._complete_of[assigned], products[assigned], minlength=groups)
        return np.round(sums / np.array(self._lengths), DECIMALS)


def _best(value: Floats, group_of: Ints) -> int:
    """Return the unassigned row of the largest value, the lowest of equals."""
    free = np.flatnonzero(group_of < 0)
    return int(free[np.argmax(value[free])])


def _length(vector: Floats) -> float:
    """Return a vector's length, 1 for one that vanishes."""
    return float(np.sqrt(np.sum(vector * vector))) or 1.0


@compiled
def _multiply(rows: Any, target: Any, products: Any) -> None:
    # In a loop of ours, sums run in one order; in a library's, that depends on the cores.
    for row in range(products.size):
        products[row] = dot(rows, row, target)
