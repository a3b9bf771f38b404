"""Forgetting where rows are of one person each: what was deleted of somebody names them, too."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from anonymizer.model import Profiles
from search_app.errors import UsageError
from search_app.forgetting import forget
from search_app.settings import Settings
from search_app.verbs import anonymize
from search_app.workspace import Workspace

from .conftest import THREE_PEOPLE
from .lone_release import lone_release, write_lone_release
from .test_forgetting import held

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


def test_a_release_that_names_somebody_only_among_deletions_goes(root: Path) -> None:
    write_lone_release(root, "old", people(alone=MIRA), OTHERS)
    assert MIRA not in (root / "old" / "private" / "members.jsonl").read_text()
    done = forget(Workspace(root), Settings(workspace=root), MIRA)
    assert done.releases_dropped == ("old",)
    assert held(root, MIRA) == set()


def test_a_release_that_names_others_only_stays(root: Path) -> None:
    others = Profiles.from_rows({OREN: {"a": 1.0, "y": 1.0}, ADA: {"a": 1.0}})
    write_lone_release(root, "old", others, OTHERS)
    assert forget(Workspace(root), Settings(workspace=root), MIRA).releases_dropped == ()
    assert (root / "old" / "release.json").exists()


def test_a_release_by_a_table_that_nobody_kept_is_not_made_anew(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles, settings = people(alone=MIRA), Settings(workspace=root)
    monkeypatch.setattr(anonymize, "_released", lambda profiles, *_, **__: lone_release(profiles))
    for marketing in ("none", "synthetic"):
        folder = write_lone_release(root, marketing, profiles, marketing=marketing)
        made = anonymize.remake_release(folder, profiles, root / f"new {marketing}", settings)
        assert made.left_out == 1
    folder = write_lone_release(root, "given", profiles, marketing="given")
    with pytest.raises(UsageError, match="nobody knows its marketing table any more"):
        anonymize.remake_release(folder, profiles, root / "new", settings)
    assert not (root / "new").exists()
