"""Claims: what certain, slight, reversed and unsure differences are called."""

from __future__ import annotations

import numpy as np
import pytest

from search_app.experiments.report.claims import (
    RULE,
    Side,
    SidePairs,
    UntestedClaim,
    Wording,
    as_good,
    at_most,
    chain,
    drafts_of,
    each_greater,
    figure_verdict,
    greater,
    listed,
    p_text,
    rising,
    settle,
    signed,
    steps_of,
)
from search_app.experiments.report.report import FAILS, HOLDS, UNDECIDED, Claim
from search_app.measures.significance import Interval

T = Wording("name", "text", "source")
LOW = Side("low", np.linspace(0.2, 0.4, 20))


def above(gap: float, name: str = "high") -> Side:
    return Side(name, LOW.people + gap)


def verdict(high: Side, low: Side = LOW, least: float = 0.0) -> str:
    return settle([greater(T, SidePairs([(high, low)]), least=least)])[0].verdict


def around(mean: float, apart: float = 0.002) -> Side:
    """Return a side above the low one by a mean, half of the people by more, half by less."""
    return Side("high", LOW.people + mean + np.tile([apart / 2, -apart / 2], 10))


def test_none_and_a_slight_one_do_not_hold_however_sure_it_is() -> None:
    assert verdict(above(0.1)) == HOLDS
    assert verdict(above(0.0)) == verdict(above(-0.1)) == FAILS
    unsure = np.tile([0.3, -0.2], 10)  # mean .05, standard error .06
    assert verdict(Side("high", LOW.people + unsure)) == UNDECIDED
    unsure = np.tile([0.004, -0.003], 10)  # mean .0005, surely below .005, but not surely above 0
    assert verdict(Side("high", LOW.people + unsure)) == FAILS
    (slight,) = settle(
        [greater(T, SidePairs([(around(0.002), LOW)]))]
    )  # .001 to .003 person by person
    assert slight.verdict == FAILS
    assert slight.p is None  # no test decides it
    assert slight.finding.endswith(
        " over 20 people. Below 0.005 AP, the least that counts as a difference: at most +0.002, "
        "a difference, but slight."
    )
    assert verdict(around(0.006)) == HOLDS


def test_no_difference_is_told_by_its_upper_end_and_the_other_way_round_with_its_p() -> None:
    (claim,) = settle([greater(T, SidePairs([(above(0.0), LOW)]))])
    assert claim.p is None
    assert claim.finding.endswith(
        " Below 0.005 AP, the least that counts as a difference: at most 0.000."
    )
    assert "smaller than 0.005 AP, the least that counts as a difference" in " ".join(RULE)
    assert [line.partition(":")[0].lower() for line in RULE] == [HOLDS, FAILS, UNDECIDED]
    (claim,) = settle([greater(T, SidePairs([(above(-0.1), LOW)]))])
    assert claim.p is not None
    assert claim.finding.endswith(" over 20 people. Surely the other way round.")


def test_a_least_difference_is_part_of_the_claim() -> None:
    assert verdict(above(0.03), least=0.02) == HOLDS
    assert verdict(above(0.019), least=0.02) == FAILS
    unsure = np.tile([0.09, -0.04], 10)  # mean .025
    assert verdict(Side("high", LOW.people + unsure), least=0.02) == UNDECIDED
    (less,) = settle([greater(T, SidePairs([(around(0.01), LOW)]), least=0.02)])
    assert less.finding.endswith("Surely below the 0.020 AP claimed.")


