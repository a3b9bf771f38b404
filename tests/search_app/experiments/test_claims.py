"""Claims: what certain, slight, reversed and unsure differences are called."""

from __future__ import annotations

import numpy as np
import pytest

from search_app.experiments.claims import (
    Side,
    at_most,
    each_greater,
    greater,
    listed,
    p_text,
    rising,
    settle,
    signed,
    stated,
    steps_of,
)
from search_app.experiments.report import FAILS, HOLDS, UNDECIDED

LOW = Side("low", np.linspace(0.2, 0.4, 20))


def above(gap: float, name: str = "high") -> Side:
    return Side(name, LOW.people + gap)


def verdict(high: Side, low: Side = LOW, least: float = 0.0) -> str:
    return settle([greater("t", "s", high, low, least=least)])[0].verdict


def test_a_sure_difference_holds_and_a_reversed_one_does_not() -> None:
    assert verdict(above(0.1)) == HOLDS
    assert verdict(above(-0.1)) == FAILS


def test_none_and_a_slight_one_do_not_hold() -> None:
    assert verdict(above(0.0)) == FAILS
    unsure = np.tile([0.004, -0.003], 10)  # mean .0005, surely below .005, but not surely above 0
    assert verdict(Side("high", LOW.people + unsure)) == FAILS


def test_an_unsure_one_is_undecided() -> None:
    unsure = np.tile([0.3, -0.2], 10)  # mean .05, standard error .06
    assert verdict(Side("high", LOW.people + unsure)) == UNDECIDED


def test_a_least_difference_is_part_of_the_claim() -> None:
    assert verdict(above(0.03), least=0.02) == HOLDS
    assert verdict(above(0.019), least=0.02) == FAILS
    unsure = np.tile([0.09, -0.04], 10)  # mean .025
    assert verdict(Side("high", LOW.people + unsure), least=0.02) == UNDECIDED


def test_all_tests_are_one_family() -> None:
    # five people: all signs alike happen in 2 of 32 ways; no correction makes .0625 sure
    none, nan = Side("low", np.zeros(7)), float("nan")
    drafts = [
        greater("t", "s", Side("high", np.array([1, 1, 1, 1, 1, nan, nan])), none),
        greater("t", "s", Side("high", np.ones(7)), none),
    ]
    first, second = settle(drafts)
    assert first.verdict == UNDECIDED
    assert second.verdict == HOLDS
    assert first.p == pytest.approx(2 / 32)  # the greater of two: times one
    assert second.p == pytest.approx(2 * 2 / 128)  # the lesser: times two


def test_who_has_no_value_is_left_out_of_both() -> None:
    high = Side("high", np.array([1.0, np.nan, 0.5]))
    (step,) = steps_of([(high, Side("low", np.array([0.5, 9.0, 0.25])))])
    assert step.means == (0.75, 0.375)
    assert step.people == 2
    assert step.difference.mean == 0.375


def test_a_chain_holds_if_each_step_does() -> None:
    chain = [LOW, above(0.1, "middle"), above(0.2, "top")]
    (held,) = settle([rising("t", "s", chain)])
    assert held.verdict == HOLDS
    assert held.finding == (
        "AP is 0.300 for low, 0.400 for middle and 0.500 for top; the steps are "
        "+0.100 (+0.100 to +0.100) and +0.100 (+0.100 to +0.100)."
    )
    assert held.p is not None
    assert held.p < 0.05
    (broken,) = settle([rising("t", "s", [LOW, above(0.2, "middle"), above(0.2, "top")])])
    assert broken.verdict == FAILS


def test_each_of_several_pairs_must_hold() -> None:
    pairs = [(above(0.1, "a"), LOW), (above(0.2, "b"), LOW)]
    assert settle([each_greater("t", "s", pairs)])[0].verdict == HOLDS
    pairs.append((above(-0.1, "c"), LOW))
    (claim,) = settle([each_greater("t", "s", pairs)])
    assert claim.verdict == FAILS
    assert claim.finding.endswith("and 0.200 for c and 0.300 for low (-0.100).")


def test_facts_are_held_against_their_bounds_exactly() -> None:
    held = at_most("t", "s", "It", [(0.1, 0.1), (0.38, 0.4)], releases="releases")
    (found,) = settle([held])
    assert (found.verdict, found.p) == (HOLDS, None)
    assert found.finding == (
        "It is within the bound in 2 of 2 releases; the closest is 0.100 where p = 0.1."
    )
    broken = at_most("t", "s", "It", [(0.1, 0.1), (0.41, 0.4)], releases="releases")
    (found,) = settle([broken])
    assert found.verdict == FAILS
    assert "in 1 of 2 releases; the furthest beyond it is 0.410" in found.finding


def test_a_finding_tells_both_means_and_the_people() -> None:
    assert settle([greater("t", "s", above(0.1), LOW)])[0].finding == (
        "AP is 0.400 for high and 0.300 for low: a difference of +0.100 (+0.100 to +0.100) over "
        "20 people."
    )


def test_small_texts() -> None:
    assert [signed(value) for value in (0.01, -0.01, 0.0004, -0.0004)] == [
        "+0.010",
        "-0.010",
        "0.000",
        "0.000",
    ]
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert (p_text(0.0002), p_text(0.25), p_text(float("nan"))) == ("< 0.001", "0.250", "")
    assert settle([stated("t", "s", "f", UNDECIDED)])[0].verdict == UNDECIDED
