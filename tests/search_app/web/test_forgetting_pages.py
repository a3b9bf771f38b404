"""Forgotten through the pages of a real workspace: no byte of the person is left (guarantee G6)."""

from __future__ import annotations

import gc
import json
import re
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

from search_app import personal_code
from search_app.cli import run as run_verb
from search_app.following import Follower
from search_app.serving import Serving
from search_app.settings import load_settings
from search_app.web import Live, create_app
from search_app.workspace import Workspace

MIRA, OREN = "needle-mira", "needle-oren"
QUERY = "java zyxsentinelquery"
TOKEN = "a token of the operator"  # noqa: S105


@pytest.fixture
def workspace(three_people: Path, tmp_path: Path) -> Workspace:
    shutil.copytree(three_people, tmp_path / "workspace")
    return Workspace(tmp_path / "workspace")


@pytest.fixture
def live(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """The workspace, served as `serve --mode private` does."""
    monkeypatch.setattr(personal_code, "_COST", 16)
    settings = replace(load_settings(workspace.root, {}), access="private", admin_token=TOKEN)
    serving = Serving(settings, lambda _line: None)
    live = Live(serving.open())
    serving.follow = Follower(live, workspace, serving.open, lambda _line: None).follow_now
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
    client = create_app(live).test_client()
    code = live.now.store.new_code(user)
    assert client.post("/sign-in", data={"code": code}).status_code == 303
    return client


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
    assert re.fullmatch(
        r"/me/forgotten\?files=\d+&made=1&dropped=0&left=0", answer.headers["Location"]
    )
    assert needles(workspace, *texts) == set()
    assert live.now.transcripts.of(MIRA) == {}
    assert "Goodbye" in mira.get(answer.headers["Location"]).text
    assert mira.get("/me").headers["Location"] == "/sign-in"
    assert live.now.modes.profiles is not None
    assert sorted(live.now.modes.profiles.users) == ["needle-ada", OREN]
    assert live.now.modes.profiles.row(OREN) == oren["terms"]
    parts = [str(workspace.find("release")), "--against", str(workspace.find("profiles"))]
    assert run_verb(["verify", *parts]) == 0


def test_what_is_left_is_never_the_people_s_file_itself_but_its_copy(
    workspace: Workspace, live: Live, mira: FlaskClient
) -> None:
    oren = sign_in(live, OREN)
    oren.post("/me/remember", data={"remember": "1"})
    assert oren.get("/", query_string={"q": QUERY}).status_code == 200
    assert {MIRA, OREN} <= {user for user, _ in live.now.store.codes()}
    answer = oren.delete("/api/v1/profile")
    assert (answer.status_code, answer.json["left"] if answer.json else None) == (200, 0)
    people = next(path for path in workspace.root.glob("people.sqlite*") if MIRA in text_of(path))
    shutil.copy(people, workspace.root / "people.sqlite.old")
    answer = mira.post("/me/forget", data={"confirm": "yes"})
    assert answer.headers["Location"].endswith("&left=1")
    assert needles(workspace, MIRA) == {"people.sqlite.old"}


def text_of(path: Path) -> str:
    return path.read_bytes().decode("latin-1")


def test_a_term_that_is_removed_is_in_no_file_but_the_person_is(
    workspace: Workspace, mira: FlaskClient
) -> None:
    assert "mocha" in mira.get("/me").text
    answer = mira.post("/me/terms", data={"term": ["mocha"]})
    assert answer.headers["Location"] == "/me?done=terms#terms"
    assert needles(workspace, "mocha") == set()
    page = mira.get("/me").text
    assert "mocha" not in page
    assert "espresso" in page


def test_the_page_tells_origins_and_releases(mira: FlaskClient) -> None:
    page = " ".join(re.sub(r"<[^>]*>", " ", mira.get("/me").text).split())
    assert re.search(r"mocha [0-9.]+ in 1 search, on 2 March 2026", page)
    assert "Releases so far 1 made None of them was published." in page


def test_while_another_verb_writes_nothing_changes(workspace: Workspace, mira: FlaskClient) -> None:
    with workspace.writing("index"):
        answer = mira.post("/me/forget", data={"confirm": "yes"})
        assert answer.status_code == 503
        assert "Please try again in a minute." in answer.text
    assert "mocha" in mira.get("/me").text
    assert mira.post("/me/forget", data={"confirm": "yes"}).status_code == 303
    assert needles(workspace, MIRA) == set()


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
        for kept in (live.now, live.now.modes, live.now.population, live.now.modes.engine)
    ]
    token = cookie_of(mira)
    memory = mira.application.extensions["veilsearch.limits"]
    assert memory.sessions.name(f"veilsearch={token}") == f"person {MIRA}"
    assert mira.post("/me/forget", data={"confirm": "yes"}).status_code == 303
    assert live.now.store.visitor_of(token, live.now.clock()) is None
    assert memory.sessions.name(f"veilsearch={token}") == ""
    assert f"person {MIRA}" not in memory.limits._buckets
    live.close_unused()
    gc.collect()
    assert [kept() for kept in former] == [None] * 4
    assert live.now.population is not None
    assert not live.now.population.knows(MIRA)
    assert live.now.population.knows(OREN)


def cookie_of(client: FlaskClient) -> str:
    cookie = client.get_cookie("veilsearch")
    assert cookie is not None
    return cookie.value
