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


# These hold no function. A method of their owner would keep the owner, and the files of an index
# that was replaced, until Python looks for cycles.
class PreparedInterests(Generic[Prepared]):
    """What was prepared for interests; the same mapping object is prepared only once."""

    def __init__(self) -> None:
        # Each mapping is kept: as long as it lives, no other object gets its id.
        self._known: dict[int, tuple[Mapping[str, float], Prepared]] = {}

    def of(
        self, interest: Mapping[str, float], prepare: Callable[[Mapping[str, float]], Prepared]
    ) -> Prepared:
        """Return what `prepare` returns for `interest`."""
        known = self._known.get(id(interest))
        if known is None or known[0] is not interest:
            known = interest, prepare(interest)
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[id(interest)] = known
        return known[1]

    def clear(self) -> None:
        """Keep no interest."""
        self._known.clear()


class PreparedPools(Generic[Prepared]):
    """What was prepared for the last pools, `most` of them at most."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[bytes, Prepared] = {}

    def of(self, rows: Ints, prepare: Callable[[Ints], Prepared]) -> Prepared:
        """Return what `prepare` returns for the pool of the documents `rows`."""
        key = rows.tobytes()
        known = self._known.get(key)
        if known is None:
            known = prepare(rows)
            if len(self._known) >= self._most:
                self._known.clear()
            self._known[key] = known
        return known

    def clear(self) -> None:
        """Keep no pool."""
        self._known.clear()


def order(values: Floats) -> Ints:
    """Return the positions of `values`, largest first; ties keep Lucene's order."""
    return np.argsort(-values, kind="stable").astype(np.int64)
