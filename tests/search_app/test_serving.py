"""Opening a workspace for the pages: its modes, its people, its further releases, forgetting."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from anonymizer.origins import origins_path
from search_app.cli import run as run_verb
from search_app.errors import UsageError
from search_app.following import Follower
from search_app.opening import open_modes
from search_app.people_file import FILE as PEOPLE
from search_app.request import Request
from search_app.serving import Serving
from search_app.settings import Settings, load_settings
from search_app.verbs import serve
from search_app.web import Live, create_app
from search_app.workspace import Workspace

from .conftest import THREE_PEOPLE, Run

TOKEN = "a token of the operator"  # noqa: S105


@pytest.fixture
def workspace(three_people: Path, tmp_path: Path) -> Workspace:
    shutil.copytree(three_people, tmp_path / "workspace")
    return Workspace(tmp_path / "workspace")


@pytest.fixture
def settings(workspace: Workspace) -> Settings:
    return replace(load_settings(workspace.root, {}), admin_token=TOKEN)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def serving(settings: Settings, said: list[str]) -> Callable[[str], Serving]:
    return lambda access: Serving(replace(settings, access=access), said.append)


def invent(workspace: Workspace) -> None:
    """Declare the people of a workspace invented."""
    users = {user: {"name": "Mira", "interests": []} for user in THREE_PEOPLE}
    truth = {"users": users, "interests": {}, "log_sha256": "00"}
    (workspace.root / "town.truth.json").write_text(json.dumps(truth))
    workspace.make_current(truth="town.truth.json", log_sha256="00")


def test_a_site_without_people_has_none_of_their_data(serving: Callable[[str], Serving]) -> None:
    site = serving("").open()
    assert (site.access, site.people, site.examples, site.admin_token) == ("plain", {}, (), "")
    assert (site.modes.profiles, site.modes.release, site.modes.modes) == (None, None, ("none",))
    assert not (site.settings.workspace / PEOPLE).exists()


def test_a_private_site_serves_people_and_lists_nobody(serving: Callable[[str], Serving]) -> None:
    site = serving("private").open()
    assert (site.access, site.people, site.examples) == ("private", {}, ())
    assert site.admin_token == TOKEN
    assert site.modes.modes == ("none", "own", "group")
    file = site.settings.workspace / PEOPLE
    assert file.stat().st_mode & 0o777 == 0o600
    assert site.store.new_code("needle-mira")


def test_invented_people_are_listed(
    serving: Callable[[str], Serving], workspace: Workspace
) -> None:
    invent(workspace)
    site = serving("").open()
    assert (site.access, sorted(site.people)) == ("demo", sorted(THREE_PEOPLE))
    assert site.admin_token == ""
    private = serving("private").open()
    assert (private.people, private.examples) == ({}, ())


def test_a_lecture_is_read_when_asked(
    serving: Callable[[str], Serving], workspace: Workspace
) -> None:
    site = serving("").open()
    assert site.prepared().searches == ()
    (workspace.root / "lecture.tsv").write_text("java\n")
    assert [search.query for search in site.prepared().searches] == ["java"]
    site.close()


def test_demo_is_never_opened_for_real_people(serving: Callable[[str], Serving]) -> None:
    with pytest.raises(UsageError, match="mode demo shows invented people only"):
        serving("demo").open()


def test_what_outlives_a_site_is_the_same_in_the_next(serving: Callable[[str], Serving]) -> None:
    opener = serving("private")
    one, two = opener.open(), opener.open()
    assert one.log is two.log
    assert one.store is two.store
    assert one.transcripts is two.transcripts
    assert one.modes is not two.modes


def test_where_terms_came_from_is_told(
    serving: Callable[[str], Serving], workspace: Workspace, said: list[str]
) -> None:
    found = serving("private").open().origins("needle-mira")
    assert {term: origin.times for term, origin in found.items()}["mocha"] == 1
    path = origins_path(workspace.find("profiles"))
    path.write_bytes(path.read_bytes()[:-9])
    opener = serving("private")
    for _ in range(2):
        assert opener.open().origins("needle-mira") == {}
    assert len(said) == 1
    assert "Until then nobody is told where their terms came from" in said[0]


def test_the_ledger_is_read_when_asked(
    serving: Callable[[str], Serving], run_again: Callable[..., None]
) -> None:
    site = serving("private").open()
    assert [noted.event for noted in site.ledger()] == ["made"]
    run_again("anonymize", "--set", "p=0.8")
    assert [noted.event for noted in site.ledger()] == ["made", "made"]


@pytest.fixture
def run_again(workspace: Workspace) -> Callable[..., None]:
    def run(*arguments: str) -> None:
        assert run_verb(["--workspace", str(workspace.root), *arguments]) == 0

    return run


def test_other_releases_of_the_same_profiles_are_further_modes(
    serving: Callable[[str], Serving],
    workspace: Workspace,
    run_again: Callable[..., None],
    said: list[str],
) -> None:
    run_again("anonymize", "--set", "p=0.8", "-o", str(workspace.root / "tighter"))
    site = serving("private").open()
    assert workspace.find("release").name == "tighter"
    assert site.modes.modes == ("none", "own", "group", "group:release")
    shown = site.further["group:release"]
    assert shown.name.startswith("p-linkability p=0.9 ")
    assert shown.facts["p"] == 0.9
    assert site.release_name.startswith("p-linkability p=0.8 ")
    plain = serving("plain").open()
    assert (plain.modes.further, plain.further) == ({}, {})
    rows = workspace.root / "release" / "rows.jsonl"
    rows.write_bytes(rows.read_bytes() + b"\n")
    opener = serving("private")
    for _ in range(2):
        site = opener.open()
        assert (site.modes.modes, site.further) == (("none", "own", "group"), {})
    assert said == ["The release in the folder release is damaged, so it is left out."]


def test_releases_of_other_profiles_are_none_of_ours(
    serving: Callable[[str], Serving], workspace: Workspace, said: list[str]
) -> None:
    manifest = workspace.root / "release" / "release.json"
    for name in ("other", ".hidden"):
        shutil.copytree(workspace.root / "release", workspace.root / name)
    text = manifest.read_text()
    made_from = json.loads(text)["input_hash"]
    (workspace.root / "other" / "release.json").write_text(text.replace(made_from, "0a1b"))
    assert serving("private").open().further == {}
    assert said == []


def test_further_releases_are_the_first_six_by_name(
    serving: Callable[[str], Serving], workspace: Workspace
) -> None:
    for number in range(8):
        shutil.copytree(workspace.root / "release", workspace.root / f"r{number}")
    assert list(serving("private").open().further) == [f"group:r{number}" for number in range(6)]


def test_real_people_are_served_no_release_beside_one_that_promises_alone(
    serving: Callable[[str], Serving],
    workspace: Workspace,
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shutil.copytree(workspace.root / "release", workspace.root / "second")
    assert "group:second" in serving("private").open().modes.modes
    monkeypatch.setattr("search_app.serving.BELIEF", {"p-linkability"})
    site = serving("private").open()
    assert (site.modes.modes, site.further) == (("none", "own", "group"), {})
    (told,) = said
    assert told.startswith("The release in the folder second is left out: ")
    invent(workspace)
    assert "group:second" in serving("demo").open().modes.modes


def test_searches_open_no_further_release(workspace: Workspace, settings: Settings) -> None:
    shutil.copytree(workspace.root / "release", workspace.root / "other")
    assert open_modes(workspace, settings).modes == ("none", "own", "group")


def test_where_choices_cant_be_kept_invented_people_are_served_and_real_ones_not(
    serving: Callable[[str], Serving], workspace: Workspace, said: list[str]
) -> None:
    (workspace.root / PEOPLE).mkdir()
    with pytest.raises(UsageError, match=PEOPLE):
        serving("private").open()
    invent(workspace)
    opener = serving("demo")
    for _ in range(2):
        opener.open().store.choose("needle-mira", paused=True)
    assert opener.open().store.choices("needle-mira").paused
    assert len(said) == 1
    assert "choices are kept in memory only" in said[0]


def test_who_is_forgotten_is_not_served_when_the_answer_comes(
    serving: Callable[[str], Serving], workspace: Workspace, said: list[str]
) -> None:
    opener = serving("private")
    live = Live(opener.open())
    opener.follow = Follower(live, workspace, opener.open, said.append).follow_now
    first = live.now
    assert first.modes.profiles is not None
    assert "needle-mira" in first.modes.profiles.row_of
    first.forget("needle-mira", None)
    profiles = live.now.modes.profiles
    assert profiles is not None
    assert sorted(profiles.users) == ["needle-ada", "needle-oren"]
    profile = dict(profiles.row("needle-oren"))
    live.now.forget("needle-oren", ["language"])
    assert live.now.modes.profiles is not None
    left = dict(live.now.modes.profiles.row("needle-oren"))
    assert ("language" in profile, "language" in left) == (True, False)


def test_where_the_new_state_cant_be_served_a_person_is_gone_from_the_disk_all_the_same(
    serving: Callable[[str], Serving], workspace: Workspace
) -> None:
    def fail() -> None:
        raise UsageError("it can't be opened")

    opener = serving("private")
    site = opener.open()
    opener.follow = fail
    code = site.store.new_code("needle-mira")
    site.transcripts.note("needle-mira", "none", Request("java", 10), site.transcripts.generation)
    with pytest.raises(UsageError, match="it can't be opened"):
        site.forget("needle-mira", None)
    assert site.store.sign_in(code, site.clock()) is None
    assert site.transcripts.of("needle-mira") == {}
    assert "needle-mira" not in workspace.find("profiles").read_text()


REFUSED = [
    (["--mode", "open"], "argument --mode: invalid choice: 'open' (choose from 'demo', 'private'"),
    (["--mode", "demo"], "mode demo shows invented people only"),
    (["--mode", "private"], "VEILSEARCH_ADMIN_TOKEN is not set; make one with: export"),
    (["--trust-host", "a:1"], "hosts=a:1 must be host names in small letters"),
]


@pytest.mark.parametrize(("arguments", "line"), REFUSED)
def test_serve_refuses_in_one_line_with_the_remedy(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    assert line in Run(workspace.root, capsys).refused("serve", "--port", "0", *arguments)


@pytest.mark.parametrize(
    ("host", "mode", "https", "warned"),
    [
        ("0.0.0.0", "private", False, True),  # noqa: S104
        ("0.0.0.0", "private", True, False),  # noqa: S104
        ("127.0.0.1", "private", False, False),
        ("0.0.0.0", "plain", False, False),  # noqa: S104
    ],
)
def test_serve_warns_where_codes_can_be_read_on_their_way(
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    mode: str,
    https: bool,
    warned: bool,
) -> None:
    monkeypatch.setattr(serve, "serve_live", lambda _serving, live, _arguments: live.now.close())
    arguments = argparse.Namespace(host=host, port=0, mode=mode, trust_host=[])
    assert serve.run(arguments, replace(settings, https=https)) == 0
    assert capsys.readouterr().err.splitlines() == [serve.UNPROTECTED] * warned


def test_invented_people_are_served_to_this_machine_only(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    invent(workspace)
    run = Run(workspace.root, capsys)
    for arguments in ([], ["--mode", "demo"]):
        line = run.refused("serve", "--port", "0", "--host", "0.0.0.0", *arguments)  # noqa: S104
        assert "only this machine may reach it; serve with --host 127.0.0.1" in line
    empty = Run(workspace.root / "nothing yet", capsys)
    line = empty.refused("demo", "--port", "0", "--host", "0.0.0.0")  # noqa: S104
    assert "only this machine may reach it" in line
    assert not empty.workspace.exists()


def test_a_private_workspace_answers_nobody_but_who_signs_in(
    serving: Callable[[str], Serving],
) -> None:
    site = serving("private").open()
    code = site.store.new_code("needle-mira")
    client = create_app(site).test_client()
    assert client.get("/?q=java").status_code == 303
    assert client.post("/sign-in", data={"code": code}).status_code == 303
    page = client.get("/?q=java")
    assert page.status_code == 200
    assert "needle" not in page.text
    assert client.get("/?q=java&user=needle-oren").status_code == 404
