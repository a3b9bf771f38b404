"""What a group gains and loses on a search, in one sentence."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from search_app.disclosure.single_rows import WORDS
from search_app.web import Site
from search_app.web.views.verdict import Closeness, verdict

from ..conftest import Page, seen

FINDS = "Of your personal top 10, your group finds {}, plain search {}"
AP = " But AP, which looks for your top 30 in all documents found, is higher for "


def near(overlap: int, ap: float, release: str = "") -> Closeness:
    return Closeness(ap, overlap, release)


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        (
            "",
            "Of your personal top 10, your reduced profile finds 3, plain search 5: here it does "
            f"worse than plain search.{AP}your reduced profile (0.60 to 0.50).",
        ),
        ("km", "Of your personal top 10, your reduced profile in km finds 3, plain search 5"),
    ],
)
def test_what_is_left_of_a_person_is_no_group_and_hides_something(
    release: str, expected: str
) -> None:
    told = verdict(near(5, 0.5), [Closeness(0.6, 3, release, WORDS)], 100, users=1)
    assert told.startswith(expected)
    assert "hides nothing" not in told
    assert "group" not in told


@pytest.mark.parametrize(
    ("group", "plain", "expected"),
    [
        (near(9, 0.8), near(4, 0.5), FINDS.format(9, "4.")),
        (near(4, 0.5), near(4, 0.5), FINDS.format(4, "4.")),
        (
            near(2, 0.3),
            near(4, 0.5),
            FINDS.format(2, "4: here the group does worse than plain search."),
        ),
        (
            near(7, 0.67),
            near(5, 0.79),
            FINDS.format(7, "5.") + AP + "plain search (0.79 to 0.67).",
        ),
        (
            near(3, 0.6),
            near(5, 0.5),
            FINDS.format(3, "5: here the group does worse than plain search.")
            + AP
            + "your group’s order (0.60 to 0.50).",
        ),
        (near(4, 0.504), near(3, 0.496), FINDS.format(4, "3.")),
        (near(4, 0.496), near(3, 0.504), FINDS.format(4, "3.")),  # both are written 0.50
    ],
)
def test_a_group_is_compared_with_the_plain_order(
    group: Closeness, plain: Closeness, expected: str
) -> None:
    assert verdict(plain, [group], 200) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (0, ""),
        (1, "Only 1 document is found, so every order shows the same first page."),
        (10, "Only 10 documents are found, so every order shows the same first page."),
        (11, FINDS.format(9, "4.")),
    ],
)
def test_few_documents_leave_nothing_to_compare(found: int, expected: str) -> None:
    assert verdict(near(4, 0.5), [near(9, 0.8)], found) == expected


def test_further_releases_are_told_beside() -> None:
    groups = [near(9, 0.8), near(7, 0.7, "loose"), near(5, 0.6, "tight")]
    assert verdict(near(4, 0.5), groups, 200) == (
        "Of your personal top 10, your group finds 9 (in loose 7, in tight 5), plain search 4."
    )
    assert verdict(near(4, 0.5), groups[1:], 200).startswith(
        "Of your personal top 10, your group in loose finds 7 (in tight 5), "
    )


def test_a_row_of_one_person_is_no_success() -> None:
    told = verdict(near(4, 0.5), [near(10, 1.0)], 200, users=1)
    assert told == (
        FINDS.format(10, "4.")
        + " But you are alone in your group: its row is your own profile and hides nothing."
    )
    assert verdict(near(4, 0.5), [], 200, users=1) == ""


def verdicts(html: str) -> int:
    return len(Page(html).all("p", "verdict"))


def test_the_page_says_it_above_the_columns(client: FlaskClient) -> None:
    """The group's row leaves the plain order: of Mira's ten, the even rows to 18, it has five."""
    html = client.get("/compare?q=java&user=1001").text
    assert FINDS.format(5, "5.") in html
    assert html.index('class="verdict"') < html.index('class="columns"')
    assert html.index('class="verdict"') < html.index('class="reading"')
    few = client.get("/compare?q=rare&user=1001").text
    assert "Only 3 documents are found, so every order" in few


@pytest.mark.parametrize(
    "path",
    [
        "/compare?q=java",  # nobody
        "/compare?q=unheard&user=1001",  # nothing
        # in no group
        "/compare?q=java&user=1001&blind=1",
        "/compare?q=java&user=1001&show=own",
    ],
)
def test_the_page_says_nothing_where_there_is_nothing_to_say(
    client: FlaskClient, path: str
) -> None:
    assert verdicts(client.get(path).text) == 0


def test_revealed_it_is_said_and_paused_not(client: FlaskClient, site: Site) -> None:
    assert verdicts(client.get("/compare?q=java&user=1001&blind=1&reveal=1").text) == 1
    site.store.choose("1001", paused=True)
    assert verdicts(client.get("/compare?q=java&user=1001").text) == 0


def test_links_lead_to_each_column(client: FlaskClient) -> None:
    page = seen(client, "/compare?q=java&user=1001")
    jumps = [link["href"] for link in page.all("a") if "#lane-" in (link["href"] or "")]
    heads = [head["id"] for head in page.all("h2") if "lane-" in (head.get("id") or "")]
    assert jumps == [f"#{each}" for each in heads] == ["#lane-1", "#lane-2", "#lane-3"]
    assert "#lane-1" not in client.get("/compare?q=java").text
    hidden = client.get("/compare?q=java&user=1001&blind=1").text
    assert '<a href="#lane-1">A </a>' in hidden
