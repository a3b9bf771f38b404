"""Re-ranking a pool by cosine with a profile or representative, blended with BM25 if `mix` < 1."""
# `best_first` in `experiments/modes.py` (many pools at once) and `web/static/ranking.js` (on a
# device) must give the same order.

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anonymizer.arrays import Floats, Ints

# Different ways to sum the same shares differ in the last digits. Rounding keeps such values equal,
# so that ties keep Lucene's order everywhere.
DECIMALS = 12


def blend(cosines: Floats, scores: NDArray[np.float32], mix: float) -> Floats:
    """Return `mix` · cosine + (1 - `mix`) · BM25, with BM25 scaled to [0, 1]; rounded."""
    if mix == 1:
        return np.round(cosines, DECIMALS)
    return np.round(mix * cosines + (1 - mix) * scaled(scores), DECIMALS)


def scaled(scores: NDArray[np.float32]) -> Floats:
    """Return BM25 `scores` scaled to [0, 1] within the pool; 1 for all if they are equal."""
    wide = scores.astype(np.float64)
    if not wide.size or wide.max() == wide.min():
        return np.ones(wide.size)
    within: Floats = (wide - wide.min()) / (wide.max() - wide.min())
    return within


def order(values: Floats) -> Ints:
    """Return the positions of `values`, largest first; ties keep Lucene's order."""
    return np.argsort(-values, kind="stable").astype(np.int64)
