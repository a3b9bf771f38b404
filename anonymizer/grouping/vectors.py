"""Rows of a matrix, sparse or dense, as compiled loops read them: added up, multiplied, cleared."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from ..compiled import compiled


class MatrixRows(NamedTuple):
    """Row r has the values from starts[r] to starts[r + 1]; its columns start at columns_at[r]."""

    starts: Ints
    columns_at: Ints
    columns: NDArray[np.uint32]
    values: Floats


def rows_of(matrix: csr_matrix | Floats) -> MatrixRows:
    """Return `matrix` as the loops read it."""
    if isinstance(matrix, np.ndarray):
        count, width = matrix.shape
        starts = np.arange(count + 1, dtype=np.int64) * width
        values = np.ascontiguousarray(matrix, dtype=np.float64).ravel()
        return MatrixRows(starts, np.zeros_like(starts), np.arange(width, dtype=np.uint32), values)
    starts = matrix.indptr.astype(np.int64)
    # Without a sign, compiled code need not check for numbers that count from the end.
    columns = np.ascontiguousarray(matrix.indices, dtype=np.uint32)
    return MatrixRows(starts, starts, columns, np.ascontiguousarray(matrix.data, dtype=np.float64))


@compiled
def add(rows: Any, row: int, total: Any) -> None:
    """Add a row to a vector."""
    start, columns_at = rows.starts[row], rows.columns_at[row]
    for i in range(rows.starts[row + 1] - start):
        total[rows.columns[columns_at + i]] += rows.values[start + i]


@compiled
def clear(rows: Any, row: int, total: Any) -> None:
    """Put 0 wherever a row has a cell."""
    start, columns_at = rows.starts[row], rows.columns_at[row]
    for i in range(rows.starts[row + 1] - start):
        total[rows.columns[columns_at + i]] = 0.0


@compiled
def dot(rows: Any, row: int, vector: Any) -> float:
    """Return the product of a row with a vector."""
    start, columns_at = rows.starts[row], rows.columns_at[row]
    product = 0.0
    for i in range(rows.starts[row + 1] - start):
        product += vector[rows.columns[columns_at + i]] * rows.values[start + i]
    return product


@compiled
def dots(rows: Any, row: int, pair: Any) -> Any:
    """Return the products of a row with the two vectors in `pair`, side by side in memory."""
    start, columns_at = rows.starts[row], rows.columns_at[row]
    left, right = 0.0, 0.0
    for i in range(rows.starts[row + 1] - start):
        column, value = rows.columns[columns_at + i], rows.values[start + i]
        left += pair[column, 0] * value
        right += pair[column, 1] * value
    return left, right


@compiled
def root(square: float) -> float:
    """Return a length from its square, which rounding may have made negative."""
    return float(np.sqrt(max(square, 0.0)))


@compiled
def square(rows: Any, row: int) -> float:
    """Return the product of a row with itself."""
    product = 0.0
    for i in range(rows.starts[row], rows.starts[row + 1]):
        product += rows.values[i] * rows.values[i]
    return product
