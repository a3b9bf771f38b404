"""A workspace that serves a release in shards: people leave, and a copy of it is as good."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from anonymizer.storage.parts import read_cohorts

from ..conftest import Run, jsonl


@pytest.fixture
def release(run: Run) -> Path:
    """Return the release in three shards that a workspace of 60 people serves."""
    rng = np.random.default_rng(1)
    drawn = {f"u{user}": rng.choice(40, 6, replace=False) for user in range(60)}
    people = [
        {"user": user, "terms": {f"t{term:02d}": 1.0 for term in sorted(terms.tolist())}}
        for user, terms in drawn.items()
    ]
    run.workspace.mkdir()
    profiles = jsonl(run.workspace / "profiles.jsonl", people)
    run("anonymize", profiles, "--set", "augment=none", "--set", "k=2", "--parts", 3)
    return run.workspace / "release"


def test_people_leave_one_shard_and_published_rows_follow(run: Run, release: Path) -> None:
    published = run.workspace / "people.release"
    run("publish", "-o", published)
    lines = published.read_bytes().splitlines(keepends=True)
    assert b"".join(lines[1:]) == read_cohorts(release)[0].parts["rows.jsonl"]
    before = {path.name: path.read_bytes() for path in release.rglob("*.jsonl")}
    leaving = json.loads((release / "private/members-0001.jsonl").read_text().split("\n")[0])
    run("forget", "--user", leaving["user"])
    after = {path.name: path.read_bytes() for path in release.rglob("*.jsonl")}
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"rows-0001.jsonl", "members-0001.jsonl"}
    assert leaving["row"].encode() not in b"".join(after.values())
    assert "1 row was withdrawn" in run("verify")
    left = published.read_bytes().splitlines(keepends=True)[1:]
    assert left == [line for line in lines[1:] if leaving["row"].encode() not in line]
    assert f'"{leaving["user"]}"'.encode() not in b"".join(after.values())


def test_a_backup_has_all_shards(run: Run, release: Path, tmp_path: Path) -> None:
    run("backup", tmp_path / "copy")
    again = Run(tmp_path / "again", run.capsys)
    again("restore", tmp_path / "copy")
    assert "holds: 60 users" in again("verify")
    assert read_cohorts(again.workspace / "release")[0].parts == read_cohorts(release)[0].parts
    (again.workspace / "release/rows-0001.jsonl").unlink()
    assert "can't be read" in again("verify", code=1)
