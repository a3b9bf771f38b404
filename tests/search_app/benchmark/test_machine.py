"""What is blamed on a busy machine, and what is not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from search_app.benchmark import machine
from search_app.benchmark.machine import Load, Spent, busy

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


def test_our_own_queue_and_waiting_blame_nobody() -> None:
    assert busy(Spent(10.0, 19.9, 0.1), Load(0.2, 30.0)) == "", "32 clients of our own"
    assert busy(Spent(10.0, 0.1, 0.1), QUIET) == "", "we slept"


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


@pytest.mark.skipif(not machine.STAT.exists(), reason="the machine doesn't say what it computes")
def test_what_another_program_computes_is_others_until_it_is_our_ended_child() -> None:
    """Half a second of computing counts as others' while it runs, and as ours when it ended."""
    spin = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ninput()"
    start = machine.now()
    with subprocess.Popen(
        [sys.executable, "-c", spin], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout
        child.stdout.readline()
        running = machine.now().since(start)
        assert running.others is not None
        assert running.others >= 0.4
        child.communicate(b"\n")
    assert machine.now().since(start).computing - running.computing >= 0.4


def test_seconds_are_those_that_went_by() -> None:
    start = machine.now()
    time.sleep(0.2)
    assert machine.now().since(start).seconds >= 0.2
