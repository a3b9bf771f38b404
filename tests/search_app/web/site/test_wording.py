"""Facts and moves in words."""

from __future__ import annotations

import pytest

from search_app.disclosure.numbers import hundredths, two_decimals
from search_app.web.wording import (
    logged_name,
    mode_name,
    move,
    moved_because,
    sees,
)


@pytest.mark.parametrize(
    ("rank", "plain", "shown", "expected"),
    [
        (4, 7, None, ("up", "▲ 3", "moved up 3, from 7 to 4")),
        (7, 4, 10, ("down", "▼ 3", "moved down 3, from 4 to 7")),
        (5, 5, 10, ("same", "–", "same place as in the plain order, 5")),
        (2, 37, 10, ("new", "▲ 35", "new among the first 10, up from 37 to 2")),
        (2, 10, 10, ("up", "▲ 8", "moved up 8, from 10 to 2")),
        (2, 37, None, ("up", "▲ 35", "moved up 35, from 37 to 2")),
        (11, 11, 10, ("same", "–", "same place as in the plain order, 11")),
    ],
)
def test_moves(rank: int, plain: int, shown: int | None, expected: tuple[str, str, str]) -> None:
    assert move(rank, plain, shown) == expected


@pytest.mark.parametrize(
    ("rank", "plain", "expected"),
    [
        (4, 7, "Up 3: shares tea with your group’s interests"),
        (7, 4, "Down 3, though it shares tea with your group’s interests"),
        (5, 5, "Shares tea with your group’s interests"),
    ],
)
def test_a_reason_begins_with_the_move(rank: int, plain: int, expected: str) -> None:
    assert moved_because(rank, plain, "Shares tea with your group’s interests") == expected
    assert moved_because(rank, plain, "") == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.125, "0.12"), (1.0, "1.00"), (-0.119, "−0.12"), (-0.001, "0.00"), (None, "–")],
)
def test_values_have_two_decimals_a_true_minus_and_no_minus_zero(
    value: float | None, text: str
) -> None:
    assert two_decimals(value) == text


def test_a_mode_is_named_by_the_rows_that_serve_it() -> None:
    assert mode_name("group:km", "My reduced profile") == "My reduced profile, km"
    assert mode_name("own", "My reduced profile") == "My own profile"
    assert logged_name("group", "km-anonymity k=5 m=2 0a1b") == "My reduced profile"
    assert logged_name("group", "p-linkability p=0.4 0a1b") == "My group"
    assert sees("none", "the query and a row") == "the query only"


def test_hundredths_are_rounded_as_the_two_decimals_are() -> None:
    for value in (0.975, 0.965, 0.005, 0.125, 1.0, 0.0, 1 / 3):
        assert int(hundredths(value)) == round(100 * float(two_decimals(value)))
