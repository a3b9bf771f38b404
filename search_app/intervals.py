"""How far a mean may be off: 95 % intervals by Student's t, which is honest for few values too."""

from __future__ import annotations

from math import sqrt

_LEVEL = 0.975  # 2.5 % lie beyond either end


def half_width(count: int, variance: float) -> float | None:
    """Return half a mean's interval, from the variance over n; None for fewer than 2 values."""
    if count < 2:
        return None
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, _LEVEL)) * sqrt(max(variance, 0.0) / (count - 1))
