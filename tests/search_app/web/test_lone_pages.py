"""Pages over rows of one person each: what is left of Oren, Ada and Bo; of Mira nothing is.

Code is of three people and stays, coffee is Mira's alone and is deleted: k = 2, m = 1.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from anonymizer.release import write_release
from search_app.ledger import Noted
from search_app.lone_rows import lone_rows
from search_app.modes import Modes
from search_app.own_view import Population
from search_app.serving import _facts, _name
from search_app.web import Site, create_app
from search_app.web.answering import NOT_PERSONAL
from search_app.web.lone_facts import percent, release_facts, weights_fact
from search_app.web.own_facts import Promise, own_facts
from search_app.web.site import Shown

from ..lone_release import lone_release
from .conftest import ToyForward

MIRA, OREN = "1001", "1002"
NO_ROW = (
    "No row stands for you, because all of your terms were deleted: instead of “My reduced "
    "profile” you get the plain order. Nobody else’s row is used."
)


@pytest.fixture
def lone(site: Site) -> Site:
    profiles = site.modes.profiles
    assert profiles is not None
    release = lone_release(profiles)
    modes = Modes(site.modes.engine, profiles, release)
    name = "km-anonymity k=2 m=1 0a1b"
    return replace(site, modes=modes, release_name=name, facts=_facts(release))


@pytest.fixture
def rows(lone: Site) -> FlaskClient:
    return create_app(lone).test_client()


@pytest.fixture
def beside(site: Site, lone: Site) -> FlaskClient:
    """A site of groups, with rows of one person each as a further release."""
    old, release = site.modes, lone.modes.release
    assert release is not None
    modes = Modes(old.engine, old.profiles, old.release, further={"km": release})
    further = {"group:km": Shown(lone.release_name, lone.facts)}
    return create_app(replace(site, modes=modes, further=further)).test_client()


def table(client: FlaskClient, path: str) -> list[list[str]]:
    response = client.get(path)
    assert response.status_code == 200
    return list(csv.reader(response.text.splitlines()))


# -- searches ------------------------------------------------------------------------------------


def test_a_comparison_names_what_is_left_of_a_person(rows: FlaskClient, read: Any) -> None:
    text = read(rows.get(f"/compare?q=java&user={OREN}").text).text
    assert (
        "My reduced profile This ranking sees the query and what a deletion has left of the own "
        "profile." in text
    )
    assert "Your reduced profile brings 10 of the 10 documents" in text
    assert "People behind the row 1 This row is what a deletion has left of one" in text
    assert "Rows that have the same term 2 or more Each term of a row stands in at least" in text
    for wrong in ("hides nothing", "group", "Linked to a term", "“My reduced profile”"):
        assert wrong not in text


def test_of_whom_nothing_is_left_the_order_is_plain_and_says_why(
    rows: FlaskClient, read: Any
) -> None:
    for path in ("/?mode=group&", "/?mode=own&", "/compare?"):
        text = read(rows.get(f"{path}q=java&user={MIRA}").text).text
        assert text.count(NO_ROW) == 1
        assert NOT_PERSONAL not in text
    assert "My reduced profile AP" not in text
    answer = rows.get(f"/api/v1/search?q=java&mode=group&user={MIRA}").json
    assert answer["mode"] == "none"
    assert answer["row"] is None
    assert answer["notices"] == [NO_ROW]
    assert [hit["rank"] - hit["plain_rank"] for hit in answer["results"]] == [0] * 10


def test_a_row_that_fails_is_still_a_fault(rows: FlaskClient, forward: ToyForward) -> None:
    forward.broken = True
    answer = rows.get(f"/api/v1/search?q=java&mode=group&user={OREN}").json
    assert answer["notices"] == [NOT_PERSONAL]
    both = rows.get(f"/api/v1/search?q=java&mode=group&user={MIRA}").json["notices"]
    assert both == [NO_ROW, NOT_PERSONAL]  # own failed


def test_a_notice_names_the_further_release_that_has_no_row(beside: FlaskClient, read: Any) -> None:
    asked = f"q=java&user={MIRA}&show=own&show=group:km"
    text = read(beside.get(f"/compare?{asked}").text).text
    assert "No row stands for you in the release km, because all of your terms" in text
    assert "instead of “My reduced profile, km” you get" in text
    text = read(beside.get("/compare?q=java&user=1003&show=group:km").text).text
    assert "My reduced profile, km This ranking sees" in text
    assert "No row stands for you" not in text


def test_the_facts_beside_a_ranking_are_of_the_release_that_served(
    beside: FlaskClient, read: Any
) -> None:
    by_group = read(beside.get(f"/?q=java&user={OREN}&mode=group").text).text
    assert "Linked to a term, at worst" in by_group
    assert "People behind the row" not in by_group
    by_row = read(beside.get(f"/?q=java&user={OREN}&mode=group:km").text).text
    assert "Linked to a term" not in by_row
    assert "People behind the row 1" in by_row


def test_why_speaks_of_released_interests(rows: FlaskClient, read: Any) -> None:
    asked = f"q=java&user={OREN}&mode=group"
    text = read(rows.get(f"/why?{asked}&doc=doc01").text).text
    assert "Moved up 1, from 2 to 1: your released interest in code." in text
    assert "Without code in your released row it would stand at 2, not 1." in text
    assert "What the terms of the released row give" in text
    assert "which is what a deletion has left of one person’s own terms." in text
    assert "hides nothing" not in text
    page = read(rows.get(f"/?{asked}").text).text
    assert "Up 1: shares code with your released interests" in page
    told = rows.get(f"/api/v1/explain?{asked}&doc=doc01").json["sentence"]
    assert told == "Moved up 1, from 2 to 1: your released interest in code."
    own = read(rows.get(f"/why?q=java&user={OREN}&mode=own&doc=doc01").text).text
    assert "your interest in code" in own


def test_the_api_names_the_column_as_the_pages_do(rows: FlaskClient) -> None:
    columns = rows.get(f"/api/v1/compare?q=java&user={OREN}").json["columns"]
    assert [column["name"] for column in columns] == [
        "Plain",
        "My own profile",
        "My reduced profile",
    ]
    assert columns[2]["sees"] == "the query and what a deletion has left of the own profile"


def test_no_search_is_logged_of_whom_nothing_is_left(rows: FlaskClient) -> None:
    """Their lines would differ from everybody else's."""
    assert rows.get(f"/?q=java&user={MIRA}").status_code == 200
    assert len(table(rows, "/log.csv")) == 1
    assert rows.get(f"/?q=java&user={OREN}").status_code == 200
    assert {line[0] for line in table(rows, "/log.csv")[1:]} == {"1"}


