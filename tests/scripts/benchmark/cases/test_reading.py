"""R10: both ways to read count the same lines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts.benchmark.cases import reading
from scripts.benchmark.inputs.aol import invented_log, lines_of
from scripts.benchmark.plan import USERS, Place, Plan
from search_app.errors import UsageError

PLAN = Plan(made_up=600, rounds=1)


def test_reading_counts_the_same_lines_twice(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    place = Place(tmp_path, tmp_path)
    found = reading.measure(PLAN, place)
    rates = found.facts["rows a second"]
    assert found.values["reading"] == pytest.approx(
        rates["read_log"] / rates["pyarrow.csv"], rel=1e-3
    )
    lines = invented_log(tmp_path, 600).read_bytes().count(b"\n")
    assert abs(lines / lines_of(600) - 1) < 0.25
    assert lines_of(USERS) == 36_000_000


def test_without_pyarrow_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="pip install pyarrow"):
        reading.measure(PLAN, Place(tmp_path, tmp_path))
    assert not list(tmp_path.iterdir())
