"""Choosing whom to search as: a few people on each page, and a list of all to filter."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from search_app.web import Site, create_app

from ..conftest import PEOPLE, says, seen

TOWN = {
    **PEOPLE,
    **{
        f"2{at:03}": f"Person {at:03} · {('space travel', 'tea')[at % 2]}, cats"
        for at in range(120)
    },
}


@pytest.fixture
def town(site: Site) -> FlaskClient:
    """Return a client of a site of more people than a page should list."""
    return create_app(replace(site, people=TOWN)).test_client()


def options(client: FlaskClient, path: str) -> list[str | None]:
    return [one["value"] for one in seen(client, path).all("option") if one["value"] != "cats"]


def test_pages_offer_examples_and_who_is_chosen(town: FlaskClient) -> None:
    chosen = seen(town, "/?q=java&user=1003").all("option")
    assert [one["value"] for one in chosen if "selected" in one] == ["1003"]
    for path, offered in (
        ("/?q=java", ["", "1001"]),
        ("/compare?q=java&user=1003", ["", "1001", "1003"]),
        ("/me?user=1001", ["", "1001"]),
    ):
        assert options(town, path) == offered
    assert options(town, "/people")[:1] == ["code"]  # there it is interests


def test_cards_choose_a_person_or_show_an_example(town: FlaskClient) -> None:
    page = seen(town, "/")
    assert {"class": "persona", "href": "/?user=1001"} in page.all("a")
    assert {"href": "/compare?q=java&user=1001"} in page.all("a")
    assert "Mira coffee Compare “java” for Mira All 124 people" in page.text
    chosen = {"class": "persona", "href": "/?user=1001", "aria-current": "true"}
    assert chosen in seen(town, "/?user=1001").all("a")
    assert {"class": "persona", "href": "/me?user=1001"} in seen(town, "/me").all("a")


@pytest.mark.parametrize(
    ("asked", "number", "first"),
    [
        ("", "124 people", "Mira coffee Oren code"),
        ("?page=2", "124 people", "Person 044 space travel, cats Person 045"),
        ("?find=CODE", "3 people", "Oren code Ada code Bo code"),
        ("?find=person+11", "10 people", "Person 110 space travel, cats Person 111 tea"),
        ("?find=tea", "60 people", "Person 001 tea, cats Person 003"),
        ("?find=travel", "60 people", "Person 000"),
        ("?find=ode", "0 people", ""),  # only where a word begins
        ("?find=(", "0 people", ""),
    ],
)
def test_people_are_found_by_name_and_by_interest(
    town: FlaskClient, asked: str, number: str, first: str
) -> None:
    says(town, f"/people{asked}", f"{number} {first}")


@pytest.mark.parametrize(
    ("asked", "address"),
    [
        ("", "/?user=1001"),
        ("?q=java&pool=20", "/?q=java&user=1001&pool=20"),
        ("?q=java&user=1002&mode=own&to=compare", "/compare?q=java&user=1001&mode=own"),
        ("?to=me&q=java", "/me?user=1001"),
    ],
)
def test_who_is_chosen_asks_what_was_asked(town: FlaskClient, asked: str, address: str) -> None:
    assert {"href": address} in seen(town, f"/people{asked}").all("a")


def test_the_way_to_the_list_and_through_it_keeps_the_question(town: FlaskClient) -> None:
    page = seen(town, "/compare?q=java&user=1002&pool=20&mode=own")
    there = "/people?to=compare&q=java&user=1002&mode=own&pool=20"
    assert {"href": there} in page.all("a")
    listed = seen(town, f"{there}&find=cats")
    hidden = {field["name"]: field["value"] for field in listed.all("input") if "id" not in field}
    assert hidden == {"q": "java", "user": "1002", "mode": "own", "pool": "20", "to": "compare"}
    (following,) = [a["href"] for a in listed.all("a") if a["href"].endswith("page=2")][:1]
    assert "120 people Person 048" in seen(town, following).text


@pytest.mark.parametrize("asked", ["?page=4", "?page=0", "?to=admin", "?user=9999"])
def test_what_is_not_there_is_refused(town: FlaskClient, asked: str) -> None:
    assert town.get(f"/people{asked}").status_code in (400, 404)


def test_where_people_are_real_there_is_no_list(real: FlaskClient) -> None:
    assert real.get("/people").status_code == 404


def test_no_query_is_remembered_with_an_address(town: FlaskClient) -> None:
    for path in ("/?q=lumbago&user=1003", "/people?q=lumbago&find=cats"):
        assert "lumbago" in seen(town, path).html
    assert "lumbago" not in repr(town.application.extensions)
