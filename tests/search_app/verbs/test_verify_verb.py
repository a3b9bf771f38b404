"""verify, measure and publish as a person calls them."""

from __future__ import annotations

import csv
import json
import re
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anonymizer.measures.facts import facts
from anonymizer.methods import parameters_of, promise_of
from anonymizer.model import Profiles, Release
from anonymizer.storage.profiles import write_profiles
from anonymizer.verification.finding import Finding, Verdict
from search_app.verbs.verify import lines

from ..conftest import Run, serve_release

PEOPLE = Profiles.from_rows(
    {
        "anna": {"coffee": 1.0, "espresso": 1.0},
        "berta": {"coffee": 1.0, "mocha": 1.0},
        "carla": {"java": 1.0, "compiler": 1.0},
        "dora": {"java": 1.0, "object": 1.0},
    }
)
ROWS = Profiles.from_rows(
    {
        "g0001": {"coffee": 1.0, "espresso": 0.5, "mocha": 0.5},
        "g0002": {"compiler": 0.5, "java": 1.0, "object": 0.5},
    }
)
PARAMETERS = {
    **parameters_of("p-linkability"),
    **{"p": 0.7, "augment": "none", "a": 0, "first_seed": "drawn"},
}


def test_breaches_are_counted(tmp_path: Path) -> None:
    finding = Finding("p", False, "rows.jsonl", "is too large")
    for count, told in ((1, "1 breach"), (2, "2 breaches")):
        first, *_ = lines(tmp_path, Verdict((finding,) * count, {}))
        assert first.endswith(f"is refused: {told}")


def test_lines_say_which_cohort_they_are_about_and_who_waits(tmp_path: Path) -> None:
    places = ("rows.jsonl", "cohorts/0002/rows.jsonl, line 3")
    findings = tuple(Finding("p", True, where, "each is within p") for where in places)
    checked = {"users": 8, "rows": 3, "cells": 9, "waiting": 1, "cohorts": 2}
    assert [*lines(tmp_path, Verdict(findings, checked))] == [
        f"{tmp_path} holds: 8 users (1 waiting) in 3 rows of 2 cohorts, 9 weights, each recounted",
        "  p              each is within p",
        "  p              cohorts/0002: each is within p",
    ]


@pytest.fixture
def ready(run: Run) -> Run:
    """Return a workspace whose current release has two groups of two: 2 terms of 3, 0.667."""
    write([0, 0, 1, 1], run.workspace, ROWS)
    return run


def write(row_of_user: list[int], folder: Path, rows: Profiles, people: Profiles = PEOPLE) -> None:
    method, promise = "p-linkability", promise_of("p-linkability", PARAMETERS)
    given = (rows, people.users, np.array(row_of_user), method, PARAMETERS)
    release = Release(*given, promise=promise)
    serve_release(folder, people, replace(release, facts=facts(people, release)))


def damage(run: Run) -> None:
    path = run.workspace / "release" / "rows.jsonl"
    path.write_text(path.read_text().replace("0.5", "0.6", 1))


def test_verify_tells_what_it_recounted(ready: Run) -> None:
    text = ready("verify")
    assert "release holds: 4 users in 2 rows, 6 weights, each recounted" in text
    assert "each group has 3 distinct terms or more, as p=0.7 needs" in text
    found = ready.json("verify", ready.workspace / "release")
    assert (found["holds"], found["checked"]["rows"]) == (True, 2)
    assert all(finding["holds"] for finding in found["findings"])


def test_verify_names_breaches_and_exits_with_1(ready: Run) -> None:
    damage(ready)
    text = ready("verify", code=1)
    assert "is refused: " in text.splitlines()[0]
    assert "rows.jsonl: changed since its checksum was written" in text
    assert "rows.jsonl, line 1: has a weight that is not the centroid's" in text
    found = json.loads(ready("verify", "--json", code=1))
    assert found["holds"] is False
    assert not any(user in text + json.dumps(found["findings"]) for user in PEOPLE.users)


