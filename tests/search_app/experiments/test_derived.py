"""Which report an experiment gets: the one that it names, not the one of its name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search_app.experiments import burghardt, general, zhu_xiong
from search_app.experiments.derived import report_of
from search_app.experiments.design import Variant
from search_app.experiments.outcomes import Outcomes
from search_app.experiments.summaries import summarize

from .burghardt_world import world
from .conftest import outcomes_of

MEASURES = ("AP", "AP@10", "AP@20", "AP_c")


def outcomes(name: str, report: str, table: str) -> Outcomes:
    complete = {"p": 0.4, "a": 1}
    variant = Variant(table, "p-linkability", complete, complete=complete)
    found = outcomes_of([variant], lambda *_: 0.5, measures=MEASURES, name=name)
    return replace(found, experiment=replace(found.experiment, report=report))


@pytest.mark.parametrize("name", ["zhu-xiong", "mine"])
@pytest.mark.parametrize("report", ["general", "zhu-xiong"])
def test_the_report_is_the_one_that_is_named(name: str, report: str) -> None:
    made = outcomes(name, report, "figure-2")
    summaries = summarize(made)
    makes = {"zhu-xiong": zhu_xiong.report}  # the others find none of their tables
    ours = makes.get(report, general.report)(made, summaries)
    assert report_of(made, summaries) == ours
    assert ours.name == name
    assert ours.tables


def test_a_report_that_finds_none_of_its_tables_is_the_general_one() -> None:
    made = outcomes("zhu-xiong", "zhu-xiong", "mine")
    summaries = summarize(made)
    said = report_of(made, summaries)
    assert said == general.report(made, summaries)
    assert [table.name for table in said.tables] == ["variants"]


def test_the_report_of_burghardt_is_found_by_its_name() -> None:
    made = world()
    named = replace(made, experiment=replace(made.experiment, report="burghardt"))
    summaries = summarize(named)
    assert report_of(named, summaries) == burghardt.report(named, summaries)
