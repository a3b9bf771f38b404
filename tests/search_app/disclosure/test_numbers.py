"""Numbers in words: what happens at worst is never rounded down."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_app.disclosure.numbers import at_worst, rounded_up, up_to


@pytest.mark.parametrize(
    ("share", "decimals", "words"),
    [
        (0.0, "0.00", "up to 0"),
        (1e-6, "0.01", "up to 1"),
        (0.1 + 0.2, "0.30", "up to 30"),  # 0.30000000000000004 is 0.3, computed
        (0.3001, "0.31", "up to 31"),
        (0.3999, "0.40", "up to 40"),
        (0.98, "0.98", "up to 98"),
        (0.981, "0.99", "up to 99"),
        (0.994, "over 0.99", "more than 99"),
        (0.99999, "over 0.99", "more than 99"),
        (1 - 1e-12, "1.00", "up to 100"),  # one, computed
        (1.0, "1.00", "up to 100"),
    ],
)
def test_what_happens_at_worst_is_rounded_up(share: float, decimals: str, words: str) -> None:
    assert (at_worst(share), up_to(share)) == (decimals, words)


@given(st.floats(0, 1))
def test_no_worst_case_looks_better_than_it_is_or_certain_where_it_is_not(share: float) -> None:
    noise = 1e-8
    assert share - noise <= rounded_up(share) / 100 < share + 0.01 + noise
    text, words = at_worst(share), up_to(share)
    if text == "1.00":
        assert share >= 1 - noise
    if text.startswith("over"):
        assert words == "more than 99"
        assert 0.99 < share < 1
    else:
        assert words == f"up to {round(100 * float(text))}"