def test_all_tests_are_one_family() -> None:
    # five people: all signs alike happen in 2 of 32 ways; no correction makes .0625 sure
    none, nan = Side("low", np.zeros(7)), float("nan")
    drafts = [
        greater(T, SidePairs([(Side("high", np.array([1, 1, 1, 1, 1, nan, nan])), none)])),
        greater(T, SidePairs([(Side("high", np.ones(7)), none)])),
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
    sides = [LOW, above(0.1, "middle"), above(0.2, "top")]
    (held,) = settle([rising(T, chain(sides))])
    assert held.verdict == HOLDS
    assert held.finding == (
        "AP is 0.300 for low, 0.400 for middle and 0.500 for top; the steps are "
        "+0.100 (+0.100 to +0.100) and +0.100 (+0.100 to +0.100)."
    )
    assert held.p is not None
    assert held.p < 0.05
    (broken,) = settle([rising(T, chain([LOW, above(0.2, "middle"), above(0.2, "top")]))])
    assert broken.verdict == FAILS
    assert broken.p is None  # the first step is sure, but the second decides
    assert broken.finding.endswith(
        "0.000 (0.000 to 0.000). Below 0.005 AP, the least that counts as a difference: top "
        "against middle (at most 0.000)."
    )


def test_p_is_that_of_the_step_that_decides() -> None:
    unsure = Side("top", LOW.people + np.tile([0.3, -0.2], 10))  # p about .4
    fall = above(-0.1, "bottom")
    (open_one,) = settle([each_greater(T, SidePairs([(above(0.1), LOW), (unsure, LOW)]))])
    assert open_one.verdict == UNDECIDED
    assert open_one.p is not None
    assert open_one.p > 0.1
    (failed,) = settle([each_greater(T, SidePairs([(fall, LOW), (unsure, LOW)]))])
    assert failed.verdict == FAILS
    assert failed.p is not None
    assert failed.p < 0.001  # 20 people the same way: 2 of 2^20


def test_the_least_p_of_a_large_family_is_still_below_a_thousandth() -> None:
    claims = settle([greater(T, SidePairs([(above(0.1), LOW)])) for _ in range(150)])
    assert all(each.p is not None and each.p < 0.001 for each in claims)


def test_each_of_several_pairs_must_hold() -> None:
    pairs = [(above(0.1, "a"), LOW), (above(0.2, "b"), LOW)]
    assert settle([each_greater(T, SidePairs(pairs))])[0].verdict == HOLDS
    pairs.append((above(-0.1, "c"), LOW))
    (claim,) = settle([each_greater(T, SidePairs(pairs))])
    assert claim.verdict == FAILS
    assert claim.finding.endswith(
        "; 0.200 for c and 0.300 for low, -0.100 (-0.100 to -0.100). "
        "Surely the other way round: c against low."
    )


def as_good_as_low(high: Side) -> Claim:
    return settle([as_good(T, SidePairs([(high, LOW)]))])[0]


def test_as_good_is_not_surely_worse_and_tells_the_difference_itself() -> None:
    found = as_good_as_low(around(0.0))
    assert found.verdict == HOLDS
    assert found.finding == "The difference in AP is 0.000 (0.000 to 0.000) for high against low."
    better = as_good_as_low(above(0.1))
    assert better.verdict == HOLDS
    assert (
        better.finding == "The difference in AP is +0.100 (+0.100 to +0.100) for high against low."
    )
    by_less = as_good_as_low(around(-0.003))
    assert (by_less.verdict, by_less.p) == (FAILS, None)  # surely not .005 worse, but worse
    assert by_less.finding.endswith(" for high against low. Surely worse: at most -0.003.")
    by_more = as_good_as_low(above(-0.01))
    assert by_more.verdict == FAILS
    assert by_more.p is not None
    assert by_more.finding.endswith(" for high against low. Surely worse by 0.005 AP.")


def test_as_good_is_judged_as_against_the_other_less_the_slight() -> None:
    low = Side("low less", LOW.people - 0.005)
    for mean in (-0.02, -0.006, -0.004, 0.0, 0.004):
        for apart in (0.001, 0.01, 0.03, 0.1):
            high = around(mean, apart)
            (shifted,) = settle([each_greater(T, SidePairs([(high, low)]))])
            found = as_good_as_low(high)
            assert (found.verdict, found.p) == (shifted.verdict, shifted.p), (mean, apart)


def test_facts_are_held_against_their_bounds_exactly() -> None:
    row = at_most(T, "It", list[tuple[float, float]])
    (found,) = settle(drafts_of([row], [(0.1, 0.1), (0.38, 0.4)]))
    assert (found.verdict, found.p) == (HOLDS, None)
    assert found.finding == (
        "It is within the bound p in 2 of 2 releases. Closest to the bound: 0.100 of at most 0.1."
    )
    (found,) = settle(drafts_of([row], [(0.1, 0.1), (0.41, 0.4)]))
    assert found.verdict == FAILS
    assert found.finding.endswith("in 1 of 2 releases. Worst case: 0.410 instead of at most 0.4.")


@pytest.mark.parametrize(
    ("settings", "verdict", "margin"),
    [
        ([(0.77, 0.81)], True, 0.0),  # the paper's own setting, or the only one tried
        ([(0.77, 0.81), (0.78, 0.80)], True, 0.0),
        ([(0.83, 0.85), (0.77, 0.81)], None, -0.04),  # one of many would meet any figure
        ([(0.83, 0.85), (0.73, 0.75)], None, -0.04),  # some setting between would meet it
        ([(0.83, 0.85), (0.93, 0.95)], False, -0.14),
        ([(0.73, 0.75), (0.63, 0.65)], False, -0.14),
        ([(0.20, 0.95)], None, 0.0),  # an interval that contains too much
        ([(0.20, 0.95), (0.83, 0.85)], None, -0.04),
    ],
)
def test_a_figure_holds_in_all_settings_if_the_paper_names_none(
    settings: list[tuple[float, float]], verdict: bool | None, margin: float
) -> None:
    found, miss = figure_verdict(0.79, [Interval(sum(one) / 2, *one) for one in settings])
    assert found is verdict
    assert miss.value == pytest.approx(margin)


def test_the_margin_is_that_of_the_step_that_decides() -> None:
    """In favour of a claim it is above 0, whichever way a claim looks."""
    chained = chain([LOW, above(0.2, "middle"), above(0.25, "top")])
    held, failed, good = settle(
        [
            rising(T, chained),
            greater(T, SidePairs([(above(0.019), LOW)]), least=0.02),
            as_good(T, SidePairs([(around(-0.003), LOW)])),
        ]
    )
    found = [one.margin.value if one.margin else None for one in (held, failed, good)]
    assert found == pytest.approx([0.05, -0.001, 0.002])
    (bound,) = settle(drafts_of([at_most(T, "It", list)], [(0.1, 0.1), (0.41, 0.4)]))
    assert bound.margin is not None
    assert bound.margin.value == pytest.approx(-0.01)


def test_small_texts() -> None:
    found = [signed(value) for value in (0.01, -0.01, 0.0004, -0.0004)]
    assert found == ["+0.010", "-0.010", "0.000", "0.000"]
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert (p_text(0.0002), p_text(0.25), p_text(float("nan"))) == ("< 0.001", "0.250", "")
    row = UntestedClaim(*T, "{word}", lambda words: {"word": words[0]}, lambda **_: None)
    (found,) = settle(drafts_of([row], ["f"]))
    assert (found.finding, found.verdict) == ("f", UNDECIDED)
