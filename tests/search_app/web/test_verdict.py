"""What a group gains and loses on a search, in one sentence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.people_store import PeopleStore
from search_app.web import Site, create_app
from search_app.web.verdict import Closeness, verdict

BRINGS = (
    "Your group brings {} of the 10 documents that your own profile puts first; "
    "the plain order brings {}"
)


def near(overlap: int, ap: float, release: str = "") -> Closeness:
    return Closeness(ap, overlap, release)


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        (
            "",
            "Your reduced profile brings 3 of the 10 documents that your own profile puts first; "
            "the plain order brings 5: here it does worse than the plain order; but AP, which "
            "looks for the first 30 in the whole pool, is higher for your reduced profile (0.60 to "
            "0.50).",
        ),
        ("km", "Your reduced profile in km brings 3 of the 10 documents"),
    ],
)
def test_what_is_left_of_a_person_is_no_group_and_hides_something(
    release: str, expected: str
) -> None:
    told = verdict(near(5, 0.5), [Closeness(0.6, 3, release, lone=True)], 100, users=1)
    assert told.startswith(expected)
    assert "hides nothing" not in told
    assert "group" not in told


@pytest.mark.parametrize(
    ("group", "plain", "expected"),
    [
        (near(9, 0.8), near(4, 0.5), BRINGS.format(9, "4.")),
        (near(4, 0.5), near(4, 0.5), BRINGS.format(4, "as many.")),
        (
            near(2, 0.3),
            near(4, 0.5),
            BRINGS.format(2, "4: here the group does worse than the plain order."),
        ),
        (
            near(7, 0.67),
            near(5, 0.79),
            BRINGS.format(7, "5") + "; but AP, which looks for the first 30 in the whole pool, "
            "is higher for the plain order (0.79 to 0.67).",
        ),
        (
            near(3, 0.6),
            near(5, 0.5),
            BRINGS.format(3, "5: here the group does worse than the plain order")
            + "; but AP, which looks for the first 30 in the whole pool, "
            "is higher for your group’s order (0.60 to 0.50).",
        ),
        (
            near(4, 0.6),
            near(4, 0.5),
            BRINGS.format(4, "as many")
            + "; but AP, which looks for the first 30 in the whole pool, "
            "is higher for your group’s order (0.60 to 0.50).",
        ),
        (near(4, 0.504), near(3, 0.496), BRINGS.format(4, "3.")),
        (near(4, 0.496), near(3, 0.504), BRINGS.format(4, "3.")),  # both are written 0.50
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
        (11, BRINGS.format(9, "4.")),
    ],
)
def test_few_documents_leave_nothing_to_compare(found: int, expected: str) -> None:
    assert verdict(near(4, 0.5), [near(9, 0.8)], found) == expected


def test_ap_names_how_many_documents_it_looks_for() -> None:
    assert "looks for the first 20 in" in verdict(near(4, 0.5), [near(4, 0.8)], 20)


def test_further_releases_are_told_beside() -> None:
    groups = [near(9, 0.8), near(7, 0.7, "loose"), near(5, 0.6, "tight")]
    assert verdict(near(4, 0.5), groups, 200) == (
        "Your group brings 9 of the 10 documents that your own profile puts first "
        "(in loose 7, in tight 5); the plain order brings 4."
    )
    assert verdict(near(4, 0.5), groups[1:], 200).startswith(
        "Your group in loose brings 7 of the 10 documents that your own profile puts first "
        "(in tight 5); "
    )


def test_a_row_of_one_person_is_no_success() -> None:
    told = verdict(near(4, 0.5), [near(10, 1.0)], 200, users=1)
    assert told == BRINGS.format(10, "4.") + " But its row is your own profile: it hides nothing."
    assert verdict(near(4, 0.5), [], 200, users=1) == ""


def verdicts(html: str, read: Any) -> int:
    return len(read(html).all("p", "verdict"))


def test_the_page_says_it_above_the_columns(client: FlaskClient, read: Any) -> None:
    """The group's row leaves the plain order: of Mira's ten, the even rows to 18, it has five."""
    html = client.get("/compare?q=java&user=1001").text
    assert BRINGS.format(5, "as many.") in html
    assert html.index('class="verdict"') < html.index('class="columns"')
    assert {"href": "#reading"} in read(html).all("a")
    few = client.get("/compare?q=rare&user=1001").text
    assert "Only 3 documents are found, so every order" in few


@pytest.mark.parametrize(
    "path",
    [
        "/compare?q=java",  # nobody
        "/compare?q=unheard&user=1001",  # nothing
        "/compare?q=java&user=1004",  # in no group
        "/compare?q=java&user=1001&blind=1",
        "/compare?q=java&user=1001&show=own",
    ],
)
def test_the_page_says_nothing_where_there_is_nothing_to_say(
    client: FlaskClient, read: Any, path: str
) -> None:
    assert verdicts(client.get(path).text, read) == 0


def test_revealed_it_is_said(client: FlaskClient, read: Any) -> None:
    html = client.get("/compare?q=java&user=1001&blind=1&reveal=1").text
    assert verdicts(html, read) == 1


def test_paused_nothing_is_said(site: Site, read: Any) -> None:
    store = PeopleStore(None)
    store.choose("1001", paused=True)
    client = create_app(replace(site, store=store)).test_client()
    assert verdicts(client.get("/compare?q=java&user=1001").text, read) == 0
    store.close()


def test_links_lead_to_each_column(client: FlaskClient, read: Any) -> None:
    page = read(client.get("/compare?q=java&user=1001").text)
    jumps = [link["href"] for link in page.all("a") if "#lane-" in (link["href"] or "")]
    heads = [head["id"] for head in page.all("h2") if "lane-" in (head.get("id") or "")]
    assert jumps == [f"#{each}" for each in heads] == ["#lane-1", "#lane-2", "#lane-3"]
    assert "#lane-1" not in client.get("/compare?q=java").text
    hidden = client.get("/compare?q=java&user=1001&blind=1").text
    assert '<a href="#lane-1">A </a>' in hidden
