"""A whole run: each step has its outcome, is kept at once, and never stops the others."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from scripts.benchmark import report, suite
from scripts.benchmark.bars import BARS, Measured
from scripts.benchmark.plan import FULL, LOAD, Place, Plan, Step


def found(values: dict[str, float], **facts: Any) -> Step:
    """Return a step that measures `values`."""
    made = Measured(values, facts, calls=dict.fromkeys(values, 3))
    return Step(tuple(values), "counting", lambda _plan, _place: made)


def failing(fault: Exception) -> Step:
    def fails(_plan: Plan, _place: Place) -> Measured:
        raise fault

    return Step(("pool", "rerank"), "failing", fails)


def run(steps: dict[str, Step], **keep: Any) -> dict[str, suite.Outcome]:
    return suite.run(Plan(), lambda _line: None, steps, keep.get("keep", lambda *_: None))


@pytest.fixture(autouse=True)
def nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "busy", lambda *_: "")
    monkeypatch.setattr(report, "commit", lambda: "abc")


@pytest.mark.parametrize("fault", [OSError("no index\n here"), KeyError("a bug")])
def test_a_step_that_fails_says_why_and_the_next_one_is_measured(fault: Exception) -> None:
    steps = {"search": failing(fault), "grow": found({"growth": 2.5, "clustering": 11.0}, x=1)}
    outcomes = run(steps)
    verdicts = {one.name: one.verdict for each in outcomes.values() for one in each.findings}
    assert verdicts == {
        "pool": "not measured",
        "rerank": "not measured",
        "growth": "ok",
        "clustering": "MISSED",
    }
    assert outcomes["search"].fault == f"{type(fault).__name__}: {' '.join(str(fault).split())}"
    assert outcomes["grow"].facts == {"x": 1}
    assert [outcome.settled for outcome in outcomes.values()] == [False, True]


def test_each_step_is_in_the_file_before_the_next_begins(tmp_path: Path) -> None:
    path, seen = tmp_path / "kept.json", []

    def looks(_plan: Plan, _place: Place) -> Measured:
        seen.extend(report.kept_in(path))
        return Measured()

    def keep(name: str, outcome: suite.Outcome) -> None:
        report.keep(path, name, outcome, ("late", "grow", "look"))

    report.keep(path, "late", run({"late": found({"help": 3.0})})["late"], ("late",))
    run({"grow": found({"growth": 3.4}), "look": Step((), "looking", looks)}, keep=keep)
    assert seen == ["late", "grow"]
    kept = report.kept_in(path)
    assert list(kept) == ["late", "grow", "look"]
    finding = kept["grow"]["findings"]["growth"]
    assert (finding["value"], finding["most"], finding["verdict"]) == (3.4, 3.3, "MISSED")
    assert {"date", "commit", "machine", "versions", "load", "spent"} <= set(kept["grow"])
    assert [path.name for path in tmp_path.iterdir()] == ["kept.json"]
    assert json.loads(path.read_text())["late"]["settled"]


def test_each_bar_belongs_to_one_step() -> None:
    measured = Counter(name for step in suite.STEPS.values() for name in step.bars)
    assert measured == dict.fromkeys(BARS, 1)


def test_a_quick_run_leaves_out_what_takes_long_and_names_are_chosen() -> None:
    quick, all_ = suite.steps_of(Plan()), suite.steps_of(Plan(kinds=(FULL, LOAD)))
    assert set(all_) == set(suite.STEPS)
    assert set(all_) - set(quick) == {
        name for name, step in suite.STEPS.items() if step.kind in (FULL, LOAD)
    }
    chosen = ("R9", "help", "load")
    assert set(suite.steps_of(Plan(only=chosen))) == {"720", "20k", "help", "load"}
    assert "650k" in suite.steps_of(Plan(only=chosen, kinds=(FULL,)))


def test_the_table_says_what_was_found() -> None:
    outcomes = run({"grow": found({"growth": 3.4}), "search": failing(OSError("no index"))})
    lines = list(report.lines(outcomes))
    assert lines[0].split()[:2] == ["bar", "what"]
    assert lines[1].startswith("R4")
    assert lines[1].endswith("3.4       at most 3.3  3          MISSED")
    assert lines[-3] == "0 ok, 1 MISSED, 0 too busy to judge, 2 not measured"
    assert "cores; others computed" in lines[-2]
    assert lines[-1].startswith("veilsearch ")
