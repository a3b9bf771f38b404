"""What the report of zhu-xiong must not overstate: chosen settings, and releases by few seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from search_app.experiments.claims import settle
from search_app.experiments.design import Variant
from search_app.experiments.outcomes import Outcomes, Unit
from search_app.experiments.report import FAILS, HOLDS, Claim, Figure
from search_app.experiments.summaries import sum_up
from search_app.experiments.zhu_xiong import figure_5, figure_6
from search_app.experiments.zhu_xiong_ours import improvement

MakeOutcomes = Callable[..., Outcomes]
USUAL = {"p": 0.4, "refine": "none", "documents": 0}


def release(table: str, seeds: tuple[int, ...] = (0,), **given: Any) -> Variant:
    complete = {**USUAL, **given}
    return Variant(table, "p-linkability", given, seeds=seeds, complete=complete)


def belief(unit: Unit) -> dict[str, float]:
    return {"change_of_belief": 0.9 if unit.parameters["documents"] else 0.6}


def chosen(make_outcomes: MakeOutcomes, odd: float, even: float) -> Claim:
    """Let one setting gain so much for people of odd and even number, and another .03 for all."""
    variants = [
        release("figure-2"),
        release("improvements", refine="swap"),
        release("improvements", documents=9),
    ]
    outcomes = make_outcomes(
        variants, lambda unit, *_: 0.53 if unit.parameters["refine"] == "swap" else 0.5, belief
    )
    uneven = next(unit.name for unit in outcomes.units if unit.parameters["documents"])
    blocks = dict(outcomes.blocks)
    block = blocks[uneven, "group", 100]
    values = block.values["AP"] + np.where(outcomes.person % 2 == 1, odd, even)
    blocks[uneven, "group", 100] = replace(block, values={"AP": values})
    (found,) = settle(improvement(sum_up(replace(outcomes, blocks=blocks))))
    return found


def test_a_setting_is_tested_on_other_people_than_it_was_chosen_on(
    make_outcomes: MakeOutcomes,
) -> None:
    lucky = chosen(make_outcomes, odd=0.2, even=0.0)  # the best by .17 on those that choose
    assert lucky.verdict == FAILS
    assert "for documents=9 and " in lucky.finding
    assert "over 10 people" in lucky.finding
    assert "chosen of 2 settings on the other half of the people, those of odd number" in (
        lucky.finding
    )
    unlucky = chosen(make_outcomes, odd=0.0, even=0.2)  # the better one isn't known beforehand
    assert unlucky.verdict == HOLDS
    assert "for refine=swap and " in unlucky.finding
    assert unlucky.name == lucky.name
    assert unlucky.text == lucky.text


def test_a_gain_is_told_with_what_it_costs_in_belief(make_outcomes: MakeOutcomes) -> None:
    dearer = chosen(make_outcomes, odd=0.1, even=0.1).finding
    assert "+0.100 at p = 0.4 (change of belief 0.600 to 0.900)" in dearer
    assert dearer.endswith("a part of the gain is bought with privacy.")
    alike = chosen(make_outcomes, odd=0.0, even=0.0).finding
    assert "+0.030 at p = 0.4 (change of belief 0.600 to 0.600)" in alike
    assert "bought" not in alike


def released(make_outcomes: MakeOutcomes, seeds: tuple[int, ...]) -> list[Figure | None]:
    def facts(unit: Unit) -> dict[str, float]:
        return {"mean_group": 3.0 + unit.seed, "average_linkability": 0.2 + unit.seed / 10}

    summed = sum_up(make_outcomes([release("figure-4", seeds)], lambda *_: 0.5, facts))
    return [figure_5(summed), figure_6(summed)]


def test_what_is_measured_of_releases_has_intervals_over_seeds(
    make_outcomes: MakeOutcomes,
) -> None:
    sizes, readings = released(make_outcomes, (0, 1, 2))
    assert sizes
    assert readings
    # 3, 4 and 5: mean 4, standard error sqrt(1 / 3); t of 2 degrees is 4.3027
    (point,) = sizes.lines[0].points
    assert (point.value, point.low, point.high) == pytest.approx(
        (4, 4 - 2.4841, 4 + 2.4841), abs=1e-4
    )
    assert (readings.lines[1].points[0].low) == pytest.approx(0.3 - 0.24841, abs=1e-5)
    assert readings.lines[0].points[0].low is None  # the bound itself
    assert all("Student's t over the seeds" in each.about for each in (sizes, readings))


def test_one_seed_has_no_interval(make_outcomes: MakeOutcomes) -> None:
    for figure in released(make_outcomes, (0,)):
        assert figure
        assert all(point.low is None for line in figure.lines for point in line.points)
        assert "Student" not in figure.about
