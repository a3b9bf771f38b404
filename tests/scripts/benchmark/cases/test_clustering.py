"""R4 and R5: real groups, the same by both ways, and ratios of the times they took."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.benchmark.cases import clustering
from scripts.benchmark.plan import Place, Plan


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, tmp_path)


def test_growth_is_the_worst_doubling(place: Place) -> None:
    found = clustering.measure_growth(Plan(clustered=(200, 400, 800), rounds=1), place)
    seconds = found.facts["seconds"]
    assert list(seconds) == ["200", "400", "800"]
    assert all(value > 0 for value in seconds.values())
    worst = max(found.facts["time(2n) / time(n)"].values())
    assert found.values["growth"] == pytest.approx(worst, abs=0.006)
    assert "clustering" not in found.values, "the bar in seconds is of 128,000 users"


def test_both_ways_make_the_same_groups(place: Place) -> None:
    found = clustering.measure_obvious(Plan(obvious=400, rounds=9), place)
    assert found.facts["same groups"]
    assert found.facts["calls"] == {"clustering": 1, "obvious": 1}
    assert found.calls == {"obvious": 1}, "the obvious version takes long"
    assert not found.wrong
    assert 100 < found.facts["groups"] < 200, "40 terms at p = 0.4 take 100 terms: 3 people"
    assert found.values["obvious"] > 0
