"""Values counted in the bars of a histogram; pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARES = 20  # bars from 0 to 1
_MOST = 24  # bars of whole numbers
_TAIL = 0.01  # of all that is counted may share the last bar
_ROUNDING = 1e-9  # a share like 7 / 20 stands at its bar's edge, whichever way it was rounded


class Bar(NamedTuple):
    """How many values lie from low to high: both included, or of shares high only in the last."""

    low: float
    high: float
    number: int


def share_counts(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count values from 0 to 1 in bars of equal width."""
    bars = np.floor(shares * SHARES + _ROUNDING).astype(np.int64)
    return np.bincount(np.clip(bars, 0, SHARES - 1), minlength=SHARES)


def share_bars(counts: Iterable[int]) -> list[Bar]:
    """Return bars of equal width from 0 to 1."""
    return [Bar(at / SHARES, (at + 1) / SHARES, int(n)) for at, n in enumerate(counts)]


def whole_bars(counts: NDArray[np.int64]) -> list[Bar]:
    """Return bars of whole numbers, counts[n] times n each; a long tail shares the last bar."""
    found = np.flatnonzero(counts)
    if not found.size:
        return []
    low, high = int(found[0]), int(found[-1])
    up_to = np.cumsum(counts)
    body = int(np.searchsorted(up_to, (1 - _TAIL) * up_to[-1]))
    width = -(-(body - low + 1) // _MOST)
    edges = list(range(low, body + 1, width))
    bars = [Bar(at, at + width - 1, int(counts[at : at + width].sum())) for at in edges]
    if (rest := edges[-1] + width) <= high:
        bars.append(Bar(rest, high, int(counts[rest:].sum())))
    return bars


def exact(counts: NDArray[np.int64]) -> list[Bar]:
    """Return a bar for each whole number that occurs."""
    return [Bar(int(n), int(n), int(counts[n])) for n in np.flatnonzero(counts)]


def quantile(counts: NDArray[np.int64], share: float) -> int:
    """Return the smallest number that this share of all that is counted does not exceed."""
    up_to = np.cumsum(counts)
    return int(np.searchsorted(up_to, share * up_to[-1]))
