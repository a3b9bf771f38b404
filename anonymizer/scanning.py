"""Algorithm 1 by a scan of everybody for each choice: for centroid linkage and for dense vectors.

With linkage "centroid" the profile closest to the mean of the members so far joins, instead of the
one closest to the seed; a leftover goes to the group with the closest mean. The next seed is the
profile least similar to the last seed with either. The work grows with the square of the users.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .augment import DECIMALS
from .compiled import compiled
from .constraints import Bounds, holds, overall
from .growing import (
    ASSIGNED,
    MEMBERS,
    TERMS,
    finish,
    join,
    new_state,
    scaled_weights,
    settle,
)
from .model import Floats, Grouping, Ints, Profiles, Progress, silent


class Vectors(Protocol):
    """Rows of length 1, one a user."""

    def row(self, number: int) -> Floats:
        """Return a row."""
        ...

    def products(self, target: Floats) -> Floats:
        """Return the product of every row with a vector."""
        ...


class SparseVectors:
    """Unit rows of a sparse matrix."""

    def __init__(self, unit: csr_matrix) -> None:
        self._unit = unit

    def row(self, number: int) -> Floats:
        """Return a row, dense."""
        row = np.zeros(self._unit.shape[1])
        low, high = self._unit.indptr[number], self._unit.indptr[number + 1]
        row[self._unit.indices[low:high]] = self._unit.data[low:high]
        return row

    def products(self, target: Floats) -> Floats:
        """Return the product of every row with a vector."""
        found: Floats = np.asarray(self._unit @ target, dtype=np.float64)
        return found


class DenseVectors:
    """Unit rows of an array; sums run in one order, however many cores there are."""

    def __init__(self, unit: NDArray[np.floating[Any]]) -> None:
        self._unit = unit

    def row(self, number: int) -> Floats:
        """Return a row."""
        row: Floats = self._unit[number].astype(np.float64)
        return row

    def products(self, target: Floats) -> Floats:
        """Return the product of every row with a vector."""
        found = np.empty(len(self._unit))
        _products(self._unit, target, found)
        return found


def scan(
    profiles: Profiles,
    vectors: Vectors,
    bounds: Bounds,
    first_seed: int,
    *,
    linkage: str = "seed",
    progress: Progress = silent,
) -> Grouping:
    """Run algorithm 1 with either linkage."""
    state = new_state(len(profiles), len(profiles.terms), 0)
    terms, shares = scaled_weights(profiles), overall(profiles)
    lengths: list[float] = []  # of the groups' summed vectors

    def fits() -> bool:
        members, size = state.count[MEMBERS], state.count[TERMS]
        return bool(holds(bounds, members, state.terms, state.weights, size, shares))

    def like_groups(row: int) -> Any:
        products = vectors.products(vectors.row(row))
        if linkage == "seed":
            return np.round(products[state.seeds[: len(lengths)]], DECIMALS)
        assigned = (state.group_of >= 0) & (state.group_of < len(lengths))
        sums = np.bincount(state.group_of[assigned], products[assigned], minlength=len(lengths))
        return np.round(sums / np.array(lengths), DECIMALS)

    seed = first_seed
    while True:
        total = vectors.row(seed)
        to_seed = alike = np.round(vectors.products(total), DECIMALS)
        join(seed, terms, state)
        while not fits() and state.count[ASSIGNED] < len(profiles):
            row = _best(alike, state.group_of)
            join(row, terms, state)
            if linkage == "centroid":
                total += vectors.row(row)
                alike = np.round(vectors.products(total / _length(total)), DECIMALS)
            progress(int(state.count[ASSIGNED]))
        if not fits():
            break
        lengths.append(_length(total))
        finish(seed, state)
        if state.count[ASSIGNED] == len(profiles):
            break
        seed = _best(-to_seed, state.group_of)
    settle(like_groups, terms, bounds, shares, state)
    return Grouping(state.group_of)


def _best(value: Floats, group_of: Ints) -> int:
    """Return the unassigned row of the largest value, the lowest of equals."""
    free = np.flatnonzero(group_of < 0)
    return int(free[np.argmax(value[free])])


def _length(vector: Floats) -> float:
    """Return a vector's length, 1 for one that vanishes."""
    return float(np.sqrt(np.sum(vector * vector))) or 1.0


@compiled
def _products(unit: Any, target: Any, found: Any) -> None:
    for row in range(unit.shape[0]):
        total = 0.0
        for i in range(unit.shape[1]):
            total += unit[row, i] * target[i]
        found[row] = total
