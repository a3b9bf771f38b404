"""Forgotten through the pages of a real workspace: no byte of the person is left (guarantee G6)."""

from __future__ import annotations

import gc
import json
import shutil
import threading
import weakref
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from search_app.errors import UsageError
from search_app.server.following import Follower
from search_app.server.opening import Serving
from search_app.settings import load_settings
from search_app.web import Live, Site
from search_app.web.site import STOPPED
from search_app.workspace.folder import Workspace

from ...conftest import call
from ..conftest import signed_in

MIRA, OREN = "needle-mira", "needle-oren"
QUERY = "java zyxsentinelquery"
TOKEN = "a token of the operator"  # noqa: S105


@pytest.fixture
def workspace(three_people: Path, tmp_path: Path) -> Workspace:
    shutil.copytree(three_people, tmp_path / "workspace")
    return Workspace(tmp_path / "workspace")


@pytest.fixture
def serving(workspace: Workspace) -> Serving:
    settings = replace(load_settings(workspace.root, {}), access="private", admin_token=TOKEN)
    return Serving(settings, lambda _line: None)


@pytest.fixture
def live(serving: Serving) -> Iterator[Live]:
    """The workspace, served as `serve --mode private` does."""
    live = Live(serving.open())
    serving.follow = Follower(live, serving.workspace, serving.open, lambda _line: None).follow_now
    yield live
    live.now.store.close()
    live.now.log.close()


@pytest.fixture
def mira(live: Live) -> FlaskClient:
    """Mira, signed in, with a search of hers kept."""
    client = sign_in(live, MIRA)
    client.post("/me/remember", data={"remember": "1"})
    assert client.get("/", query_string={"q": QUERY}).status_code == 200
    return client


def sign_in(live: Live, user: str) -> FlaskClient:
    return signed_in(live, live.now.store.new_code(user))


def needles(workspace: Workspace, *texts: str) -> set[str]:
    """Return the files outside the index that hold one of the texts, looked into if packed."""
    found = set()
    for path in workspace.root.rglob("*"):
        if path.is_file() and "indexes" not in path.parts:
            content = [path.read_bytes()]
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as packed:
                    content += [packed.read(name) for name in packed.namelist()]
            if any(text.encode() in each for text in texts for each in content):
                found.add(path.name)
    return found


def test_who_is_forgotten_is_in_no_file(
    workspace: Workspace, live: Live, mira: FlaskClient
) -> None:
    texts = (MIRA, "espresso", "mocha", "zyxsentinelquery")
    before = needles(workspace, *texts)
    assert {"profiles.jsonl", "profiles.origins.npz", "rows.jsonl", "members.jsonl"} <= before
    assert any(name.startswith("people.sqlite") for name in before)
    oren = json.loads((workspace.root / "profiles.jsonl").read_text().splitlines()[1])
    answer = mira.post("/me/forget", data={"confirm": "yes"})
    assert answer.status_code == 303
    assert "/me/forgotten?rows=1&files=" in answer.headers["Location"]
    assert needles(workspace, *texts) == set()
    assert live.now.transcripts.of(MIRA) == {}
    assert "Goodbye" in mira.get(answer.headers["Location"]).text
    assert mira.get("/me").headers["Location"] == "/sign-in"
    assert live.now.modes.profiles is not None
    assert sorted(live.now.modes.profiles.users) == ["needle-ada", OREN]
    assert live.now.modes.profiles.row(OREN) == oren["terms"]
    assert workspace.current().release == ""  # it had one row only


