"""Histories: each user's set of terms, which is all that (k,m)-anonymity speaks of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .model import Ints, Numbers, Profiles


class Histories(NamedTuple):
    """Cells of users x terms: row u is terms[ends[u]:ends[u + 1]], ascending, none twice."""

    ends: Ints
    terms: Numbers
    span: int  # terms are numbered from 0 to span - 1

    @property
    def users(self) -> int:
        """Count the users."""
        return self.ends.size - 1

    @property
    def row(self) -> Ints:
        """Return each cell's row."""
        return np.repeat(np.arange(self.users), np.diff(self.ends))


def histories_of(profiles: Profiles) -> Histories:
    """Return the histories of profiles, cell for cell."""
    weights = profiles.weights
    return Histories(
        weights.indptr.astype(np.int64), weights.indices.astype(np.int32), len(profiles.terms)
    )
