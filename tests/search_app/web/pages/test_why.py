"""Why a document stands where it stands, as a page and as the part that opens under a result."""

from __future__ import annotations

import html
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from index.model import Document
from search_app.search.modes import Modes
from search_app.web import Site, create_app
from search_app.web.pages.why import explain_result
from search_app.web.question import read_question
from search_app.web.views.results import because

from ..conftest import Page, seen

WHY = "/why?q=java&user=1001&mode={mode}&doc={doc}"


def test_a_page_says_why(client: FlaskClient) -> None:
    answer = client.get(WHY.format(mode="own", doc="doc02"))
    page = Page(answer.text)
    assert answer.status_code == 200
    assert "Moved up 1, from 3 to 2: your interest in coffee." in page.text
    assert (
        "Without coffee in your profile it would stand at 3, not 2. "
        "No smaller set of terms would do." in page.text
    )
    assert "Score 1.0000" in page.text
    assert "BM25 98.0000" in page.text
    assert "the query, the documents and your own profile." in page.text
    assert answer.headers["Cache-Control"] == "no-store"


def test_parts_sum_to_the_score_shown(client: FlaskClient) -> None:
    page = seen(client, WHY.format(mode="own", doc="doc04"))
    exact = [float(str(cell["title"])) for cell in page.all("td", "number") if "title" in cell]
    coffee, score, java, bm25 = exact
    assert (coffee, java, bm25) == (1.0, 96.0, 96.0)
    assert coffee == pytest.approx(score, abs=1e-6)


def test_two_members_of_a_group_get_the_same_explanation(client: FlaskClient) -> None:
    """Only their own addresses, in links, differ."""
    told = [
        client.get(f"/why?q=java&user={user}&mode=group&doc=doc03&fragment=1").data.replace(
            user.encode(), b"?"
        )
        for user in ("1001", "1002")
    ]
    assert told[0] == told[1]


def test_a_fragment_is_the_same_without_the_page(client: FlaskClient) -> None:
    address = WHY.format(mode="own", doc="doc02")
    part = client.get(f"{address}&fragment=1").text
    assert "<html" not in part
    assert "Moved up 1, from 3 to 2" in part
    assert f'href="{html.escape(address)}"' in part  # to the page


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        *((f"q=java&doc={doc}", 404, "not among those") for doc in ("nothing", "", "doc39%00")),
        ("q=java&doc=../doc02", 404, "not among those found"),
        ("q=java&pool=3&doc=doc03", 404, "not among those found"),
        ("q=nowhere&doc=doc03", 404, "not among those found"),
        ("doc=doc02", 400, "There is nothing to explain without a search"),
        ("q=java&doc=doc02&fragment=2", 400, "fragment=2 must be 0 or 1"),
    ],
)
def test_what_was_not_found_is_not_explained(
    client: FlaskClient, asked: str, status: int, said: str
) -> None:
    assert said in seen(client, f"/why?{asked}", status).text


def test_it_leads_back_to_the_page_of_the_result(client: FlaskClient) -> None:
    page = seen(client, "/why?q=java&doc=doc11")
    assert page.all("a", "back") == [{"class": "back", "href": "/?q=java&page=2"}]


def test_a_further_release_explains_by_its_row(site: Site, modes: Modes) -> None:
    assert modes.release is not None
    further = Modes(modes.engine, modes.profiles, modes.release, further={"b": modes.release})
    shown = {"group:b": "k-member"}
    client = create_app(replace(site, modes=further, further=shown)).test_client()
    page = seen(client, WHY.format(mode="group:b", doc="doc02"))
    assert "the released row g0001" in page.text
    assert page.all("a", "back")[0]["href"] == "/?q=java&user=1001&mode=group%3Ab"


def test_an_explanation_is_not_a_search_for_the_log(client: FlaskClient, site: Site) -> None:
    client.get(WHY.format(mode="own", doc="doc02"))
    assert site.log.recent(5) == []


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/why?q=java&doc=doc06", "Number 7 in the plain order: found for “java” in the text."),
        ("/why?q=java&doc=doc06", "All this is computed from the query and the documents."),
        (
            WHY.format(mode="group", doc="doc02"),
            "the released row g0001. 2 people share that row. Nobody’s own profile is used here.",
        ),
        (
            "/why?q=java&user=1003&mode=group&doc=doc01",
            "That row is one person’s own profile: it hides nothing.",
        ),
    ],
)
def test_it_says_what_it_is_made_of(client: FlaskClient, path: str, told: str) -> None:
    assert told in seen(client, path).text


@pytest.mark.parametrize(
    "said", ["You have paused personalization", "Personalization failed for this search"]
)
def test_who_paused_or_has_a_broken_profile_is_explained_the_plain_order(
    client: FlaskClient, site: Site, forward: Any, said: str
) -> None:
    forward.broken = "failed" in said
    site.store.choose("1001", paused="paused" in said)
    text = seen(client, WHY.format(mode="own", doc="doc02")).text
    assert said in text
    assert "Number 3 in the plain order" in text


def test_hostile_titles_and_ids_stay_text(client: FlaskClient, index: Any) -> None:
    evil = "<script>alert(1)</script>"
    index.stored[2] = Document(id=f"{evil}&x", title=evil, text=evil)
    found = client.get("/why", query_string={"q": "java", "doc": f"{evil}&x"})
    assert found.status_code == 200
    assert evil not in found.text
    assert html.escape(evil) in found.text


def test_each_result_has_a_reason_and_a_way_here(site: Site) -> None:
    app = create_app(site)
    with app.test_request_context("/?q=java&user=1001&mode=own"):
        question = read_question({"q": "java", "user": "1001", "mode": "own"}, site)
        answer = site.modes.answer("java", "own", "1001", pool=100)
        told = because(site, question, answer, first=18, count=4)
        assert told.reasons == ["Shares coffee with your interests"] * 2 + ["", ""]
        assert told.page == "/why?q=java&user=1001&mode=own"
        assert explain_result(site, question, "doc02").explanation.rank == 2
