"""Bars: what holds, what is missed and what was not measured is told as such."""

from __future__ import annotations

import pytest

from scripts.benchmark.bars import BARS, Measured, judged, missing


@pytest.mark.parametrize(
    ("name", "value", "verdict"),
    [
        ("pool", 3.0, "ok"),
        ("pool", 3.01, "MISSED"),
        ("pyserini", 10.0, "ok"),
        ("pyserini", 9.99, "MISSED"),
        ("load errors", 0, "ok"),
        ("load errors", 1, "MISSED"),
    ],
)
def test_a_figure_is_held_against_its_bar(name: str, value: float, verdict: str) -> None:
    found = judged(name, Measured({name: value}))
    assert (found.value, found.verdict) == (value, verdict)


def test_what_is_wrong_misses_however_fast() -> None:
    found = judged("obvious", Measured({"obvious": 0.001}, wrong={"obvious": "groups differ"}))
    assert (found.value, found.verdict, found.reason) == (0.001, "MISSED", "groups differ")
    wrong = Measured({"obvious": 9.0}, wrong={"obvious": "groups differ"})
    assert judged("obvious", wrong, "others").verdict == "MISSED"


def test_a_miss_beside_others_is_no_verdict_and_a_hit_is() -> None:
    busy = "others kept 1.2 of 2 cores busy"
    missed = judged("pool", Measured({"pool": 10.4}, calls={"pool": 90}), busy)
    assert (missed.verdict, missed.reason) == ("too busy to judge", f"{busy}; measure again")
    assert (missed.value, missed.calls) == (10.4, 90)
    assert judged("pool", Measured({"pool": 2.99}), busy).verdict == "ok"
    assert judged("pool", Measured({"pool": 10.4})).verdict == "MISSED"


@pytest.mark.parametrize("name", ["memory", "load errors"])
def test_no_busy_machine_excuses_memory_or_errors(name: str) -> None:
    assert judged(name, Measured({name: 99}), "others").verdict == "MISSED"


def test_what_has_no_figure_says_why() -> None:
    assert judged("whole raw", Measured()).verdict == "not measured"
    found = missing("reading", "pip install pyarrow").as_json()
    assert (found["value"], found["verdict"]) == (None, "not measured")
    assert found["reason"] == "pip install pyarrow"


def test_every_ratio_of_the_list_has_a_bar() -> None:
    ratios = {bar.ratio for bar in BARS.values()}
    assert ratios == {f"R{number}" for number in range(1, 16)}
