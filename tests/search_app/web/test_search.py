"""The search page: one ranking, the mode switch, paging, and what is logged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from flask.testing import FlaskClient

from search_app.precision_log import Entry, PrecisionLog
from search_app.web import Site, create_app

# Mira's first 30: the 20 documents on coffee and the first 10 on code. In the plain order ranks 1
# to 21 hold 21 of them (rows 0 to 20), then every second rank holds one: 23, 25, ... 39.
PLAIN_AP = (21 + sum((21 + i) / (21 + 2 * i) for i in range(1, 10))) / 30


def titles(html: str, read: Any) -> list[str]:
    page = read(html)
    return [piece for piece in page.pieces if piece.startswith("Title ")]


def test_the_start_page_offers_a_search_and_one_click_examples(
    client: FlaskClient, read: Any
) -> None:
    page = read(client.get("/").text)
    assert [field["name"] for field in page.all("input")] == ["q", "pool", "mix"]
    assert [choice["value"] for choice in page.all("option")] == [
        "",
        "1001",
        "1002",
        "1003",
        "1004",
    ]
    assert {"href": "/compare?q=java&user=1001"} in page.all("a")


def test_the_start_page_says_that_a_row_of_one_hides_nothing(
    client: FlaskClient, read: Any
) -> None:
    text = read(client.get("/").text).text
    assert "this row is that person’s own profile: it hides nothing" in text
    assert "several people share" not in text


def test_the_choice_of_a_person_is_named(client: FlaskClient) -> None:
    label = '<label for="user"><span class="unseen">Search </span>as</label>'
    assert label in client.get("/").text


@pytest.mark.parametrize("query", ["", " ", "\t", "%00"])
def test_an_empty_query_gives_the_start_page(client: FlaskClient, query: str) -> None:
    response = client.get(f"/?q={query}&user=1001")
    assert response.status_code == 200
    assert "<h1>Personalized by your group" in response.text
    assert "what personalization costs in privacy, and what privacy costs in quality." in (
        response.text
    )


@pytest.mark.parametrize("path", ["/?q=java", "/compare?q=java", "/why?q=java&doc=doc00"])
def test_pages_of_a_search_lie_in_search(client: FlaskClient, read: Any, path: str) -> None:
    links = read(client.get(path).text).all("a")
    assert [link["href"] for link in links if "aria-current" in link][:1] == ["/"]


def test_a_result_says_its_reason_with_its_move(client: FlaskClient, read: Any) -> None:
    """Oren’s own order begins with the rows on code, of which row 1 comes from plain rank 2."""
    html = client.get("/?q=java&user=1002&mode=own").text
    assert "Up 1: shares code with your interests" in read(html).text
    assert "hares code" not in client.get("/?q=java&user=1002&mode=none").text


def test_a_plain_search_needs_nobody_and_logs_nothing(
    client: FlaskClient, read: Any, log: PrecisionLog
) -> None:
    html = client.get("/?q=java").text
    assert titles(html, read) == [f"Title {row:02}" for row in range(10)]
    assert "1–10 of 40 found, 250 ms" in read(html).text
    assert read(html).all("div", "tabs") == []
    assert log.summary() == []


def test_own_mode_orders_by_the_own_profile_and_says_how_each_moved(
    client: FlaskClient, read: Any
) -> None:
    html = client.get("/?q=java&user=1001&mode=own").text
    assert titles(html, read) == [f"Title {row:02}" for row in range(0, 20, 2)]
    labels = [chip["aria-label"] for chip in read(html).all("span", "move")]
    assert labels[:2] == ["same place as in the plain order, 1", "moved up 1, from 3 to 2"]
    assert labels[9] == "moved up 9, from 19 to 10"


def test_the_switch_shows_the_average_precision_of_each_mode(
    client: FlaskClient, read: Any
) -> None:
    page = read(client.get("/?q=java&user=1001&mode=own").text)
    buttons = [button for button in page.all("button") if button.get("form") == "ask"]
    assert [(button["name"], button["value"], button["form"]) for button in buttons] == [
        ("mode", mode, "ask") for mode in ("none", "own", "group")
    ]
    assert [button["aria-pressed"] for button in buttons] == ["false", "true", "false"]
    assert round(PLAIN_AP, 2) == 0.95
    assert "Plain AP 0.95 My own profile AP 1.00 My group AP 0.95" in page.text


def test_a_person_is_served_by_the_group_unless_told_otherwise(
    client: FlaskClient, read: Any
) -> None:
    html = client.get("/?q=java&user=1003").text
    assert titles(html, read)[:3] == ["Title 01", "Title 03", "Title 05"]
    assert (
        "People who share the row 1 This row is one person’s own profile: it hides nothing."
        in read(html).text
    )


@pytest.mark.parametrize("mode", ["none", "own", "group"])
def test_all_modes_are_logged_once_without_query_and_person(
    client: FlaskClient, log: PrecisionLog, tmp_path: Any, mode: str
) -> None:
    client.get(f"/?q=java+sentinel&user=1001&mode={mode}")
    client.get(f"/?q=java+sentinel&user=1001&mode={mode}&page=2")
    lines = log.summary()
    assert [(line.mode, line.pool, line.corpus, line.release, line.searches) for line in lines] == [
        (mode, 100, "toy corpus", "toy", 1) for mode in ("none", "own", "group")
    ]
    assert [line.ap for line in lines] == pytest.approx([PLAIN_AP, 1, PLAIN_AP])
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"sentinel" not in stored
    assert b"1001" not in stored


def test_all_modes_of_a_search_are_logged_in_one_transaction(site: Site) -> None:
    class Counted:
        def __init__(self) -> None:
            self.added: list[list[str]] = []

        def add(self, entries: list[Entry]) -> None:
            self.added.append([entry.mode for entry in entries])

    log = Counted()
    create_app(replace(site, log=cast(Any, log))).test_client().get("/?q=java&user=1001")
    assert log.added == [["none", "own", "group"]]


@pytest.mark.parametrize("path", ["/?q=java&user=1001", "/compare?q=java&user=1001"])
def test_probes_and_other_sites_log_nothing(
    client: FlaskClient, log: PrecisionLog, path: str
) -> None:
    assert client.head(path).status_code == 200
    assert client.get(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200
    assert log.summary() == []
    for site in ("same-origin", "none"):
        client.get(path, headers={"Sec-Fetch-Site": site})
    assert [line.searches for line in log.summary()] == [2, 2, 2]


def test_pages_go_through_the_pool_and_no_further(client: FlaskClient, read: Any) -> None:
    html = client.get("/?q=java&page=4").text
    assert titles(html, read) == [f"Title {row}" for row in range(30, 40)]
    assert [link.get("rel") for link in read(html).all("a") if "rel" in link] == ["prev"]
    assert read(html).all("ol", "hits") == [{"class": "hits none", "start": "31"}]
    first = read(client.get("/?q=java").text)
    assert first.all("ol", "hits") == [{"class": "hits none"}]
    assert "Nothing on this page: 40 found" in read(client.get("/?q=java&page=5").text).text
    assert client.get("/?q=java&page=11").status_code == 400


def test_a_smaller_pool_is_all_there_is(client: FlaskClient, read: Any) -> None:
    page = read(client.get("/?q=java&pool=15&page=2").text)
    assert "11–15 of the best 15 by BM25" in page.text
    assert {"rel": "prev", "href": "/?q=java&pool=15"} in page.all("a")


def test_a_query_that_finds_nothing_says_so(client: FlaskClient, log: PrecisionLog) -> None:
    response = client.get("/?q=unheard&user=1001")
    assert response.status_code == 200
    assert "Nothing found" in response.text
    assert log.summary() == []


def test_a_result_links_to_its_address_and_marks_the_query(client: FlaskClient, read: Any) -> None:
    html = client.get("/?q=java").text
    assert '<a href="https://docs.example/1" rel="noreferrer noopener">Title 01</a>' in html
    assert "docs.example · doc01" in read(html).text
    assert html.count("<mark>java</mark>") == 10


def test_a_long_query_is_cut_and_the_page_says_so(client: FlaskClient) -> None:
    response = client.get("/", query_string={"q": "java " * 20_000})
    assert response.status_code == 200
    assert "only its first 2,000 characters were searched" in response.text
    assert len(response.data) < 60_000


def test_a_mode_without_a_person_is_plain_and_the_page_says_so(client: FlaskClient) -> None:
    assert "Nobody is chosen" in client.get("/?q=java&mode=group").text


def test_the_drawer_keeps_pool_and_mix_and_names_what_is_not_as_usual(
    client: FlaskClient, read: Any
) -> None:
    page = read(client.get("/?q=java&user=1001&pool=20&mix=0.25").text)
    fields = {field["id"]: field for field in page.all("input") if "data-usual" in field}
    shown = ("value", "min", "max", "data-usual")
    assert [fields["pool"][name] for name in shown] == ["20", "1", "10000", "100"]
    assert [fields["mix"][name] for name in shown] == ["0.25", "0", "1", "1"]
    assert "Settings: pool 20, mix 0.25" in page.text
    assert {"href": "/compare?q=java&user=1001&mode=group&pool=20&mix=0.25", "class": "more"} in (
        page.all("a")
    )
    assert "Settings:" not in client.get("/?q=java&user=1001&pool=100&mix=1").text


@pytest.mark.parametrize("mix", ["1.5", "-1", "nan", "1e-1", "inf", "x", "0.1234567890123456"])
def test_a_mix_out_of_range_is_refused(client: FlaskClient, mix: str) -> None:
    response = client.get("/", query_string={"q": "java", "mix": mix})
    assert response.status_code == 400
    assert "must be a number from 0 to 1" in response.text


def test_without_the_profile_the_mix_orders_as_full_text_does(
    client: FlaskClient, read: Any
) -> None:
    assert titles(client.get("/?q=java&user=1001&mode=own&mix=0").text, read) == [
        f"Title {row:02}" for row in range(10)
    ]
