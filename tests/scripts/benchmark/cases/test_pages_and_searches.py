"""R1, R2, R3, R13 and R11: real searches, pages and processes over a small index."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scripts.benchmark.cases import pages, searching, starting
from scripts.benchmark.plan import Load, Place, Plan
from search_app.workspace.folder import Workspace


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("bench")
    return Place(folder, folder)


@pytest.fixture(scope="module")
def plan(three_people: Path) -> Plan:
    return Plan(
        three_people, only=("R1", "R2"), rounds=2, queries=3, pool=5, page_warm_up=0, people=40
    )


def test_searches_are_timed_beside_lucenes_and_pyserinis_own(plan: Plan, place: Place) -> None:
    before = (plan.workspace / "current.json").read_bytes()
    found = searching.measure(plan, place)
    taken = found.facts["milliseconds"]
    lucene, pyserini = taken["Lucene's own search"], taken["Pyserini's search"]
    assert found.values["pool"] == pytest.approx(taken["pool"] / lucene, 0.05)
    assert found.values["rerank"] == pytest.approx(taken["re-rank"] / taken["bare product"], 0.05)
    assert found.values["pyserini"] == pytest.approx(pyserini / taken["pool"], 0.05)
    assert found.calls == {"pool": 6, "pyserini": 6, "rerank": 6}, "two rounds of three queries"
    assert found.facts["documents"] == 6
    assert 0 < found.facts["mean hits"] <= 5
    assert (plan.workspace / "current.json").read_bytes() == before


def test_pages_are_asked_of_a_real_server(plan: Plan, place: Place) -> None:
    found = pages.measure(plan, place)
    taken = found.facts["milliseconds"]
    assert found.values["page"] == pytest.approx(
        taken["personalized page"] / taken["plain page"], 0.01
    )
    assert found.values["comparison"] > 0
    assert not Workspace(plan.workspace).log.exists(), "the workspace itself saw no search"


def test_clients_are_counted_one_answer_each(
    plan: Plan, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "VOCABULARY", 2_500)
    small = Load(documents=300, clients=3, warm_up=0.1, seconds=0.5)
    found = pages.measure_load(replace(plan, load=small), place)
    assert found.facts["requests"] >= 3, "each client has asked once at least"
    assert found.values["load errors"] == 0
    assert found.values["load"] > 0
    assert found.values["load p95"] >= found.facts["milliseconds"]["p50"] > 0


def test_help_needs_neither_java_nor_network(place: Place) -> None:
    found = starting.measure(Plan(place.kept, rounds=1), place)
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
