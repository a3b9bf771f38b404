"""The search page: one ranking, the mode switch, paging, and what is logged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.evaluation.log import PrecisionLog
from search_app.evaluation.repeats import Repeats
from search_app.web import Live, Site, create_app

from ..conftest import PEOPLE, Page, seen

# Mira's first 30: the 20 documents on coffee and the first 10 on code. In the plain order ranks 1
# to 21 hold 21 of them (rows 0 to 20), then every second rank holds one: 23, 25, ... 39.
PLAIN_AP = (21 + sum((21 + i) / (21 + 2 * i) for i in range(1, 10))) / 30


def titles(html: str) -> list[str]:
    page = Page(html)
    return [piece for piece in page.pieces if piece.startswith("Title ")]


def test_the_start_page_offers_a_search_and_one_click_examples(client: FlaskClient) -> None:
    page = seen(client, "/")
    assert [field["name"] for field in page.all("input")] == ["q", "pool"]
    assert [choice["value"] for choice in page.all("option")] == ["", *PEOPLE]
    assert '<label for="user"><span class="unseen">Search </span>as</label>' in page.html
    assert {"href": "/compare?q=java&user=1001"} in page.all("a")
    assert "this is that person’s own profile: it hides nothing" in page.text
    assert "several people share" not in page.text


@pytest.mark.parametrize("query", ["", " ", "\t", "%00"])
def test_an_empty_query_gives_the_start_page(client: FlaskClient, query: str) -> None:
    response = seen(client, f"/?q={query}&user=1001").html
    assert "<h1>Personalized by your group" in response
    assert "what personalization costs in privacy, and what privacy costs in quality." in (response)


def test_a_result_says_its_reason_with_its_move(client: FlaskClient) -> None:
    """Oren’s own order begins with the rows on code, of which row 1 comes from plain rank 2."""
    html = client.get("/?q=java&user=1002&mode=own").text
    assert "Up 1: shares code with your interests" in Page(html).text
    assert "hares code" not in client.get("/?q=java&user=1002&mode=none").text


def test_a_plain_search_needs_nobody_and_logs_nothing(
    client: FlaskClient, log: PrecisionLog
) -> None:
    html = client.get("/?q=java").text
    assert titles(html) == [f"Title {row:02}" for row in range(10)]
    assert "1–10 of 40 found, 250 ms" in Page(html).text
    assert Page(html).all("div", "tabs") == []
    assert log.summary() == []
    assert "Nobody is chosen" in client.get("/?q=java&mode=group").text


def test_own_mode_orders_by_the_own_profile_and_says_how_each_moved(client: FlaskClient) -> None:
    html = client.get("/?q=java&user=1001&mode=own").text
    assert titles(html) == [f"Title {row:02}" for row in range(0, 20, 2)]
    labels = [chip["aria-label"] for chip in Page(html).all("span", "move")]
    assert labels[:2] == ["same place as in the plain order, 1", "moved up 1, from 3 to 2"]
    assert labels[9] == "moved up 9, from 19 to 10"


def test_the_switch_shows_the_average_precision_of_each_mode(client: FlaskClient) -> None:
    page = seen(client, "/?q=java&user=1001&mode=own")
    buttons = [button for button in page.all("button") if button.get("form") == "ask"]
    assert [(button["name"], button["value"], button["form"]) for button in buttons] == [
        ("mode", mode, "ask") for mode in ("none", "own", "group")
    ]
    assert [button["aria-pressed"] for button in buttons] == ["false", "true", "false"]
    assert round(PLAIN_AP, 2) == 0.95
    assert "Plain AP 0.95 My own profile AP 1.00 My group AP 0.95" in page.text


def test_a_person_is_served_by_the_group_unless_told_otherwise(client: FlaskClient) -> None:
    html = client.get("/?q=java&user=1003").text
    assert titles(html)[:3] == ["Title 01", "Title 03", "Title 05"]
    assert (
        "People who share the row 1 This row is one person’s own profile: it hides nothing."
        in Page(html).text
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


@pytest.mark.parametrize("path", ["/?q=java&user=1001", "/compare?q=java&user=1001"])
def test_probes_and_other_sites_log_nothing(
    client: FlaskClient, log: PrecisionLog, path: str
) -> None:
    assert client.head(path).status_code == 200
    assert client.get(path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200
    assert log.summary() == []
    for query, site in (("java", "same-origin"), ("rare", "none")):
        client.get(path.replace("java", query), headers={"Sec-Fetch-Site": site})
    assert [line.searches for line in log.summary()] == [2, 2, 2]


def test_a_persons_search_counts_once_in_whatever_view(
    client: FlaskClient, log: PrecisionLog
) -> None:
    """Tabs, reloads, pages, compare, and what finds the same documents are no further searches."""
    again = "&mode=own", "&mode=none", "&page=2", "&operators=1", ""
    same = "java", "+Java", "java,", "the+java", "java+%E2%80%AE"
    for path in (f"/{{}}q={query}&user=1001{end}" for query in same for end in again):
        for view in ("?", "compare?"):
            assert client.get(path.format(view)).status_code == 200
    assert [line.searches for line in log.summary()] == [1, 1, 1]
    for other in ("q=java&user=1002", "q=rare&user=1001"):
        client.get(f"/?{other}")
    assert [line.searches for line in log.summary()] == [3, 3, 3]
    client.get("/?q=java&user=1001&ranking=evidence")
    client.get("/?q=java&user=1001&pool=50")
    assert [line.searches for line in log.summary()] == [1, 1, 1, 3, 3, 3, 1, 1, 1]


def test_another_release_or_index_counts_again_and_a_new_server_does(
    site: Site, log: PrecisionLog
) -> None:
    path, other = "/?q=java&user=1001", {"build": "toy corpus.0002"}
    for changed in (site, replace(site, release_name="second"), replace(site, **other), site):
        create_app(changed).test_client().get(path)
    assert [row["search"] for row in log.rows()] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    log.repeats = Repeats()  # what a restart leaves
    create_app(site).test_client().get(path)
    assert log.last() == 4 * 3


def test_who_is_not_in_a_new_state_is_known_to_the_log_no_more(site: Site) -> None:
    live = Live(site)
    client = create_app(live).test_client()
    for user in ("1001", "1002"):
        client.get(f"/?q=java&user={user}")
    live.switch(replace(site, people={"1002": "Oren"}))
    assert site.log.repeats.numbers().keys() == {2}


def test_nothing_is_kept_in_mind_of_who_was_forgotten_during_the_search(site: Site) -> None:
    class Late(PrecisionLog):
        def add(self, entries: Any, user: str = "", search: object = ()) -> None:
            site.transcripts.drop(user)
            self.repeats.forget(user)
            super().add(entries, user, search)

    slow = Late(None)
    create_app(replace(site, log=slow)).test_client().get("/?q=java&user=1001")
    assert (slow.last(), len(slow.repeats)) == (3, 0)


def test_pages_go_through_the_pool_and_no_further(client: FlaskClient) -> None:
    html = client.get("/?q=java&page=4").text
    assert titles(html) == [f"Title {row}" for row in range(30, 40)]
    assert [link.get("rel") for link in Page(html).all("a") if "rel" in link] == ["prev"]
    assert Page(html).all("ol", "hits") == [{"class": "hits none", "start": "31"}]
    first = seen(client, "/?q=java")
    assert first.all("ol", "hits") == [{"class": "hits none"}]
    assert "Nothing on this page: 40 found" in seen(client, "/?q=java&page=5").text
    assert client.get("/?q=java&page=11").status_code == 400


def test_a_smaller_pool_is_all_there_is(client: FlaskClient) -> None:
    page = seen(client, "/?q=java&pool=15&page=2")
    assert "11–15 of the best 15 by BM25" in page.text
    assert {"rel": "prev", "href": "/?q=java&pool=15"} in page.all("a")


def test_a_query_that_finds_nothing_says_so(client: FlaskClient, log: PrecisionLog) -> None:
    response = seen(client, "/?q=unheard&user=1001").html
    assert "Nothing found" in response
    assert log.summary() == []


def test_a_result_links_to_its_address_and_marks_the_query(client: FlaskClient) -> None:
    html = client.get("/?q=java").text
    assert '<a href="https://docs.example/1" rel="noreferrer noopener">Title 01</a>' in html
    assert "docs.example · doc01" in Page(html).text
    assert html.count("<mark>java</mark>") == 10


def test_a_long_query_is_cut_and_the_page_says_so(client: FlaskClient) -> None:
    page = seen(client, f"/?q={'java+' * 20_000}").html
    assert "only its first 2,000 characters were searched" in page
    assert len(page) < 60_000


def test_the_drawer_keeps_the_pool_and_says_if_it_is_not_as_usual(client: FlaskClient) -> None:
    page = seen(client, "/?q=java&user=1001&pool=20")
    fields = {field["id"]: field for field in page.all("input") if "data-usual" in field}
    shown = ("value", "min", "max", "data-usual")
    assert [fields["pool"][name] for name in shown] == ["20", "1", "10000", "100"]
    assert "Settings: pool 20" in page.text
    assert {"href": "/compare?q=java&user=1001&mode=group&pool=20", "class": "more"} in (
        page.all("a")
    )
    assert "Settings:" not in client.get("/?q=java&user=1001&pool=100&ranking=cosine").text
