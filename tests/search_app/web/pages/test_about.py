"""The page of the promise says what is measured, not more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.accounts.store import has_ended
from search_app.search.modes import Modes
from search_app.settings import Settings
from search_app.web import Site, create_app

from ..conftest import Page, seen, signed_in


def test_on_average_is_told_as_what_the_method_promises(client: FlaskClient) -> None:
    text = seen(client, "/about").text
    assert (
        "The average size of all profiles, divided by the number of different interests of a "
        "group, is at most p ." in text
    )
    assert "that may happen more often than p (measured: up to 0.75 in a group)." in text
    assert "belongs to more than a share p" not in text.partition("For every interest")[0]
    assert "For a group of one person this is that person’s own profile: it hides nothing." in text


@pytest.mark.parametrize("facts", [{}, {"share_linkability": None}])
def test_what_was_not_measured_is_not_told(site: Site, facts: Any) -> None:
    modes, release = site.modes, site.modes.release
    assert release is not None
    modes = Modes(modes.engine, modes.profiles, replace(release, facts=facts))
    page = create_app(replace(site, modes=modes)).test_client().get("/about")
    assert page.status_code == 200
    assert "(measured" not in Page(page.text).text


def about(site: Site, **changes: Any) -> str:
    text: str = seen(create_app(replace(site, **changes)).test_client(), "/about").text
    return text


@pytest.mark.parametrize("path", ["/about", "/groups"])
def test_the_certificate_of_the_release_stands_in_sentences(site: Site, path: str) -> None:
    known = {"attack": "linking", "measure": "top-1", "known": 3, "choice": "random"}
    figures = {"value": 0.8, "low": 0.7, "high": 0.9, "raw": 1.0, "promised": None}
    certificate = {"attacks": [{**known, **figures}], "not_promised": ["that pigs fly"]}
    shown = {"group": certificate}
    certified = replace(site, certificate=lambda mode: shown.get(mode, {}))
    page = seen(create_app(certified).test_client(), path).text
    assert (
        "Someone who knows three of your interests finds your row in up to 8 of 10 cases. Without "
        "any method it is up to 10 of 10 cases. Not promised: that pigs fly."
    ) in page
    assert "What attackers get" not in seen(create_app(site).test_client(), path).text


REAL: dict[str, Any] = {"people": {}, "examples": ()}


def test_in_private_mode_it_says_what_is_kept_and_what_the_cookie_is_for(site: Site) -> None:
    text = about(site, access="private", **REAL)
    assert "This server does not offer it" in text
    for kept in (
        "Codes As a salted hash",
        "A session ends when you sign out, after 12 hours without a request, or after 7 days.",
        "Searches Only of people who have chosen to have them remembered",
        "There is one cookie, set when you sign in",
        "Protection from the operator.",
    ):
        assert kept in text
    assert "no cookie" not in text
    assert "invented" not in text


@pytest.mark.parametrize(
    ("path", "true", "wrong"),
    [
        ("/", "Search without a profile", "Personalized by"),
        ("/log", "Nobody is known here, so searches are not logged.", "signed-in"),
        ("/about", "Nobody is known here", "read your own profile in every mode"),
    ],
)
def test_where_nobody_is_known_no_page_says_otherwise(
    site: Site, path: str, true: str, wrong: str
) -> None:
    text = seen(create_app(replace(site, access="plain", **REAL)).test_client(), path).text
    assert true in text
    assert wrong not in text


def test_sessions_end_when_it_says_they_do() -> None:
    made = 1_800_000_000.0
    hour, day = 3600, 86_400
    assert not has_ended(made, made, made + 12 * hour - 1)
    assert has_ended(made, made, made + 12 * hour + 1)
    assert not has_ended(made, made + 7 * day - 1, made + 7 * day - 1)
    assert has_ended(made, made + 7 * day, made + 7 * day + 1)


def test_where_nobody_signs_in_there_is_no_cookie_and_it_says_so(site: Site) -> None:
    demo = about(site)
    assert "There is no cookie." in demo
    assert "So the server listens on this machine only." in demo
    assert "Codes" not in demo
    plain = about(site, access="plain", **REAL)
    assert "There is no cookie." in plain
    assert "Nobody is known here" in plain
    assert "What is kept" not in plain


def test_who_may_write_down_addresses_is_told(site: Site) -> None:
    said = "may store it"
    assert said not in about(site)
    assert said in about(site, settings=Settings(https=True, proxy="127.0.0.1"))


def test_strangers_do_not_see_that_somebody_left(private: Site) -> None:
    """What follows the rows of a withheld release is neither on /about nor in the health check."""
    site = replace(private, release_name="p-linkability p=0.5 0123abcd")
    client = create_app(site).test_client()
    member = signed_in(site, site.store.new_code("1001"))
    for withheld in (True, False):
        site.modes.withheld = lambda withheld=withheld: withheld
        count = "The smallest of the 2 groups"
        assert (count in seen(client, "/about").text) is not withheld
        assert count in seen(member, "/about").text
        for path in ("/api/v1/health", "/docs"):
            text = client.get(path).text
            assert "p-linkability p=0.5" in text
            assert ("0123abcd" in text) is not withheld
