"""TEMPORARY: shares that a release keeps, until the real file takes its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .group_counts import released_weights
from .measurement import Measurement

if TYPE_CHECKING:
    from ..marketing import MarketingTable
    from ..model import Profiles, Release


def kept_value(
    profiles: Profiles, release: Release, table: MarketingTable | None = None
) -> list[Measurement]:
    """Measure the shares kept of terms, log size, users, and of what a table values."""
    from ..marketing import values_of

    kept = released_weights(profiles, release) > 0
    weights, columns = profiles.weights.data, profiles.weights.indices
    terms = np.unique(columns[kept]).size / np.unique(columns).size
    found = [
        Measurement("distinct terms", terms),
        Measurement("log size", float(weights[kept].sum() / weights.sum())),
        Measurement("users", len(release.users) / len(profiles)),
    ]
    for what in ("bid", "clicks", "impressions", "revenue") if table else ():
        value = weights * values_of(table, profiles.terms, what)[columns]
        found.append(Measurement(what, float(value[kept].sum() / value.sum())))
    return found
