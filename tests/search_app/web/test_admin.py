"""The operator's page: codes are made and revoked."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from search_app import personal_code
from search_app.web import Site, create_app
from search_app.web.admin import ROWS

from .conftest import ADMIN_TOKEN, Page

CODE = re.compile(r"[0-9A-Z]{5}(-[0-9A-Z]{5}){4}")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_code, "_COST", 16)


@pytest.fixture
def client(private: Site) -> FlaskClient:
    client = create_app(private).test_client()
    client.post("/sign-in", data={"code": ADMIN_TOKEN})
    return client


def people(client: FlaskClient, path: str = "/admin") -> list[str | None]:
    """Return whose codes the page offers to revoke."""
    fields = Page(client.get(path).text).all("input")
    return [each["value"] for each in fields if each.get("type") == "hidden"]


def test_the_figures(client: FlaskClient, private: Site) -> None:
    code = private.store.new_code("1001")
    private.store.new_code("1002")
    for _ in range(2):
        create_app(private).test_client().post("/sign-in", data={"code": code})
    text = Page(client.get("/admin").text).text
    assert "With a profile 4 people" in text  # all of the toy's
    assert "With a code 2 can sign in" in text
    assert "Signed in 1 have a session" in text  # in two browsers


def test_a_code_is_shown_once_and_works(client: FlaskClient, private: Site) -> None:
    response = client.post("/admin/codes", data={"user": " 1001 "})
    assert response.headers["Cache-Control"] == "no-store"
    found = CODE.search(Page(response.text).text)
    assert found
    assert found[0] not in client.get("/admin").text
    person = create_app(private).test_client()
    assert person.post("/sign-in", data={"code": found[0]}).status_code == 303


def test_a_new_code_signs_its_person_out(client: FlaskClient, private: Site) -> None:
    person = create_app(private).test_client()
    person.post("/sign-in", data={"code": private.store.new_code("1001")})
    assert person.get("/").status_code == 200
    client.post("/admin/codes", data={"user": "1001"})
    assert person.get("/").status_code == 303


@pytest.mark.parametrize("user", ["", "9999", "100", "1001x", "x" * 10_000, "<b>"])
def test_codes_are_for_people_with_a_profile(client: FlaskClient, private: Site, user: str) -> None:
    response = client.post("/admin/codes", data={"user": user})
    assert response.status_code == 404
    assert "Nobody with this id has a profile here" in response.text
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


@pytest.mark.parametrize("page", ["0", "x", "-1", "99999", "1e3"])
def test_a_page_that_can_not_be_is_one_sentence(client: FlaskClient, page: str) -> None:
    assert client.get(f"/admin?page={page}").status_code == 400


def test_ids_are_shown_as_they_are(client: FlaskClient, private: Site) -> None:
    hostile = "<script>alert(1)</script>&\"'"
    private.store.new_code(hostile)
    assert people(client) == [hostile]
    assert Page(client.get("/admin").text).all("script") == Page(client.get("/about").text).all(
        "script"
    )
    assert client.post("/admin/codes/revoke", data={"user": hostile}).status_code == 303
