"""Opening a workspace for the pages: its modes, its people, its further releases, forgetting."""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from anonymizer.model import Profiles
from anonymizer.profiles.origins import origins_path
from search_app.accounts.database import FILE as PEOPLE
from search_app.errors import UsageError
from search_app.forgetting.person import leave_group
from search_app.server import following
from search_app.server.following import Follower
from search_app.server.opening import Serving
from search_app.settings import load_settings
from search_app.verbs import serve
from search_app.web import Live
from search_app.web.views.standing import standing, standings
from search_app.workspace.folder import Workspace
from search_app.workspace.opening import open_modes

from ..conftest import THREE_PEOPLE, Run, call, serve_release
from ..single_rows import single_rows

TOKEN = "a token of the operator"  # noqa: S105


class World:
    """A workspace of three people, what opens it for the pages, and what that says."""

    def __init__(self, root: Path) -> None:
        self.root, self.workspace, self.said = root, Workspace(root), list[str]()
        self.settings = replace(load_settings(root, {}), admin_token=TOKEN)

    def serving(self, access: str) -> Serving:
        return Serving(replace(self.settings, access=access), self.said.append)


@pytest.fixture
def world(three_people: Path, tmp_path: Path) -> World:
    return World(Path(shutil.copytree(three_people, tmp_path / "workspace")))


def invent(workspace: Workspace) -> None:
    """Declare the people of a workspace invented."""
    users = {user: {"name": "Mira", "interests": []} for user in THREE_PEOPLE}
    truth = {"users": users, "interests": {}, "log_sha256": "00"}
    (workspace.root / "town.truth.json").write_text(json.dumps(truth))
    workspace.make_current(truth="town.truth.json", log_sha256="00")


def test_a_site_without_people_has_none_of_their_data(world: World) -> None:
    site = world.serving("").open()
    assert (site.access, site.people, site.examples, site.admin_token) == ("plain", {}, (), "")
    assert (site.modes.profiles, site.modes.release, site.modes.modes) == (None, None, ("none",))
    assert not (site.settings.workspace / PEOPLE).exists()


def test_real_people_get_the_rule_that_harms_few_searches(world: World) -> None:
    invent(world.workspace)
    private, demo = (world.serving(access).open() for access in ("private", "demo"))
    assert (private.rule.ranking, demo.rule.ranking) == ("evidence", "cosine")
    assert private.modes.among("group") == ""  # no other group's row before publication


def test_a_private_site_serves_people_and_lists_nobody(world: World) -> None:
    site = world.serving("private").open()
    assert (site.access, site.people, site.examples) == ("private", {}, ())
    assert site.admin_token == TOKEN
    assert site.modes.modes == ("none", "own", "group")
    file = site.settings.workspace / PEOPLE
    assert file.stat().st_mode & 0o777 == 0o600
    assert site.store.new_code("needle-mira")


def test_invented_people_are_listed(world: World) -> None:
    invent(world.workspace)
    site = world.serving("").open()
    assert (site.access, sorted(site.people)) == ("demo", sorted(THREE_PEOPLE))
    assert site.admin_token == ""
    private = world.serving("private").open()
    assert (private.people, private.examples) == ({}, ())


def test_a_lecture_is_read_when_asked(world: World) -> None:
    site = world.serving("").open()
    assert site.prepared().searches == ()
    (world.root / "lecture.tsv").write_text("java\n")
    assert [search.query for search in site.prepared().searches] == ["java"]
    site.close()


def test_what_outlives_a_site_is_the_same_in_the_next(world: World) -> None:
    opener = world.serving("private")
    one, two = opener.open(), opener.open()
    assert one.log is two.log
    assert one.store is two.store
    assert one.transcripts is two.transcripts
    assert one.modes is not two.modes


def test_where_terms_came_from_is_told(world: World) -> None:
    found = world.serving("private").open().origins("needle-mira")
    assert {term: origin.times for term, origin in found.items()}["mocha"] == 1
    path = origins_path(world.workspace.find("profiles"))
    path.write_bytes(path.read_bytes()[:-9])
    opener = world.serving("private")
    for _ in range(2):
        assert opener.open().origins("needle-mira") == {}
    assert len(world.said) == 1
    assert "Until then, nobody sees where their terms came from" in world.said[0]


def test_other_releases_of_the_same_profiles_are_further_modes(world: World) -> None:
    call(world.root, "anonymize", "--set", "p=0.8", "-o", world.root / "tighter")
    invent(world.workspace)
    site = world.serving("demo").open()
    assert site.modes.modes == ("none", "own", "group", "group:tighter")
    assert site.release_name.startswith("p-linkability p=0.9 ")
    call(world.root, "use", world.root / "tighter")
    invent(world.workspace)
    site = world.serving("demo").open()
    assert world.workspace.find("release").name == "tighter"
    assert site.modes.modes == ("none", "own", "group", "group:release")
    assert site.further["group:release"].startswith("p-linkability p=0.9 ")
    assert site.release_name.startswith("p-linkability p=0.8 ")
    plain = world.serving("plain").open()
    assert (plain.modes.further, plain.further) == ({}, {})
    rows = world.root / "release" / "rows.jsonl"
    rows.write_bytes(rows.read_bytes() + b"\n")
    opener = world.serving("demo")
    for _ in range(2):
        site = opener.open()
        assert (site.modes.modes, site.further) == (("none", "own", "group"), {})
    assert world.said == ["The release in the folder release is damaged, so it is not served."]


def test_releases_of_other_profiles_are_none_of_ours(world: World) -> None:
    manifest = world.root / "release" / "release.json"
    for name in ("other", ".hidden"):
        shutil.copytree(world.root / "release", world.root / name)
    text = manifest.read_text()
    made_from = json.loads(text)["input_hash"]
    (world.root / "other" / "release.json").write_text(text.replace(made_from, "0a1b"))
    assert world.serving("private").open().further == {}
    assert world.said == []


