"""What rows of one person each are like, counted once: how long, how usual, how much is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.model import Floats, Ints, Profiles, Release

from .lone_rows import rarest, rows_having


@dataclass(frozen=True, eq=False)
class RowFigures:
    """A release's rows of one person each, in numbers."""

    having: Ints  # by released term: rows that have it
    rarest: Ints  # by row: rows that have its rarest term
    kept: Floats  # by person of the profiles: the share of their terms that is left

    @property
    def rowless(self) -> int:
        """Count the people of whom nothing is left."""
        return int(np.count_nonzero(self.kept == 0))


def row_figures(release: Release, profiles: Profiles | None) -> RowFigures:
    """Count the rows; what is left of the people is known only beside their profiles."""
    return RowFigures(rows_having(release), rarest(release), _kept(release, profiles))


def _kept(release: Release, profiles: Profiles | None) -> Floats:
    if profiles is None or not profiles.row_of.keys() >= set(release.users):
        return np.zeros(0)
    left = np.zeros(len(profiles))
    people = [profiles.row_of[user] for user in release.users]
    left[people] = release.rows.sizes[release.row_of_user]
    kept: Floats = left / profiles.sizes
    return kept
