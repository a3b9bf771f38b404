"""Signing in and out, and what a visitor is from then on."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from search_app.accounts.store import IDLE, PeopleStore
from search_app.errors import UsageError
from search_app.web import Live, Site, create_app
from search_app.web.visitors.sign_in import WRONG

from ..conftest import ADMIN_TOKEN

WRONG_CODE = "7K3QD-00000-00000-00000-00000"


@pytest.fixture
def app(private: Site) -> Flask:
    return create_app(private)


@pytest.fixture
def code(private: Site) -> str:
    return private.store.new_code("1001")


def enter(client: FlaskClient, code: str, **more: str) -> TestResponse:
    return client.post("/sign-in", data={"code": code, **more})


def token_of(client: FlaskClient) -> str:
    cookie = client.get_cookie("veilsearch")
    return cookie.value if cookie else ""


def see_me(client: FlaskClient) -> bool:
    """Tell whether results are personalized: only for who has signed in are there tabs."""
    response = client.get("/?q=java")
    return response.status_code == 200 and "My own profile" in response.text


# -- in -----------------------------------------------------------------------------------------


def test_a_wrong_code_is_one_friendly_sentence(client: FlaskClient) -> None:
    response = enter(client, WRONG_CODE)
    assert response.status_code == 403
    assert WRONG in response.text.replace("&#39;", "'")
    assert "Set-Cookie" not in response.headers


@pytest.mark.parametrize(
    "body",
    [{}, {"code": ""}, {"code": "x" * 10_000}, {"code": "0" * 10_000}, {"code": "\x00é\udcff"}],
)
def test_whatever_is_sent_as_a_code_is_refused_as_one(
    client: FlaskClient, body: dict[str, str]
) -> None:
    data = "&".join(f"{k}={v}" for k, v in body.items()).encode("utf-8", "surrogateescape")
    response = client.post("/sign-in", data=data, content_type="application/x-www-form-urlencoded")
    assert response.status_code == 403


def test_nothing_in_the_request_says_where_to_go_next(client: FlaskClient, code: str) -> None:
    response = client.post(
        "/sign-in?next=//evil.example", data={"code": code, "next": "https://evil.example/"}
    )
    assert response.headers["Location"] == "/"


def test_too_many_wrong_tries_of_a_code_wait(client: FlaskClient, code: str) -> None:
    wrong = f"{code[:-1]}{'0' if code[-1] != '0' else '1'}"
    assert [enter(client, wrong).status_code for _ in range(6)] == [403] * 5 + [429]
    response = enter(client, wrong)
    assert 0 < int(response.headers["Retry-After"]) <= 60
    assert "Too many wrong codes came from your network." in response.text
    assert "Set-Cookie" not in response.headers


def test_guessing_never_keeps_the_owner_of_a_code_out(code: str, private: Site) -> None:
    """Somebody at the same address guesses this very code, others, and asks for pages."""
    limited = replace(private.settings, rate=1.0)
    app = create_app(replace(private, settings=limited, clock=lambda: 1_800_000_000))
    guesser, owner = app.test_client(), app.test_client()
    for number in range(100):
        enter(guesser, f"{code[:6]}{number:05}{code[11:]}")
        enter(guesser, f"{number:05}{code[5:]}")
        last = guesser.get("/about").status_code
    assert last == 429
    assert owner.get("/sign-in").status_code == 200
    assert enter(owner, code).status_code == 303
    assert owner.get("/").status_code == 200


def test_wrong_codes_of_others_keep_nobody_out(client: FlaskClient, code: str) -> None:
    """A class behind one address mistypes, and a guesser tries from everywhere."""
    for number in range(30):
        mistyped = f"{number:05}-{WRONG_CODE[6:]}"[: 28 + number % 2]  # half of them a sign short
        assert enter(client, mistyped).status_code == 403
    for number in range(100):
        assert enter_from(client, f"198.51.100.{number}", WRONG_CODE).status_code == 403
    assert enter(client, code).status_code == 303
    assert enter(client, ADMIN_TOKEN).status_code == 303


def test_too_many_wrong_tokens_of_the_operator_wait(client: FlaskClient, code: str) -> None:
    wrong = [f"{ADMIN_TOKEN}{number}" for number in range(6)]
    assert [enter(client, token).status_code for token in wrong] == [403] * 5 + [429]
    assert enter(client, ADMIN_TOKEN).status_code == 429
    assert enter(client, code).status_code == 303
    assert enter_from(client, "198.51.100.7", ADMIN_TOKEN).status_code == 303


def test_a_household_of_ipv6_addresses_is_one(client: FlaskClient) -> None:
    for number in range(5):
        assert enter_from(client, f"2001:db8::{number}", WRONG_CODE).status_code == 403
    assert enter_from(client, "2001:db8::ffff", WRONG_CODE).status_code == 429
    assert enter_from(client, "2001:db8:0:1::1", WRONG_CODE).status_code == 403


def enter_from(client: FlaskClient, address: str, code: str) -> TestResponse:
    return client.post("/sign-in", data={"code": code}, environ_overrides={"REMOTE_ADDR": address})


def test_a_lecture_hall_signs_in_behind_one_address(app: Flask, code: str) -> None:
    assert {enter(app.test_client(), code).status_code for _ in range(40)} == {303}


# -- the cookie ---------------------------------------------------------------------------------


def test_the_cookie_is_kept_from_scripts_and_other_sites(client: FlaskClient, code: str) -> None:
    name, *flags = enter(client, code).headers["Set-Cookie"].split("; ")
    assert name.startswith("veilsearch=")
    assert len(name) >= len("veilsearch=") + 43  # 256 bits in base 64
    assert sorted(flags) == ["HttpOnly", "Path=/", "SameSite=Strict"]


def test_with_https_the_cookie_never_goes_without(private: Site, code: str) -> None:
    site = replace(private, settings=replace(private.settings, https=True))
    client = create_app(site).test_client()
    assert "Secure" in enter(client, code).headers["Set-Cookie"].split("; ")


def test_a_session_can_not_be_planted(app: Flask, private: Site, code: str) -> None:
    """Session fixation: what was in the cookie before signing in never becomes a session."""
    planted = FlaskClient(app)
    planted.set_cookie("veilsearch", "chosen-by-somebody-else")
    assert enter(planted, code).status_code == 303
    assert token_of(planted) != "chosen-by-somebody-else"
    assert private.store.visitor_of("chosen-by-somebody-else", private.clock()) is None


def test_each_signing_in_ends_the_session_before_in_this_browser(
    client: FlaskClient, private: Site, code: str
) -> None:
    enter(client, code)
    before = token_of(client)
    enter(client, private.store.new_code("1002"))
    assert private.store.visitor_of(before, private.clock()) is None
    assert private.store.visitor_of(token_of(client), private.clock()) == "1002"


def test_two_browsers_of_one_person(app: Flask, code: str) -> None:
    here, there = app.test_client(), app.test_client()
    enter(here, code)
    enter(there, code)
    assert token_of(here) != token_of(there)
    here.post("/sign-out")
    assert not see_me(here)
    assert see_me(there)


@pytest.mark.parametrize("token", ["", "x", "é", "0" * 4000, "a=b;c"])
def test_any_other_cookie_is_nobody_s(client: FlaskClient, code: str, token: str) -> None:
    enter(client, code)
    client.set_cookie("veilsearch", token)
    assert client.get("/").status_code == 303


# -- out ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", [False, True])
def test_signing_out_ends_the_session_for_good(
    client: FlaskClient, code: str, operator: bool
) -> None:
    enter(client, ADMIN_TOKEN if operator else code)
    token = token_of(client)
    response = client.post("/sign-out")
    assert (response.status_code, response.headers["Location"]) == (303, "/sign-in")
    assert token_of(client) == ""
    client.set_cookie("veilsearch", token)
    assert client.get("/").status_code == 303


def test_signing_out_drops_what_the_engine_was_told(
    client: FlaskClient, private: Site, code: str
) -> None:
    enter(client, code)
    client.get("/?q=java")
    assert private.transcripts.of("1001")
    client.post("/sign-out")
    assert not private.transcripts.of("1001")


def test_a_session_nobody_uses_ends(private: Site, code: str) -> None:
    now = [1_800_000_000.0]
    client = create_app(replace(private, clock=lambda: now[0])).test_client()
    for who in (code, ADMIN_TOKEN):
        enter(client, who)
        now[0] += IDLE
        assert client.get("/about").status_code == client.get("/log").status_code == 200
        now[0] += IDLE + 1
        assert client.get("/log").status_code == 303


# -- the operator -------------------------------------------------------------------------------


def test_the_operator_s_token_signs_in_as_operator(client: FlaskClient, code: str) -> None:
    response = enter(client, f" {ADMIN_TOKEN}\n")
    assert response.headers["Location"] == "/admin"
    assert client.get("/admin").status_code == 200
    assert not see_me(client)
    enter(client, code)
    assert client.get("/admin").status_code == 403


@pytest.mark.parametrize("token", ["", " ", ADMIN_TOKEN])
def test_without_a_token_there_is_no_operator(private: Site, token: str) -> None:
    client = create_app(replace(private, admin_token="")).test_client()
    assert enter(client, token).status_code == 403


@pytest.mark.parametrize("wrong", [ADMIN_TOKEN[:-1], ADMIN_TOKEN + "x", ADMIN_TOKEN.upper()])
def test_nearly_the_operator_s_token_is_not_it(client: FlaskClient, wrong: str) -> None:
    assert enter(client, wrong).status_code == 403


def test_an_operator_s_session_holds_at_each_server_as_long_as_the_token(private: Site) -> None:
    client = create_app(private).test_client()
    enter(client, ADMIN_TOKEN)
    again = create_app(private).test_client()
    again.set_cookie("veilsearch", token_of(client))
    assert again.get("/admin").status_code == 200
    other = create_app(replace(private, admin_token=ADMIN_TOKEN[::-1])).test_client()
    other.set_cookie("veilsearch", token_of(client))
    assert other.get("/admin").status_code == 303
    assert private.store.count_signed_in(private.clock()) == 0  # the operator is no person
    again.post("/sign-out")
    assert client.get("/admin").status_code == 303


def test_a_server_whose_folder_missed_a_removal_shows_no_profile(
    private: Site, tmp_path: Path
) -> None:
    """Where hosts share people, one may have a copy of the folder in place of the folder."""
    here, elsewhere = (PeopleStore(tmp_path / "people.sqlite") for _ in range(2))
    missed = False

    def refuse() -> None:
        if missed:
            raise UsageError("it is a copy")

    live = Live(replace(private, store=here, refuse_copy=refuse))
    for missed in (False, True):
        live.close_unused()
        assert not live.now.stopped
        elsewhere.forget("somebody")
        live.close_unused()
        assert live.now.stopped == missed


# -- what is never told -------------------------------------------------------------------------


def test_no_code_stands_in_a_log_or_an_answer(
    client: FlaskClient, private: Site, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    answers = [enter(client, code), enter(client, WRONG_CODE), enter(client, ADMIN_TOKEN)]
    answers += [client.get("/sign-in"), client.get("/missing"), client.get("/admin")]
    assert "1001" in answers.pop().text  # where the operator looks people up
    private.store.close()
    answers.append(enter(client, code))
    assert answers[-1].status_code == 503
    told = "".join(a.text + str(a.headers) for a in answers) + caplog.text
    for secret in (code, code.replace("-", ""), WRONG_CODE, ADMIN_TOKEN, "1001"):
        assert secret not in told


def test_a_damaged_store_is_a_page_and_nobody_is_let_in(client: FlaskClient, private: Site) -> None:
    enter(client, ADMIN_TOKEN)
    private.store.close()
    client.set_cookie("veilsearch", "x")
    assert client.get("/").status_code == 503
