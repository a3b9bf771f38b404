"""Scores to an order: by cosine with a profile or representative, or by any other rule."""
# `best_first` in `experiments/modes.py` (many pools at once) and `web/static/ranking.js` (on a
# device) must give the same order.

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import numpy as np

from anonymizer.arrays import Floats, Ints

# Different ways to sum the same shares differ in the last digits. Rounding keeps such values equal,
# so that ties keep Lucene's order everywhere.
DECIMALS = 12
KEPT = 1024  # prepared interests in memory

Prepared = TypeVar("Prepared")


class PreparedInterests(Generic[Prepared]):
    """What `prepare` returns for interests; the same mapping object is prepared only once."""

    def __init__(self, prepare: Callable[[Mapping[str, float]], Prepared]) -> None:
        self._prepare = prepare
        # Each mapping is kept: as long as it lives, no other object gets its id.
        self._known: dict[int, tuple[Mapping[str, float], Prepared]] = {}

    def __call__(self, interest: Mapping[str, float]) -> Prepared:
        """Return `interest`, prepared."""
        known = self._known.get(id(interest))
        if known is None or known[0] is not interest:
            known = interest, self._prepare(interest)
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[id(interest)] = known
        return known[1]

    def clear(self) -> None:
        """Keep no interest."""
        self._known.clear()


def order(values: Floats) -> Ints:
    """Return the positions of `values`, largest first; ties keep Lucene's order."""
    return np.argsort(-values, kind="stable").astype(np.int64)
