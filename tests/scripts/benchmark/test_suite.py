"""A whole run: what is asked for is told, beside its bar, whatever fails."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from scripts.benchmark import report as telling
from scripts.benchmark import suite
from scripts.benchmark.bars import BARS, Measured
from scripts.benchmark.plan import USERS, Place, Plan, Step
from search_app.errors import UsageError

ALL = tuple(f"R{number}" for number in range(1, 14))


def steps(found: dict[str, float], **facts: Any) -> tuple[Step, ...]:
    """Return a step of R4 that finds these figures, and one of R1 and R2 that can't be made."""

    def fails(_plan: Plan, _place: Place) -> Measured:
        raise UsageError("no index here;\n make one")

    return (
        Step(
            ("R4",),
            "counting",
            lambda _plan, _place: Measured(found, facts, calls=dict.fromkeys(found, 3)),
        ),
        Step(("R1", "R2"), "failing", fails),
    )


def test_every_bar_is_told_whatever_fails(tmp_path: Path) -> None:
    said: list[str] = []
    made = steps({"growth": 2.5, "clustering": 11.0}, known="this")
    report = suite.run(Plan(tmp_path, only=ALL), said.append, made)
    by_what = {(f.bar.ratio, f.name): (f.verdict, f.reason) for f in report.findings}
    assert {ratio for ratio, _ in by_what} == set(ALL)
    assert by_what["R4", "growth"] == ("ok", "")
    assert by_what["R4", "clustering"] == ("MISSED", "")
    assert by_what["R2", "rerank"] == ("not measured", "no index here; make one")
    assert by_what["R12", "clone"][0] == "not measured"
    assert "--load" in by_what["R13", "load"][1]
    assert report.facts["R4"] == {"known": "this"}
    assert set(report.taken) == {"R4", "R1 R2"}
    assert said == ["bench: R4, counting ...", "bench: R1 R2, failing ..."]


def test_each_bar_belongs_to_one_step() -> None:
    measured = [
        name
        for step in suite.STEPS
        for name, bar in BARS.items()
        if bar.ratio in step.ratios and (not step.bars or name in step.bars)
    ]
    assert sorted(measured) == sorted(
        name for name, bar in BARS.items() if bar.ratio not in {"R8", "R12"}
    )


def test_the_small_log_is_not_told_beside_the_whole(tmp_path: Path) -> None:
    small = suite.run(Plan(tmp_path, only=("R6",)), lambda _: None, ())
    whole = suite.run(Plan(tmp_path, only=("R6",), logged=(USERS,)), lambda _: None, ())
    assert [f.name for f in small.findings][:2] == ["small raw", "small WordNet"]
    assert [f.name for f in whole.findings] == ["whole raw", "whole WordNet", "memory"]


def test_the_table_and_the_json_say_the_same(tmp_path: Path) -> None:
    report = suite.run(Plan(tmp_path, only=("R2", "R4")), lambda _: None, steps({"growth": 3.4}))
    found = telling.as_json(report)
    assert [each["verdict"] for each in found["findings"]] == [
        "not measured",
        "MISSED",
        "not measured",
    ]
    assert found["findings"][1]["most"] == 3.3
    assert found["cores"] >= 1
    assert {"veilsearch", "python", "numpy", "pyserini"} <= set(found["versions"])
    lines = telling.lines(report)
    assert lines[0].split() == [
        "ratio", "what", "measured", "bar", "median", "of", "computing", "verdict",
    ]  # fmt: skip
    assert lines[2].split()[:2] == ["R4", "clustering,"]
    assert re.search(r"3\.4 +at most 3\.3 +3 +[\d.]+ of [\d.]+ s +MISSED$", lines[2])
    assert lines[4] == "0 ok, 1 MISSED, 0 too busy to judge, 0 no bar, 2 not measured"