def test_further_releases_are_the_first_six_by_name(world: World) -> None:
    for number in range(8):
        shutil.copytree(world.root / "release", world.root / f"r{number}")
    invent(world.workspace)
    assert list(world.serving("demo").open().further) == [f"group:r{number}" for number in range(6)]


def test_real_people_are_served_by_one_release_only(world: World) -> None:
    """Two rows of one person, seen together, show where they overlap."""
    shutil.copytree(world.root / "release", world.root / "second")
    site = world.serving("private").open()
    assert (site.modes.modes, site.further) == (("none", "own", "group"), {})
    (told,) = world.said
    assert told.startswith("The release in the folder second is not served: ")
    invent(world.workspace)
    assert "group:second" in world.serving("demo").open().modes.modes


def test_searches_open_no_further_release(world: World) -> None:
    shutil.copytree(world.root / "release", world.root / "other")
    assert open_modes(world.workspace, world.settings).modes == ("none", "own", "group")


def test_where_choices_cant_be_kept_invented_people_are_served_and_real_ones_not(
    world: World,
) -> None:
    (world.root / PEOPLE).mkdir()
    with pytest.raises(UsageError, match=PEOPLE):
        world.serving("private").open()
    invent(world.workspace)
    opener = world.serving("demo")
    for _ in range(2):
        opener.open().store.choose("needle-mira", paused=True)
    assert opener.open().store.choices("needle-mira").paused
    assert len(world.said) == 1
    assert "choices are kept in memory only" in world.said[0]


def test_who_is_forgotten_is_not_served_when_the_answer_comes(world: World) -> None:
    opener = world.serving("private")
    live = Live(opener.open())
    opener.follow = Follower(live, world.workspace, opener.open, world.said.append).follow_now
    first = live.now
    assert first.modes.profiles is not None
    assert "needle-mira" in first.modes.profiles.row_of
    first.forget(first.store, "needle-mira", None)
    profiles = live.now.modes.profiles
    assert profiles is not None
    assert sorted(profiles.users) == ["needle-ada", "needle-oren"]
    profile = dict(profiles.row("needle-oren"))
    live.now.forget(first.store, "needle-oren", ["language"])
    assert live.now.modes.profiles is not None
    left = dict(live.now.modes.profiles.row("needle-oren"))
    assert ("language" in profile, "language" in left) == (True, False)


def test_where_the_new_state_cant_be_served_a_person_is_gone_from_the_disk_all_the_same(
    world: World,
) -> None:
    def fail() -> None:
        raise UsageError("it can't be opened")

    opener = world.serving("private")
    site = opener.open()
    opener.follow = fail
    code = site.store.new_code("needle-mira")
    with pytest.raises(UsageError, match="it can't be opened"):
        site.forget(site.store, "needle-mira", None)
    assert site.store.sign_in(code, site.clock()) is None
    assert "needle-mira" not in world.workspace.find("profiles").read_text()


REFUSED = [
    (["--mode", "open"], "argument --mode: invalid choice: 'open' (choose from 'demo', 'private'"),
    (["--mode", "demo"], "mode demo shows invented people only"),
    (["--mode", "private"], "VEILSEARCH_ADMIN_TOKEN is not set; make one with: export"),
    (["--trust-host", "a:1"], "hosts=a:1 must be host names in small letters"),
]


@pytest.mark.parametrize(("arguments", "line"), REFUSED)
def test_serve_refuses_in_one_line_with_the_remedy(
    world: World, capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    assert line in Run(world.root, capsys).refused("serve", "--port", "0", *arguments)


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
    world: World,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    mode: str,
    https: bool,
    warned: bool,
) -> None:
    monkeypatch.setattr(following, "serve_live", lambda _serving, live, *_: live.now.close())
    arguments = argparse.Namespace(
        host=host, port=0, mode=mode, trust_host=[], folder=None, workers=1
    )
    assert serve.run(arguments, replace(world.settings, https=https)) == 0
    assert capsys.readouterr().err.splitlines() == [serve.UNPROTECTED] * warned


def test_invented_people_are_served_to_this_machine_only(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    invent(world.workspace)
    run = Run(world.root, capsys)
    for arguments in ([], ["--mode", "demo"]):
        line = run.refused("serve", "--port", "0", "--host", "0.0.0.0", *arguments)  # noqa: S104
        assert "only this machine may reach it; serve with --host 127.0.0.1" in line
    empty = Run(world.root / "nothing yet", capsys)
    line = empty.refused("demo", "--port", "0", "--host", "0.0.0.0")  # noqa: S104
    assert "only this machine may reach it" in line
    assert not empty.workspace.exists()


def test_who_lost_a_row_and_who_never_had_one_are_told_so(world: World) -> None:
    """Two terms are shared by two people, so they stay; the third person has none of them."""
    mira, oren, ada = THREE_PEOPLE
    shared = {"coffee": 1.0, "cat": 1.0}
    profiles = Profiles.from_rows({mira: shared, oren: shared, ada: {"volcano": 1.0}})
    serve_release(world.root, profiles, single_rows(profiles))
    leave_group(world.workspace, {oren})
    site = world.serving("private").open()
    plain = "In “My reduced profile” you get the plain order."
    assert [standing(site, user) for user in (oren, ada)] == [
        ("left", f"The row that you had a part in is withdrawn, and you get no other. {plain}"),
        (
            "in no group",
            "All of your interests were deleted, because too few others have them. " + plain,
        ),
    ]
    assert (standing(site, mira).state, standings(site)) == ("in a group", (0, 0, 0, 0, 1))
