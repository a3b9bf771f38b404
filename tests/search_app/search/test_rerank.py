from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from search_app.search.rerank import blend, order

BM25 = np.array([8.0, 6.0, 4.0], dtype=np.float32)


def test_a_mix_is_of_the_cosine_and_of_bm25_scaled_to_the_pool() -> None:
    cosines = np.array([0.1, 0.9, 0.5])
    assert blend(cosines, BM25, 1.0).tolist() == [0.1, 0.9, 0.5]
    assert blend(cosines, BM25, 0.0).tolist() == [1.0, 0.5, 0.0]
    assert blend(np.array([0.2, 0.4]), np.ones(2, np.float32), 0.0).tolist() == [1, 1]
    assert blend(np.array([]), np.array([], np.float32), 0.5).tolist() == []


def test_differences_below_12_decimals_are_ties() -> None:
    assert order(blend(np.array([0.5, 0.5 + 1e-14, 0.7]), BM25, 1.0)).tolist() == [2, 0, 1]


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5]), max_size=40))
def test_order_is_a_permutation_by_value_then_place(values: list[float]) -> None:
    expected = sorted(range(len(values)), key=lambda at: (-values[at], at))
    assert order(np.array(values)).tolist() == expected
