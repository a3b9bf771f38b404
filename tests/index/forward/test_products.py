from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import random_array

from index.forward.products import row_parts, row_products

COLUMNS = 40


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.int32])
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), rows=st.lists(st.integers(0, 29), max_size=70))
def test_equals_scipy(kind: type, seed: int, rows: list[int]) -> None:
    rng = np.random.default_rng(seed)
    matrix = random_array((30, COLUMNS), density=rng.random(), rng=rng, format="csr")
    matrix.data = rng.integers(1, 255, matrix.data.size).astype(float)
    vector = rng.random(COLUMNS) * (rng.random(COLUMNS) < 0.3)
    chosen = np.array(rows, dtype=np.int64)
    columns, values = matrix.indices.astype(kind), matrix.data.astype(np.uint16)
    found = row_products(chosen, matrix.indptr.astype(np.int64), columns, values, vector)
    np.testing.assert_allclose(found, matrix[chosen] @ vector, rtol=1e-13)


def test_parts_are_the_summands_of_a_product() -> None:
    starts, columns = np.array([0, 2, 3]), np.array([0, 2, 1], dtype=np.uint16)
    tf = np.array([3, 1, 2], dtype=np.uint8)
    places = np.array([1, -1, 0])  # column 0 is asked for second, column 2 first, column 1 not
    found = row_parts(np.array([1, 0]), starts, columns, tf, places, np.array([0.25, 0.5]))
    assert found.tolist() == [[0.0, 0.0], [1 * 0.25, 3 * 0.5]]
