"""Nothing becomes the served release silently: only by `use`, or by `anonymize` without -o."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from search_app.tasks.serving import RowChange
from search_app.workspace.folder import CURRENT, Workspace

from ..conftest import Run, jsonl

USERS = [f"u{number}" for number in range(12)]
PAIRS = ("--set", "augment=none", "--set", "p=off", "--set", "k=2")
THREES = ("--set", "augment=none", "--set", "p=off", "--set", "k=3")


def profiles_of(path: Path, users: list[str]) -> Path:
    chance = random.Random(0)  # noqa: S311
    terms = {user: chance.sample(range(20), 4) for user in USERS}
    return jsonl(
        path, ({"user": user, "terms": {f"t{at}": 1.0 for at in terms[user]}} for user in users)
    )


@pytest.fixture
def run(run: Run, tmp_path: Path) -> Run:
    """Return a workspace that serves twelve people in pairs."""
    run("anonymize", profiles_of(tmp_path / "p.jsonl", USERS), *PAIRS)
    assert run.talk == "12 people: no row -> groups of 2 (p-linkability)\n"
    return run


def test_one_person_is_no_people() -> None:
    assert str(RowChange(1, "groups of 2", "no row")) == "1 person: groups of 2 -> no row"


def state(run: Run) -> object:
    """Return what a running server follows, and what is current."""
    return Workspace(run.workspace).stamp(), (run.workspace / CURRENT).read_bytes()


def rows(folder: Path) -> dict[str, Any]:
    """Return each user's row, read by hand."""
    released, members = (
        [json.loads(line) for line in (folder / name).read_text().splitlines()]
        for name in ("rows.jsonl", "private/members.jsonl")
    )
    row_of = {row["row"]: row["terms"] for row in released}
    return {member["user"]: row_of[member["row"]] for member in members}


@pytest.mark.parametrize("where", ["workspace", "outside"])
def test_a_trial_changes_nothing_that_is_served(run: Run, tmp_path: Path, where: str) -> None:
    before, served = state(run), rows(run.workspace / "release")
    folder = (run.workspace if where == "workspace" else tmp_path) / "trial run"
    run("anonymize", *THREES, "-o", folder)
    assert run.talk == f"It is not served. To serve it: veilsearch use '{folder}'\n"
    run("anonymize", profiles_of(tmp_path / "q.jsonl", USERS[3:]), *THREES, "-o", folder)
    assert (state(run), rows(run.workspace / "release")) == (before, served)
    assert run.json("verify")["release"] == str(run.workspace / "release")


def test_a_trial_in_a_new_workspace_is_not_served(run: Run, tmp_path: Path) -> None:
    run.workspace = tmp_path / "new"
    run("anonymize", tmp_path / "p.jsonl", *PAIRS, "-o", tmp_path / "trial")
    assert not (run.workspace / CURRENT).exists()
    run("use", tmp_path / "trial", "--profiles", tmp_path / "p.jsonl")
    assert run.json("verify")["release"] == str(tmp_path / "trial")


def test_the_served_release_is_no_place_for_a_trial(run: Run, tmp_path: Path) -> None:
    before, link = state(run), tmp_path / "link"
    link.symlink_to(run.workspace)
    for folder in (run.workspace / "release", link / "release"):
        said = run.refused("anonymize", *THREES, "-o", folder)
        assert "is the served release; name another folder, or leave out -o" in said
    assert state(run) == before


PAIR, THREE, NONE = "groups of 2 (p-linkability)", "groups of 3 (p-linkability)", "no row"


@pytest.mark.parametrize(
    ("by", "choices", "users", "told"),
    [
        ("use", PAIRS, USERS, {}),
        ("use", THREES, USERS, {(PAIR, THREE): 12}),
        ("use", THREES, USERS[3:], {(PAIR, THREE): 9, (PAIR, NONE): 3}),
        ("anonymize", PAIRS, USERS, {}),
        ("anonymize", THREES, USERS[:9], {(PAIR, THREE): 9, (PAIR, NONE): 3}),
    ],
)
def test_it_is_said_for_how_many_people_what_changes(
    run: Run,
    tmp_path: Path,
    by: str,
    choices: tuple[str, ...],
    users: list[str],
    told: dict[tuple[str, str], int],
) -> None:
    profiles, trial = profiles_of(tmp_path / "q.jsonl", users), tmp_path / "trial"
    before, old = state(run), rows(run.workspace / "release")
    run("anonymize", profiles, *choices, "-o", trial)
    new = rows(trial)
    assert sum(old.get(user) != new.get(user) for user in old | new) == sum(told.values())
    lines = [f"{people} people: {was} -> {is_}" for (was, is_), people in told.items()]
    lines = lines or ["Nobody's row changes."]
    if by == "anonymize":
        run("anonymize", profiles, *choices)
        assert run.talk.splitlines() == lines
    else:
        assert run("use", trial, "--profiles", profiles).splitlines() == lines
        assert run.json("verify")["release"] == str(trial)
    assert state(run) != before
    assert Workspace(run.workspace).find("profiles") == profiles
    # Back again: who came and who went is told the other way round.
    again = run.json("anonymize", tmp_path / "p.jsonl", *PAIRS)
    assert again["facts"]["users"] == 12
    back = [f"{people} people: {is_} -> {was}" for (was, is_), people in told.items()]
    assert run.talk.splitlines() == (back or ["Nobody's row changes."])


def test_use_as_json(run: Run, tmp_path: Path) -> None:
    run("anonymize", *THREES, "-o", tmp_path / "trial")
    assert run.json("use", tmp_path / "trial") == {
        "release": str(tmp_path / "trial"),
        "profiles": str(tmp_path / "p.jsonl"),
        "changes": [{"people": 12, "before": PAIR, "after": THREE}],
    }


def test_what_can_not_be_served_is_refused_and_the_old_one_stays(run: Run, tmp_path: Path) -> None:
    run(
        "anonymize", profiles_of(tmp_path / "q.jsonl", USERS[3:]), *THREES, "-o", tmp_path / "trial"
    )
    before = state(run)
    assert "made from other profiles than" in run.refused("use", tmp_path / "trial")
    assert "can't be read" in run.refused("use", tmp_path / "nowhere")
    assert "can't be read" in run.refused("use", tmp_path / "p.jsonl")
    rows_file = tmp_path / "trial" / "rows.jsonl"
    rows_file.write_bytes(rows_file.read_bytes() + b"\n")
    said = run.refused("use", tmp_path / "trial", "--profiles", tmp_path / "q.jsonl")
    assert "changed since it was written" in said
    assert state(run) == before


def test_a_damaged_release_can_be_replaced(run: Run, tmp_path: Path) -> None:
    run("anonymize", *THREES, "-o", tmp_path / "trial")
    (run.workspace / "release" / "release.json").write_text("{}")
    assert run("use", tmp_path / "trial") == f"12 people: {NONE} -> {THREE}\n"


def test_new_profiles_end_the_served_release_and_say_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.tsv").write_text("u1\ttea cup\t2026-03-01 08:00:00\n")
    run("profiles", tmp_path / "log.tsv", "-o", tmp_path / "new.jsonl")
    assert run.talk.splitlines() == [f"12 people: {PAIR} -> {NONE}"]
    run("profiles", tmp_path / "log.tsv", "-o", tmp_path / "new.jsonl")
    assert run.talk == ""
