"""R7: the cases and their figures, by a small method in the place of the real one."""

from __future__ import annotations

import json
from collections.abc import Callable
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
from search_app.benchmark.km_deletion import (
    BAR_OF,
    EVERY,
    Case,
    case_of,
    made,
    main,
    values_of,
)
from search_app.benchmark.plan import Place, Plan

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
    main([str(profiles), "1", "greedy,2,3,revenue"])
    (told,) = json.loads(capsys.readouterr().out)
    seconds = told.pop("seconds")
    assert seconds >= 0
    assert told.pop("quartiles") == [seconds, seconds]
    assert told.pop("calls") == 1
    assert told == {
        **dict.fromkeys((f"share of {what} kept" for what in ("distinct terms", *SIZES)), 1.0),
        **dict.fromkeys((f"share of {what} (synthetic table) kept" for what in VALUES), 1.0),
    }
    assert [call["users"] for call in calls] == [WHOLE.part(0.002).users, WHOLE.part(TINY).users]
    assert calls[1]["table"].synthetic
    wanted = {"k": 2, "m": 3, "algorithm": "greedy", "target": "revenue", "ties": "first"}
    assert wanted.items() <= calls[1].items()
    main([str(profiles), "1", "insert,2,2,logsize"])
    assert calls[3]["table"] is None
    assert (calls[3]["marketing"], calls[3]["ties"]) == ("none", "random")


def test_cases_of_a_process_take_turns_after_a_warm_up_of_each(
    place: Place,
    calls: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = iter([1.0, 10.0, 2.0, 20.0, 6.0, 90.0])

    def seconds_of(call: Callable[[], object]) -> float:
        call()
        return next(taken)

    monkeypatch.setattr(km_deletion, "seconds_of", seconds_of)
    profiles = made(place.kept, TINY, ".npz")
    main([str(profiles), "3", "insert,2,2,logsize", "insert,2,3,logsize"])
    two, three = json.loads(capsys.readouterr().out)
    assert (two["seconds"], two["quartiles"], two["calls"]) == (2.0, [1.5, 4.0], 3)
    assert (three["seconds"], three["calls"]) == (20.0, 3)
    small, large = WHOLE.part(0.002).users, WHOLE.part(TINY).users
    assert [call["users"] for call in calls] == [small] * 2 + [large] * 6
    assert [call["m"] for call in calls] == [2, 3] * 4


def test_a_case_stands_in_a_command() -> None:
    assert [case_of(",".join(map(str, case))) for case in EVERY] == list(EVERY)


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
    ran: list[tuple[int, list[Case]]] = []

    def timed(_profiles: Path, cases: list[Case], rounds: int) -> dict[Case, dict[str, Any]]:
        ran.append((rounds, cases))
        return {case: {"seconds": 2.0, "calls": rounds, "gigabytes": 1.0} for case in cases}

    monkeypatch.setattr(km_deletion, "timed_cases", timed)
    monkeypatch.setattr(km_deletion, "made", lambda folder, *_: folder)
    pairs, triples, greedy = BAR_OF.values()
    barred = [(5, [pairs, triples]), (5, [greedy])]
    small = km_deletion.measure(Plan(place.kept), place)
    assert ran == barred
    assert set(small.values) == {"small km", "small km triples", "small km greedy"}
    assert small.facts["share of AltaVista's log"] == 0.1
    ran.clear()
    whole = km_deletion.measure(Plan(place.kept, reduced=1.0), place)
    others = [case for case in EVERY if case not in BAR_OF.values()]
    assert ran == [*barred, *((1, [case]) for case in others)]
    assert set(whole.values) == {*BAR_OF, "km memory"}
    once = {"seconds": 2.0, "calls": 1, "gigabytes": 1.0}
    assert whole.facts["cases"]["greedy (2,3) fis"] == once
    assert whole.calls == dict.fromkeys(BAR_OF, 5)
    assert small.calls == {f"small {name}": 5 for name in BAR_OF}


def test_the_real_method(place: Place) -> None:
    found = km_deletion.measure(Plan(place.kept, reduced=TINY, rounds=2), place)
    assert set(found.values) == {"small km", "small km triples", "small km greedy"}
    assert all(value > 0 for value in found.values.values())
    kept = [run["share of log size kept"] for run in found.facts["cases"].values()]
    assert all(0 < share < 1 for share in kept)
    assert {run["calls"] for run in found.facts["cases"].values()} == {2}
