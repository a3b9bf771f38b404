"""`anonymize --parts`: what it writes and says, when it comes by itself, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from anonymizer.model import Profiles
from anonymizer.storage.profiles import write_profiles
from search_app.tasks import releasing

from ..conftest import Run

ALONE = ("--set", "augment=none")


@pytest.fixture
def profiles(tmp_path: Path) -> Path:
    """Return a file of the profiles of 60 people."""
    rng = np.random.default_rng(1)
    drawn = {f"u{user}": rng.choice(40, 6, replace=False) for user in range(60)}
    rows = {user: {f"t{term}": 1.0 for term in terms.tolist()} for user, terms in drawn.items()}
    path = tmp_path / "people.npz"
    write_profiles(Profiles.from_rows(rows), path)
    return path


def shards(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("rows*"))


def test_a_shard_for_each_part_that_verifies_and_is_served(run: Run, profiles: Path) -> None:
    said = run("anonymize", profiles, *ALONE, "--parts", 3)
    release = run.workspace / "release"
    assert shards(release) == [f"rows-000{number}.jsonl" for number in range(3)]
    assert "60 people: no row -> groups of 3 to" in run.talk
    made = json.loads((release / "release.json").read_text())
    assert f"60 users in {made['facts']['groups']} groups" in said
    assert "holds: 60 users" in run("verify", release, "--against", profiles)
    # Nothing of the parts stays behind.
    assert not [*run.workspace.glob(".release*")]


def test_one_part_is_all_at_once(run: Run, profiles: Path, tmp_path: Path) -> None:
    made = []
    for name, more in (("one", ("--parts", 1)), ("plain", ())):
        run("anonymize", profiles, *ALONE, *more, "-o", tmp_path / name)
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        made.append({path.name: path.read_bytes() for path in files})
    assert made[0] == made[1]
    assert [*made[0]][-1:] == ["rows.jsonl"]


def test_too_many_users_are_grouped_in_parts_by_themselves(
    run: Run, profiles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releasing, "MOST_AT_ONCE", 50)
    monkeypatch.setattr(releasing, "_IN_A_PART", 25)
    run("anonymize", profiles, *ALONE, "-o", tmp_path / "many")
    said = "60 users are more than 50, so they are grouped in 3 parts, one after the other; --parts"
    assert said in run.talk
    assert len(shards(tmp_path / "many")) == 3
    run("anonymize", profiles, "-m", "global-row", "-o", tmp_path / "whole")
    assert shards(tmp_path / "whole") == ["rows.jsonl"]


def test_what_parts_cost_is_said(run: Run, profiles: Path, tmp_path: Path) -> None:
    cost = "in parts a term is kept only where k people of the same part have it, so less is kept"
    assert cost in run("anonymize", "--help").replace("\n", " ")
    run(
        "anonymize",
        profiles,
        "-m",
        "km-anonymity",
        "--set",
        "k=2",
        "--parts",
        2,
        "-o",
        tmp_path / "r",
    )
    assert f"Note: {cost}." in run.talk


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--parts", 0), "--parts 0 must be from 1 to 10000"),
        (("--parts", 10_001), "--parts 10001 must be from 1 to 10000"),
        (("--parts", 2, "-m", "global-row"), "global-row needs all users at once; in parts there"),
        (("--parts", 2, "--set", "first_seed=u1"), "first_seed is of one group"),
        (("--parts", 2, "--set", "p=0.01"), "2 parts, so take fewer parts"),
        (("--parts", 50), "parts got nobody; take fewer parts"),
    ],
)
def test_refusals_leave_nothing_behind(
    run: Run, profiles: Path, asked: tuple[object, ...], said: str
) -> None:
    assert said in run.refused("anonymize", profiles, *ALONE[: 2 * ("-m" not in asked)], *asked)
    assert not [*run.workspace.rglob("*rows*"), *run.workspace.glob(".release*")]
