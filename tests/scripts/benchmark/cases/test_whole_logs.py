"""R6, R9 and R10: real commands on a small invented log; ratios of what they took."""

from __future__ import annotations

import sys
from types import MappingProxyType

import pytest

from scripts.benchmark.cases import reading, whole_logs
from scripts.benchmark.plan import USERS, Place, Plan
from search_app.errors import UsageError


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("goes"), tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="module")
def plan(place: Place) -> Plan:
    return Plan(place.kept, logged=(600,), rounds=1)


def test_a_log_becomes_verified_releases(plan: Plan, place: Place) -> None:
    found = whole_logs.measure(plan, place)
    (run,) = found.facts["runs"]
    assert run["users"] <= 600
    assert abs(run["lines"] / whole_logs.lines_of(600) - 1) < 0.25
    for name in ("raw", "WordNet"):
        times = [run[name][verb]["seconds"] for verb in ("anonymize", "verify")]
        assert run[name]["groups"] > 50
        assert found.values[f"verify {name}"] == times[1] / times[0] > 0
        in_all = run["profiles"]["seconds"] + sum(times)
        assert found.values[f"small {name}"] == pytest.approx(in_all, abs=0.006)
    assert not {"whole raw", "whole WordNet", "memory"} & set(found.values)
    assert (place.kept / "log-600.tsv").exists()
    assert not list(place.temporary.iterdir())


def test_the_whole_log_has_its_own_bars() -> None:
    part = MappingProxyType({"seconds": 2.0, "gigabytes": 1.0})
    large = {"anonymize": part, "verify": {"seconds": 1.0, "gigabytes": 9.0}, "seconds in all": 5.0}
    found = whole_logs.values_of({"profiles": part, "raw": large, "WordNet": large}, whole=True)
    assert found == {
        "whole raw": 5.0,
        "whole WordNet": 5.0,
        "verify raw": 0.5,
        "verify WordNet": 0.5,
        "memory": 9.0,
    }
    assert whole_logs.lines_of(USERS) == 36_000_000


def test_reading_counts_the_same_lines_twice(plan: Plan, place: Place) -> None:
    pytest.importorskip("pyarrow")
    found = reading.measure(plan, place)
    rates = found.facts["rows a second"]
    assert found.values["reading"] == pytest.approx(
        rates["read_log"] / rates["pyarrow.csv"], rel=1e-3
    )
    assert found.values["reading"] > 0


def test_without_pyarrow_nothing_is_read(
    plan: Plan, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="pip install pyarrow"):
        reading.measure(plan, place)
