"""Scores to an order: by cosine with a profile or representative, or by any other rule."""
# `best_first` in `experiments/modes.py` (many pools at once) and `web/static/ranking.js` (on a
# device) must give the same order.

from __future__ import annotations

import numpy as np

from anonymizer.arrays import Floats, Ints

# Different ways to sum the same shares differ in the last digits. Rounding keeps such values equal,
# so that ties keep Lucene's order everywhere.
DECIMALS = 12


def order(values: Floats) -> Ints:
    """Return the positions of `values`, largest first; ties keep Lucene's order."""
    return np.argsort(-values, kind="stable").astype(np.int64)
