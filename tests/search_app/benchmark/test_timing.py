"""Medians, their quartiles, and turns."""

from __future__ import annotations

import pytest

from search_app.benchmark import timing
from search_app.benchmark.timing import Times


def test_quartiles_stand_beside_the_median() -> None:
    assert timing.times_of([5.0, 1.0, 2.0, 4.0, 3.0]) == Times(3.0, 2.0, 4.0, 5)
    assert timing.times_of([2.0]) == Times(2.0, 2.0, 2.0, 1)


def test_calls_take_turns_and_warming_up_does_not_count() -> None:
    said: list[str] = []
    calls = {name: lambda name=name: said.append(name) for name in "ab"}
    taken = timing.timed(calls, rounds=2, warm_up=1)
    assert said == ["a", "b"] * 3
    assert {name: each.calls for name, each in taken.items()} == {"a": 2, "b": 2}
    asked: list[tuple[str, str]] = []
    over = {name: lambda query, name=name: asked.append((query, name)) for name in "ab"}
    taken = timing.timed_over(["q", "r"], over, rounds=3, warm_up=1)
    assert asked == [("q", "a"), ("q", "b"), ("r", "a"), ("r", "b")] * 4
    assert taken["a"].calls == 6


def test_ratios_divide_what_the_bars_name() -> None:
    taken = {"ours": Times(6.0, 5.0, 7.0, 3), "theirs": Times(4.0, 4.0, 4.0, 2)}
    parts = {"quick": ("ours", "theirs"), "left out": ("ours", "a third's")}
    assert timing.divided(taken, parts) == ({"quick": 1.5}, {"quick": 2})


def test_facts_are_in_milliseconds() -> None:
    assert timing.milliseconds({"ours": Times(0.25, 0.125, 0.5, 3)}) == {
        "milliseconds": {"ours": pytest.approx(250)},
        "quartiles": {"ours": [125.0, 500.0]},
        "calls": {"ours": 3},
    }
