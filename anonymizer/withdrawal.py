"""Profiles and origins without some people, or without some of these people's terms.

Weights are each owner's own counts, so nothing has to be weighed anew; tfidf's share of owners who
have a term stays as it was when the profiles were made, lest the others' profiles change.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .model import Ints, Profiles
from .origins import Origins
from .profiles import with_sorted_terms

Mask = NDArray[np.bool_]
Whole = NDArray[np.integer]


def profiles_without(
    profiles: Profiles, owners: Collection[str], terms: Collection[str] | None = None
) -> Profiles | None:
    """Return profiles without these owners, or without these terms of theirs; None if empty."""
    weights = profiles.weights
    left = _left(profiles.users, profiles.terms, weights.indptr, weights.indices, owners, terms)
    if not left.any():
        return None
    rows, ends = _rows(weights.indptr, left)
    entries = (weights.data[left], weights.indices[left], ends)
    matrix = csr_matrix(entries, shape=(rows.size, len(profiles.terms)))
    users = [profiles.users[row] for row in rows.tolist()]
    return with_sorted_terms(users, profiles.terms, matrix)


def origins_without(
    origins: Origins, owners: Collection[str], terms: Collection[str] | None = None
) -> Origins | None:
    """Return origins without these owners, or without these terms of theirs; None if empty."""
    left = _left(origins.users, origins.terms, origins.ends, origins.columns, owners, terms)
    if not left.any():
        return None
    rows, ends = _rows(origins.ends, left)
    used = np.unique(origins.columns[left])
    number = np.zeros(len(origins.terms), dtype=np.int32)
    number[used] = np.arange(used.size)
    return Origins(
        tuple(origins.users[row] for row in rows.tolist()),
        tuple(origins.terms[column] for column in used.tolist()),
        ends,
        number[origins.columns[left]],
        origins.times[left],
        origins.first[left],
        origins.last[left],
        origins.since,
    )


def _left(
    users: Sequence[str],
    names: Sequence[str],
    ends: Whole,
    columns: Whole,
    owners: Collection[str],
    terms: Collection[str] | None,
) -> Mask:
    """Mark the cells that stay."""
    gone = np.array([name in terms for name in names]) if terms is not None else None
    left = np.ones(int(ends[-1]), dtype=np.bool_)
    for row, user in enumerate(users):
        if user in owners:
            cells = slice(ends[row], ends[row + 1])
            left[cells] = False if gone is None else ~gone[columns[cells]]
    return left


def _rows(ends: Whole, left: Mask) -> tuple[Ints, Ints]:
    """Return the rows that still have a cell, and where their cells end."""
    before = np.concatenate([[0], np.cumsum(left)])
    sizes = np.diff(before[ends])
    rows = np.flatnonzero(sizes)
    return rows, np.concatenate([[0], np.cumsum(sizes[rows])]).astype(np.int64)
