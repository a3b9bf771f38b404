"""Algorithm 1 by a scan of everybody for each choice: for centroid linkage and for dense vectors.

With linkage "centroid", the profile closest to the mean of the members so far joins, not the one
closest to the seed. Users in no group at the end go to the group with the closest mean. With either
linkage, the next seed is the profile least similar to the last seed. The work grows with the square
of the number of users.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from ..compiled import compiled
from ..model import Grouping, Profiles, Progress, silent
from ..similarity.wordnet import DECIMALS
from .bounds import Bounds, holds, overall
from .growing import ASSIGNED, MEMBERS, TERMS, finish, join, new_state, scaled_weights, settle


class Vectors(Protocol):
    """Rows of length 1, one for each user."""

    def row(self, number: int) -> Floats:
        """Return the row with this number."""

    def products(self, target: Floats) -> Floats:
        """Return the product of every row with `target`."""


class SparseVectors:
    """Unit rows of a sparse matrix."""

    def __init__(self, unit: csr_matrix) -> None:
        self._unit = unit

    def row(self, number: int) -> Floats:
        """Return the row with this number as a dense vector."""
        row = np.zeros(self._unit.shape[1])
        low, high = self._unit.indptr[number], self._unit.indptr[number + 1]
        row[self._unit.indices[low:high]] = self._unit.data[low:high]
        return row

    def products(self, target: Floats) -> Floats:
        """Return the product of every row with `target`."""
        products: Floats = np.asarray(self._unit @ target, dtype=np.float64)
        return products


class DenseVectors:
    """Unit rows of an array."""

    def __init__(self, unit: NDArray[np.floating[Any]]) -> None:
        self._unit = unit

    def row(self, number: int) -> Floats:
        """Return the row with this number."""
        row: Floats = self._unit[number].astype(np.float64)
        return row

    def products(self, target: Floats) -> Floats:
        """Return the product of every row with `target`."""
        products = np.empty(len(self._unit))
        # In a loop of ours, sums run in one order; in a library's, that depends on the cores.
        _products(self._unit, target, products)
        return products


def scan(
    profiles: Profiles,
    vectors: Vectors,
    bounds: Bounds,
    first_seed: int,
    *,
    linkage: str = "seed",
    progress: Progress = silent,
) -> Grouping:
    """Return algorithm 1's groups of `profiles` with either `linkage`."""
    return _Scan(profiles, vectors, bounds, linkage, progress).grouping(first_seed)


class _Scan:
    """One run of the algorithm."""

    def __init__(
        self, profiles: Profiles, vectors: Vectors, bounds: Bounds, linkage: str, progress: Progress
    ) -> None:
        self._vectors, self._bounds, self._linkage = vectors, bounds, linkage
        self._terms, self._overall = scaled_weights(profiles), overall(profiles)
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
        total = self._vectors.row(seed)
        to_seed = alike = np.round(self._vectors.products(total), DECIMALS)
        join(seed, self._terms, self._state)
        while not (fit := self._fits()) and not self._everybody():
            row = _best(alike, self._state.group_of)
            join(row, self._terms, self._state)
            if self._linkage == "centroid":
                total += self._vectors.row(row)
                alike = np.round(self._vectors.products(total / _length(total)), DECIMALS)
            self._progress(int(self._state.counts[ASSIGNED]))
        if fit:
            self._lengths.append(_length(total))
            finish(seed, self._state)
        return to_seed

    def _everybody(self) -> bool:
        return bool(self._state.counts[ASSIGNED] == self._state.group_of.size)

    def _fits(self) -> bool:
        state, size = self._state, self._state.counts[TERMS]
        members = state.counts[MEMBERS]
        return bool(holds(self._bounds, members, state.terms, state.weights, size, self._overall))

    def _like_groups(self, row: int) -> Any:
        products, groups = self._vectors.products(self._vectors.row(row)), len(self._lengths)
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
def _products(unit: Any, target: Any, products: Any) -> None:
    for row in range(unit.shape[0]):
        total = 0.0
        for i in range(unit.shape[1]):
            total += unit[row, i] * target[i]
        products[row] = total
