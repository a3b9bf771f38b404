"""Whoever waits while loops are compiled is told so, once."""

from __future__ import annotations

from typing import Any

from anonymizer.compiled import compiled, when_compiling


def test_compiling_is_told_once_and_only_where_it_happens() -> None:
    @compiled
    def twice(number: Any) -> Any:
        return number + number

    told: list[str] = []
    with when_compiling(lambda: told.append("first")):
        assert twice(2) == 4
        assert twice(2.5) == 5.0
    assert told == ["first"]
    with when_compiling(lambda: told.append("again")):
        assert twice(3) == 6
    twice(1j)
    assert told == ["first"]
