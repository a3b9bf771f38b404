"""Profiles and origins without some people, or without some terms of these people."""
# No weight has to be computed again, because each is made from its owner's own counts. Only tfidf
# also uses the number of owners who have a term. That number stays as it was when the profiles
# were made, so that the profiles of the others don't change.

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Ints, Marks
from ..model import Profiles
from .origins import Origins

Whole = NDArray[np.integer]


def profiles_without(
    profiles: Profiles, owners: Collection[str], terms: Collection[str] | None = None
) -> Profiles | None:
    """Return `profiles` without `owners`, or without `terms` of these owners; None if empty."""
    weights = profiles.weights
    kept = _kept(profiles.users, profiles.terms, weights.indptr, weights.indices, owners, terms)
    if not kept.any():
        return None
    rows, ends = _rows(weights.indptr, kept)
    entries = (weights.data[kept], weights.indices[kept], ends)
    matrix = csr_matrix(entries, shape=(rows.size, len(profiles.terms)))
    users = tuple(profiles.users[row] for row in rows.tolist())
    return Profiles(users, profiles.terms, matrix).in_order()


def origins_without(
    origins: Origins, owners: Collection[str], terms: Collection[str] | None = None
) -> Origins | None:
    """Return `origins` without `owners`, or without `terms` of these owners; None if empty."""
    kept = _kept(origins.users, origins.terms, origins.ends, origins.columns, owners, terms)
    if not kept.any():
        return None
    rows, ends = _rows(origins.ends, kept)
    columns = origins.columns[kept]
    used = np.flatnonzero(np.bincount(columns, minlength=len(origins.terms)))
    number = np.zeros(len(origins.terms), dtype=np.int32)
    number[used] = np.arange(used.size)
    return Origins(
        tuple(origins.users[row] for row in rows.tolist()),
        tuple(origins.terms[column] for column in used.tolist()),
        ends,
        number[columns],
        origins.times[kept],
        origins.first[kept],
        origins.last[kept],
        origins.since,
    )


def _kept(
    users: Sequence[str],
    names: Sequence[str],
    ends: Whole,
    columns: Whole,
    owners: Collection[str],
    terms: Collection[str] | None,
) -> Marks:
    """Return which cells stay: all but those of `owners` whose term is one of `terms`."""
    gone = np.array([name in terms for name in names]) if terms is not None else None
    kept = np.ones(int(ends[-1]), dtype=np.bool_)
    for row, user in enumerate(users):
        if user in owners:
            cells = slice(ends[row], ends[row + 1])
            kept[cells] = False if gone is None else ~gone[columns[cells]]
    return kept


def _rows(ends: Whole, kept: Marks) -> tuple[Ints, Ints]:
    """Return the rows that still have a cell, and where their cells end."""
    sizes = np.add.reduceat(kept, ends[:-1], dtype=np.int64)
    rows = np.flatnonzero(sizes)
    return rows, np.concatenate([[0], np.cumsum(sizes[rows])]).astype(np.int64)
