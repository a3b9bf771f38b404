"""Re-ranking a pool: by cosine with a profile or representative, blended with BM25 if asked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DECIMALS = 12


def blend(
    cosines: NDArray[np.float64], scores: NDArray[np.float32], mix: float
) -> NDArray[np.float64]:
    """Return mix · cosine + (1 - mix) · BM25 scaled to [0, 1] within the pool, rounded."""
    if mix == 1:
        return np.round(cosines, DECIMALS)
    return np.round(mix * cosines + (1 - mix) * _scaled(scores), DECIMALS)


def _scaled(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = scores.astype(np.float64)
    if not wide.size or wide.max() == wide.min():
        return np.ones(wide.size)
    scaled: NDArray[np.float64] = (wide - wide.min()) / (wide.max() - wide.min())
    return scaled


def order(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return positions in the pool, best first; ties keep Lucene's order."""
    return np.argsort(-values, kind="stable").astype(np.int64)
