"""Rows of a matrix, sparse or dense, as compiled loops read them: added up, multiplied, cleared."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from .compiled import compiled
from .model import Floats


class Rows(NamedTuple):
    """The cells of row r are starts[r] .. starts[r + 1]; columns_at[r] is its first column number.

    The rows of a dense matrix all share the same column numbers.
    """

    starts: Any
    columns_at: Any
    columns: Any
    values: Any


def rows_of(matrix: csr_matrix | Floats) -> Rows:
    """Lay out a matrix for the loops."""
    if isinstance(matrix, np.ndarray):
        count, width = matrix.shape
        starts = np.arange(count + 1, dtype=np.int64) * width
        values = np.ascontiguousarray(matrix, dtype=np.float64).ravel()
        return Rows(starts, np.zeros_like(starts), np.arange(width, dtype=np.uint32), values)
    starts = matrix.indptr.astype(np.int64)
    columns = np.ascontiguousarray(matrix.indices, dtype=np.uint32)  # no sign: nothing to check
    return Rows(starts, starts, columns, np.ascontiguousarray(matrix.data, dtype=np.float64))


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
    """Multiply a row with a vector."""
    start, columns_at = rows.starts[row], rows.columns_at[row]
    product = 0.0
    for i in range(rows.starts[row + 1] - start):
        product += vector[rows.columns[columns_at + i]] * rows.values[start + i]
    return product


@compiled
def dots(rows: Any, row: int, pair: Any) -> Any:
    """Multiply a row with two vectors that lie side by side in memory."""
    start, columns_at = rows.starts[row], rows.columns_at[row]
    left, right = 0.0, 0.0
    for i in range(rows.starts[row + 1] - start):
        column, value = rows.columns[columns_at + i], rows.values[start + i]
        left += pair[column, 0] * value
        right += pair[column, 1] * value
    return left, right


@compiled
def square(rows: Any, row: int) -> float:
    """Multiply a row with itself."""
    product = 0.0
    for i in range(rows.starts[row], rows.starts[row + 1]):
        product += rows.values[i] * rows.values[i]
    return product
