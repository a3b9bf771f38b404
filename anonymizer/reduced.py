"""Reduced profiles: what a deletion leaves of each user's terms, as a release.

Each user who keeps a term has one row. Rows stand in the order of their content, so that their
names and places tell nothing of who has them; what was deleted of whom stays private.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .histories import by_content
from .model import BadInput, BadParameter, Ints, Profiles, Release, Unsatisfiable
from .representative import row_names

Marks = NDArray[np.bool_]


def reduced_release(
    profiles: Profiles,
    kept: Marks,
    passes: Ints,
    parameters: Mapping[str, Any],
    *,
    method: str,
    frequencies: str = "keep",
) -> Release:
    """Release the cells that are kept, one row a user; passes tell when the others were deleted.

    Users none of whose cells is kept have no row.
    """
    _check(profiles, kept, passes, frequencies)
    sizes = _sizes(profiles, kept)
    users = np.flatnonzero(sizes)
    if not users.size:
        raise Unsatisfiable(
            f"no term can be kept of {len(profiles)} users; take a smaller k or m, or more users"
        )
    ends = np.append(0, np.cumsum(sizes[users]))
    columns, weights = profiles.weights.indices[kept], profiles.weights.data[kept]
    if frequencies == "drop":
        weights = np.ones(weights.size)
    order = by_content(ends, columns, weights)
    rows = csr_matrix((weights, columns, ends), shape=(users.size, len(profiles.terms)))[order]
    row_of_user = np.empty(users.size, dtype=np.int64)
    row_of_user[order] = np.arange(users.size)
    return Release(
        _over_used(row_names(users.size, set(profiles.users)), profiles.terms, rows),
        tuple(profiles.users[user] for user in users.tolist()),
        row_of_user,
        method,
        dict(parameters),
        {"users_left_out": len(profiles) - users.size},
        _deletions(profiles, ~kept, passes),
    )


def _check(profiles: Profiles, kept: Marks, passes: Ints, frequencies: str) -> None:
    if frequencies not in ("keep", "drop"):
        raise BadParameter(f"frequencies={frequencies} must be one of drop, keep")
    cells = profiles.weights.nnz
    if kept.shape != (cells,) or passes.shape != (cells,):
        raise BadInput(f"{kept.size} marks and {passes.size} passes are not for {cells} cells")
    if not np.array_equal(passes == 0, kept) or passes.min(initial=0) < 0:
        raise BadInput("a cell is deleted in a pass from 1, or kept, which is pass 0")


def _sizes(profiles: Profiles, cells: Marks) -> Ints:
    """Count the marked cells of each user."""
    return np.diff(np.append(0, np.cumsum(cells))[profiles.weights.indptr]).astype(np.int64)


def _over_used(names: tuple[str, ...], terms: tuple[str, ...], cells: csr_matrix) -> Profiles:
    """Return rows over the terms that stand in one of them."""
    used = np.unique(cells.indices)
    column = np.zeros(len(terms), dtype=cells.indices.dtype)
    column[used] = np.arange(used.size)
    entries = (cells.data, column[cells.indices], cells.indptr)
    found = csr_matrix(entries, shape=(len(names), used.size))
    return Profiles(names, tuple(terms[c] for c in used.tolist()), found)


def _deletions(profiles: Profiles, deleted: Marks, passes: Ints) -> Profiles | None:
    """Return the pass in which each cell was deleted, of the users who lost one."""
    sizes = _sizes(profiles, deleted)
    losers = np.flatnonzero(sizes)
    if not losers.size:
        return None
    entries = (
        passes[deleted].astype(np.float64),
        profiles.weights.indices[deleted],
        np.append(0, np.cumsum(sizes[losers])),
    )
    cells = csr_matrix(entries, shape=(losers.size, len(profiles.terms)))
    users = tuple(profiles.users[user] for user in losers.tolist())
    return _over_used(users, profiles.terms, cells)
