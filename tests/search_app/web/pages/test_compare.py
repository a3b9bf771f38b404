"""The three rankings side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from flask.testing import FlaskClient

from anonymizer.model import Release
from search_app.evaluation.log import PrecisionLog
from search_app.search.modes import Modes
from search_app.web import Site, create_app

from ..conftest import seen

MIRA = "/compare?q=java&user=1001"


def lanes(page: Any) -> list[str]:
    return [lane["class"].split()[-1] for lane in page.all("section", "lane")]


def test_each_ranking_says_what_the_server_sees_and_how_close_it_comes(
    client: FlaskClient,
) -> None:
    """In Mira's order the rows on code follow the 20 on coffee: rank 21, 22, ... 25."""
    page = seen(client, MIRA)
    assert lanes(page) == ["none", "own", "group"]
    for told in (
        "Plain This ranking sees the query only.",
        "My own profile This ranking sees the query and the whole own profile.",
        "My group This ranking sees the query and the shared interests of 2 people (their "
        "group’s row).",
        "Plain My own profile My group AP, pool 40 0.95 1.00 0.95 AP@10 ",
        "10 of your personal top 10",
        "the 30 documents that your own profile puts first",
        "2 Title 01 now 21 4 Title 03 now 22 6 Title 05 now 23 8 Title 07 now 24 10 Title 09 now",
        "People who share the row 2 ",
        "Linked to an interest of the row, at worst 1 of 2 ",
        "Change of belief, at worst 0.25 ",
        "The worst of all groups Rows of one person: 1 ",
        "Linked to an interest, on average: 0.50 ",
        "Linked to an interest, at worst: 0.50 ",
    ):
        assert told in page.text
    assert page.text.count("Gone from the first ten: 5") == 1
    relevant = seen(client, f"{MIRA}&pool=30").text  # no others: nothing to correct by
    assert "AP, pool 30 1.00 1.00 1.00 AP@10 1.00 1.00 1.00 AP c – – –" in relevant


def test_a_row_of_one_person_is_said_to_hide_nothing(client: FlaskClient) -> None:
    text = seen(client, "/compare?q=java&user=1003").text
    alone = "the query and one person’s own profile (the group’s row): it hides nothing."
    assert f"This ranking sees {alone}" in text
    assert "1 row is one person’s own profile" in text


def test_the_same_document_is_known_in_every_column(client: FlaskClient) -> None:
    page = seen(client, MIRA)
    keys = [hit["data-key"] for hit in page.all("li", "hit")]
    assert keys[:10] == [str(row) for row in range(10)]
    assert keys[10:20] == [str(row) for row in range(0, 20, 2)]
    marks = [mark["href"] for mark in page.all("a", "plain")]
    assert marks[:5] == ["#plain-1", "#plain-3", "#plain-5", "#plain-7", "#plain-9"]
    anchors = [hit["id"] for hit in page.all("li", "hit") if "id" in hit]
    assert anchors == [f"plain-{rank}" for rank in range(1, 11)]


def test_a_further_release_is_logged_under_its_own_name(site: Site, log: PrecisionLog) -> None:
    """One made again in the same folder has the same mode and another name."""
    release = cast(Release, site.modes.release)
    modes = Modes(site.modes.engine, site.modes.profiles, release, further={"km": release})
    for name in ("k-means p=0.5 aaaa", "k-means p=0.5 bbbb"):
        further = {"group:km": name}
        create_app(replace(site, modes=modes, further=further)).test_client().get(
            f"{MIRA}&show=group:km"
        )
    logged = {(row["mode"], row["release"]) for row in log.recent(9)}
    assert logged == {
        *((mode, "toy") for mode in ("none", "own", "group")),
        ("group:km", "k-means p=0.5 aaaa"),
        ("group:km", "k-means p=0.5 bbbb"),
    }


def test_without_a_person_there_is_the_plain_order_and_a_hint(
    client: FlaskClient, log: PrecisionLog
) -> None:
    page = seen(client, "/compare?q=java")
    assert lanes(page) == ["none"]
    assert "Choose a person above" in page.text
    assert "three ways" in seen(client, "/compare").text
    assert log.summary() == []
