"""Bars: what holds, what is missed and what was not measured is told as such."""

from __future__ import annotations

import pytest

from scripts.benchmark.bars import BARS, Measured, judged, missing
from scripts.benchmark.machine import Spent


@pytest.mark.parametrize(
    ("name", "value", "verdict"),
    [
        ("pool", 3.0, "ok"),
        ("pool", 3.01, "MISSED"),
        ("pyserini", 10.0, "ok"),
        ("pyserini", 9.99, "MISSED"),
        ("load errors", 0, "ok"),
        ("load errors", 1, "MISSED"),
        ("small raw", 1_000.0, "no bar"),
    ],
)
def test_a_figure_is_held_against_its_bar(name: str, value: float, verdict: str) -> None:
    found = judged(name, Measured({name: value}))
    assert (found.value, found.verdict) == (value, verdict)


def test_what_is_wrong_misses_however_fast() -> None:
    found = judged("obvious", Measured({"obvious": 0.001}, wrong={"obvious": "groups differ"}))
    assert (found.value, found.verdict, found.reason) == (0.001, "MISSED", "groups differ")
    wrong = Measured({"obvious": 9.0}, wrong={"obvious": "groups differ"})
    assert judged("obvious", wrong, Spent(1, 1, 9), "others").verdict == "MISSED"


def test_a_miss_beside_others_is_no_verdict_and_a_hit_is() -> None:
    spent, busy = Spent(10.0, 5.0, 12.0), "others kept 1.2 of 2 cores busy"
    missed = judged("pool", Measured({"pool": 10.4}, calls={"pool": 90}), spent, busy)
    assert (missed.verdict, missed.reason) == ("too busy to judge", f"{busy}; measure again")
    assert (missed.value, missed.calls, missed.spent) == (10.4, 90, spent)
    assert judged("pool", Measured({"pool": 2.99}), spent, busy).verdict == "ok"
    assert judged("pool", Measured({"pool": 10.4}), spent).verdict == "MISSED"


@pytest.mark.parametrize("name", ["memory", "index memory", "load errors"])
def test_no_busy_machine_excuses_memory_or_errors(name: str) -> None:
    assert judged(name, Measured({name: 99}), Spent(1, 1, 9), "others").verdict == "MISSED"


def test_what_has_no_figure_says_why() -> None:
    assert judged("whole raw", Measured()).verdict == "not measured"
    assert "--full" in judged("whole raw", Measured()).reason
    found = missing("reading", "pip install pyarrow").as_json()
    assert (found["value"], found["verdict"]) == (None, "not measured")
    assert found["reason"] == "pip install pyarrow"


def test_every_ratio_of_the_list_has_a_bar() -> None:
    ratios = {bar.ratio for bar in BARS.values()}
    assert ratios == {"index", *(f"R{number}" for number in range(1, 14))}
