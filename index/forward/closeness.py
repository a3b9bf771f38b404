"""How close many sparse vectors are to pools: the mean of each one's largest products with them.

Most of the time goes into products that are the same in each pool. `settle` prepares them for all
documents, in steps of 2 bytes. Steps say which vectors are closer than a number, and which are not.
Where they can't tell, closeness is computed. So the answers are the same to the bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model import Floats, Ints, Whole
from .products import STEPS, largest_of_many, largest_steps, steps_of_many
from .reading import DIGITS, Forward

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

SURELY = 0.01  # steps
CELLS = 1 << 26  # steps in memory, of 2 bytes; for more documents times vectors, all is computed


class PoolCloseness(NamedTuple):
    """What is prepared of a pool: how close each vector is to it, known or in steps."""

    rows: Ints  # checked
    known: Floats | None
    sums: Ints  # of the largest steps; none where closeness is known


class VectorCloseness:
    """Sparse vectors, each less some of what is common, and how close they are to pools.

    `vectors` has a row each, and all columns of the index. `less` says how many times what is
    common is taken from each, and `common` how much of it each document of the index has.
    VectorCloseness is the mean of the `most` largest products with documents of length 1, rounded.
    """

    def __init__(
        self,
        forward: Forward,
        vectors: csc_matrix,
        less: Floats,
        common: Floats,
        most: int,
        form: str = "tfidf",
    ) -> None:
        self._forward, self._less, self._common, self._most = forward, less, common, most
        self._lengths = forward.lengths(form)
        # Without a sign, no place is counted from the end; and small numbers stay in the cache.
        number = np.min_scalar_type(less.size)
        starts, numbers = vectors.indptr.astype(np.uint32), vectors.indices.astype(number)
        self._columns = starts, numbers, vectors.data
        self._steps: Whole | None = None

    def settle(self) -> None:
        """Prepare all documents for `closer`, unless that takes too much memory."""
        if self._steps is None and 0 < self._lengths.size * self._less.size <= CELLS:
            matrix = self._forward.counts
            self._steps = steps_of_many(
                self._lengths, matrix, self._columns, self._less, self._common
            )

    def of(self, rows: Ints) -> Floats:
        """Return how close each vector is to the documents `rows`."""
        pool = self._forward.checked(rows), self._lengths, self._forward.counts
        close = largest_of_many(*pool, self._columns, self._less, self._common, self._most)
        return np.round(close, DIGITS)

    def prepared(self, rows: Ints) -> PoolCloseness:
        """Return what `closer` needs of the documents `rows`."""
        rows = self._forward.checked(rows)
        if self._steps is None or not rows.size:
            return PoolCloseness(rows, self.of(rows), np.zeros(0, np.int64))
        return PoolCloseness(rows, None, largest_steps(rows, self._steps, self._most))

    def closer(self, pool: PoolCloseness, than: float, but: int = -1) -> int:
        """Return how many vectors are less close to `pool` than the number `than` is.

        The vector of number `but` is not counted.
        """
        known, most = pool.known, min(self._most, pool.rows.size)
        if known is None:
            limit = (than + 1) * (STEPS / 2) * most
            # A step is that much and more, and less than one more; rounding is far below SURELY.
            less = pool.sums + (1 + SURELY) * most < limit
            unsure = less != (pool.sums - SURELY * most < limit)
            if np.count_nonzero(unsure) > (but >= 0 and unsure[but]):
                known = self.of(pool.rows)
        if known is not None:
            less = known < than
        return int(np.count_nonzero(less)) - int(but >= 0 and less[but])
