"""veilsearch serve --mode study: refused before anything is opened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from search_app.settings import load_settings
from search_app.study.check import faults_of
from search_app.study.rankings import open_rankings
from search_app.study.sample import write_sample

from ..conftest import Run


def test_a_study_needs_its_folder_and_its_mode(run: Run, tmp_path: Path) -> None:
    for words in (("--mode", "study"), (tmp_path,), ("--mode", "demo", tmp_path)):
        assert "serve --mode study FOLDER" in run.refused("serve", *words)


def test_what_the_workspace_lacks_is_said(
    run: Run, three_people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_sample(tmp_path / "study")
    text = (tmp_path / "study" / "study.toml").read_text()
    run.workspace = three_people
    monkeypatch.setenv("VEILSEARCH_ADMIN_TOKEN", "short")
    assert "at least 20" in run.refused("serve", "--mode", "study", tmp_path / "study")
    (tmp_path / "study" / "study.toml").write_text(text.replace('"group"]', '"group:none-such"]'))
    refused = run.refused("serve", "--mode", "study", tmp_path / "study")
    assert "line" in refused
    assert "group:none-such is not in the workspace" in refused


def test_real_people_get_one_row_each_and_nothing_made_of_all(
    run: Run, three_people: Path, tmp_path: Path
) -> None:
    run.workspace = Path(shutil.copytree(three_people, tmp_path / "workspace"))
    run("anonymize", "--set", "p=0.5", "-o", run.workspace / "second", "--seed", 1)
    settings = load_settings(run.workspace, {})
    assert open_rankings(settings)._modes.withheld()
    write_sample(tmp_path / "study")
    path = tmp_path / "study" / "study.toml"
    text = path.read_text().replace('"group"]', '"group", "group:second"]')
    for profile, fault in (("code", "real people have one row each"), ("queries", "")):
        path.write_text(text.replace('profile = "interests"', f'profile = "{profile}"'))
        assert fault in "".join(faults_of(path.parent, settings))
        assert bool(fault) == bool(faults_of(path.parent, settings))