def test_the_log_names_the_mode_by_the_release_that_served(
    rows: FlaskClient, client: FlaskClient, read: Any
) -> None:
    assert rows.get(f"/?q=java&user={OREN}").status_code == 200
    text = read(rows.get("/log").text).text
    assert "My reduced profile − Plain" in text
    assert "My group" not in text
    assert client.get(f"/?q=java&user={OREN}").status_code == 200
    names = read(client.get("/log").text).text
    assert "My group" in names
    assert "My reduced profile" in names


def test_the_first_page_says_what_each_ranking_sees(
    rows: FlaskClient, client: FlaskClient, read: Any
) -> None:
    text = read(rows.get("/").text).text
    assert "My reduced profile The query and what a deletion has left of your own terms." in text
    assert "group" not in text
    assert "My group The query and the group’s row" in read(client.get("/").text).text


# -- a person's own page -------------------------------------------------------------------------


def test_who_has_a_row_sees_what_is_left(rows: FlaskClient, read: Any) -> None:
    text = read(rows.get(f"/me?user={OREN}").text).text
    assert "This row is what a deletion has left of your own terms, so it stands for you" in text
    assert "What your row gives away" in text
    assert "Terms left of yours 1 of 1 They are your row" in text
    assert (
        "Rows with your rarest term 3 Of your released terms, the rarest stands in 3 rows" in text
    )
    assert "Left in your row 1" in text
    assert "Deleted 0" in text
    for wrong in ("hides nothing", "group", "blind guess", "Linked to"):
        assert wrong not in text.partition("Shortcut")[0].replace("Search Me Groups", "")


def test_who_has_no_row_is_told_so(rows: FlaskClient, read: Any) -> None:
    text = read(rows.get(f"/me?user={MIRA}").text).text
    assert "All of your terms were deleted, so no row stands for you: in mode “My reduced" in text
    assert "sees the query only: all terms of the own profile were deleted" in text
    assert "Nothing is sent in this mode: in its place you get the plain order." in text
    assert "Terms left of yours none" in text
    assert "Terms only you have 1" in text
    assert "Rows with your rarest term" not in text
    told = rows.get(f"/api/v1/profile?user={MIRA}").json
    assert (told["row"], told["worst_linkability"]) == (None, None)


def test_the_page_of_a_group_stays_as_it_was(client: FlaskClient, read: Any) -> None:
    text = read(client.get(f"/me?user={OREN}").text).text
    assert "Your group’s row g0001 This row stands for 2 people, you among them." in text
    assert "Nothing was sent in this mode yet." in text
    assert "deletion" not in text


