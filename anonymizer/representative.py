"""Representatives: a group's one row, made from its members' original profiles.

A centroid of binary profiles publishes the share of members who have each term, which is the very
probability of linking a member to it; a union does not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix, diags_array

from .model import BadParameter, Grouping, Profiles, largest


def centroid(profiles: Profiles, grouping: Grouping) -> csr_matrix:
    """Return each group's mean weight of each term over all its members."""
    return csr_matrix(diags_array(1.0 / grouping.sizes) @ grouping.indicator @ profiles.weights)


def union(profiles: Profiles, grouping: Grouping) -> csr_matrix:
    """Return each group's largest weight of each term."""
    cells = profiles.weights.tocoo()
    groups = grouping.group_of[cells.row]
    columns = cells.col.astype(np.int64)
    return largest(groups, columns, cells.data, (grouping.count, len(profiles.terms)))


REPRESENTATIVES: dict[str, Callable[[Profiles, Grouping], csr_matrix]] = {
    "centroid": centroid,
    "union": union,
}


def represent(profiles: Profiles, grouping: Grouping, representative: str) -> Profiles:
    """Return one released row a group, under names that say nothing: g0001, g0002, ..."""
    if representative not in REPRESENTATIVES:
        raise BadParameter(
            f"representative={representative} must be one of {', '.join(sorted(REPRESENTATIVES))}"
        )
    weights = REPRESENTATIVES[representative](profiles, grouping)
    names = _names(grouping.count, set(profiles.users))
    used = np.flatnonzero(np.diff(csr_matrix(weights).tocsc().indptr))
    return Profiles(names, tuple(profiles.terms[c] for c in used), csr_matrix(weights)[:, used])


def _names(count: int, taken: set[str]) -> tuple[str, ...]:
    """Number the rows, under a letter that makes no row the namesake of a user."""
    width = max(4, len(str(count)))
    prefix = "g"
    while any(f"{prefix}{number:0{width}d}" in taken for number in range(1, count + 1)):
        prefix += "g"
    return tuple(f"{prefix}{number:0{width}d}" for number in range(1, count + 1))
