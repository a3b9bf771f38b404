"""How close many sparse vectors are to pools: the mean of each one's largest products with them.

Most of the time goes into products that are the same in each pool. `settle` prepares them for all
documents, in steps of 2 bytes. Steps say which vectors are closer than a number, and which are not;
the few that they can't tell apart are computed. So the answers are the same to the bit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..model import Floats, Ints, Whole
from .products import (
    HELD,
    LINE,
    fewer_steps,
    largest,
    largest_of_many,
    largest_steps,
    products_of_some,
    steps_of_many,
)
from .reading import DIGITS, Forward

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

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
    Closeness is the mean of the `most` largest products with documents of length 1, rounded.
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
        by_column, by_vector = vectors.tocsc(), vectors.tocsr()
        self._columns = (
            *(by_column.indptr.astype(np.uint32), by_column.indices.astype(number)),
            by_column.data,
        )
        self._vectors = (
            *(by_vector.indptr.astype(np.uint32), by_vector.indices.astype(np.uint32)),
            by_vector.data,
        )
        self._steps: Whole | None = None

    def settle(self) -> None:
        """Prepare all documents for `closer`, unless that takes too much memory."""
        # Whole cache lines are compared faster than their parts.
        shape = self._lengths.size, self._less.size + -self._less.size % LINE
        if self._steps is None and 0 < math.prod(shape) <= CELLS and self._most <= HELD:
            steps, matrix = np.zeros(shape, np.uint16), self._forward.counts
            steps_of_many(self._lengths, matrix, self._columns, self._less, self._common, steps)
            self._steps = steps

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
        sums = largest_steps(rows, self._steps, self._most)
        return PoolCloseness(rows, None, sums[: self._less.size])

    def closer(self, pool: PoolCloseness, than: float, but: int = -1) -> int:
        """Return how many vectors are less close to `pool` than the number `than` is.

        The vector of number `but` is not counted.
        """
        if pool.known is not None:
            return int(np.count_nonzero(pool.known < than)) - int(
                but >= 0 and pool.known[but] < than
            )
        count, some = fewer_steps(pool.sums, than, but, pool.rows, self._most)
        if some.size:
            counts, chosen = self._forward.counts, (some, self._less[some])
            blank = self._forward.blank
            products = products_of_some(
                pool.rows, self._lengths, counts, self._vectors, chosen, self._common, blank
            )
            close = np.round(largest(products, self._most), DIGITS)
            count += int(np.count_nonzero(close < than))
        return count
