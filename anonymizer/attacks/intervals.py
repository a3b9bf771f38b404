"""95 % intervals: Wilson's for shares of victims, the bootstrap over victims for all else."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..arrays import Floats

_Z = 1.959963984540054  # the normal distribution has 95 % within
DRAWS = 1000


class Estimate(NamedTuple):
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


def exact(value: float) -> Estimate:
    """Return `value`, counted over everybody, as an estimate without error."""
    return Estimate(value, value, value)


def wilson(successes: float, trials: int) -> Estimate:
    """Return the share of `successes` in `trials`; ties may count as parts of a success."""
    share = successes / trials
    middle = share + _Z**2 / (2 * trials)
    spread = _Z * math.sqrt(share * (1 - share) / trials + (_Z / (2 * trials)) ** 2)
    scale = 1 + _Z**2 / trials
    low, high = (middle - spread) / scale, (middle + spread) / scale
    return Estimate(share, max(0.0, min(low, share)), min(1.0, max(high, share)))


def ratio(parts: Floats, wholes: Floats, rng: np.random.Generator) -> Estimate | None:
    """Return the sum of `parts` over that of `wholes`, a number a victim, bootstrapped by `rng`.

    Return None where nothing is there to divide by.
    """
    return _ratio(parts, wholes, rng) if wholes.sum() else None


def mean(values: Floats, rng: np.random.Generator) -> Estimate:
    """Return the mean of `values`, one a victim, bootstrapped by `rng`."""
    return _ratio(values, np.ones(values.size), rng)


def _ratio(parts: Floats, wholes: Floats, rng: np.random.Generator) -> Estimate:
    drawn = rng.multinomial(parts.size, np.full(parts.size, 1 / parts.size), DRAWS)
    below = drawn @ wholes
    values = (drawn @ parts)[below > 0] / below[below > 0]
    low, high = np.quantile(values, (0.025, 0.975))
    return Estimate(float(parts.sum() / wholes.sum()), float(low), float(high))
