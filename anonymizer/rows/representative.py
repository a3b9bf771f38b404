"""Representatives: a group's one row, made from its members' original profiles.

A centroid of binary profiles publishes the share of members who have each term. That share is the
probability of linking a member to the term. A union does not publish it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_matrix

from ..errors import Unsatisfiable
from ..model import Grouping, Profiles, largest, row_names


def centroid(profiles: Profiles, grouping: Grouping) -> csr_matrix:
    """Return the mean weight of each term in `profiles` over all members of each group."""
    sums = csr_matrix(grouping.indicator @ profiles.weights)
    sums.data /= np.repeat(grouping.sizes, np.diff(sums.indptr))
    return sums


def union(profiles: Profiles, grouping: Grouping) -> csr_matrix:
    """Return the largest weight of each term in `profiles` among the members of each group."""
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
    """Return a row for each group, without terms that more than `most_share` of members have."""
    weights = REPRESENTATIVES[representative](profiles, grouping)
    if most_share is not None:
        weights = _without_common(weights, profiles, grouping, most_share)
    return named_rows(profiles, weights)


def named_rows(profiles: Profiles, weights: csr_matrix) -> Profiles:
    """Return rows of `weights` over the terms of `profiles`, named, without terms of no row."""
    return over_used(row_names(weights.shape[0], set(profiles.users)), profiles.terms, weights)


def over_used(names: tuple[str, ...], terms: tuple[str, ...], cells: csr_matrix) -> Profiles:
    """Return rows called `names` of the given cells, over those of `terms` that occur in them."""
    used = np.unique(cells.indices)
    column = np.zeros(len(terms), dtype=cells.indices.dtype)
    column[used] = np.arange(used.size)
    entries = (cells.data, column[cells.indices], cells.indptr)
    rows = csr_matrix(entries, shape=(len(names), used.size))
    return Profiles(names, tuple(terms[c] for c in used.tolist()), rows)


def _without_common(
    weights: csr_matrix, profiles: Profiles, grouping: Grouping, most_share: float
) -> csr_matrix:
    """Return `weights` without the terms that more than `most_share` of a group's members have."""
    cells = profiles.weights
    has = csr_matrix((np.ones_like(cells.data), cells.indices, cells.indptr), cells.shape)
    having = csr_matrix(grouping.indicator @ has)
    having.sort_indices()
    weights.sort_indices()
    # As a fraction, because floats are below it: 0.29 * 100 is 28.999...
    share = Fraction(str(most_share))
    limits = np.array([math.floor(share * size) for size in grouping.sizes.tolist()])
    kept = having.data <= np.repeat(limits, np.diff(having.indptr))
    sizes = np.add.reduceat(kept, having.indptr[:-1])
    if not sizes.all():
        raise Unsatisfiable(
            f"{np.count_nonzero(sizes == 0)} groups have no term that at most {most_share} of the "
            "members share, so their rows would be empty; take a larger p or guarantee=average"
        )
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return csr_matrix((weights.data[kept], weights.indices[kept], ends), shape=weights.shape)
