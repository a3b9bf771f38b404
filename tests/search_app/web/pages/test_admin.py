"""The operator's page: codes are made and revoked."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from search_app.web import Site
from search_app.web.pages.admin import ROWS

from ..conftest import ADMIN_TOKEN, Page, signed_in

CODE = re.compile(r"[0-9A-Z]{5}(-[0-9A-Z]{5}){4}")


@pytest.fixture
def client(private: Site) -> FlaskClient:
    return signed_in(private, ADMIN_TOKEN)


def people(client: FlaskClient, path: str = "/admin") -> list[str | None]:
    """Return whose codes the page offers to revoke."""
    fields = Page(client.get(path).text).all("input")
    return [each["value"] for each in fields if each.get("type") == "hidden"]


def test_the_figures(client: FlaskClient, private: Site) -> None:
    code = private.store.new_code("1001")
    private.store.new_code("1002")
    for _ in range(2):
        signed_in(private, code)
    text = Page(client.get("/admin").text).text
    assert "With a profile 4 people" in text  # all of the toy's
    assert "With a code 2 can sign in" in text
    assert "Signed in 1 has a session" in text  # in two browsers


def test_a_code_is_shown_once_and_works(client: FlaskClient, private: Site) -> None:
    response = client.post("/admin/codes", data={"user": " 1001 "})
    assert response.headers["Cache-Control"] == "no-store"
    found = CODE.search(Page(response.text).text)
    assert found
    assert found[0] not in client.get("/admin").text
    signed_in(private, found[0])


def test_a_code_for_a_person_without_a_profile_says_that_they_are_new(
    client: FlaskClient, private: Site
) -> None:
    text = Page(client.post("/admin/codes", data={"user": "1001x"}).text).text
    assert "There is no profile of 1001x yet: this person is new here" in text
    assert "If you mistyped the id, revoke this code." in text
    assert [user for user, _ in private.store.codes()] == ["1001x"]
    assert "new here" not in client.post("/admin/codes", data={"user": "1001"}).text


@pytest.mark.parametrize("user", ["", "x" * 101, "a\u202eb", "a\nb", "gg0012"])
def test_an_id_that_nobody_could_read_gets_no_code(
    client: FlaskClient, private: Site, user: str
) -> None:
    response = client.post("/admin/codes", data={"user": user})
    assert response.status_code == 400
    assert "An id has 1 to 100 visible characters, and is no row’s name." in response.text
    assert private.store.codes() == []


def test_revoking(client: FlaskClient, private: Site) -> None:
    private.store.new_code("1001")
    private.store.new_code("1002")
    assert people(client) == ["1001", "1002"]
    response = client.post("/admin/codes/revoke", data={"user": "1001"})
    assert (response.status_code, response.headers["Location"]) == (303, "/admin")
    assert people(client) == ["1002"]
    again = client.post("/admin/codes/revoke", data={"user": "1001"})
    assert again.status_code == 404
    assert "Nobody with this id has a code" in again.text


def test_many_people_come_in_pages(client: FlaskClient, private: Site) -> None:
    everybody = [f"p{number:04}" for number in range(2 * ROWS + 1)]
    private.store.new_codes(everybody)
    pages = [people(client, f"/admin?page={number}") for number in (1, 2, 3)]
    assert pages == [everybody[:ROWS], everybody[ROWS : 2 * ROWS], everybody[2 * ROWS :]]
    assert people(client, "/admin?page=4") == []
    links = [
        [
            link["href"]
            for link in Page(client.get(f"/admin?page={n}").text).all("a")
            if link.get("rel")
        ]
        for n in (1, 2, 3)
    ]
    assert links == [["/admin?page=2"], ["/admin?page=1", "/admin?page=3"], ["/admin?page=2"]]


def test_ids_are_shown_as_they_are(client: FlaskClient, private: Site) -> None:
    hostile = "<script>alert(1)</script>&\"'"
    private.store.new_code(hostile)
    assert people(client) == [hostile]
    assert Page(client.get("/admin").text).all("script") == Page(client.get("/about").text).all(
        "script"
    )
    assert client.post("/admin/codes/revoke", data={"user": hostile}).status_code == 303
