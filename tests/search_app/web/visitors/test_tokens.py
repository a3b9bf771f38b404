"""Tokens of scripts at the server: made on the own page, sent with requests to the API."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from search_app.web import Site, create_app

from ..conftest import ADMIN_TOKEN, Forgetting, says, signed_in

API = "/api/v1"
WRONG = "vs-7K3QD-00000-00000-00000-00000"


@pytest.fixture
def private(private: Site) -> Site:
    return replace(private, forget=Forgetting())


@pytest.fixture
def mira(private: Site) -> FlaskClient:
    return signed_in(private, private.store.new_code("1001"))


@pytest.fixture
def app(mira: FlaskClient) -> Flask:
    return mira.application


@pytest.fixture
def token(mira: FlaskClient) -> str:
    return made(mira)


def made(client: FlaskClient, name: str = "my script") -> str:
    """Return the token that the own page shows, this once."""
    shown = client.post("/me/tokens", data={"name": name})
    (token,) = set(re.findall(r"vs(?:-[0-9A-Z]{5}){5}", shown.text))
    return token


def sent(token: str, **more: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {token}", **more}}


def test_a_script_searches_as_the_person_without_a_cookie(app: Flask, token: str) -> None:
    script = app.test_client()
    answer = script.get(f"{API}/search?q=java&mode=own", **sent(token))
    assert [hit["id"] for hit in answer.json["results"][:2]] == ["doc00", "doc02"]  # coffee
    assert "Set-Cookie" not in answer.headers
    assert script.get(f"{API}/profile", **sent(token)).json["terms"][0]["term"] == "coffee"
    assert script.get(f"{API}/search?q=java&user=1002", **sent(token)).status_code == 404
    assert script.get(f"{API}/search?q=java").status_code == 401  # nothing is remembered


def test_the_page_lists_tokens_and_revokes_them(mira: FlaskClient, token: str) -> None:
    says(mira, "/me", "my script", token[:8], wrong=[token])
    assert [one["name"] for one in mira.get("/me/download").json["tokens"]] == ["my script"]
    assert mira.post("/me/tokens/revoke", data={"token": token[3:8]}).status_code == 303
    says(mira, "/me?done=revoked", "The token is revoked", wrong=["my script"])
    for gone in (token[3:8], "", "%"):
        again = mira.post("/me/tokens/revoke", data={"token": gone})
        assert again.headers["Location"] == "/me?done=not-revoked#done"
    assert mira.application.test_client().get(f"{API}/log", **sent(token)).status_code == 401


@pytest.mark.parametrize("name", ["", " ", "x" * 51, "a\nb", "\u202e"])
def test_a_token_needs_a_name(mira: FlaskClient, private: Site, name: str) -> None:
    answer = mira.post("/me/tokens", data={"name": name})
    assert answer.headers["Location"] == "/me?done=no-name#done"
    assert private.store.tokens("1001") == []


def test_a_name_is_text_and_the_eleventh_token_is_refused(mira: FlaskClient) -> None:
    for _ in range(10):
        shown = mira.post("/me/tokens", data={"name": "<b>&"})
        assert "<b>&" in html.unescape(shown.text)
        assert "<b>" not in shown.text
    answer = mira.post("/me/tokens", data={"name": "one more"})
    assert answer.headers["Location"] == "/me?done=no-token#done"


def test_signing_out_ends_no_token_and_a_token_opens_no_page(
    app: Flask, mira: FlaskClient, token: str
) -> None:
    mira.post("/sign-out")
    script = app.test_client()
    assert script.get(f"{API}/log", **sent(token)).status_code == 200
    for path in ("/me", "/", "/admin", "/log"):
        assert script.get(path, **sent(token)).headers["Location"] == "/sign-in"
    for path in ("/me/tokens", "/me/pause"):  # no token makes another
        assert (
            script.post(path, data={"name": "x", "paused": "1"}, **sent(token)).status_code == 303
        )
    assert script.get(f"{API}/experiments", **sent(token)).status_code == 403


def test_who_is_forgotten_by_a_token_has_none(app: Flask, private: Site, token: str) -> None:
    script = app.test_client()
    assert script.delete(f"{API}/profile", **sent(token)).status_code == 200
    assert private.store.tokens("1001") == []
    assert script.get(f"{API}/profile", **sent(token)).status_code == 401


@pytest.mark.parametrize("wrong", [WRONG, "", "x", "é", "a=b", "0" * 4000, "code", ADMIN_TOKEN])
def test_a_wrong_token_is_refused_whatever_cookie_comes_with_it(
    mira: FlaskClient, private: Site, wrong: str
) -> None:
    wrong = private.store.new_code("1002") if wrong == "code" else wrong
    for path in ("search?q=java", "health"):
        answer = mira.get(f"{API}/{path}", **sent(wrong))
        assert answer.status_code == 401
        challenge = "Bearer realm=veilsearch, error=invalid_token"
        assert answer.headers["WWW-Authenticate"] == challenge
        assert "This token is not known here." in answer.json["error"]["message"]


def test_a_token_wins_over_the_cookie(mira: FlaskClient, private: Site) -> None:
    private.store.new_code("1003")
    ada = private.store.new_token("1003", "x") or ""
    found = mira.get(f"{API}/search?q=java&mode=own", **sent(ada)).json["results"]
    assert found[0]["id"] == "doc01"  # code, not coffee


def test_too_many_wrong_tokens_wait_and_right_ones_never_do(app: Flask, token: str) -> None:
    script = app.test_client()
    wrong = f"{token[:-1]}{'0' if token[-1] != '0' else '1'}"
    statuses = [script.get(f"{API}/log", **sent(wrong)).status_code for _ in range(6)]
    assert statuses == [401] * 5 + [429]
    assert 0 < int(script.get(f"{API}/log", **sent(wrong)).headers["Retry-After"]) <= 60
    assert script.get(f"{API}/log", **sent(token)).status_code == 200
    for _ in range(6):  # what is no token at all keeps nobody out either
        script.get(f"{API}/log", **sent("x"))
    assert script.post("/sign-in", data={"code": ADMIN_TOKEN}).status_code == 303


OTHER_SITE = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}


def test_a_token_needs_no_origin_and_a_cookie_still_does(
    app: Flask, mira: FlaskClient, token: str
) -> None:
    choices = {"json": {"paused": True, "remember": False}}
    path = f"{API}/profile/choices"
    assert mira.put(path, headers=OTHER_SITE, **choices).status_code == 403
    # A cookie with a wrong token is no way round that, nor is a token where none is taken.
    assert mira.put(path, **choices, **sent(WRONG, **OTHER_SITE)).status_code == 401
    for scheme in ("Basic", "Digest", ""):
        headers = {**OTHER_SITE, "Authorization": f"{scheme} {token}"}
        assert mira.put(path, headers=headers, **choices).status_code == 403
    paused = mira.post("/me/pause", data={"paused": "1"}, **sent(token, **OTHER_SITE))
    assert paused.status_code == 403
    assert mira.get(path).json["paused"] is False
    assert app.test_client().put(path, **choices, **sent(token, **OTHER_SITE)).status_code == 200


@pytest.mark.parametrize("access", ["demo", "plain"])
def test_a_token_never_works_in_another_access_mode(
    site: Site, private: Site, token: str, access: str
) -> None:
    people = site.people if access == "demo" else {}
    other = create_app(replace(site, store=private.store, access=access, people=people))
    for path in ("search?q=java", "profile", "health"):
        answer = other.test_client().get(f"{API}/{path}", **sent(token))
        assert answer.status_code == 400
        assert "takes no tokens" in answer.json["error"]["message"]
    changed = other.test_client().delete(f"{API}/profile?user=1001", **sent(token, **OTHER_SITE))
    assert changed.status_code == 400


def test_one_client_asks_as_often_by_token_as_by_cookie(private: Site) -> None:
    strict = replace(
        private, settings=replace(private.settings, rate=0.5), clock=lambda: 1_800_000_000
    )
    mira = signed_in(strict, private.store.new_code("1001"))
    token = private.store.new_token("1001", "x") or ""
    assert mira.get(f"{API}/log").status_code == 200
    script = mira.application.test_client()
    statuses = [script.get(f"{API}/log", **sent(token)).status_code for _ in range(2)]
    assert statuses == [200, 429]
    assert mira.get(f"{API}/log").status_code == 429