def test_what_is_left_is_never_the_people_s_file_itself_but_its_copy(
    workspace: Workspace, live: Live, mira: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    oren = sign_in(live, OREN)
    oren.post("/me/remember", data={"remember": "1"})
    assert oren.get("/", query_string={"q": QUERY}).status_code == 200
    assert {MIRA, OREN} <= {user for user, _ in live.now.store.codes()}
    answer = oren.delete("/api/v1/profile")
    assert (answer.status_code, answer.json["left"] if answer.json else None) == (200, 0)
    people = next(path for path in workspace.root.glob("people.sqlite*") if MIRA in text_of(path))
    shutil.copy(people, workspace.root / f"{MIRA}.old")
    answer = mira.post("/me/forget", data={"confirm": "yes"})
    assert "&left=1&" in answer.headers["Location"]
    assert needles(workspace, MIRA) == {f"{MIRA}.old"}
    assert caplog.messages[-1].endswith("a person who left: ….old")  # no log holds an id


def text_of(path: Path) -> str:
    return path.read_bytes().decode("latin-1")


def test_a_term_that_is_removed_is_in_no_file_but_the_row(
    workspace: Workspace, mira: FlaskClient
) -> None:
    assert "mocha" in mira.get("/me").text
    answer = mira.post("/me/terms", data={"term": ["mocha"]})
    assert answer.headers["Location"] == "/me?done=terms#done"
    assert needles(workspace, "mocha") == {"rows.jsonl"}  # rows never change
    page = mira.get("/me").text
    assert 'value="mocha"' not in page
    assert "espresso" in page


def test_whoever_loses_the_last_terms_at_once_loses_code_and_growth_too(
    live: Live, mira: FlaskClient
) -> None:
    """Two requests that each remove some of the terms may leave none."""
    site = live.now
    site.store.choose(MIRA, grow=True)
    site.store.grow(MIRA, {"zyxgrown": 1})
    site.forget(site.store, MIRA, set(site.modes.past(MIRA)))
    assert MIRA not in dict(site.store.codes())
    assert (site.store.grown(MIRA), site.store.choices(MIRA).grow) == ({}, False)
    assert mira.get("/me").headers["Location"] == "/sign-in"


def test_while_another_verb_writes_nothing_changes(workspace: Workspace, mira: FlaskClient) -> None:
    with workspace.writing("index"):
        answer = mira.post("/me/forget", data={"confirm": "yes"})
        assert answer.status_code == 503
        assert "Please try again in a minute." in answer.text
    assert "mocha" in mira.get("/me").text
    assert mira.post("/me/forget", data={"confirm": "yes"}).status_code == 303
    assert needles(workspace, MIRA) == set()


def test_while_the_state_without_a_person_cant_be_opened_no_row_is_used_or_shown(
    serving: Serving, live: Live
) -> None:
    """Mira and Oren share a row of three, and Mira is forgotten by command."""
    oren, search = sign_in(live, OREN), "/api/v1/search?q=java"
    assert oren.get(search).get_json()["row"]["users"] == 3

    def fail() -> Site:
        raise UsageError("it can't be opened")

    follower = Follower(live, serving.workspace, fail, lambda _line: None)
    call(serving.workspace.root, "forget", "--user", MIRA)
    for _ in range(2):
        with pytest.raises(UsageError, match="plain order only"):
            follower.follow_now()
        for mode in ("", "&mode=none", "&mode=own"):
            answer = oren.get(f"{search}{mode}").get_json()
            shown = (answer["mode"], answer["row"], answer["notices"])
            assert shown == ("none", None, [STOPPED])
        assert STOPPED in oren.get("/?q=java&mode=group").text
        for path in ("/me", "/groups", "/api/v1/profile", "/api/v1/groups"):
            assert oren.get(path).status_code == 503, path
        assert oren.get("/me/forget").status_code == 200
    live.switch(serving.open())
    assert oren.get("/me").status_code == 200


def test_a_search_under_way_keeps_nothing_of_who_is_forgotten_meanwhile(
    live: Live, mira: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = threading.Event(), threading.Event()
    engine = live.now.modes.engine
    pool = engine.pool

    def slow(*arguments: Any, **options: Any) -> Any:
        asked.set()
        assert go_on.wait(20)
        return pool(*arguments, **options)

    monkeypatch.setattr(engine, "pool", slow)
    other, answers = mira.application.test_client(), list[TestResponse]()
    other.set_cookie("veilsearch", cookie_of(mira))
    search = {"query_string": {"q": QUERY}}
    thread = threading.Thread(target=lambda: answers.append(other.get("/", **search)))
    thread.start()
    assert asked.wait(20)
    assert mira.post("/me/forget", data={"confirm": "yes"}).status_code == 303
    go_on.set()
    thread.join()
    assert answers.pop().status_code == 200
    assert live.now.transcripts.of(MIRA) == {}
    assert live.now.store.searches(MIRA) == []


def test_nothing_of_who_is_forgotten_stays_in_memory(live: Live, mira: FlaskClient) -> None:
    """What lives on is looked through: the store, what clients asked, and the site served now."""
    mira.get("/me")
    mira.get("/groups")
    former = [
        weakref.ref(kept)
        for kept in (
            live.now,
            live.now.modes,
            live.now.shown(),
            live.now.shown().population,
            live.now.modes.engine,
        )
    ]
    token = cookie_of(mira)
    memory = mira.application.extensions["veilsearch.limits"]
    assert f"person {MIRA}" in memory._buckets
    assert mira.post("/me/forget", data={"confirm": "yes"}).status_code == 303
    assert live.now.store.visitor_of(token, live.now.clock()) is None
    assert f"person {MIRA}" not in memory._buckets
    live.close_unused()
    gc.collect()
    assert [kept() for kept in former] == [None] * 5
    population = live.now.shown().population
    assert population is not None
    assert [population.knows(user) for user in (MIRA, OREN)] == [False, True]


def cookie_of(client: FlaskClient) -> str:
    cookie = client.get_cookie("veilsearch")
    assert cookie is not None
    return cookie.value
