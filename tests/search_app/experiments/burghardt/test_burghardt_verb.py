"""`veilsearch experiment` on releases of which nobody asks all, by one marketing table."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from search_app.experiments.definition import read_definition, text_of
from search_app.experiments.design import units_of
from search_app.web.runs.reading import read_run

from ...conftest import Run
from .. import toy_world
from ..toy_world import Place, told_in

DEFINITION = """
name = "toy"
title = "A toy"
report = "burghardt"
[inputs]
size = "off"
users = "off"
robots = 50
terms = "letters-digits"
queries_per_user = 1
least_hits = 60
[defaults]
method = "km-anonymity"
weights = "tf"
modes = []
pools = [35]
[[variant]]
name = "tables"
[variant.parameters]
k = [2, 3]
m = [2, 3]
algorithm = ["greedy", "insert"]
target = ["logsize", "users", "bid", "clicks"]
ties = "first"
[[variant]]
name = "tables"
seeds = [0, 1]
parameters = { k = [2, 3], m = [2, 3], algorithm = ["greedy", "insert"], target = "random" }
[[variant]]
name = "baselines"
method = ""
modes = ["none", "average"]
[[variant]]
name = "search"
modes = ["group"]
parameters = { k = [2, 3], m = 2, algorithm = "insert", target = "logsize", ties = "first" }
[[variant]]
name = "search"
method = "p-linkability"
modes = ["group"]
parameters = { p = "off", k = [2, 3] }
"""
ONLY_RELEASES = """
name = "only"
[[variant]]
name = "releases"
method = "km-anonymity"
modes = []
parameters = { k = [2, 3] }
"""
UNITS = 4 * 2 * 4 + 4 * 2 * 2 + 1 + 2  # of tables, by random, of no release, of groups


@pytest.fixture
def place(toy: Place, tmp_path_factory: pytest.TempPathFactory) -> Place:
    definition = tmp_path_factory.mktemp("defined") / "toy.toml"
    definition.write_text(DEFINITION)
    return replace(toy, definition=definition)


def made(run: Run, place: Place, out: Path) -> Path:
    if not out.exists():
        run(*place.arguments(out))
    return out


def bytes_of(out: Path) -> dict[str, bytes]:
    found = toy_world.bytes_of(out)
    return {**found, "report.json": untimed(found["report.json"])}


def untimed(report: bytes) -> bytes:
    """Leave out of a report what is told of seconds."""
    told = json.loads(report)
    for table in told["tables"]:
        if table["name"] == "iterations":
            table["rows"] = [row[:4] for row in table["rows"]]
    return json.dumps(told).encode()


def units(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "units.jsonl").read_bytes().splitlines()]


def test_it_says_what_it_found_and_asks_only_who_is_to_be_asked(
    run: Run, place: Place, whole: Path
) -> None:
    out = made(run, place, whole)
    report = json.loads((out / "report.json").read_bytes())
    assert {"table-3", "table-5", "table-6", "gains", "search"} <= {
        each["name"] for each in report["tables"]
    }
    assert {"tradeoff", "figure-1", "figure-2"} == {each["name"] for each in report["figures"]}
    assert len(report["claims"]) > 10
    assert any("synthetic" in note for note in report["notes"])
    assert len(units(out)) == UNITS
    rows = list(csv.DictReader((out / "rows.csv").read_text().splitlines()))
    asked = {row["unit"] for row in rows}
    assert asked == {unit["name"] for unit in units(out) if unit["asked"]}
    assert len(asked) == 5  # two reduced, two of groups, and none
    lines = list(csv.DictReader((out / "units.csv").read_text().splitlines()))
    assert all(0 < float(line["kept_log_size"]) <= 1 for line in lines if line["method"])
    assert {line["table_synthetic"] for line in lines} == {"1"}
    by_method = {line["method"]: line for line in lines}
    assert by_method[""]["profiles"] == "14"
    assert "marketing" not in lines[0]


def test_it_tells_how_long_releases_took_and_whose_table_it_was(
    run: Run, place: Place, whole: Path, tmp_path: Path
) -> None:
    out = Path(shutil.copytree(made(run, place, whole), tmp_path / "out"))
    told = json.loads((out / "provenance.json").read_bytes())
    assert told["marketing"] == "synthetic"
    assert "marketing_sha256" not in told["inputs"]
    releases = {unit["name"] for unit in units(out) if unit["method"]}
    assert told["release_seconds"].keys() == releases
    assert told["unit_seconds"].keys() == {unit["name"] for unit in units(out)}
    for name, seconds in told["release_seconds"].items():
        assert 0 <= seconds <= told["unit_seconds"][name]
    assert "release_seconds.u001" in (out / "report.html").read_text()
    named = {unit["name"]: unit for unit in units(out)}
    greedy = {name for name in named if named[name]["parameters"].get("algorithm") == "greedy"}
    assert told["pass_seconds"].keys() == greedy
    for name, seconds in told["pass_seconds"].items():
        deleting = named[name]["facts"].get("passes", 0)
        assert deleting <= len(seconds) <= deleting + 1  # the last one deletes nothing
        assert 0 <= sum(seconds) <= told["release_seconds"][name] + 0.01
    run(*place.arguments(out))  # all is reused, with what it took
    again = json.loads((out / "provenance.json").read_bytes())
    assert again["unit_seconds"] == {}
    for name in ("release_seconds", "pass_seconds"):
        assert again[name] == told[name]
    (out / "provenance.json").write_text("{}")  # which nobody wrote
    run(*place.arguments(out))
    assert json.loads((out / "provenance.json").read_bytes())["pass_seconds"] == {}


def test_a_given_table_is_the_table_of_all(run: Run, place: Place, tmp_path: Path) -> None:
    table, out = tmp_path / "bids.csv", tmp_path / "run" / "out"
    lines = [f"{word},{at + 1},{10 * at + 10},{at + 1}" for at, word in enumerate(_words())]
    table.write_text("term,bid,impressions,clicks\n" + "\n".join(lines) + "\n")
    given = place.arguments(out, "--marketing", str(table))
    run(*given)
    told = json.loads((out / "provenance.json").read_bytes())
    assert told["marketing"] == "given"
    assert told["inputs"]["marketing_sha256"] == sha256(table.read_bytes()).hexdigest()
    assert "--marketing bids.csv" in told["command"]
    assert {unit["facts"]["table_synthetic"] for unit in units(out)} == {0}
    report = json.loads((out / "report.json").read_bytes())
    assert "synthetic" not in json.dumps(report)
    table.write_text(table.read_text().replace(",1,10,1\n", ",9,10,1\n"))
    assert "holds a run of other data" in run.refused(*given)


def _words() -> list[str]:
    return sorted({word for topic in toy_world.TOPICS for word in topic.split()})


def test_a_table_that_is_none_is_refused(run: Run, place: Place, tmp_path: Path) -> None:
    out, table = tmp_path / "out", tmp_path / "bids.csv"
    given = place.arguments(out, "--marketing", str(table))
    assert "--marketing" in run.refused(*given)
    table.write_text("term,bid,impressions,clicks\ntea,much,1,1\n")
    assert "line 2" in run.refused(*given)
    inside = place.arguments(tmp_path, "--marketing", str(table))
    assert "would replace the folder of the marketing" in run.refused(*inside)
    assert not out.exists()


def test_any_number_of_workers_make_the_same_bytes(
    run: Run, place: Place, whole: Path, tmp_path: Path
) -> None:
    first = bytes_of(made(run, place, whole))
    run(*place.arguments(tmp_path / "by three", workers=3))
    assert bytes_of(tmp_path / "by three") == first


def test_no_query_no_person_and_no_term_is_told(run: Run, place: Place, whole: Path) -> None:
    out = made(run, place, whole)
    files = [path for path in out.rglob("*") if path.is_file()]
    assert {path.name: told for path in files if (told := told_in(path.read_bytes()))} == {}


def test_the_site_shows_such_a_run(run: Run, place: Place, whole: Path) -> None:
    shown = read_run(made(run, place, whole))
    assert shown.faults == ()
    assert shown.report is not None
    assert shown.counts["units"] == UNITS
    assert len(shown.pictures) == 3 * 3


def test_where_nobody_asks_there_are_releases_and_no_rows(
    run: Run, place: Place, tmp_path: Path
) -> None:
    out, definition = tmp_path / "out", tmp_path / "only.toml"
    definition.write_text(ONLY_RELEASES)
    mine = Place(place.root, place.log, definition).arguments(out, "--set", "size=off")
    mine += ["--set", "users=off"]
    told = run.json(*mine)
    assert (told["people"], told["queries"], told["units"], told["rows"]) == (0, 0, 2, 0)
    before = bytes_of(out)
    assert run.json(*mine)["reused"] == 2
    assert bytes_of(out) == before
    assert "Nothing was searched" in (out / "report.html").read_text()
    assert read_run(out).faults == ()
    definition.write_text(ONLY_RELEASES.replace("[2, 3]", "[2]"))
    told = run.refused(*mine)
    assert "holds results that this run doesn't make, such as km-anonymity k=3 m=2" in told
    assert "(seed 0); name another folder" in told


def test_ours_makes_no_more_releases_than_it_says() -> None:
    experiment = read_definition(text_of("burghardt"), "burghardt")
    made = units_of(experiment.variants)
    by_method = [unit.method for unit in made]
    # 6 k, 3 m, 2 algorithms, 7 targets and 2 runs by random; 3 k of 3 targets and 2 runs, repaired
    assert by_method.count("km-anonymity") == 6 * 3 * 2 * (7 + 2) + 3 * (3 + 2)
    assert by_method.count("p-linkability") == 6 + 1
    assert by_method.count("") == 1
    assert {unit.weights for unit in made} == {"tf"}
    asked = [unit for unit in made if unit.asked]
    assert len(asked) == 6 + 3 + 7 + 1
