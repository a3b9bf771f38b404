"""The one row type of all measures, and summaries of rows: mean, extremes and quantiles."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Measurement(NamedTuple):
    """One value of one measure, for a user, for a group, or for the whole release."""

    name: str
    value: float
    user: str = ""
    group: str = ""
    low: float | None = None
    high: float | None = None


def by_group(
    name: str, values: NDArray[np.generic], groups: Iterable[str]
) -> Iterable[Measurement]:
    """Return a row called `name` for each of `groups`, with its value."""
    return map(Measurement, repeat(name), values.astype(float).tolist(), repeat(""), groups)


def by_user(name: str, values: NDArray[np.generic], users: Iterable[str]) -> Iterable[Measurement]:
    """Return a row called `name` for each of `users`, with its value."""
    return map(Measurement, repeat(name), values.astype(float).tolist(), users)


class MeasureSummary(NamedTuple):
    """A measure over all its users, over all its groups, or once for the release."""

    name: str
    of: str  # users, groups or release
    values: int
    mean: float
    least: float
    q05: float
    median: float
    q95: float
    most: float


def summarize(rows: Iterable[Measurement]) -> list[MeasureSummary]:
    """Return the summary of each name's rows, in the order in which `rows` have the names."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        of = "users" if row.user else "groups" if row.group else "release"
        values.setdefault((row.name, of), []).append(row.value)
    summaries = []
    for (name, of), numbers in values.items():
        mean = float(np.mean(numbers))
        quantiles = np.quantile(numbers, (0, 0.05, 0.5, 0.95, 1), method="inverted_cdf")
        summaries.append(MeasureSummary(name, of, len(numbers), mean, *map(float, quantiles)))
    return summaries
