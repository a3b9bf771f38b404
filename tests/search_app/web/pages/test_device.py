"""On the own device: what the server hands out, what it refuses to be told, and the plain page."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import Any, cast

import pytest
from flask.testing import FlaskClient

from anonymizer.model import ReleasedRow
from search_app.search.smoothing import SmoothedRows
from search_app.web import Site, create_app

from ..conftest import Page, signed_in

CANDIDATES = "/api/v1/candidates?q=java"


def test_all_that_a_cosine_needs_is_handed_out(client: FlaskClient) -> None:
    told = client.get(f"{CANDIDATES}&pool=30").get_json()
    assert (told["found"], told["pool"], told["ranking"], told["row"]) == (30, 30, "cosine", None)
    assert (told["vocabulary"], told["weights"]) == (["coffee", "code"], [1.0, 1.0])
    assert [each["plain_rank"] for each in told["documents"]] == list(range(1, 31))
    assert told["documents"][1] == {
        "id": "doc01",
        "title": "Title 01",
        "url": "https://docs.example/1",
        "source": "docs.example · doc01",
        "snippet": "A text on code. It speaks of java.",
        "marks": [{"start": 29, "end": 33}],
        "plain_rank": 2,
        "score": 99.0,
        "terms": [1],
        "counts": [1],
        "norm": 1.0,
        **{"log": None, "near": [], "alike": []},
    }


def test_an_answer_is_compressed_for_who_can_take_it(client: FlaskClient) -> None:
    whole = client.get(CANDIDATES)
    short = client.get(CANDIDATES, headers={"Accept-Encoding": "br, gzip"})
    assert short.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(short.data) == whole.data
    assert "Content-Encoding" not in whole.headers
    assert whole.headers["Vary"] == short.headers["Vary"] == "Accept-Encoding"
    refused = client.get(f"{CANDIDATES}&mode=own", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in refused.headers


class Coffee:
    """Stands for what smooths rows: all of them become coffee alone."""

    def of(self, row: ReleasedRow) -> ReleasedRow:
        return replace(row, weights={"coffee": 1.0})


@pytest.mark.parametrize(("mode", "first"), [("group", 1), ("group:other", 2)])
def test_a_row_is_smoothed_where_rows_are(site: Site, mode: str, first: int) -> None:
    site.modes.smoothed = {mode: cast(SmoothedRows, Coffee())}
    told = create_app(site).test_client().get(f"{CANDIDATES}&row=g0002&keep=5").get_json()
    assert [each["plain_rank"] for each in told["documents"]] == list(range(first, first + 10, 2))
    assert told["row"] == {"name": "g0002", "users": 1}


def test_a_row_keeps_the_documents_that_it_puts_first(client: FlaskClient) -> None:
    told = client.get(f"{CANDIDATES}&row=g0002&keep=7").get_json()
    assert [each["plain_rank"] for each in told["documents"]] == [2, 4, 6, 8, 10, 12, 14]
    assert (told["found"], told["row"]) == (40, {"name": "g0002", "users": 1})
    both = client.get(f"{CANDIDATES}&row=g0001&keep=7").get_json()
    assert [each["plain_rank"] for each in both["documents"]] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("more", "status", "message"),
    [
        ("&user=1001", 400, "user is not a parameter here"),
        ("&mode=own", 400, "mode is not a parameter here"),
        ("&profile=coffee", 400, "profile is not a parameter here"),
        ("&terms=coffee", 400, "terms is not a parameter here"),
        ("&mode=own", 400, "mode is not a parameter here"),
        ("&pool=1001", 400, "pool=1001 must be a whole number from 1 to 1000"),
        ("&keep=7", 400, "keep can’t be given without row"),
        ("&keep=0&row=g0001", 400, "keep=0 must be a whole number from 1 to 1000"),
        ("&row=g9999", 404, "There is no such group"),
    ],
)
def test_whatever_else_is_sent_is_refused(
    client: FlaskClient, more: str, status: int, message: str
) -> None:
    response = client.get(CANDIDATES + more)
    assert response.status_code == status
    assert message in response.get_json()["error"]["message"]


def opened(private: Site) -> Site:
    """Return a site where people sign in, opened for devices, which name nobody."""
    return replace(private, settings=replace(private.settings, device=True))


@pytest.mark.parametrize("path", ["/device?q=java", CANDIDATES])
def test_where_people_sign_in_it_is_closed_until_the_operator_opens_it(
    private: Site, path: str
) -> None:
    closed, open_ = (create_app(each).test_client() for each in (private, opened(private)))
    assert (closed.get(path).status_code, open_.get(path).status_code) == (404, 200)
    assert b'href="/device"' not in closed.get("/about").data
    assert b'href="/device"' in open_.get("/about").data


def published(private: Site) -> Site:
    """Return the same with its rows published."""
    return replace(opened(private), published=lambda: True)


def test_a_real_persons_own_row_chooses_nothing(private: Site) -> None:
    client = create_app(published(private)).test_client()
    assert client.get(f"{CANDIDATES}&row=g0001").status_code == 200  # two people share it
    assert client.get(f"{CANDIDATES}&row=g0002").status_code == 403


def test_of_further_releases_nobody_says_that_they_are_published(private: Site) -> None:
    site = replace(published(private), further={"group:other": "another"})
    assert site.modes.release is not None
    site.modes.further = {"other": site.modes.release}
    client = create_app(site).test_client()
    assert client.get(f"{CANDIDATES}&row=g0001").status_code == 200
    answer = client.get(f"{CANDIDATES}&row=g0001&release=other")
    assert answer.status_code == 403
    assert "not published" in answer.get_json()["error"]["message"]


def test_rows_that_nobody_published_tell_strangers_nothing(private: Site) -> None:
    """What a row ranks first tells of the row, and whoever asks is not known."""
    client = create_app(opened(private)).test_client()
    answer = client.get(f"{CANDIDATES}&row=g0001")
    assert answer.status_code == 403
    assert "not published" in answer.get_json()["error"]["message"]
    assert client.get(CANDIDATES).status_code == 200


def test_without_a_release_no_row_chooses(site: Site) -> None:
    bare = replace(site, modes=type(site.modes)(site.modes.engine, None, None))
    client = create_app(bare).test_client()
    assert client.get(CANDIDATES).status_code == 200
    assert client.get(f"{CANDIDATES}&row=g0001").status_code == 404
    assert b"two stages" not in client.get("/device").data


def test_a_session_changes_nothing_and_nothing_is_kept(private: Site) -> None:
    site = published(private)
    nobody, mira = create_app(site).test_client(), signed_in(site, site.store.new_code("1001"))
    private.store.choose("1001", remember=True)
    answers = [who.get(f"{CANDIDATES}&row=g0001") for who in (nobody, mira)]
    assert answers[0].data == answers[1].data
    assert [answer.headers.get("Set-Cookie") for answer in answers] == [None, None]
    assert not private.transcripts.of("1001")
    assert private.store.searches("1001") == []
    assert private.log.recent(10) == []


@pytest.mark.parametrize("path", ["/device?q=java", "/device?q=java&user=1001&mode=own"])
def test_without_script_the_page_is_the_plain_order(client: FlaskClient, path: str) -> None:
    page = Page(client.get(path).get_data(as_text=True))
    assert "Here is the plain order" in page.text
    assert [f"Title {row:02}" in page.text for row in range(11)] == [True] * 10 + [False]
    assert "1001" not in client.get(path).get_data(as_text=True)
    hidden = [tag for tag in page.all("div", "here") if "hidden" in tag]
    assert len(hidden) == 1


def links(site: Any, path: str) -> list[str]:
    page = Page(create_app(site).test_client().get(path).get_data(as_text=True))
    found = [tag.get("href") or "" for tag in page.all("a")]
    return [address for address in found if address.startswith("/device")]


def test_other_pages_lead_there_and_name_nobody(site: Site) -> None:
    asked = "/device?q=java&pool=1000"
    assert links(site, "/?q=java&user=1001&pool=5000&page=2") == ["/device", asked]
    assert links(site, "/compare?q=java&user=1001&pool=1000") == ["/device", asked]
    assert links(site, "/compare?q=java&user=1001&blind=1") == ["/device"]
    assert links(site, "/?user=1001") == links(site, "/about") == ["/device", "/device"]
    plain = replace(site, people={}, examples=(), access="plain")
    assert links(plain, "/?q=java") == ["/device", "/device"]
