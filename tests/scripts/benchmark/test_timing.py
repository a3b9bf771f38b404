"""Medians, their quartiles, and turns."""

from __future__ import annotations

from scripts.benchmark import timing
from scripts.benchmark.timing import Times


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
