"""Measurements in short: mean, extremes and quantiles, derived from the rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .measurement import Measurement


class Summary(NamedTuple):
    """What a measure is over all its users, over all its groups, or once for the release."""

    name: str
    of: str  # users, groups or release
    values: int
    mean: float
    least: float
    q05: float
    median: float
    q95: float
    most: float


def summarize(rows: Iterable[Measurement]) -> list[Summary]:
    """Sum up the rows of each name, in the order in which the names come."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        of = "users" if row.user else "groups" if row.group else "release"
        values.setdefault((row.name, of), []).append(row.value)
    return [_summary(*key, np.array(found)) for key, found in values.items()]


def _summary(name: str, of: str, values: np.ndarray) -> Summary:
    quantiles = np.quantile(values, (0, 0.05, 0.5, 0.95, 1), method="inverted_cdf")
    return Summary(name, of, values.size, float(values.mean()), *map(float, quantiles))
