"""Forgetting where rows are of one person each: what was deleted of somebody names them, too."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from anonymizer.model import Profiles
from anonymizer.storage.profiles import read_profiles, write_profiles
from anonymizer.verification.judge import verify
from search_app.forgetting.person import forget
from search_app.settings import Settings
from search_app.workspace.folder import Workspace

from ..conftest import THREE_PEOPLE
from ..single_rows import write_single_rows
from .test_person import held

MIRA, OREN, ADA = THREE_PEOPLE
OTHERS = "0" * 64  # the fingerprint of profiles that are not there any more


def people(*, alone: str) -> Profiles:
    """Return three people, one of whom shares no term with the others."""
    return Profiles.from_rows(
        {each: {"x": 1.0} if each == alone else {"a": 1.0, "b": 2.0} for each in THREE_PEOPLE}
    )


@pytest.fixture
def root(three_people: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(three_people, tmp_path / "workspace"))


def test_who_is_named_only_among_deletions_leaves_no_row_and_no_trace(root: Path) -> None:
    folder = write_single_rows(root, "old", people(alone=MIRA), OTHERS)
    rows = (folder / "rows.jsonl").read_bytes()
    assert MIRA not in (folder / "private" / "members.jsonl").read_text()
    done = forget(Workspace(root), Settings(workspace=root), {MIRA})
    assert "old" not in done.releases_dropped
    assert (folder / "rows.jsonl").read_bytes() == rows
    assert held(root, MIRA) == set()


def test_what_was_deleted_of_a_person_names_a_removed_term_no_more(root: Path) -> None:
    workspace = Workspace(root)
    rows = {OREN: {"a": 1.0, "b": 1.0}, ADA: {"a": 1.0, "b": 1.0}, MIRA: {"a": 1.0, "xyz": 2.0}}
    write_profiles(Profiles.from_rows(rows), root / "small.jsonl")
    folder = write_single_rows(root, "reduced", read_profiles(root / "small.jsonl"))
    deletions = folder / "private" / "deletions.jsonl"
    assert "xyz" in deletions.read_text()
    forget(workspace, Settings(workspace=root), {MIRA}, {"xyz"})
    assert not deletions.exists()  # it was the only one
    assert verify(folder, root / "small.jsonl").holds


def test_a_release_that_names_others_only_stays(root: Path) -> None:
    others = Profiles.from_rows({OREN: {"a": 1.0, "y": 1.0}, ADA: {"a": 1.0}})
    write_single_rows(root, "old", others, OTHERS)
    assert forget(Workspace(root), Settings(workspace=root), {MIRA}).releases_dropped == (
        "release",
    )
    assert (root / "old" / "release.json").exists()
