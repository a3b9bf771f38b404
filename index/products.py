"""The one hot loop of re-ranking, compiled: products of sparse rows with a dense vector.

SciPy copies the rows before it multiplies them; this reads them where they lie, in half the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def _compiled(function: Callable[..., None]) -> Callable[..., None]:
    """Compile a loop, and keep the machine code for the next process where that can be written."""
    try:
        compiled: Callable[..., None] = njit(nogil=True, cache=True)(function)
    except RuntimeError:  # neither this folder nor the user's cache may be written to
        compiled = njit(nogil=True)(function)
    return compiled


@_compiled
def _multiply(
    rows: Any, starts: Any, columns: Any, values: Any, vector: Any, products: Any
) -> None:
    """Sum each row in four parts, so that no sum waits for the one before."""
    for at in range(rows.size):
        low, high = starts[rows[at]], starts[rows[at] + 1]
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        fours = low + (high - low) // 4 * 4
        for i in range(low, fours, 4):
            one += values[i] * vector[columns[i]]
            two += values[i + 1] * vector[columns[i + 1]]
            three += values[i + 2] * vector[columns[i + 2]]
            four += values[i + 3] * vector[columns[i + 3]]
        for i in range(fours, high):
            one += values[i] * vector[columns[i]]
        products[at] = (one + two) + (three + four)


def row_products(
    rows: NDArray[np.int64],
    starts: NDArray[Any],
    columns: NDArray[Any],
    values: NDArray[Any],
    vector: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Multiply some rows of a CSR matrix (starts, columns, values) with a vector."""
    products = np.empty(rows.size)
    _multiply(rows, starts, columns, values, vector, products)
    return products
