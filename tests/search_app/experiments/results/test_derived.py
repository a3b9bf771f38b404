"""Which report an experiment gets: the one that it names, not the one of its name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search_app.experiments.design import Variant
from search_app.experiments.outcomes import Outcomes
from search_app.experiments.report import general
from search_app.experiments.report.summaries import sum_up
from search_app.experiments.results.derived import report_of
from search_app.experiments.zhu_xiong import figures as zhu_xiong

from ..conftest import outcomes_of

MEASURES = ("AP", "AP@10", "AP@20", "AP_c")


def outcomes(name: str, report: str, table: str) -> Outcomes:
    complete = {"p": 0.4, "a": 1}
    variant = Variant(table, "p-linkability", complete, complete=complete)
    found = outcomes_of([variant], lambda *_: 0.5, measures=MEASURES, name=name)
    return replace(found, experiment=replace(found.experiment, report=report))


@pytest.mark.parametrize("name", ["zhu-xiong", "mine"])
@pytest.mark.parametrize("report", ["general", "zhu-xiong"])
def test_the_report_is_the_one_that_is_named(name: str, report: str) -> None:
    made = sum_up(outcomes(name, report, "figure-2"))
    makes = {"zhu-xiong": zhu_xiong.report}  # the others find none of their tables
    ours = makes.get(report, general.report)(made, {})
    assert report_of(made, {}) == ours
    assert ours.name == name
    assert ours.tables


def test_a_report_that_finds_none_of_its_tables_is_the_general_one() -> None:
    made = sum_up(outcomes("zhu-xiong", "zhu-xiong", "mine"))
    said = report_of(made, {})
    assert said == general.report(made, {})
    assert [table.name for table in said.tables] == ["variants"]
