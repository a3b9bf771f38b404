"""R7: the cases and their figures."""

from __future__ import annotations

import pytest

from scripts.benchmark.bars import BARS
from scripts.benchmark.cases import km_deletion
from scripts.benchmark.cases.km_deletion import (
    BAR_OF,
    EVERY,
    Case,
    values_of,
)
from scripts.benchmark.plan import Place, Plan

TINY = 0.001


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("goes"), tmp_path_factory.mktemp("kept"))


def test_every_target_and_level_is_a_case() -> None:
    assert len(EVERY) == len(set(EVERY)) == 2 * 2 * 8
    assert set(BAR_OF.values()) < set(EVERY)
    assert str(BAR_OF["km"]) == "insert (2,2) logsize"
    assert {f"small {name}" for name in BAR_OF} | set(BAR_OF) < set(BARS)
    assert {case.parameters.get("ties") for case in EVERY if case.algorithm == "greedy"} == {
        "first"
    }
    assert {case.target for case in EVERY if "marketing" in case.parameters} == {
        "bid", "clicks", "impressions", "revenue",
    }  # fmt: skip


def test_the_figures_of_the_bars() -> None:
    runs = {case: {"seconds": 1.0, "gigabytes": 0.5} for case in EVERY}
    runs[Case("insert", 2, 2, "logsize")] = {"seconds": 4.0, "gigabytes": 0.6}
    runs[Case("insert", 2, 3, "logsize")] = {"seconds": 19.0, "gigabytes": 0.7}
    runs[Case("greedy", 2, 2, "logsize")] = {"seconds": 29.0, "gigabytes": 0.8}
    runs[Case("greedy", 2, 3, "fis")] = {"seconds": 99.0, "gigabytes": 3.0}
    barred = {"km": 4.0, "km triples": 19.0, "km greedy": 29.0}
    assert values_of(runs, whole=True) == {**barred, "km memory": 3.0}
    small = {case: runs[case] for case in BAR_OF.values()}
    assert values_of(small, whole=False) == {f"small {name}": each for name, each in barred.items()}


def test_the_real_method(place: Place) -> None:
    found = km_deletion.measure(Plan(place.kept, reduced=TINY, rounds=2), place)
    assert set(found.values) == {"small km", "small km triples", "small km greedy"}
    assert all(value > 0 for value in found.values.values())
    kept = [run["share of log size kept"] for run in found.facts["cases"].values()]
    assert all(0 < share < 1 for share in kept)
    assert {run["calls"] for run in found.facts["cases"].values()} == {2}
