"""R1, R2, R3, R11, R13 and R15: real searches, pages and processes over a small index."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.benchmark.cases import pages, searching, starting
from scripts.benchmark.plan import Load, Place, Plan
from search_app.workspace.folder import Workspace

from ....search_app.conftest import THREE_PEOPLE


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("bench")
    return Place(folder, folder)


@pytest.fixture(scope="module")
def plan(three_people: Path, place: Place) -> Plan:
    """Return a plan of little, with three people who pass for invented ones."""
    demo = Workspace(place.kept / "workspace")
    shutil.copytree(three_people, demo.root)
    users = {user: {"name": "Mira", "interests": []} for user in THREE_PEOPLE}
    truth = {"users": users, "interests": {}, "log_sha256": "00", "seed": 0}
    (demo.root / "town.truth.json").write_text(json.dumps(truth))
    demo.make_current(truth="town.truth.json", log_sha256="00")
    return Plan(rounds=2, queries=3, pool=5, page_warm_up=0, demo=demo.root, documents=300)


def test_searches_are_timed_beside_lucenes_and_pyserinis_own(plan: Plan, place: Place) -> None:
    found = searching.measure(plan, place)
    taken = found.facts["milliseconds"]
    lucene, pyserini = taken["Lucene's own search"], taken["Pyserini's search"]
    assert found.values["pool"] == pytest.approx(taken["pool"] / lucene, 0.05)
    assert found.values["rerank"] == pytest.approx(taken["re-rank"] / taken["bare product"], 0.05)
    assert found.values["pyserini"] == pytest.approx(pyserini / taken["pool"], 0.05)
    assert found.calls == {"pool": 6, "pyserini": 6, "rerank": 6}, "two rounds of three queries"
    assert found.facts["documents"] == 6
    assert 0 < found.facts["mean hits"] <= 5


def test_pages_are_asked_of_a_real_server(plan: Plan, place: Place) -> None:
    found = pages.measure(plan, place)
    taken = found.facts["milliseconds"]
    assert set(taken) == {*pages.KINDS, pages.BARE}
    for kind in pages.KINDS:
        assert found.values[kind] == pytest.approx(taken[kind], 0.01)
        assert found.values[f"{kind} / bare"] == pytest.approx(taken[kind] / taken["bare"], 0.01)
        assert taken[kind] > taken["bare"] > 0


def test_cold_starts_are_measured(plan: Plan, place: Place) -> None:
    found = starting.measure_first_answers(replace(plan, rounds=1), place)
    assert found.values["search"] > 0
    assert found.values["serve"] > 0
    assert found.calls == {"search": 1, "serve": 1}


def test_clients_are_counted_one_answer_each(plan: Plan, place: Place) -> None:
    small = Load(documents=300, clients=3, warm_up=0.1, seconds=0.5)
    found = pages.measure_load(replace(plan, load=small), place)
    assert found.facts["requests"] >= 3, "each client has asked once at least"
    assert found.values["load errors"] == 0
    assert found.values["load"] > 0
    assert found.values["load p95"] >= found.facts["milliseconds"]["p50"] > 0


def test_help_needs_neither_java_nor_network(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "LEAST", 1)
    found = starting.measure_help(Plan(rounds=1), place)
    assert found.facts["jvm"] is False
    assert found.facts["network"] == []
    assert not found.wrong
    taken = found.facts["milliseconds"]
    assert found.values["help"] == pytest.approx(
        taken["veilsearch --help"] / taken["python -c pass"], 0.02
    )
    assert found.values["help"] > 0


def test_a_help_that_calls_out_is_told() -> None:
    assert starting.faults_of({"jvm": True, "network": ["socket.connect"]}) == {
        "help": "it loads a JVM; it uses the network: ['socket.connect']"
    }
