"""Representatives: a group's one row, made from its members' original profiles.

A centroid of binary profiles publishes the share of members who have each term, which is the very
probability of linking a member to it; a union does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_matrix

from .model import BadParameter, Grouping, Profiles, Unsatisfiable, largest


def centroid(profiles: Profiles, grouping: Grouping) -> csr_matrix:
    """Return each group's mean weight of each term over all its members."""
    sums = csr_matrix(grouping.indicator @ profiles.weights)
    sums.data /= np.repeat(grouping.sizes, np.diff(sums.indptr))
    return sums


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


def represent(
    profiles: Profiles,
    grouping: Grouping,
    representative: str,
    *,
    most_share: float | None = None,
) -> Profiles:
    """Return one released row a group, under names that say nothing: g0001, g0002, ...

    With a most_share, a row leaves out each term that a larger share of the members has.
    """
    if representative not in REPRESENTATIVES:
        raise BadParameter(
            f"representative={representative} must be one of {', '.join(sorted(REPRESENTATIVES))}"
        )
    weights = REPRESENTATIVES[representative](profiles, grouping)
    if most_share is not None:
        weights = _without_common(weights, profiles, grouping, most_share)
    return named_rows(profiles, weights)


def named_rows(profiles: Profiles, weights: csr_matrix) -> Profiles:
    """Return rows over the profiles' terms as a release has them: named, without idle terms."""
    names = row_names(weights.shape[0], set(profiles.users))
    column = np.zeros(len(profiles.terms), dtype=weights.indices.dtype)
    used = np.unique(weights.indices)
    column[used] = np.arange(used.size)
    entries = (weights.data, column[weights.indices], weights.indptr)
    kept = csr_matrix(entries, shape=(weights.shape[0], used.size))
    return Profiles(names, tuple(profiles.terms[c] for c in used.tolist()), kept)


def _without_common(
    weights: csr_matrix, profiles: Profiles, grouping: Grouping, most_share: float
) -> csr_matrix:
    """Leave out the terms that more than a share of a group's members have."""
    cells = profiles.weights
    has = csr_matrix((np.ones_like(cells.data), cells.indices, cells.indptr), cells.shape)
    having = csr_matrix(grouping.indicator @ has)
    having.sort_indices()
    weights.sort_indices()
    share = Fraction(str(most_share))
    most = np.array([math.floor(share * size) for size in grouping.sizes.tolist()])
    kept = having.data <= np.repeat(most, np.diff(having.indptr))
    sizes = np.add.reduceat(kept, having.indptr[:-1])
    if not sizes.all():
        raise Unsatisfiable(
            f"{np.count_nonzero(sizes == 0)} groups have no term that at most {most_share} of the "
            "members share, so their rows would be empty; take a larger p or guarantee=average"
        )
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return csr_matrix((weights.data[kept], weights.indices[kept], ends), shape=weights.shape)


def row_names(count: int, taken: set[str]) -> tuple[str, ...]:
    """Number the rows, under a letter that makes no row the namesake of a user."""
    width = max(4, len(str(count)))
    prefix = "g"
    while any(f"{prefix}{number:0{width}d}" in taken for number in range(1, count + 1)):
        prefix += "g"
    return tuple(f"{prefix}{number:0{width}d}" for number in range(1, count + 1))