def test_a_persons_belief_counts_the_terms_of_the_row_only(lone: Site) -> None:
    """Three of four have code, so the row moves its chance by a quarter; coffee is not in it."""
    assert lone.modes.profiles is not None
    view = Population(lone.modes.profiles, lone.modes.release).view(OREN, {})
    assert view.group is not None
    assert (view.group.belief, view.group.rarest) == (0.25, 3)
    facts = own_facts(view, Promise(rows=lone.lone()), ())
    assert [fact.name for fact in facts] == [
        "Terms left of yours",
        "Rows that have the same term",
        "Rows with your rarest term",
        "Weights in the rows",
        "Change of belief, at worst",
        "Terms only you have",
        "Releases so far",
    ]
    assert facts[4].value == "0.25"


def test_a_term_that_stands_in_one_row_points_it_out(lone: Site) -> None:
    """With k = 1 nothing is deleted, and coffee is Mira's alone."""
    profiles = lone.modes.profiles
    assert profiles is not None
    release = lone_release(profiles, k=1)
    for user, told in ((MIRA, "your row alone. Who knows that"), (OREN, "3 rows, yours among")):
        view = Population(profiles, release).view(user, {})
        fact = own_facts(view, Promise(rows=lone_rows(release)), ())[2]
        assert told in fact.meaning


def test_releases_are_counted_in_their_own_words(lone: Site) -> None:
    assert lone.modes.profiles is not None
    view = Population(lone.modes.profiles, lone.modes.release).view(OREN, {})
    ledger = [Noted(0, "made", "km-anonymity", {}, 3, 3, "0a1b")]
    *_, of_rows = own_facts(view, Promise(rows=lone.lone()), ledger)
    *_, of_groups = own_facts(view, Promise(0.5, "average"), ledger)
    assert "Who sees two different releases of the same people" in of_rows.meaning
    assert "Who sees two different groupings of the same people" in of_groups.meaning


# -- the rows ------------------------------------------------------------------------------------


def test_rows_are_drawn_and_listed(rows: FlaskClient, read: Any) -> None:
    page = read(rows.get("/groups").text)
    assert len(page.all("svg", "chart")) == 4
    for told in (
        "Of half of the 4 people at most 100 % of their different terms are left; of 1 nothing",
        "The shortest of 3 rows has 1, the longest 1",
        "Every released term stands in 3 or more of the 3 rows",
        "is left with 3 rows or more that have it; for half of the rows with no more than 3.",
        "has only terms that stand in 2 rows or more",
        "People without a row 1 All of their terms were deleted. They get the plain order",
        "Different terms kept 50 %",
        "Log size kept 75 %",
        "g0001 1 3 g0002 1 3 g0003 1 3",
    ):
        assert told in page.text
    for wrong in ("Linked", "smallest group", "hides nothing", "Order by: name people"):
        assert wrong not in page.text


def test_numbers_of_each_picture(rows: FlaskClient, client: FlaskClient) -> None:
    assert table(rows, "/groups/rarest.csv") == [["having_rarest_term", "rows"], ["3", "3"]]
    assert table(rows, "/groups/usual.csv") == [["rows", "released_terms"], ["3", "1"]]
    assert table(rows, "/groups/lengths.csv") == [["terms", "rows"], ["1", "3"]]
    left = {tuple(row[:2]): row[2] for row in table(rows, "/groups/left.csv")[1:]}
    assert {bar: n for bar, n in left.items() if n != "0"} == {
        ("0.0", "0.05"): "1",
        ("0.95", "1.0"): "3",
    }
    assert table(rows, "/groups/groups.csv")[:2] == [
        ["row", "people", "released_terms", "having_rarest_term"],
        ["g0001", "1", "1", "3"],
    ]
    assert rows.get("/groups/belief.csv").status_code == 404
    assert client.get("/groups/rarest.csv").status_code == 404


def test_a_row_shows_its_terms_and_in_how_many_rows_they_stand(
    rows: FlaskClient, read: Any
) -> None:
    text = read(rows.get("/groups/g0001").text).text
    assert "code 3 1" in text
    assert "Rows with its rarest term 3 Of this row’s terms, the rarest stands in 3 rows." in text
    assert "hides nothing" not in text
    summary = rows.get("/api/v1/groups").json["rows"][0]
    assert (summary["people"], summary["terms"], summary["rarest"]) == (1, 1, 3)
    assert {summary[name] for name in ("average", "share", "worst", "belief")} == {None}


@pytest.mark.parametrize("sealed", [False, True])
def test_of_real_people_no_row_is_told(lone: Site, read: Any, sealed: bool) -> None:
    lone.modes.sealed = lambda: sealed
    shown = replace(lone, people={}, examples=(), access="plain")
    client = create_app(shown).test_client()
    page = read(client.get("/groups").text)
    assert not page.all("svg", "chart")
    assert not page.all("table")
    assert "There are 3 rows. The people here are real" in page.text
    assert "Log size kept 75 %" in page.text
    assert client.get("/groups/left.csv").status_code == 404
    text = read(client.get("/groups/g0001").text).text
    assert "The people here are real, so its terms are not shown" in text
    assert "code" not in text
    assert table(client, "/groups/groups.csv")[1] == ["g0001", "1", "", ""]
    assert client.get("/api/v1/groups").json["rows"][0]["rarest"] is None


