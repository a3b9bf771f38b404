"""Facts and moves in words."""

from __future__ import annotations

import pytest

from search_app.web.facts import privacy_facts
from search_app.web.wording import (
    hundredths,
    logged_name,
    mode_name,
    move,
    moved_because,
    sees,
    two_decimals,
    unparted,
)

FACTS = {
    "groups": 1200,
    "smallest_group": 3,
    "average_linkability": 0.4,
    "worst_linkability": 1.0,
    "change_of_belief": 0.994,
    "p": 0.4,
}


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


def test_no_line_begins_with_the_dot_after_a_name() -> None:
    assert unparted("Mira · coffee, tea") == "Mira\u00a0· coffee, tea"
    assert unparted("Mira") == "Mira"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.125, "0.12"), (1.0, "1.00"), (-0.119, "−0.12"), (-0.001, "0.00"), (None, "–")],
)
def test_values_have_two_decimals_a_true_minus_and_no_minus_zero(
    value: float | None, text: str
) -> None:
    assert two_decimals(value) == text


def test_what_the_server_sees_names_how_many_share_the_row() -> None:
    assert sees("group", 1) == (
        "the query and a row, but this row is one person’s own profile: it hides nothing"
    )
    assert sees("group", 1200) == "the query and a row shared by 1,200 people"
    assert sees("group", None) == "the query and the group’s row"


def test_a_row_of_one_person_is_named_for_what_it_is() -> None:
    left = "the query and what a deletion has left of the own profile"
    assert {sees("group", sharing, lone=True) for sharing in (1, None)} == {left}
    assert sees("none", None, lone=True) == "the query only"
    assert mode_name("group", lone=True) == "My reduced profile"
    assert mode_name("group:km", lone=True) == "My reduced profile, km"
    assert mode_name("own", lone=True) == mode_name("own")
    assert logged_name("group", "km-anonymity k=5 m=2 0a1b") == "My reduced profile"
    assert logged_name("group", "p-linkability p=0.4 0a1b") == "My group"


def test_facts_say_what_they_mean() -> None:
    sharing, average, worst, belief = privacy_facts(FACTS, 4)
    assert (sharing.value, average.value, worst.value, belief.value) == (
        "4",
        "0.40",
        "1.00",
        "0.99",
    )
    assert "smallest of the 1,200 groups has 3" in sharing.meaning
    assert "at most p = 0.40" in average.meaning
    assert "every member has the same term" in worst.meaning
    assert "up to 99 percentage points" in belief.meaning


def test_the_average_is_told_as_what_it_is_with_the_measured_share_beside_it() -> None:
    (fact,) = privacy_facts({"average_linkability": 0.4, "share_linkability": 0.45, "p": 0.4})
    assert "mean size of all profiles, divided by how many different terms" in fact.meaning
    assert "the same only if all profiles are equally long" in fact.meaning
    assert "(measured: up to 0.45 in a group)" in fact.meaning
    (fact,) = privacy_facts({"average_linkability": 0.4})
    assert "measured" not in fact.meaning
    (fact,) = privacy_facts({"average_linkability": 0.4, "share_linkability": 0.4})
    assert fact.meaning.startswith("The share of members who have a term, averaged over the terms")


@pytest.mark.parametrize(
    ("rows", "meaning"),
    [
        (1, "1 row is one person’s own profile: nothing is hidden there."),
        (9, "9 rows are one person’s own profile: nothing is hidden there."),
    ],
)
def test_rows_of_one_person_are_told(rows: int, meaning: str) -> None:
    (fact,) = privacy_facts({"single_person_rows": rows})
    assert (fact.value, fact.meaning) == (str(rows), meaning)
    assert privacy_facts({"single_person_rows": 0}) == []


def test_a_row_of_one_person_is_told_as_their_own_profile() -> None:
    (fact,) = privacy_facts({}, 1)
    assert fact.meaning == "This row is one person’s own profile: it hides nothing."


def test_a_worst_case_below_certainty_is_said_in_percent() -> None:
    (fact,) = privacy_facts({"worst_linkability": 0.75})
    assert "right in at most 75 % of cases" in fact.meaning


def test_facts_that_were_not_measured_are_left_out() -> None:
    assert privacy_facts({}) == []
    assert privacy_facts({"p": None, "average_linkability": 0.4})[0].meaning.count("p =") == 0
    assert [fact.value for fact in privacy_facts({}, 4)] == ["4"]


def test_hundredths_are_rounded_as_the_two_decimals_are() -> None:
    for value in (0.975, 0.965, 0.005, 0.125, 1.0, 0.0, 1 / 3):
        assert int(hundredths(value)) == round(100 * float(two_decimals(value)))
