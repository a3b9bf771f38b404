"""The paper's figures, tables and claims of outcomes whose means are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from search_app.evaluation import MEASURES
from search_app.experiments import zhu_xiong_cells as cells
from search_app.experiments.claims import RULE, settle
from search_app.experiments.design import Variant
from search_app.experiments.outcomes import Outcomes
from search_app.experiments.report import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Claim,
    Figure,
    Report,
    as_record,
    from_record,
)
from search_app.experiments.summaries import sum_up, summarize
from search_app.experiments.zhu_xiong import report
from search_app.experiments.zhu_xiong_claims import _against, level_of_precision
from search_app.significance import Interval


@pytest.fixture(scope="module")
def made(zhu_xiong_outcomes: Outcomes) -> Report:
    return report(zhu_xiong_outcomes)


def figure(made: Report, name: str) -> dict[str, list[tuple[object, float]]]:
    found: Figure = next(each for each in made.figures if each.name == name)
    return {
        line.name: [(point.x, round(point.value, 6)) for point in line.points]
        for line in found.lines
    }


def claim(made: Report, start: str) -> Claim:
    return next(each for each in made.claims if each.text.startswith(start))


def table(made: Report, name: str) -> dict[str, tuple[str, ...]]:
    found = next(each for each in made.tables if each.name == name)
    assert all(len(row) == len(found.head) for row in found.rows)
    return {" ".join(row[:2]): row for row in found.rows}


def test_all_figures_are_there(made: Report) -> None:
    assert [each.name for each in made.figures] == [
        "figure-2",
        "figure-3",
        "figure-4",
        "figure-5",
        "figure-6",
        "pools-ap",
        "pools-ap-c",
        "tradeoff",
    ]
    assert from_record(as_record(made)) == made


def test_notes_tell_who_was_grouped_and_who_asked(made: Report) -> None:
    assert made.notes[0].startswith("24 people have a row. 20 people asked 40 queries, drawn ")


def test_figure_2_sets_the_baselines_beside_the_group(made: Report) -> None:
    found = figure(made, "figure-2")
    assert list(found) == [
        "no personalization",
        "random order",
        "global union",
        "global average",
        "random groups",
        "group without the own share",
        "group",
    ]
    depths = ("AP@10", "AP@20", "AP@30")
    assert found["group"] == [(x, 0.8) for x in depths]  # .6 + .4 / 2
    assert found["no personalization"] == [(x, 0.3) for x in depths]


def test_figures_3_to_6_follow_a_and_p(made: Report) -> None:
    assert figure(made, "figure-3")["AP@30"] == [(float(a), 0.8) for a in range(4)]
    by_p = figure(made, "figure-4")
    assert by_p["group"] == [(0.1, 0.65), (0.2, 0.7), (0.3, 0.75), (0.4, 0.8)]
    assert by_p["global average"] == [(p, 0.6) for p in (0.1, 0.2, 0.3, 0.4)]
    assert figure(made, "figure-5") == {
        "group": [(0.1, 11.0), (0.2, 6.0), (0.3, round(13 / 3, 6)), (0.4, 3.5)]
    }
    readings = figure(made, "figure-6")
    assert readings["the bound p"] == readings["average of the worst group"]
    assert readings["worst term of all"] == [(p, 1.0) for p in (0.1, 0.2, 0.3, 0.4)]
    assert readings["largest change of belief"][0] == (0.1, 0.6)


def test_pools_and_the_tradeoff(made: Report) -> None:
    assert figure(made, "pools-ap")["group"] == [(100.0, 0.8), (1000.0, 0.7)]
    assert figure(made, "pools-ap-c")["random order"] == [(100.0, 0.32), (1000.0, 0.22)]
    found = figure(made, "tradeoff")
    assert found["refine=swap"] == [(0.6, 0.68), (0.7, 0.73), (0.8, 0.78), (0.9, 0.83)]
    assert found["global average"] == [(0.0, 0.6)]


@pytest.mark.parametrize(
    ("start", "verdict"),
    [
        ("AP@10 is 78.86 %", HOLDS),  # 0.800, 0.775 to 0.825
        ("Search by the groups' rows is significantly better", HOLDS),  # 0.8 and 0.3
        ("The more steps of hypernyms", FAILS),  # all alike
        ("The most steps of hypernyms", FAILS),
        ("A lower p, which protects more", HOLDS),  # 0.05 a step
        ("Groups become smaller", HOLDS),  # 1 + 1 / p
        ("The more people in a group", HOLDS),
        ("The actual linkability is below p", HOLDS),  # p itself
        ("The actual linkability is close to p", HOLDS),  # 0.95 p
        ("No single term of a group", FAILS),  # 1
        ("What an attacker believes", FAILS),  # 0.5 + p
        ("Grouping by similarity earns", HOLDS),  # 0.8 and 0.65
        ("Grouping by similarity still beats random groups", HOLDS),  # 0.8 and 0.65
        ("The order is no personalization <", HOLDS),  # 0.3 0.5 0.6 0.65 0.8
        ("More than half of what groups gain", HOLDS),  # 0.6 and (0.3 + 0.8) / 2
        ("Even without the person's own share", FAILS),  # 0.6 and 0.6 at p = 0.1
        ("The union of a group serves worse", HOLDS),  # by 0.02
        ("Better grouping under the same constraint adds at least 0.02", HOLDS),  # 0.03
        ("Better grouping under the same constraint adds at least 0.04", FAILS),  # 0.03
    ],
)
def test_each_claim_is_judged(made: Report, start: str, verdict: str) -> None:
    assert claim(made, start).verdict == verdict


def test_claims_name_their_place_and_ours_are_marked(made: Report) -> None:
    assert len(made.claims) == 19
    papers = [each for each in made.claims if each.source.startswith("Zhu & Xiong")]
    ours = [each for each in made.claims if each.source.startswith("ours, not the paper's")]
    assert (len(papers), len(ours)) == (11, 8)
    tested = [each for each in made.claims if each.p is not None]
    assert len(tested) == 10
    names = [each.name for each in made.claims]
    assert len(set(names)) == len(names)
    assert all(each.islower() and " " not in each for each in names)


def test_what_was_found_is_in_no_claims_name_or_words(made: Report) -> None:
    told = " ".join(f"{each.name} {each.text}" for each in made.claims)
    assert "refine=swap" not in told
    assert "p = 0.4" not in told
    assert "a = 3" not in told


def test_each_finding_of_precision_names_its_pool(made: Report) -> None:
    told = {each.name: each.finding for each in made.claims}
    assert told["group-over-none"].startswith("AP (p = 0.4, pool 100) is 0.800 for group and ")
    assert told["each-step-of-hypernyms"].startswith("AP (p = 0.4, pool 100) is ")
    assert told["lower-p-costs"].startswith("AP (pool 100) is 0.650 for p = 0.1, ")
    assert all("pool 1" in finding for finding in told.values() if "AP" in finding)
    assert next(each for each in made.tables if each.name == "guarantees").about.startswith(
        "AP (pool 100) by the groups' rows."
    )


def test_the_own_share_is_left_out_at_each_p(made: Report) -> None:
    finding = claim(made, "Even without").finding
    assert (
        "0.750 for group without the own share at p = 0.4 and 0.600 for global average" in finding
    )
    assert finding.endswith(
        " Below 0.005 AP, the least that counts as a difference: group without the own share at "
        "p = 0.1 against global average (at most 0.000)."
    )


def test_the_rule_behind_the_verdicts_stands_in_the_notes(made: Report) -> None:
    assert RULE in made.notes


@pytest.mark.parametrize(
    ("ap_at_10", "verdict", "said"),
    [
        ((0.84, 0.74), UNDECIDED, "0.789 lies between pools 100 and 1000"),
        ((1.0, 0.9), UNDECIDED, "by no pool tried, always above 0.789"),
        ((0.5, 0.4), UNDECIDED, "by no pool tried, always below 0.789"),
        ((0.9, 0.78), HOLDS, "0.789 is within the interval at pool 1000"),
    ],
)
def test_the_number_of_the_paper_is_looked_for_by_pool(
    make_outcomes: Callable[..., Outcomes], ap_at_10: tuple[float, float], verdict: str, said: str
) -> None:
    variant = Variant("pools", "p-linkability", {"p": 0.4, "a": 1}, pools=(100, 1000))
    by_pool = dict(zip((100, 1000), ap_at_10, strict=True))
    outcomes = make_outcomes(
        [variant], lambda _unit, _mode, pool: by_pool[pool], measures=["AP@10"]
    )
    (found,) = settle(level_of_precision(sum_up(outcomes)))
    assert (found.verdict, said in found.finding) == (verdict, True)


def test_a_wide_interval_tells_no_number() -> None:
    assert _against({100: Interval(0.6, 0.2, 0.95)})[0] == UNDECIDED
    assert _against({100: Interval(0.79, 0.77, 0.81)})[0] == HOLDS


@pytest.mark.parametrize("parameters", [{}, {"p": None, "k": 3}, {"p": 0.4}])
@pytest.mark.parametrize("name", ["figure-2", "figure-3", "figure-4", "pools", "improvements"])
def test_a_variant_without_p_or_a_is_left_out_not_an_error(
    make_outcomes: Callable[..., Outcomes], name: str, parameters: dict[str, float | None]
) -> None:
    modes = ("group", "none") if parameters else ("none",)
    method = "p-linkability" if parameters else ""
    odd = Variant(name, method, parameters, modes=modes, complete=parameters)
    made = report(make_outcomes([odd], lambda _unit, _mode, _pool: 0.5))
    assert made.title  # whatever there is to say


def test_the_baselines_are_tabled_with_the_worst_tenth(made: Report) -> None:
    row = table(made, "baselines")["group 0.800"]
    # of 20 people two are the worst tenth: -0.095 and -0.085 beside the mean
    assert row[-2:] == ("0.775 to 0.825", "0.710")
    head = next(each.head for each in made.tables if each.name == "baselines")
    assert head[1:-2] == tuple(MEASURES)


def test_the_sensitivity_table_holds_each_choice_against_the_papers(made: Report) -> None:
    rows = table(made, "sensitivity")
    assert rows["linkage=centroid 100"][2:6] == (
        "0.810",
        "0.810",
        "+0.010 (+0.010 to +0.010)",
        "< 0.001",
    )
    assert rows["the paper's 100"][-4:] == ("3.500", "0.400", "1.000", "0.900")
    assert rows["by each of 2 seeds 100"][2] == "0.800 to 0.800"
    assert rows["pool=1000 † 1000"][2] == "0.700"
    other_question = rows["vectors=tf † 100"]
    assert other_question[4:6] == ("–", "–")
    # by seed 0 alone, to which the differences are; the paper's row is of two seeds
    assert rows["the paper's, seed 0 100"][2:6] == ("0.800", "0.800", "–", "–")
    assert sum("union" in name for name in rows) == 1  # only at p = 0.4


def test_improvements_are_held_against_the_papers_groups_and_random_ones(made: Report) -> None:
    row = table(made, "improvements")["p=0.1 refine=swap 100"]
    assert row[2:6] == (
        "0.680",
        "+0.030 (+0.030 to +0.030)",
        "< 0.001",
        "+0.030 (+0.030 to +0.030)",
    )


def test_another_gold_standard_has_its_own_modes(made: Report) -> None:
    row = table(made, "other-golds")["vectors=tf 100"]
    assert row[2:] == ("0.300", "–", "0.650", "0.800", "+0.150 (+0.150 to +0.150)")


def test_the_guarantees_tell_what_they_suppress(made: Report) -> None:
    rows = table(made, "guarantees")
    assert rows["every-term 0.4"][-1] == "25.0%"  # 50 of 200
    assert rows["every-term 0.4"][3] == "+0.150 (+0.150 to +0.150)"  # 0.8 and 0.65
    assert rows["average 0.4"][3:5] == ("+0.150 (+0.150 to +0.150)", "0.400")
    assert rows["average 0.4"][-1] == "0.0%"
    assert "can't be enforced by this method" in rows["belief any"][3]


def test_whatever_is_missing_is_left_out(zhu_xiong_outcomes: Outcomes) -> None:
    experiment = zhu_xiong_outcomes.experiment
    summaries = summarize(zhu_xiong_outcomes)

    def only(keep: Callable[[str], bool]) -> Report:
        variants = tuple(each for each in experiment.variants if keep(each.name))
        fewer = replace(zhu_xiong_outcomes, experiment=replace(experiment, variants=variants))
        return report(fewer, [each for each in summaries if keep(each.table)])

    nothing = only(lambda name: name == "none of them")
    assert (nothing.figures, nothing.tables, nothing.claims) == ((), (), ())
    for name in {each.name for each in experiment.variants}:
        alone = only(lambda each, name=name: each == name)  # type: ignore[misc]
        without = only(lambda each, name=name: each != name)  # type: ignore[misc]
        for made in (alone, without):
            assert from_record(as_record(made)) == made
    four = only(lambda name: name == "figure-4")
    assert [each.name for each in four.figures] == ["figure-4", "figure-5", "figure-6", "tradeoff"]
    assert [line.name for line in four.figures[0].lines] == [
        "group",
        "group without the own share",
        "random groups",
    ]


def test_the_same_outcomes_give_the_same_report(zhu_xiong_outcomes: Outcomes, made: Report) -> None:
    assert report(zhu_xiong_outcomes) == made


def test_a_mean_that_rounds_to_nothing_has_no_sign() -> None:
    assert [cells.number(value) for value in (-0.0004, 0.0004, -0.0006)] == [
        "0.000",
        "0.000",
        "-0.001",
    ]