def test_rows_of_a_further_release_are_shown_as_such(beside: FlaskClient, read: Any) -> None:
    assert "Rows of one person, and what" in read(beside.get("/groups?release=km").text).text
    assert "Groups, and what they give away" in read(beside.get("/groups").text).text


def test_groups_have_no_figure_of_rows(client: FlaskClient) -> None:
    assert {row["rarest"] for row in client.get("/api/v1/groups").json["rows"]} == {None}


# -- what is promised ----------------------------------------------------------------------------


def test_about_tells_the_promise_of_the_rows_alone(rows: FlaskClient, read: Any) -> None:
    text = read(rows.get("/about").text).text
    assert "What (k,m)-anonymity says" in text
    assert "k = 2 and m = 1" in text
    assert "It says: each term of a row stands in at least 2 rows." in text
    assert "Nothing is promised of two terms or more together" in text
    assert "1 person has no row, because all of their terms were deleted. Theirs is the" in text
    for wrong in ("Three readings", "My group", "hides nothing", "readings"):
        assert wrong not in text


def test_about_tells_both_promises_where_there_are_both(beside: FlaskClient, read: Any) -> None:
    text = read(beside.get("/about").text).text
    assert text.index("Three readings of one promise") < text.index("What (k,m)-anonymity says")
    assert "The release behind “My reduced profile, km” is made by deletion" in text


def test_about_tells_nothing_of_rows_where_there_are_none(client: FlaskClient, read: Any) -> None:
    text = read(client.get("/about").text).text
    assert "anonymity says" not in text
    assert "The promise has a number, p : how surely a person in a group" in text


def test_facts_of_a_release_name_what_was_paid(lone: Site) -> None:
    promise = lone.lone()
    assert promise is not None
    facts = {fact.name: fact for fact in release_facts(lone.facts, promise, served=False)}
    assert list(facts) == [
        "Rows that have the same term",
        "Weights in the rows",
        "People without a row",
        "Different terms kept",
        "Log size kept",
    ]
    everybody = release_facts({**lone.facts, "users_left_out": 0}, promise, served=False)
    assert everybody[2].meaning == "Everybody has a row: of each person some term is left."
    several = release_facts({**lone.facts, "users_left_out": 1_200}, promise, served=False)
    assert several[2].value == "1,200"
    assert "Each of them gets the plain order" in several[2].meaning


@pytest.mark.parametrize(("weighed", "value"), [(True, "as in the profiles"), (False, "all 1")])
def test_weights_are_promised_nothing_of(lone: Site, weighed: bool, value: str) -> None:
    promise = lone.lone()
    assert promise is not None
    fact = weights_fact(promise._replace(weighed=weighed))
    assert fact.value == value
    assert ("No promise is made of weights" in fact.meaning) is weighed


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (0.0, "0"),
        (0.0004, "under 0.1"),
        (0.0296, "3"),
        (0.2216, "22.2"),
        (0.9999, "over 99.9"),
        (1.0, "100"),
    ],
)
def test_only_all_is_a_hundred_percent(share: float, told: str) -> None:
    assert percent(share) == told


def test_the_name_of_a_release_has_its_promise(site: Site, lone: Site, tmp_path: Path) -> None:
    for served, named, handed_on in (
        (lone, "km-anonymity k=2 m=1 ", {"k": 2, "m": 1, "frequencies": "keep"}),
        (site, "p-linkability p=0.5 ", {"p": 0.5}),
    ):
        release = served.modes.release
        assert release is not None
        folder = tmp_path / release.method
        write_release(release, folder, seed=0, input_hash="0a1b")
        assert _name(folder, release).startswith(named)
        assert handed_on.items() <= _facts(release).items()
    assert "m" not in _facts(release)


def test_left_out_is_nobody_without_a_profile(lone: Site) -> None:
    modes = lone.modes
    assert modes.leaves_out(MIRA)
    assert not modes.leaves_out(OREN)
    assert not modes.leaves_out("9999")
    assert not modes.leaves_out(None)
    assert not Modes(modes.engine, None, modes.release).leaves_out(MIRA)
    with pytest.raises(Exception, match="not in the release"):
        modes.row_for("9999")
    request = modes.answer("java", "group", MIRA, pool=40).request
    assert request.row is None
    assert np.array_equal(
        modes.answer("java", "group", MIRA, pool=40).ranking.rows,
        modes.answer("java", "none", MIRA, pool=40).ranking.rows,
    )