def test_other_profiles_are_a_breach_and_none_are_wrong_use(ready: Run, tmp_path: Path) -> None:
    other = Profiles.from_rows({user: {"tea": 1.0} for user in PEOPLE.users})
    write_profiles(other, tmp_path / "other.npz")
    assert "made from other profiles" in ready(
        "verify", "--against", tmp_path / "other.npz", code=1
    )
    assert "missing.jsonl" in ready.refused("verify", "--against", "missing.jsonl")
    assert "is no release" in ready.refused("verify", tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    assert "is no release" in ready.refused("verify", tmp_path / "empty")
    (ready.workspace / "release" / "release.json").unlink()
    assert "release.json: can't be read" in ready("verify", code=1)


def test_publish_writes_a_file_that_the_product_reads(ready: Run, tmp_path: Path) -> None:
    text = ready("publish", "-o", tmp_path / "f")
    assert text == f"{tmp_path / 'f'}: 2 rows of 4 users, the very bytes that were verified\n"
    rows = (ready.workspace / "release" / "rows.jsonl").read_bytes()
    assert (tmp_path / "f").read_bytes().endswith(b"\n" + rows)
    before = (tmp_path / "f").read_bytes()
    assert ready.json("publish", "-o", tmp_path / "f")["published"] == str(tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == before


def test_publish_refuses_a_breach_and_has_no_force(ready: Run, tmp_path: Path) -> None:
    damage(ready)
    text = ready("publish", "-o", tmp_path / "f", code=1)
    assert "is refused" in text
    assert ready.talk == "Nothing was published.\n"
    assert json.loads(ready("publish", "--json", "-o", tmp_path / "f", code=1))["published"] is None
    for flag in ("--force", "-f", "--yes"):
        assert "unrecognized arguments" in ready.refused("publish", "-o", tmp_path / "f", flag)
    assert not (tmp_path / "f").exists()


def test_verify_and_publish_say_that_users_are_sessions(ready: Run, tmp_path: Path) -> None:
    users = ("anna#1", "berta#1", "anna#2", "berta#2")
    write([0, 0, 1, 1], ready.workspace, ROWS, replace(PEOPLE, users=users))
    assert "release holds: 4 users, which are sessions of 2 people in 2 rows" in ready("verify")
    assert ready.json("verify")["checked"]["people"] == 2
    text = ready("publish", "-o", tmp_path / "f")
    assert text.startswith(f"{tmp_path / 'f'}: 2 rows of 4 users, which are sessions of 2 people, ")
    users = ("anna#1", "anna#2", "berta#1", "berta#2")
    write([0, 0, 1, 1], ready.workspace, ROWS, replace(PEOPLE, users=users))
    assert "2 rows stand for one person" in ready("verify")
    assert "2 rows stand for one person" in ready("publish", "-o", tmp_path / "g", code=1)
    assert not (tmp_path / "g").exists()


def test_measure_refuses_other_profiles_though_users_and_terms_are_the_same(ready: Run) -> None:
    rows = {user: dict.fromkeys(PEOPLE.row(user), 2.0) for user in PEOPLE.users}
    write_profiles(Profiles.from_rows(rows), ready.workspace / "other.jsonl")
    other = ready.workspace / "other.jsonl"
    assert "was made from other profiles than" in ready.refused("measure", "--against", other)


def test_measure_never_writes_over_what_it_reads(ready: Run, tmp_path: Path) -> None:
    release, profiles = ready.workspace / "release", ready.workspace / "profiles.jsonl"
    (tmp_path / "link.csv").symlink_to(profiles)
    (tmp_path / "hard.csv").hardlink_to(profiles)
    (tmp_path / "folder").symlink_to(release)
    before = {path: path.read_bytes() for path in ready.workspace.rglob("*") if path.is_file()}
    for output in (profiles, tmp_path / "link.csv", tmp_path / "hard.csv"):
        assert "is the file of the profiles; name another" in ready.refused("measure", "-o", output)
    for output in (release / "rows.jsonl", release / "m.csv", tmp_path / "folder" / "m.csv"):
        assert "lies in the release; name a file" in ready.refused("measure", "-o", output)
    after = {path: path.read_bytes() for path in ready.workspace.rglob("*") if path.is_file()}
    assert after == before


def test_measure_shows_and_writes_every_measure(ready: Run, tmp_path: Path) -> None:
    measures = {m["name"]: m for m in ready.json("measure", "-o", tmp_path / "m.csv")["measures"]}
    assert measures["users"] | {"of": ""} == {
        "name": "users", "of": "", "values": 2, "mean": 2.0, "least": 2.0, "q05": 2.0,
        "median": 2.0, "q95": 2.0, "most": 2.0,
    }  # fmt: skip
    assert measures["average"]["most"] == 2 / 3
    assert measures["worst"]["most"] == 1
    assert measures["share of own terms kept"]["least"] == 1
    cosine = (1 + 0.5) / (2 * 1.5) ** 0.5  # own: 1, 1; row: 1, 0.5, 0.5
    assert measures["cosine of user and row"]["mean"] == pytest.approx(cosine)
    with (tmp_path / "m.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(m["values"] for m in measures.values())
    assert list(rows[0]) == ["name", "value", "user", "group", "low", "high"]
    assert {row["user"] for row in rows} == {""}
    assert stat.S_IMODE((tmp_path / "m.csv").stat().st_mode) == 0o600
    lines = ready("measure").splitlines()
    assert lines[0].split() == ["2", "groups", "mean", "least", "median", "95", "%", "most"]
    shown = {re.split(r"\s{2,}", line.strip())[0]: line.split()[-1] for line in lines}
    assert shown["mean profile over the terms (paper's p)"] == "0.667"
    assert shown["terms of groups suppressed"] == "0"


def test_measure_names_users_only_when_asked_and_their_order_tells_nothing(
    ready: Run, tmp_path: Path
) -> None:
    ready("measure", "--users", "-o", tmp_path / "m.csv")
    with (tmp_path / "m.csv").open(newline="") as file:
        assert {row["user"] for row in csv.DictReader(file)} == {"", *PEOPLE.users}
    ready("measure", "-o", tmp_path / "m.csv")
    with (tmp_path / "m.csv").open(newline="") as file:
        of_users = [row for row in csv.DictReader(file) if row["name"].startswith("cosine")]
    values = [float(row["value"]) for row in of_users]
    assert values == sorted(values)


def test_measure_writes_the_worst_cells_for_the_owner_alone(ready: Run, tmp_path: Path) -> None:
    """Two of four have coffee: both of one row, nobody of the other."""
    private = ready.workspace / "release" / "private" / "worst.csv"
    for path in (private, tmp_path / "worst.csv", private):
        text = ready("measure", "--worst", path)
        assert not any(term in text + ready.talk for term in PEOPLE.terms)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        lines = path.read_text().splitlines()
        assert lines[0] == "row,term,posterior,prior"
        assert lines[1:5] == [
            "g0001,coffee,1.0,0.5", "g0001,java,0.0,0.5", "g0002,coffee,0.0,0.5",
            "g0002,java,1.0,0.5",
        ]  # fmt: skip
        assert lines[5] == "g0001,compiler,0.0,0.25"
        assert len(lines) == 1 + 2 * 6
    assert "release holds" in ready("verify")
    assert "largest change of belief, by the rows" in text
    measures = {m["name"]: m for m in ready.json("measure")["measures"]}
    assert measures["change of belief"]["most"] == 0.5
    assert measures["change of belief, mean"]["mean"] == (4 * 0.5 + 8 * 0.25) / 12


def test_measure_refuses_to_write_the_worst_cells_into_what_is_published(
    ready: Run, tmp_path: Path
) -> None:
    release = ready.workspace / "release"
    ready("publish", "-o", tmp_path / "published.jsonl")
    (tmp_path / "link").symlink_to(release)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for path in (release / "w.csv", release / "rows.jsonl", tmp_path / "link" / "w.csv"):
        assert "lies in the published part of the release" in ready.refused(
            "measure", "--worst", path
        )
    there = ("published.jsonl", "link/private/members.jsonl", "link/private/checksums.sha256")
    for path in (*(tmp_path / name for name in there), ready.workspace / "profiles.jsonl"):
        assert "holds something else; name another" in ready.refused("measure", "--worst", path)
    both = ("--worst", tmp_path / "m.csv", "-o", tmp_path / "m.csv")
    assert "--worst and -o are both" in ready.refused("measure", *both)
    assert {path: path.read_bytes() for path in before} == before


def test_verify_loads_no_scipy() -> None:
    """Verifying a small release must not take a quarter of making it (bar R9)."""
    code = (
        "import sys\nimport search_app.verbs.verify, anonymizer.verification.judge\n"
        "sys.exit(bool({'scipy', 'numba', 'nltk'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
