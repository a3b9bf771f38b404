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
    return np.round(mix * cosines + (1 - mix) * scaled(scores), DECIMALS)


def scaled(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Scale BM25 scores to [0, 1] within the pool; equal ones are all 1."""
    wide = scores.astype(np.float64)
    if not wide.size or wide.max() == wide.min():
        return np.ones(wide.size)
    within: NDArray[np.float64] = (wide - wide.min()) / (wide.max() - wide.min())
    return within


def order(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return positions in the pool, best first; ties keep Lucene's order."""
    return np.argsort(-values, kind="stable").astype(np.int64)
