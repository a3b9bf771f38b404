"""R7: the cases and their figures, by a small method in the place of the real one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.marketing import VALUES
from anonymizer.methods import METHODS
from anonymizer.model import Profiles, Release
from anonymizer.profile_file import read_profiles
from search_app.benchmark import km_deletion
from search_app.benchmark.altavista_shape import WHOLE
from search_app.benchmark.bars import BARS
from search_app.benchmark.km_deletion import BAR_OF, EVERY, Case, made, main, values_of
from search_app.benchmark.plan import Place, Plan
from search_app.errors import UsageError

TINY = 0.001
SIZES = ("log size", "users")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("goes"), tmp_path_factory.mktemp("kept"))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Put a method in the place of the real one, and return what it is called with."""
    called: list[dict[str, Any]] = []

    def keeps_all(
        profiles: Profiles,
        *,
        k: int = 5,
        m: int = 2,
        algorithm: str = "insert",
        target: str = "logsize",
        ties: str = "random",
        marketing: str = "none",
        **handed_in: Any,
    ) -> Release:
        chosen = {"k": k, "m": m, "algorithm": algorithm, "target": target, "ties": ties}
        called.append({**chosen, "marketing": marketing, "users": len(profiles), **handed_in})
        return Release(profiles, profiles.users, np.arange(len(profiles)), "test", chosen)

    monkeypatch.setitem(METHODS, "km-anonymity", keeps_all)
    return called


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


def test_a_case_is_run_on_a_small_log_and_timed_on_the_whole(
    place: Place, calls: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    profiles = made(place.kept, TINY, ".npz")
    assert len(read_profiles(profiles)) == WHOLE.part(TINY).users
    main([str(profiles), "greedy", "2", "3", "revenue"])
    told = json.loads(capsys.readouterr().out)
    assert told.pop("seconds") >= 0
    assert told == {
        **dict.fromkeys((f"share of {what} kept" for what in ("distinct terms", *SIZES)), 1.0),
        **dict.fromkeys((f"share of {what} (synthetic table) kept" for what in VALUES), 1.0),
    }
    assert [call["users"] for call in calls] == [WHOLE.part(0.002).users, WHOLE.part(TINY).users]
    assert calls[1]["table"].synthetic
    wanted = {"k": 2, "m": 3, "algorithm": "greedy", "target": "revenue", "ties": "first"}
    assert wanted.items() <= calls[1].items()
    main([str(profiles), "insert", "2", "2", "logsize"])
    assert calls[3]["table"] is None
    assert (calls[3]["marketing"], calls[3]["ties"]) == ("none", "random")


def test_the_figures_of_the_bars() -> None:
    runs = {case: {"seconds": 1.0, "gigabytes": 0.5} for case in EVERY}
    runs[Case("insert", 2, 2, "logsize")] = {"seconds": 4.0, "gigabytes": 0.6}
    runs[Case("insert", 2, 3, "logsize")] = {"seconds": 19.0, "gigabytes": 0.7}
    runs[Case("greedy", 2, 2, "logsize")] = {"seconds": 29.0, "gigabytes": 0.8}
    runs[Case("greedy", 2, 3, "fis")] = {"seconds": 99.0, "gigabytes": 3.0}
    assert values_of(runs, whole=True) == {
        "km": 4.0,
        "km triples": 19.0,
        "km greedy": 29.0,
        "km memory": 3.0,
    }
    small = {case: runs[case] for case in BAR_OF.values()}
    assert values_of(small, whole=False) == {
        "small km": 4.0,
        "small km triples": 19.0,
        "small km greedy": 29.0,
    }


@pytest.mark.usefixtures("calls")
def test_what_each_size_measures(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Case] = []

    def timed(_profiles: Path, case: Case) -> dict[str, Any]:
        ran.append(case)
        return {"seconds": 2.0, "gigabytes": 1.0}

    monkeypatch.setattr(km_deletion, "timed_case", timed)
    monkeypatch.setattr(km_deletion, "made", lambda folder, *_: folder)
    monkeypatch.setattr(km_deletion, "commands", lambda *_: {"verify": 1})
    small = km_deletion.measure(Plan(place.kept), place)
    assert ran == list(BAR_OF.values())
    assert set(small.values) == {"small km", "small km triples", "small km greedy"}
    assert small.facts["share of AltaVista's log"] == 0.1
    ran.clear()
    whole = km_deletion.measure(Plan(place.kept, reduced=1.0), place)
    assert ran == list(EVERY)
    assert set(whole.values) == {*BAR_OF, "km memory"}
    assert whole.facts["cases"]["greedy (2,3) fis"] == {"seconds": 2.0, "gigabytes": 1.0}
    assert set(whole.calls) == set(whole.values)


@pytest.mark.skipif("km-anonymity" not in METHODS, reason="the method is not there yet")
def test_the_real_method_and_the_real_commands(place: Place) -> None:
    found = km_deletion.measure(Plan(place.kept, reduced=TINY), place)
    assert set(found.values) == {"small km", "small km triples", "small km greedy"}
    assert all(value > 0 for value in found.values.values())
    assert set(found.facts["commands"]) == {"profiles", "anonymize", "verify"}
    kept = [run["share of log size kept"] for run in found.facts["cases"].values()]
    assert all(0 < share < 1 for share in kept)
    assert not list(place.temporary.iterdir())


def test_without_the_method_nothing_is_made(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(METHODS, "km-anonymity", raising=False)
    with pytest.raises(UsageError, match="needs the method km-anonymity"):
        km_deletion.measure(Plan(place.kept), place)
