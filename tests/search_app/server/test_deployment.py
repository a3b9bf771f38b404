"""What is looked at before strangers may come: each lack is one line with its remedy."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from search_app.accounts.database import FILE as PEOPLE
from search_app.server import deployment
from search_app.server.checkup import Check
from search_app.settings import load_settings
from search_app.study.sample import write_sample
from search_app.study.store import FILE, StudyStore

from ..conftest import Run

TOKEN = "a token of the operator"  # noqa: S105
PUBLIC = """access = "private"
hosts = ["search.example.org"]
https = true
proxy = "127.0.0.1"
"""


@pytest.fixture
def root(three_people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that is ready for strangers, run by an account of its own."""
    monkeypatch.setattr(deployment.os, "geteuid", lambda: 1000)
    root = tmp_path / "workspace"
    shutil.copytree(three_people, root)
    root.chmod(0o700)
    (root / "veilsearch.toml").write_text(PUBLIC)
    return root


@pytest.fixture
def look(root: Path) -> Callable[..., dict[str, Check]]:
    def checks(
        host: str = "127.0.0.1", study: Path | None = None, **changes: object
    ) -> dict[str, Check]:
        settings = load_settings(root, {"VEILSEARCH_ADMIN_TOKEN": TOKEN})
        changed = replace(settings, **changes)  # type: ignore[arg-type]
        return {check.name: check for check in deployment.deployment(changed, host, study)}

    return checks


Look = Callable[..., dict[str, Check]]
NAMES = ["mode", "token", "https", "hosts", "proxy", "rate", "device", "account", "folder", "files"]
NAMES += ["people", "verify"]


def test_a_workspace_that_is_ready_is_told_so(look: Look) -> None:
    checks = look()
    assert list(checks) == NAMES
    assert {name: check.remedy for name, check in checks.items() if not check.good} == {}
    assert TOKEN not in str(checks)


def test_a_study_is_looked_at_in_place_of_the_workspace(
    look: Look, tmp_path: Path, root: Path
) -> None:
    folder = tmp_path / "study"
    write_sample(folder)
    with closing(StudyStore(folder / FILE)) as store:
        store.invite(1)
    checks = look(study=folder)
    assert [*checks] == ["study", "database", *(set_apart(NAMES))]
    assert [name for name, check in checks.items() if not check.good] == ["study"]
    assert "who is responsible" in checks["study"].found
    (folder / "consent.md").write_text("Responsible: Ada, ada@example.org")
    (folder / FILE).chmod(0o644)
    (root / "release" / "rows.jsonl").unlink()
    (folder / "tasks" / "bass.md").unlink()
    checks = look(study=folder, admin_token="")
    bad = {name: check.found for name, check in checks.items() if not check.good}
    assert {"study", "database", "token", "verify"} == {*bad}
    assert "open to others: study.sqlite" in bad["database"]


def set_apart(names: list[str]) -> list[str]:
    """Return the checks of `names` that a study has, too."""
    return [name for name in names if name not in ("mode", "device")]


def test_nothing_is_written(root: Path, look: Look) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    look()
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


LACKS: list[tuple[dict[str, object], str, str, str]] = [
    ({"access": "plain"}, "mode", "plain: nobody signs in", 'set access = "private" in'),
    ({"access": ""}, "mode", "plain: nobody signs in", "or serve with --mode private"),
    ({"access": "demo"}, "mode", "mode demo shows invented people only", "serve with --mode"),
    ({"admin_token": ""}, "token", "VEILSEARCH_ADMIN_TOKEN is not set", "secrets.token_urlsafe()"),
    ({"admin_token": "short"}, "token", "has 5 characters and needs at least 20", "make one with"),
    ({"https": False}, "https", "can be read on the way", "set https = true"),
    ({"hosts": ()}, "hosts", "no host name is trusted", 'set hosts = ["search.example.org"]'),
    ({"proxy": ""}, "proxy", "all people count as one client", 'set proxy = "127.0.0.1"'),
    ({"rate": 0}, "rate", "no limit on requests", "set rate = 10 in veilsearch.toml"),
]


@pytest.mark.parametrize(("changes", "name", "found", "remedy"), LACKS)
def test_each_lack_in_the_settings_has_its_remedy(
    look: Look, changes: dict[str, object], name: str, found: str, remedy: str
) -> None:
    check = look(**changes)[name]
    assert found in check.found
    assert remedy in check.remedy


def test_alone_on_this_machine_less_is_needed(look: Look) -> None:
    alone = {"https": False, "hosts": (), "proxy": ""}
    assert all(look(**alone)[name].good for name in ("https", "hosts", "proxy"))
    open_ = look("0.0.0.0", **alone)  # noqa: S104
    assert not open_["https"].good
    assert not open_["hosts"].good


def test_root_is_told(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployment.os, "geteuid", lambda: 0)
    assert look()["account"].remedy.startswith("make an account that owns")


def test_open_folders_and_files_are_named_with_the_command(root: Path, look: Look) -> None:
    root.chmod(0o755)
    (root / "profiles.jsonl").chmod(0o640)
    (root / "release" / "private" / "members.jsonl").chmod(0o604)
    (root / PEOPLE).touch(0o600)
    (root / PEOPLE).chmod(0o660)
    checks = look()
    assert checks["folder"].remedy == f"chmod 700 {root}"
    assert checks["files"].found == "open to others: profiles.jsonl, members.jsonl"
    assert checks["files"].remedy.split()[:3] == ["chmod", "600", str(root / "profiles.jsonl")]
    assert checks["people"].remedy == f"chmod 600 {root / PEOPLE}"


def test_a_release_that_does_not_hold_is_told(root: Path, look: Look) -> None:
    rows = root / "release" / "rows.jsonl"
    rows.write_text(rows.read_text().replace("g0001", "g0002"))
    check = look()["verify"]
    assert "the release is refused" in check.found
    assert check.remedy.startswith("see: veilsearch verify")


def test_doctor_tells_all_of_it(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEILSEARCH_ADMIN_TOKEN", TOKEN)
    run = Run(root, capsys)
    names = [check["name"] for check in json.loads(run("doctor", "--deploy", "--json"))]
    assert names[-len(NAMES) :] == NAMES
    assert len(run.json("doctor")) == len(names) - len(NAMES)
    said = run("doctor", "--deploy", "--mode", "plain", code=1)
    assert "BAD  mode      plain: nobody signs in\n" in said
    assert "remedy: set access" in said
