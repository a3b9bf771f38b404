"""marketing and measure --marketing as a person calls them: synthetic numbers are called so."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from anonymizer.marketing.table import read_table
from anonymizer.model import Profiles, Release
from anonymizer.promise import UNKNOWN
from anonymizer.storage.profiles import write_profiles

from ..conftest import Run, serve_release

PEOPLE = Profiles.from_rows(
    {
        "anna": {"coffee": 1.0, "espresso": 2.0},
        "berta": {"coffee": 3.0, "mocha": 4.0},
        "carla": {"java": 5.0, "compiler": 6.0},
        "dora": {"java": 7.0, "object": 8.0},
    }
)
ROWS = Profiles.from_rows({"g0001": {"coffee": 2.0}, "g0002": {"java": 6.0}})
TABLE = "term,bid,impressions,clicks\ncoffee,0.5,10,\nobject,2,10,1\n"


@pytest.fixture
def ready(run: Run) -> Run:
    """Return a workspace whose release keeps coffee and java alone."""
    release = Release(ROWS, PEOPLE.users, np.array([0, 0, 1, 1]), "test", {}, promise=UNKNOWN)
    serve_release(run.workspace, PEOPLE, release)
    return run


def test_a_synthetic_table_says_so(ready: Run, tmp_path: Path) -> None:
    said = ready("marketing", "-o", tmp_path / "t.csv")
    assert said == (
        f"synthetic: bids and impressions of 3 and clicks of 2 of 6 terms: {tmp_path / 't.csv'}\n"
    )
    assert (tmp_path / "t.csv").read_text().startswith("# synthetic: ")
    table = read_table(tmp_path / "t.csv")
    assert table.synthetic
    assert set(table.terms) < set(PEOPLE.terms)
    made = ready.json("marketing", ready.workspace / "profiles.jsonl", "-o", tmp_path / "same.csv")
    assert made["synthetic"] is True
    assert (made["terms"], made["bids"], made["clicks"], made["seed"]) == (6, 3, 2, 0)
    ready("marketing", "--seed", 1, "-o", tmp_path / "other.csv")
    content = [(tmp_path / name).read_bytes() for name in ("t.csv", "same.csv", "other.csv")]
    assert content[0] == content[1] != content[2]


def test_what_cannot_be_written_is_told_in_a_line(ready: Run, tmp_path: Path) -> None:
    assert "--seed -1 must be 0 or more" in ready.refused(
        "marketing", "-o", tmp_path / "t.csv", "--seed", -1
    )
    assert "must be a file" in ready.refused("marketing", "-o", tmp_path)
    assert "can't be written" in ready.refused("marketing", "-o", tmp_path / "no" / "t.csv")
    profiles = ready.workspace / "profiles.jsonl"
    assert "is the file of the profiles" in ready.refused("marketing", "-o", profiles)


def test_only_an_invented_table_is_replaced(ready: Run, tmp_path: Path) -> None:
    ready("marketing", "-o", tmp_path / "t.csv")
    before = (tmp_path / "t.csv").read_bytes()
    ready("marketing", "-o", tmp_path / "t.csv", "--seed", 1)
    assert (tmp_path / "t.csv").read_bytes() != before
    (tmp_path / "given.csv").write_text(TABLE)
    (tmp_path / "log.tsv").write_text("AnonID\tQuery\tQueryTime\nu1\tcoffee\t1\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "t.csv")
    (tmp_path / "dead.csv").symlink_to(tmp_path / "nowhere.csv")
    (tmp_path / "people.sqlite").write_bytes(b"SQLite format 3\0\xff")
    (ready.workspace / "other.jsonl").write_bytes((ready.workspace / "profiles.jsonl").read_bytes())
    names = ("given.csv", "log.tsv", "link.csv", "dead.csv", "people.sqlite")
    for path in (*(tmp_path / name for name in names), ready.workspace / "other.jsonl"):
        before = path.read_bytes() if path.exists() else b""
        said = ready.refused("marketing", "-o", path)
        assert f"-o {path} exists and is no invented marketing table" in said
        assert (path.read_bytes() if path.exists() else b"") == before
    assert not (tmp_path / "nowhere.csv").exists()


def test_measure_tells_what_is_kept(ready: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    lines = ready("measure", "--marketing", tmp_path / "t.csv").splitlines()
    shown = {" ".join(line.split()[:-1]): line.split()[-1] for line in lines}
    assert shown["share of distinct terms kept"] == "0.333"  # coffee and java of six
    assert shown["share of log size kept"] == f"{(1 + 3 + 5 + 7) / 36:.3f}"
    assert shown["share of users kept"] == "1.000"
    assert shown["share of bid kept"] == f"{4 * 0.5 / (4 * 0.5 + 8 * 2):.3f}"
    assert shown["share of impressions kept"] == f"{4 * 10 / (4 * 10 + 8 * 10):.3f}"
    assert shown["share of clicks kept"] == "0.000"
    assert lines[-1] == "marketing table: given, 2 of 6 terms"
    assert "bid" not in ready("measure")


def test_measure_by_a_synthetic_table_says_so_everywhere(ready: Run, tmp_path: Path) -> None:
    ready("marketing", "-o", tmp_path / "t.csv")
    outputs = [
        ready("measure", "--marketing", table, "-o", tmp_path / "m.csv")
        for table in ("synthetic", tmp_path / "t.csv")
    ]
    assert outputs[0] == outputs[1]
    assert "share of bid (synthetic table) kept" in outputs[0]
    assert outputs[0].splitlines()[-1] == ("marketing table: synthetic (invented), 3 of 6 terms")
    with (tmp_path / "m.csv").open(newline="") as file:
        names = [row["name"] for row in csv.DictReader(file) if "bid" in row["name"]]
    assert names == ["share of bid (synthetic table) kept"]
    told = ready.json("measure", "--marketing", "synthetic")["marketing"]
    assert told == {"synthetic": True, "known": 3, "terms": 6}
    assert "marketing" not in ready.json("measure")


def test_measure_refuses_a_table_that_is_no_use(ready: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("term,bid,impressions,clicks\nzebra,one,1,1\n")
    said = ready.refused("measure", "--marketing", tmp_path / "t.csv")
    assert "t.csv, line 2: bid must be a number" in said
    assert "No such file" in ready.refused("measure", "--marketing", tmp_path / "none.csv")


def test_anonymize_refuses_a_table_that_is_no_use(ready: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("term,bid,impressions,clicks\nzebra,1,1,1\n")
    for file, told in ((tmp_path / "t.csv", "knows none of the profiles' terms"),
                       ("/dev/null", "/dev/null: must be a plain file")):  # fmt: skip
        words = ("--set", "target=bid", "--set", "k=2", "--set", f"marketing={file}")
        assert told in ready.refused("anonymize", "-m", "km-anonymity", *words)
        assert told in ready.refused("measure", "--marketing", file)


def test_huge_weights_are_told_in_a_line(ready: Run, tmp_path: Path) -> None:
    rows = {user: {"coffee": 1e308, f"{user} tea": 9e307} for user in PEOPLE.users}
    write_profiles(Profiles.from_rows(rows), tmp_path / "p.jsonl")
    told = "weights are too large to be added up; divide them by a large number"
    assert told in ready.refused("marketing", tmp_path / "p.jsonl", "-o", tmp_path / "t.csv")
    words = ("--set", "target=revenue", "--set", "k=2", "--set", "marketing=synthetic")
    assert told in ready.refused("anonymize", tmp_path / "p.jsonl", "-m", "km-anonymity", *words)


def test_forgetting_takes_terms_out_of_tables(ready: Run) -> None:
    root = ready.workspace
    (root / "more").mkdir()
    lines = ["term,bid,impressions,clicks\n", "ESPRESSO,1,1,\n", "coffee,0.50,1,\n", "zebra,1,1,1"]
    (root / "t.csv").write_text("".join(lines))
    (root / "more" / "t.csv").write_text("".join(lines[:2]))
    (root / "same.csv").write_text(TABLE)
    done = ready.json("forget", "--user", "anna")
    assert (root / "t.csv").read_text() == "".join([lines[0], *lines[2:]]) + "\n"
    assert not (root / "more" / "t.csv").exists()
    assert (root / "same.csv").read_text() == TABLE
    assert "t.csv" in done["changed"]
    assert "more/t.csv" in done["removed"]
    assert done["left"] == []


def test_a_term_that_somebody_else_has_stays_in_tables(ready: Run) -> None:
    root = ready.workspace
    (root / "t.csv").write_text(f"{TABLE}espresso,1,1,1\nmocha,1,1,1\n")
    others = Profiles.from_rows({"emil": {"espresso": 1.0}})
    write_profiles(others, root / "others.jsonl")
    ready("forget", "--user", "anna")
    assert "espresso" in (root / "t.csv").read_text()
    ready("forget", "--user", "berta", "--term", "mocha")
    assert read_table(root / "t.csv").terms == ("coffee", "object", "espresso")


def test_a_table_that_is_broken_is_named_as_left(ready: Run) -> None:
    (ready.workspace / "t.csv").write_text(f"{TABLE}espresso,one,1,1\n")
    done = json.loads(ready("forget", "--user", "anna", "--json", code=1))
    assert done["left"] == ["t.csv"]
