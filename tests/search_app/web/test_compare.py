"""The three rankings side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from flask.testing import FlaskClient

from anonymizer.model import Release
from search_app.modes import Modes
from search_app.precision_log import PrecisionLog
from search_app.web import Site, create_app
from search_app.web.site import Shown

MIRA = "/compare?q=java&user=1001"


def lanes(page: Any) -> list[str]:
    return [lane["class"].split()[-1] for lane in page.all("section", "lane")]


def test_each_ranking_says_what_the_server_sees(client: FlaskClient, read: Any) -> None:
    page = read(client.get(MIRA).text)
    assert lanes(page) == ["none", "own", "group"]
    assert "Plain This ranking sees the query only." in page.text
    assert "My own profile This ranking sees the query and the whole own profile." in page.text
    assert "My group This ranking sees the query and a row shared by 2 people." in page.text


def test_a_row_of_one_person_is_said_to_hide_nothing(client: FlaskClient, read: Any) -> None:
    text = read(client.get("/compare?q=java&user=1003").text).text
    assert (
        "This ranking sees the query and a row, "
        "but this row is one person’s own profile: it hides nothing." in text
    )
    assert "1 row is one person’s own profile" in text


def test_average_precision_stands_with_its_pool_and_corrected(
    client: FlaskClient, read: Any
) -> None:
    text = read(client.get(MIRA).text).text
    assert text.count("AP, pool 40 ") == 3
    assert "AP, pool 40 1.00 AP@10 1.00 AP c 1.00" in text
    assert "the 30 documents that the own profile puts first" in text


def test_a_pool_of_relevant_documents_only_has_no_corrected_value(
    client: FlaskClient, read: Any
) -> None:
    text = read(client.get(f"{MIRA}&pool=30").text).text
    assert text.count("AP, pool 30 1.00 AP@10 1.00 AP c –") == 3


def test_moves_are_said_for_the_eye_and_the_ear(client: FlaskClient, read: Any) -> None:
    """Mira's own ten are the rows 0, 2, ... 18: of the plain ranks 1, 3, ... 19."""
    moves = read(client.get(MIRA).text).all("span", "move")
    own = [move["aria-label"] for move in moves[:10]]
    assert own[0] == "same place as in the plain order, 1"
    assert own[1:5] == [
        f"moved up {rank - 1}, from {2 * rank - 1} to {rank}" for rank in range(2, 6)
    ]
    assert own[5:] == [
        f"new among the first 10, up from {2 * rank - 1} to {rank}" for rank in range(6, 11)
    ]
    assert [move["class"] for move in moves[10:]] == ["move same"] * 10


def test_the_same_document_is_known_in_every_column(client: FlaskClient, read: Any) -> None:
    page = read(client.get(MIRA).text)
    keys = [hit["data-key"] for hit in page.all("li", "hit")]
    assert keys[:10] == [str(row) for row in range(10)]
    assert keys[10:20] == [str(row) for row in range(0, 20, 2)]
    marks = [mark["href"] for mark in page.all("a", "plain")]
    assert marks[:5] == ["#plain-1", "#plain-3", "#plain-5", "#plain-7", "#plain-9"]
    anchors = [hit["id"] for hit in page.all("li", "hit") if "id" in hit]
    assert anchors == [f"plain-{rank}" for rank in range(1, 11)]


def test_what_left_the_first_ten_is_listed_with_where_it_went(
    client: FlaskClient, read: Any
) -> None:
    """In Mira's order the rows on code follow the 20 on coffee: rank 21, 22, ... 25."""
    text = read(client.get(MIRA).text).text
    assert text.count("Gone from the first ten") == 1
    assert (
        "2 Title 01 now 21 4 Title 03 now 22 6 Title 05 now 23 8 Title 07 now 24 10 Title 09 now 25"
        in text
    )


def test_all_three_are_logged_together(client: FlaskClient, log: PrecisionLog) -> None:
    client.get(MIRA)
    assert [(entry["mode"], entry["found"]) for entry in log.recent(9)] == [
        ("group", 40),
        ("own", 40),
        ("none", 40),
    ]


def test_a_further_release_is_logged_under_its_own_name(site: Site, log: PrecisionLog) -> None:
    """One made again in the same folder has the same mode and another name."""
    release = cast(Release, site.modes.release)
    modes = Modes(site.modes.engine, site.modes.profiles, release, further={"km": release})
    for name in ("k-means p=0.5 aaaa", "k-means p=0.5 bbbb"):
        further = {"group:km": Shown(name, {})}
        create_app(replace(site, modes=modes, further=further)).test_client().get(
            f"{MIRA}&show=group:km"
        )
    logged = {(row["mode"], row["release"]) for row in log.recent(9)}
    assert logged == {
        *((mode, "toy") for mode in ("none", "own", "group")),
        ("group:km", "k-means p=0.5 aaaa"),
        ("group:km", "k-means p=0.5 bbbb"),
    }


def test_privacy_is_told_in_four_facts_never_one(client: FlaskClient, read: Any) -> None:
    page = read(client.get(MIRA).text)
    assert len(page.all("strong")) >= 4
    for fact in (
        "People who share the row 2 ",
        "Linked to a term, on average 0.50 ",
        "Linked to a term, at worst 0.50 ",
        "Change of belief, at worst 0.25 ",
    ):
        assert fact in page.text


def test_other_pools_are_one_click_away(client: FlaskClient, read: Any) -> None:
    links = [link["href"] for link in read(client.get(MIRA).text).all("a")]
    assert "/compare?q=java&user=1001&mode=group&pool=50" in links


def test_without_a_person_there_is_the_plain_order_and_a_hint(
    client: FlaskClient, read: Any, log: PrecisionLog
) -> None:
    page = read(client.get("/compare?q=java").text)
    assert lanes(page) == ["none"]
    assert "Choose a person above" in page.text
    assert log.summary() == []


@pytest.mark.parametrize("query", ["", "rare", "unheard"])
def test_few_or_no_documents_are_no_fault(client: FlaskClient, query: str) -> None:
    assert client.get(f"/compare?q={query}&user=1001").status_code == 200
