"""Reduced profiles: the terms that each user keeps after a deletion, as a release.

Each user who keeps a term has one row. Rows stand in the order of their content, so their names and
places reveal nothing about their users. What was deleted of each user stays private.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints, Marks
from ..deletion.histories import by_content
from ..errors import Unsatisfiable
from ..model import Profiles, Release
from ..promise import Promise
from .representative import named_rows, over_used


def reduced_release(
    profiles: Profiles,
    kept: Marks,
    passes: Ints,
    parameters: Mapping[str, Any],
    *,
    method: str,
    promise: Promise,
    frequencies: str = "keep",
) -> Release:
    """Return the release of the `kept` cells of `profiles`; others were deleted in `passes`."""
    sizes = _sizes(profiles, kept)
    users = np.flatnonzero(sizes)
    if not users.size:
        raise Unsatisfiable(
            f"none of {len(profiles)} users can keep a term; take a smaller k or m, or more users"
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
        named_rows(profiles, rows),
        tuple(profiles.users[user] for user in users.tolist()),
        row_of_user,
        method,
        dict(parameters),
        {"users_left_out": len(profiles) - users.size},
        deletions_of(profiles, ~kept, passes),
        promise=promise,
    )


def _sizes(profiles: Profiles, cells: Marks) -> Ints:
    """Return the number of marked cells of each user."""
    return np.diff(np.append(0, np.cumsum(cells))[profiles.weights.indptr]).astype(np.int64)


def deletions_of(profiles: Profiles, deleted: Marks, passes: Ints) -> Profiles | None:
    """Return the pass of each `deleted` cell of `profiles`, for the users who lost one."""
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
    return over_used(users, profiles.terms, cells)
