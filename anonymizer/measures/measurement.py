"""The one row type of all measures, and summaries of rows: mean, extremes and quantiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints


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
    return [summary_of(name, of, numbers) for (name, of), numbers in values.items()]


def summary_of(name: str, of: str, values: Sequence[float] | Floats) -> MeasureSummary:
    """Return the summary of the measure `name`, which has these `values`: one for each `of`."""
    quantiles = np.quantile(values, (0, 0.05, 0.5, 0.95, 1), method="inverted_cdf")
    return MeasureSummary(name, of, len(values), float(np.mean(values)), *map(float, quantiles))


def spread(values: Floats, counts: Ints, quantiles: Sequence[float]) -> list[float]:
    """Return these `quantiles` of `values`, each of which occurs as often as `counts` say."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])
    wanted = np.maximum(np.ceil(np.array(quantiles) * reached[-1]), 1)
    at = np.searchsorted(reached, wanted)
    of_quantiles: list[float] = values[order[np.minimum(at, order.size - 1)]].tolist()
    return of_quantiles
