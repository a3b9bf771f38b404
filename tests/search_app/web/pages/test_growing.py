"""Searches that feed the own profile: by consent, to be seen and taken back, at once."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.search.engine import Ranking
from search_app.settings import Settings
from search_app.tasks.growth import Growth
from search_app.web import Site

from ..conftest import Forgetting, says, signed_in

API = "/api/v1/profile"
NEW, MIRA, BO = "new-person", "1001", "1004"  # Mira has a row, Bo a profile only


@pytest.fixture
def grows(private: Site) -> Site:
    growth = private.growth
    private.modes.lay_over = lambda user, past: growth.over(past, private.grown(user))
    return replace(private, forget=Forgetting())


def person(site: Site, user: str) -> FlaskClient:
    return signed_in(site, site.store.new_code(user))


def modes_of(client: FlaskClient) -> list[str]:
    """Return the modes that serve a search in each mode."""
    return [
        client.get(f"/api/v1/search?q=java&mode={mode}").json["mode"]
        for mode in ("none", "own", "group")
    ]


def own_order(client: FlaskClient) -> list[str]:
    """Return the first ten documents by the own profile."""
    hits = client.get("/api/v1/search?q=java&mode=own").json["results"]
    return [hit["id"] for hit in hits]


@pytest.mark.parametrize("path", ["/?q=code", "/compare?q=code", "/me"])
def test_what_grew_is_read_once_in_a_request(
    grows: Site, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, users, read = person(grows, MIRA), list[str](), grows.store.grown
    client.post("/me/grow", data={"grow": "1"})
    client.get("/?q=code")
    monkeypatch.setattr(grows.store, "grown", lambda user: users.append(user) or read(user))
    assert "code" in client.get(path).text
    assert users == [MIRA]


@pytest.mark.parametrize("user", [NEW, MIRA])
def test_nothing_grows_without_consent_nor_while_paused(grows: Site, user: str) -> None:
    client = person(grows, user)
    client.get("/?q=code")
    assert client.get(f"{API}/growth").json == {"on": False, "fault": None, "terms": []}
    client.post("/me/grow", data={"grow": "1"})
    client.post("/me/pause", data={"paused": "1"})
    client.get("/?q=code")
    assert grows.store.grown(user) == {}
    client.post("/me/pause", data={"paused": "0"})
    for path in ("/?q=code", "/compare?q=code", "/?q=code&page=2", "/api/v1/search?q=code"):
        client.get(path)
    client.head("/?q=code")
    client.get("/?q=code", headers={"Sec-Fetch-Site": "cross-site"})
    assert grows.store.grown(user) == {"code": 2}  # of the first pages of searches on pages


def test_a_person_without_a_past_is_served_by_what_grew_at_once(grows: Site) -> None:
    client = person(grows, NEW)
    assert modes_of(client) == ["none", "none", "none"]
    says(client, "/?q=java&mode=group", "You have no profile yet", "What you can choose")
    says(client, "/me", "You are new here", "the query only: you have no profile yet")
    client.post("/me/grow", data={"grow": "1"})
    client.get("/?q=code")
    assert modes_of(client) == ["none", "own", "group"]
    assert own_order(client)[:2] == ["doc01", "doc03"]  # those on code
    row = grows.modes.row_for(NEW)
    assert row
    assert (row.name, row.foreign) == ("g0002", True)  # nothing of the row is shown
    says(
        client,
        "/me",
        "Your profile is growing: 1 interest so far. From 5 on, you can be admitted.",
        "code 1 time",
        "You are in no group. If the row of the closest one serves you, its request is not shown.",
    )
    client.post("/me/grown", data={"all": "1"})
    assert modes_of(client) == ["none", "none", "none"]
    assert grows.transcripts.of(NEW).keys() <= {"none"}


def test_what_grew_is_laid_over_a_past(grows: Site) -> None:
    client = person(grows, BO)  # of code
    assert own_order(client)[0] == "doc01"
    grows.store.choose(BO, grow=True)
    grows.store.grow(BO, {"coffee": 1})
    assert own_order(client)[:2] == ["doc00", "doc01"]  # all documents are as close
    closest = grows.modes.row_for(BO)
    assert closest
    assert (closest.name, closest.foreign) == ("g0001", True)
    assert grows.modes.profiles
    assert grows.modes.profiles.row(BO) == {"code": 1.0}


def test_stopping_keeps_or_removes_what_was_gathered(grows: Site) -> None:
    client = person(grows, NEW)
    for choice, left in (("keep", {"code": 1}), ("remove", {})):
        client.post("/me/grow", data={"grow": "1"})
        if choice == "keep":
            client.get("/?q=code")
        says(client, "/me", "Stop, and keep what was gathered", "Stop, and remove what")
        done = client.post("/me/grow", data={"grow": "0", "gathered": choice})
        assert done.headers["Location"].endswith("#done")
        assert grows.store.grown(NEW) == left
        assert not grows.store.choices(NEW).grow
    for form in ({"grow": "2"}, {}, {"grow": "0", "gathered": "some"}):
        assert client.post("/me/grow", data=form).status_code == 400
    assert "done=none-chosen" in client.post("/me/grown").headers["Location"]


def test_the_api_does_what_the_page_does(grows: Site) -> None:
    client = person(grows, MIRA)
    growth = f"{API}/growth"
    assert client.put(growth, json={"on": True, "keep": True}).json["on"]
    client.get("/?q=code")
    terms = [{"term": "code", "times": 1}]
    assert client.get(growth).json == {"on": True, "fault": None, "terms": terms}
    assert client.post(f"{API}/forget-terms", json={"terms": ["code"]}).status_code == 200
    assert client.get(growth).json["terms"] == []
    assert grows.forget.asked == []  # type: ignore[attr-defined]  # no file was written again
    client.get("/?q=code")
    off = client.put(growth, json={"on": False, "keep": False}).json
    assert off == {"on": False, "fault": None, "terms": []}


def test_it_is_downloaded_and_forgotten(grows: Site) -> None:
    client = person(grows, MIRA)
    client.post("/me/grow", data={"grow": "1"})
    client.get("/?q=code")
    told = client.get("/me/download").json
    assert (told["gathered"], told["choices"]["grow"]) == ({"code": 1}, True)
    assert told["standing"].startswith("You are in a group of 2 people")
    says(client, "/me/forget", "What was gathered from your searches: 1 interest.")
    client.post("/me/forget", data={"confirm": "yes"})
    assert grows.store.grown(MIRA) == {}
    assert not grows.store.choices(MIRA).grow


def test_where_it_has_no_meaning_it_is_refused_with_the_reason(grows: Site) -> None:
    choices = {"weights": "tfidf", "granularity": "user"}
    client = person(replace(grows, growth=Growth(choices, Settings())), MIRA)
    why = "Searches can’t be added to your profile: profiles here can’t grow search by search"
    says(client, "/me", why, wrong=("Let my searches feed my profile",))
    answer = client.post("/me/grow", data={"grow": "1"})
    assert (answer.status_code, why in answer.text) == (400, True)
    assert client.put(f"{API}/growth", json={"on": True, "keep": True}).status_code == 400
    client.get("/?q=code")
    assert grows.store.grown(MIRA) == {}


def test_a_search_is_answered_where_it_can_not_be_added(
    grows: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = person(grows, MIRA)
    client.post("/me/grow", data={"grow": "1"})

    def fails(*_given: object) -> None:
        raise OSError("a fault that names java")

    monkeypatch.setattr(grows.store, "grow", fails)
    says(client, "/?q=java", "The words of this search could not be added to your profile.")


@pytest.mark.parametrize(("page", "ranking"), [("/me/forget", "cosine"), ("/me/grow", "evidence")])
def test_nothing_prepared_for_searches_holds_what_grew_and_was_forgotten(
    grows: Site, page: str, ranking: str
) -> None:
    """It grew in the store alone, so the same engine goes on."""
    client = person(grows, NEW)
    client.post("/me/grow", data={"grow": "1"})
    for _ in range(2):
        assert client.get(f"/?q=zyxneedle java code&mode=own&ranking={ranking}").status_code == 200

    assert needle_is_kept()
    client.post(page, data={"confirm": "yes", "grow": "0", "gathered": "remove"})
    assert not needle_is_kept()


@pytest.mark.parametrize("ranking", ["cosine", "evidence"])
def test_a_search_under_way_keeps_nothing_that_was_forgotten_meanwhile(
    grows: Site, ranking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = grows.store.new_code(NEW)
    client, other = signed_in(grows, code), signed_in(grows, code)
    client.post("/me/grow", data={"grow": "1"})
    client.get("/?q=zyxneedle java code")
    by_profile = grows.modes.engine.by_profile

    def late(*given: Any) -> Ranking:
        monkeypatch.undo()
        assert other.post("/me/forget", data={"confirm": "yes"}).status_code < 400
        return by_profile(*given)

    monkeypatch.setattr(grows.modes.engine, "by_profile", late)
    assert client.get(f"/?q=java&mode=own&ranking={ranking}").status_code == 200
    assert grows.modes.engine.by_profile == by_profile
    assert not needle_is_kept()


def needle_is_kept() -> bool:
    gc.unfreeze()  # what is frozen is in no list of objects
    gc.collect()
    held = gc.get_referents(*gc.get_objects())
    return any(type(one) is dict and "zyxneedle" in one for one in held)
