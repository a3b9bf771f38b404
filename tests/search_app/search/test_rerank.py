from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from search_app.search.rerank import order


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5]), max_size=40))
def test_order_is_a_permutation_by_value_then_place(values: list[float]) -> None:
    expected = sorted(range(len(values)), key=lambda at: (-values[at], at))
    assert order(np.array(values)).tolist() == expected
