"""The page of the promise says what is measured, not more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.people_store import over
from search_app.settings import Settings
from search_app.web import Site, create_app
from search_app.web.site import Shown


def test_on_average_is_told_as_what_the_method_promises(client: FlaskClient, read: Any) -> None:
    text = read(client.get("/about").text).text
    assert (
        "The mean size of all profiles, divided by how many different terms a group has, "
        "is at most p ." in text
    )
    assert "that share may be more than p (measured: up to 0.75 in a group)." in text
    assert "at most p of its members have a term" not in text.partition("For every term")[0]
    assert "Where a group is one person, this row is that person’s own profile" in text


@pytest.mark.parametrize("facts", [{}, {"share_linkability": None}])
def test_what_was_not_measured_is_not_told(site: Site, read: Any, facts: Any) -> None:
    page = create_app(replace(site, facts=facts)).test_client().get("/about")
    assert page.status_code == 200
    assert "(measured" not in read(page.text).text


def about(site: Site, read: Any, **changes: Any) -> str:
    text: str = read(create_app(replace(site, **changes)).test_client().get("/about").text).text
    return text


REAL: dict[str, Any] = {"people": {}, "examples": ()}


def test_in_private_mode_it_says_what_is_kept_and_what_the_cookie_is_for(
    site: Site, read: Any
) -> None:
    text = about(site, read, access="private", **REAL)
    for kept in (
        "Codes As a slow hash with a salt of its own",
        "A session ends when you sign out, after 12 hours without a request, or after 7 days.",
        "Searches Only of who has chosen to have them remembered",
        "There is one cookie, set when you sign in",
        "Protection from the operator.",
    ):
        assert kept in text
    assert "no cookie" not in text
    assert "invented" not in text


def test_sessions_end_when_it_says_they_do() -> None:
    made = 1_800_000_000.0
    hour, day = 3600, 86_400
    assert not over(made, made, made + 12 * hour - 1)
    assert over(made, made, made + 12 * hour + 1)
    assert not over(made, made + 7 * day - 1, made + 7 * day - 1)
    assert over(made, made + 7 * day, made + 7 * day + 1)


def test_where_nobody_signs_in_there_is_no_cookie_and_it_says_so(site: Site, read: Any) -> None:
    demo = about(site, read)
    assert "There is no cookie." in demo
    assert "So it listens on this machine only." in demo
    assert "Codes" not in demo
    plain = about(site, read, access="plain", **REAL)
    assert "There is no cookie." in plain
    assert "Nobody is known here" in plain
    assert "What is kept" not in plain


def test_several_releases_are_told(site: Site, read: Any) -> None:
    assert "compares" not in about(site, read)
    further = {"group:other": Shown("p-linkability p=0.8 00", {})}
    assert "compares 2 releases of the same people" in about(site, read, further=further)


def test_who_may_write_down_addresses_is_told(site: Site, read: Any) -> None:
    said = "may write it down"
    assert said not in about(site, read)
    assert said in about(site, read, settings=Settings(https=True, proxy="127.0.0.1"))
