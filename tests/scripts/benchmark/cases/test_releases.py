"""R6, R8, R9 and R14: real commands for a few made-up people, and the bars' figures of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.model import Profiles
from anonymizer.storage.profiles import read_profiles
from scripts.benchmark.cases import plain_reading, releases, whole_logs
from scripts.benchmark.cases.releases import VERIFIED, Way
from scripts.benchmark.inputs.invented_people import MIXED, made_up, mixed
from scripts.benchmark.plan import Place, Plan


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("goes"), tmp_path_factory.mktemp("kept"))


def test_made_up_people_have_the_terms_of_three(place: Place, three_people: Path) -> None:
    people = Profiles.from_rows(
        {f"u{row}": {f"t{row}-{term}": 1.0 for term in range(5)} for row in range(8)}
    )
    made = mixed(people, 50, size=7)
    assert (len(made), made.terms) == (50, people.terms)
    of_whom = [{people.terms[at].split("-")[0] for at in made.slice(row)[0]} for row in range(50)]
    assert max(map(len, of_whom)) == MIXED
    assert set(made.sizes) <= {5, 7}, "5 if one person was drawn three times"
    kept = made_up(place.kept, three_people / "profiles.jsonl", 20)
    assert len(read_profiles(kept)) == 20
    assert made_up(place.kept, three_people / "profiles.jsonl", 20) == kept


def test_real_commands_are_measured(
    place: Place, three_people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = Way("random-k", ("k=2",))
    ways = {"pooled": quick, "composition": Way("random-k", ("k=0",))}
    ways |= {VERIFIED: Way("p-linkability", ("p=0.9",)), "slow": quick._replace(few=True)}
    monkeypatch.setattr(releases, "WAYS", ways)
    monkeypatch.setattr(releases, "warmed_up", releases.demo_of)
    log = place.kept / "log.tsv"
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n")
    with log.open("a") as lines:
        lines.writelines(f"u{at}\tjava coffee\t2026-03-01 08:00:00\t\t\n" for at in range(5))
    monkeypatch.setattr(releases, "invented_log", lambda *_: log)
    before = (three_people / "current.json").read_bytes()
    plan = Plan(rounds=1, demo=three_people, made_up=20)
    found = releases.measure_made_up(plan, place)
    assert set(found.values) == {"pooled 20,000", "verify 20,000"}
    assert "composition" in found.facts["faults"], "what is refused loses no other figure"
    commands = found.facts["commands"]
    for name in (releases.POOLED, VERIFIED):
        run = commands[name]
        assert 0 < run["method alone"] < run["seconds"], name
        assert run["computing"] > 0
        assert run["gigabytes"] > 0
    assert {"profiles", "query-k"} < set(commands)
    assert "slow" not in commands
    assert (three_people / "current.json").read_bytes() == before
    plain = commands["reading and hashing its files"]["seconds"]
    assert found.values["verify 20,000"] == commands["verify"]["seconds"] / plain
    assert not list(place.temporary.iterdir())


def test_plain_reading_is_sha256_and_fails_where_records_are_broken(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("{}\n")
    assert plain_reading.read(path).startswith("ca3d163b")
    path.write_text("{}\n{")
    with pytest.raises(ValueError, match="Expecting"):
        plain_reading.read(path)


def test_the_figures_of_the_whole_log() -> None:
    def run(seconds: float, gigabytes: float = 1.0) -> dict[str, float]:
        return {"seconds": seconds, "gigabytes": gigabytes}

    commands = {
        "profiles": run(30),
        "p-linkability augment=none": run(40),
        "verify augment=none": run(10, 3.0),
        "p-linkability a=1": run(90),
        "verify": run(16),
        "reading and hashing its files": run(2, 9.0),
    }
    assert whole_logs.values_of(commands) == {
        "whole raw": 80,
        "whole WordNet": 136,
        "memory": 3.0,
        "verify 650,000": 8.0,
    }
