"""A running server holds nothing of a person once it serves the state without them.

The needles are made at run time, and the test keeps them reversed, so that only what served them
could hold them. All that Python's memory can reach is looked at.
"""

from __future__ import annotations

import gc
import secrets
import shutil
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles
from search_app.accounts.store import PeopleStore
from search_app.search.request import Request
from search_app.server.following import Follower
from search_app.server.opening import Serving
from search_app.settings import load_settings
from search_app.web import Live
from search_app.workspace.folder import Workspace

from ..conftest import call, serve_release
from ..web.conftest import signed_in

PATHS = (
    *("/me", "/me/forget", "/me/download", "/groups", "/log", "/api/v1/profile"),
    *("/?q={0}&mode=own", "/?q={0}&mode=group", "/compare?q={0}+java"),
    *("/why?q=java&doc=d1&mode=group", "/api/v1/search?q={0}+java&mode=group"),
)


def needles() -> list[str]:
    """Return an id, a term and a word of a query, reversed."""
    return [f"zq{secrets.token_hex(5)}"[::-1] for _ in range(3)]


def held(reversed_needles: list[str]) -> set[str]:
    """Return the `reversed_needles` that some text in memory has, as they are or in bytes."""
    gc.unfreeze()  # what is frozen is in no list of objects
    gc.collect()
    seen, found, waiting = set[int](), set[str](), gc.get_objects()
    while waiting:
        # A tracked object was among the first; one that is not may refer to texts all the same.
        # Of a dictionary whose keys are all texts, Python names the values only.
        keys = (key for one in waiting if issubclass(type(one), dict) for key in [*one])
        others = {id(one): one for one in chain(gc.get_referents(*waiting), keys)}
        waiting = []
        for one in others.values():
            kind = type(one)
            if kind is str:
                text = one
            elif issubclass(kind, str | bytes | bytearray):
                text = str(one) if issubclass(kind, str) else one.decode("latin-1")
            else:
                if id(one) not in seen and not gc.is_tracked(one):
                    waiting.append(one)
                continue
            if "zq" in text:
                found |= {needle for needle in reversed_needles if needle[::-1] in text}
        seen |= {id(one) for one in waiting}
    return found


def build(root: Path, model: Path, user: str, term: str) -> str:
    """Make a workspace of four people, one of whom is `user` with `term`; return their code."""
    others = {f"person-{n}": {"java": 1.0, f"word{n % 2}": 1.0} for n in range(3)}
    people = Profiles.from_rows({**others, user: {"java": 1.0, term: 1.0}})
    release = anonymize("p-linkability", Inputs(people), {"p": 0.9, "augment": "none"})
    serve_release(root, people, release)
    shutil.copytree(model / "indexes", root / "indexes")
    Workspace(root).make_current(index=Workspace(model).current().index)
    store = PeopleStore(root / "people.sqlite")
    code = store.new_code(user)
    store.choose(user, remember=True)
    store.close()
    return code


def test_nothing_of_a_person_stays_in_the_memory_of_a_server(
    three_people: Path, tmp_path: Path
) -> None:
    user, _, word = hidden = needles()
    root = tmp_path / "w"
    code = build(root, three_people, *(one[::-1] for one in hidden[:2]))
    settings = replace(load_settings(root, {}), access="private", admin_token="t" * 40)
    serving = Serving(settings, lambda _text: None)
    live = Live(serving.open())
    follower = Follower(live, serving.workspace, serving.open, lambda _text: None)
    client: Any = signed_in(live, code)

    def read(status: int) -> None:
        for path in PATHS:
            assert client.get(path.format(word[::-1])).status_code == status, path

    read(200)
    assert held(hidden) == {*hidden}

    def forget_meanwhile(store: PeopleStore, *users: str, **then: Any) -> None:
        """The server follows, and the person still searches, before their code goes."""
        follower.look()
        client.get(f"/?q={word[::-1]}&mode=own")
        real(store, *users, **then)

    real = PeopleStore.forget
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PeopleStore, "forget", forget_meanwhile)
        call(root, "forget", "--user", user[::-1])
    follower.look()
    follower.look()  # closes the former state
    urlsplit.cache_clear()  # what the test client read
    assert held(hidden) == set()
    assert client.get("/me").status_code != 200


@pytest.mark.parametrize("profile", [True, False])
def test_nothing_stays_in_the_memory_of_another_server_where_a_person_forgets_themselves(
    three_people: Path, tmp_path: Path, profile: bool
) -> None:
    """Of two servers one is told; the other looks at the workspace, and at what was removed."""
    user, _, word = hidden = needles()
    root = tmp_path / "w"
    someone, term, query = (one[::-1] for one in hidden)
    build(root, three_people, someone if profile else "aunt", term if profile else "island")
    with closing(PeopleStore(root / "people.sqlite")) as store:
        code = store.new_code(someone)
        store.choose(someone, grow=True, remember=True)
        store.grow(someone, {term: 3})
    settings = replace(load_settings(root, {}), access="private", admin_token="t" * 40)
    lives, followers, clients = list[Live](), list[Follower[Any]](), list[Any]()
    for _ in range(2):
        serving = Serving(settings, lambda _text: None)
        lives.append(Live(serving.open()))
        followers.append(Follower(lives[-1], serving.workspace, serving.open, lambda _text: None))
        serving.follow = followers[-1].follow_now
        clients.append(signed_in(lives[-1], code))
    del serving
    for client in clients:
        for path in ("/me", f"/?q={query}&mode=own", "/me/download"):
            assert client.get(path).status_code == 200, path
    assert held(hidden) >= {user, word}
    here, there = clients
    assert here.post("/me/forget", data={"confirm": "yes"}).status_code == 303
    assert there.get("/me").status_code == 303
    for follower in (*followers, *followers):
        follower.look()
    urlsplit.cache_clear()
    del someone, term, query, path
    assert held(hidden) == set()
    assert there.post("/sign-in", data={"code": code}).status_code == 403


def test_a_server_opens_a_new_state_once_a_person_of_the_file_of_people_is_forgotten(
    three_people: Path, tmp_path: Path
) -> None:
    root = tmp_path / "w"
    build(root, three_people, "aunt", "island")
    store = PeopleStore(root / "people.sqlite")
    for user in ("who-is-new", "who-stays"):
        store.choose(user, grow=True)
        store.grow(user, {"island": 1, "java": 1})
    serving = Serving(replace(load_settings(root, {}), access="private"), lambda _text: None)
    live = Live(serving.open())
    follower = Follower(live, serving.workspace, serving.open, lambda _text: None)
    for forgotten in (("who-is-new",), ("who-stays", "--term", "java")):
        former = live.now
        former.transcripts.note("who-is-new", "own", Request("island", 10), 0)
        follower.look()
        assert live.now is former
        call(root, "forget", "--user", *forgotten)
        follower.look()
        assert live.now.modes.engine is not former.modes.engine
        assert not live.now.transcripts.of("who-is-new")
    store.close()
