"""The one row type of all measures."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Measurement(NamedTuple):
    """One value of one measure, of a user, of a group, or of the whole release."""

    name: str
    value: float
    user: str = ""
    group: str = ""
    low: float | None = None
    high: float | None = None


def by_group(
    name: str, values: NDArray[np.generic], groups: Iterable[str]
) -> Iterable[Measurement]:
    """Return a row for each group."""
    return map(Measurement, repeat(name), values.astype(float).tolist(), repeat(""), groups)


def by_user(name: str, values: NDArray[np.generic], users: Iterable[str]) -> Iterable[Measurement]:
    """Return a row for each user."""
    return map(Measurement, repeat(name), values.astype(float).tolist(), users)
