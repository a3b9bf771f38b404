"""veilsearch serve --mode study: refused before anything is opened."""

from __future__ import annotations

import shutil
import weakref
from pathlib import Path

import pytest
from werkzeug.exceptions import HTTPException

from search_app.server.following import Follower
from search_app.settings import load_settings
from search_app.study.check import begin, faults_of
from search_app.study.design import read_study
from search_app.study.rankings import Rankings, open_rankings
from search_app.study.sample import write_sample
from search_app.study.store import FILE, StudyStore
from search_app.web import ServedStudy, create_study_app
from search_app.workspace.folder import Workspace

from ..conftest import THREE_PEOPLE, Run, jsonl


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


class ServedHere:
    """A study that is served by a workspace, and what follows that."""

    def __init__(self, folder: Path, workspace: Path, conditions: str):
        write_sample(folder)
        path = folder / "study.toml"
        path.write_text(path.read_text().replace('["none", "own", "group"]', conditions))
        self.said: list[str] = []
        settings, study = load_settings(workspace, {}), read_study(folder)
        store, root = StudyStore(folder / FILE), Workspace(workspace)
        begin(study, store, root)

        def reopen() -> Rankings:
            begin(study, store, root)
            return open_rankings(settings)

        self.place = ServedStudy(study, store, open_rankings(settings), settings)
        self.follower = Follower(self.place, root, reopen, self.said.append)

    def status(self, person: str = "") -> int:
        """Follow the workspace and return the status of a search."""
        self.follower.look()
        try:
            profile = {} if person else {"coffee": 1.0}
            self.place.rank("java", self.place.study.conditions, person, profile)
        except HTTPException as refused:
            return refused.code or 500
        return 200


def test_a_study_follows_what_is_forgotten_and_lets_go_of_it(
    run: Run, three_people: Path, tmp_path: Path
) -> None:
    run.workspace = Path(shutil.copytree(three_people, tmp_path / "workspace"))
    served = ServedHere(tmp_path / "study", run.workspace, '["none", "own"]')
    assert [served.status(who) for who in THREE_PEOPLE] == [200] * 3
    before = weakref.ref(served.place.rankings)
    run("forget", "--user", THREE_PEOPLE[0])
    assert [served.status(who) for who in THREE_PEOPLE] == [410, 200, 200]
    assert before() is None
    assert "served from now on" in served.said[0]
    served.place.store.close()


def test_a_study_stays_with_its_release(run: Run, three_people: Path, tmp_path: Path) -> None:
    run.workspace = Path(shutil.copytree(three_people, tmp_path / "workspace"))
    other, folder = run.workspace / "other", tmp_path / "study"
    served = ServedHere(folder, run.workspace, '["none", "own", "group"]')
    run("anonymize", "--set", "p=0.5", "-o", other)
    assert served.status() == 200
    run("use", other)
    assert served.status() == 503
    (fault,) = run.json("study", "check", folder, code=1)["faults"]
    assert "group is not what the study began with" in fault
    client = create_study_app(served.place).test_client()
    assert client.get("/api/v1/health").status_code == 503
    run("use", run.workspace / "release")
    assert served.status() == 200
    run("index", jsonl(tmp_path / "more.jsonl", [{"id": "new", "title": "java"}]), "--add")
    assert served.status() == 200
    assert "new" in served.place.rank("java", ("none",), "", {"coffee": 1.0})["none"]
    run("forget", "--user", THREE_PEOPLE[0])  # the only group goes with its row
    assert served.status() == 503
    served.place.store.close()


def test_real_people_get_one_row_each_and_nothing_made_of_all(
    run: Run, three_people: Path, tmp_path: Path
) -> None:
    run.workspace = Path(shutil.copytree(three_people, tmp_path / "workspace"))
    run("anonymize", "--set", "p=0.5", "-o", run.workspace / "second", "--seed", 1)
    settings = load_settings(run.workspace, {})
    assert open_rankings(settings).modes.withheld()
    write_sample(tmp_path / "study")
    path = tmp_path / "study" / "study.toml"
    text = path.read_text().replace('"group"]', '"group", "group:second"]')
    for profile, fault in (("code", "real people have one row each"), ("queries", "")):
        path.write_text(text.replace('profile = "interests"', f'profile = "{profile}"'))
        assert fault in "".join(faults_of(path.parent, settings))
        assert bool(fault) == bool(faults_of(path.parent, settings))
