"""Summaries: seeds are averaged first, then queries, then people; and a report of one's own."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from search_app.experiments.design import Experiment, ExperimentInputs, Unit, Variant
from search_app.experiments.outcomes import Block, Outcomes
from search_app.experiments.report.general import report
from search_app.experiments.report.summaries import as_csv, sum_up, summarize

ASKED = (("group", 100),)
SEEDS = Variant("v", "p-linkability", {"p": 0.4}, seeds=(0, 1))


def outcomes(first: list[float], second: list[float], person: list[int]) -> Outcomes:
    units = tuple(
        Unit(f"u{seed}", "x", "p-linkability", {"p": 0.4}, "binary", "tfidf", seed, ASKED)
        for seed in (0, 1)
    )
    blocks = {
        (unit.name, "group", 100): Block(
            unit.name, "group", 100, np.full(len(person), 100), {"AP": np.array(values)}
        )
        for unit, values in zip(units, (first, second), strict=True)
    }
    experiment = Experiment("e", "E", ExperimentInputs(), (SEEDS,))
    return Outcomes(experiment, units, {}, np.array(person), blocks)


def test_a_person_counts_once_however_much_is_asked() -> None:
    # seeds averaged: .2 .4 .6 for person 1, .8 for person 2; people: .4 and .8
    (found,) = summarize(outcomes([0.1, 0.3, 0.5, 0.7], [0.3, 0.5, 0.7, 0.9], [1, 1, 1, 2]))
    assert np.isclose(found.mean, (0.4 + 0.8) / 2)
    assert (found.people, found.queries, found.seeds) == (2, 4, 2)
    assert np.isclose(found.worst_decile, 0.4)  # a tenth of two is one
    assert np.isclose(found.low, 0.4)  # a quarter of all resamples draw person 1 twice
    assert np.isclose(found.high, 0.8)
    # the seeds' means are .5 and .7: their standard deviation is .2 / sqrt(2)
    assert np.isclose(found.sd_over_seeds, 0.2 / 2**0.5)


def test_what_is_undefined_is_left_out() -> None:
    nan = float("nan")
    (found,) = summarize(outcomes([0.5, nan, nan], [0.5, nan, nan], [1, 1, 2]))
    assert (found.mean, found.people, found.queries) == (0.5, 1, 1)
    (nobody,) = summarize(outcomes([nan], [nan], [1]))
    assert np.isnan(nobody.mean)
    assert as_csv([nobody]).splitlines()[1] == "v,p-linkability p=0.4,group,100,AP,,,,,0,0,2,"


def test_csv_has_a_line_for_each_summary() -> None:
    found = summarize(outcomes([0.5, 0.25], [0.5, 0.25], [1, 2]))
    (row,) = csv.DictReader(io.StringIO(as_csv(found)))
    assert row["release"] == "p-linkability p=0.4"
    assert (row["table"], row["mode"], row["pool"], row["measure"]) == ("v", "group", "100", "AP")
    assert float(row["mean"]) == 0.375
    assert (row["people"], row["queries"], row["sd_over_seeds"]) == ("2", "2", "0.0")


def test_a_variant_is_measured_only_if_all_its_seeds_are() -> None:
    two = outcomes([0.5], [0.5], [1])
    assert two.measured(SEEDS, "group", 100)
    assert not two.measured(SEEDS, "group", 50)
    third = Variant("v", "p-linkability", {"p": 0.4}, seeds=(0, 1, 2))
    assert not two.measured(third, "group", 100)


def test_a_summary_is_found_again_as_a_point() -> None:
    judged = sum_up(outcomes([0.5, 0.25], [0.5, 0.25], [1, 2]))
    point = judged.point(0.4, SEEDS, "group", 100)
    assert point is not None
    assert (point.x, point.value, point.low, point.high) == (0.4, 0.375, 0.25, 0.5)
    assert judged.point(0.4, SEEDS, "group", 50) is None
    assert judged.point(0.4, None, "group", 100) is None


def test_every_variant_and_mode_is_listed(make_outcomes: Any) -> None:
    variants = [
        Variant("base", modes=("none",)),
        Variant("mine", "p-linkability", {"p": 0.4}, modes=("group", "random-groups")),
    ]
    levels = {"none": 0.25, "group": 0.75, "random-groups": 0.5}
    measured = make_outcomes(
        variants, lambda _unit, mode, _pool: levels[mode], measures=("AP", "tau"), name="mine"
    )
    made = report(sum_up(measured), {})
    (table,) = made.tables
    assert table.head == ("variant", "release", "mode", "pool", "AP", "tau")
    assert table.rows == (
        ("base", "no release", "none", "100", "0.250", "0.250"),
        ("mine", "p-linkability p=0.4", "group", "100", "0.750", "0.750"),
        ("mine", "p-linkability p=0.4", "random-groups", "100", "0.500", "0.500"),
    )
    (figure,) = made.figures
    modes = ("none", "group", "random-groups")
    assert [line.name for line in figure.lines] == [f"{mode}, pool 100" for mode in modes]
    assert figure.lines[1].points[0].x == "mine: p-linkability p=0.4"
    assert made.claims == ()
    told = " ".join(made.notes)
    assert "people asked" in told
    assert "paper" not in told  # it has none,
    assert "Holm" not in told  # and nothing is tested


def test_a_measure_that_is_undefined_leaves_a_dash(make_outcomes: Any) -> None:
    base = Variant("base", modes=("none",))
    made = report(sum_up(make_outcomes([base], lambda _unit, _mode, _pool: float("nan"))), {})
    assert made.figures == ()
    assert made.tables[0].rows == (("base", "no release", "none", "100", "–"),)
