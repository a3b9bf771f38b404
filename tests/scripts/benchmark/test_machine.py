"""What is blamed on a busy machine, and what is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scripts.benchmark import machine
from scripts.benchmark.machine import Load, Spent, busy

QUIET = Load(0.5, 1.0)


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (4.9, ""),  # a quarter of two cores over ten seconds is 5
        (5.0, "others kept 0.5 of 2 cores busy"),
        (16.0, "others kept 1.6 of 2 cores busy"),
    ],
)
def test_a_quarter_of_the_cores_disturbs(others: float, told: str) -> None:
    assert busy(Spent(10.0, 9.0, others), QUIET) == told


def test_where_nobody_says_what_others_computed_the_load_decides() -> None:
    assert busy(Spent(10.0, 10.0), Load(1.0, 1.4)) == ""
    assert busy(Spent(10.0, 10.0), Load(4.0, 1.2)) == "the load was 4 before and 1.2 after"


def test_the_machines_computing_is_counted_without_what_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 20 3 9999 8888 4 5 6 77 66\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    monkeypatch.setattr(machine, "STAT", stat)
    assert machine.computed() == (100 + 20 + 3 + 4 + 5 + 6) / os.sysconf("SC_CLK_TCK")
    monkeypatch.setattr(machine, "STAT", tmp_path / "gone")
    assert machine.computed() is None
    assert machine.now().since(machine.now()).others is None
