"""How like their own profile the row is that serves a user."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .group_counts import released_weights, row_of_each
from .measurement import Measurement, by_user

if TYPE_CHECKING:
    from ..model import Floats, Profiles, Release


def closeness(profiles: Profiles, release: Release) -> list[Measurement]:
    """Measure the cosine of each user's original profile and their released row."""
    row_of = row_of_each(profiles, release)
    own, _ = _to_one(profiles)
    rows, row_largest = _to_one(release.rows)
    heights = np.repeat(row_largest[row_of], profiles.sizes)
    products = own * (released_weights(profiles, release) / heights)
    dots = np.add.reduceat(products, profiles.weights.indptr[:-1])
    cosine = dots / (_lengths(own, profiles) * _lengths(rows, release.rows)[row_of])
    return list(by_user("cosine of user and row", np.minimum(cosine, 1.0), profiles.users))


def _to_one(profiles: Profiles) -> tuple[Floats, Floats]:
    """Return weights over their profile's largest, lest a square leaves the range of numbers."""
    weights = profiles.weights
    largest = np.maximum.reduceat(weights.data, weights.indptr[:-1])
    return weights.data / np.repeat(largest, profiles.sizes), largest


def _lengths(weights: Floats, profiles: Profiles) -> Floats:
    lengths: Floats = np.sqrt(np.add.reduceat(weights**2, profiles.weights.indptr[:-1]))
    return lengths
