"""Histograms: values counted in bars, and a sentence about them; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARES = 20  # bars from 0 to 1
LEAST = 1e-12  # the share at which a quantile is the smallest number
_MOST = 24  # bars of whole numbers
_TAIL = 0.01  # the largest share of all values that the last bar joins
# A share such as 7 / 20 is a bar's edge, but as a float it can lie just below; it counts as above.
_ROUNDING = 1e-9


class Bar(NamedTuple):
    """How many values lie from `low` to `high`, both included; shares: `high` in the last only."""

    low: float
    high: float
    number: int


def share_counts(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many `shares` lie in each of `SHARES` bars of equal width from 0 to 1."""
    bars = np.floor(shares * SHARES + _ROUNDING).astype(np.int64)
    return np.bincount(np.clip(bars, 0, SHARES - 1), minlength=SHARES)


def share_bars(counts: Iterable[int]) -> list[Bar]:
    """Return bars of equal width from 0 to 1, with these `counts`."""
    return [Bar(at / SHARES, (at + 1) / SHARES, int(n)) for at, n in enumerate(counts)]


def whole_bars(counts: NDArray[np.int64]) -> list[Bar]:
    """Return bars of whole numbers, n of which are `counts[n]`; the last bar joins a long tail."""
    numbers = np.flatnonzero(counts)
    if not numbers.size:
        return []
    low, high = int(numbers[0]), int(numbers[-1])
    up_to = np.cumsum(counts)
    body = int(np.searchsorted(up_to, (1 - _TAIL) * up_to[-1]))
    width = -(-(body - low + 1) // _MOST)
    edges = list(range(low, body + 1, width))
    bars = [Bar(at, at + width - 1, int(counts[at : at + width].sum())) for at in edges]
    if (rest := edges[-1] + width) <= high:
        bars.append(Bar(rest, high, int(counts[rest:].sum())))
    return bars


def exact(counts: NDArray[np.int64]) -> list[Bar]:
    """Return a bar for each whole number that occurs in `counts`."""
    return [Bar(int(n), int(n), int(counts[n])) for n in np.flatnonzero(counts)]


def quantile(counts: NDArray[np.int64], share: float) -> int:
    """Return the smallest number that at least `share` of the counted numbers do not exceed."""
    up_to = np.cumsum(counts)
    return int(np.searchsorted(up_to, share * up_to[-1]))


class Histogram(NamedTuple):
    """A histogram to draw: what it is of, its numbers, and a sentence on what to see."""

    name: str
    heading: str
    across: str
    up: str
    head: tuple[str, ...]  # columns of its CSV file
    counts: NDArray[np.int64]
    sentence: str
    shares: bool = False  # counts are those of share_counts; else counts[n] things have n each


def spread(counts: NDArray[np.int64], sentence: str, **more: str) -> str:
    """Return `sentence` with {low}, {half} and {high}: the least, median and largest number."""
    low, half, high = (quantile(counts, share) for share in (LEAST, 0.5, 1))
    return sentence.format(low=f"{low:,}", half=f"{half:,}", high=f"{high:,}", **more)
