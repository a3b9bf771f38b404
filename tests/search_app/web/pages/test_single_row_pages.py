"""Pages over rows of one person each: what is left of Oren, Ada and Bo; of Mira nothing is.

Code is of three people and stays, coffee is Mira's alone and is deleted: k = 2, m = 1.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from anonymizer.storage.releases import write_release
from search_app.disclosure.disclosure import Disclosure, Fact
from search_app.disclosure.numbers import percent
from search_app.disclosure.single_rows import SingleRows
from search_app.search.modes import Modes
from search_app.server.opening import _called
from search_app.web import Site, create_app
from search_app.web.views.answering import NOT_PERSONAL
from search_app.workspace.ledger import Noted

from ...single_rows import single_rows
from ..conftest import ToyForward, says, seen

MIRA, OREN = "1001", "1002"
NO_ROW = (
    "No row stands for you, so instead of “My reduced profile” you get the plain order. Nobody "
    "else’s row is used."
)


@pytest.fixture
def single(site: Site) -> Site:
    profiles = site.modes.profiles
    assert profiles is not None
    release = single_rows(profiles)
    modes = Modes(site.modes.engine, profiles, release)
    name = "km-anonymity k=2 m=1 0a1b"
    return replace(site, modes=modes, release_name=name)


@pytest.fixture
def rows(single: Site) -> FlaskClient:
    return create_app(single).test_client()


@pytest.fixture
def beside(site: Site, single: Site) -> FlaskClient:
    """A site of groups, with rows of one person each as a further release."""
    old, release = site.modes, single.modes.release
    assert release is not None
    modes = Modes(old.engine, old.profiles, old.release, further={"km": release})
    further = {"group:km": single.release_name}
    return create_app(replace(site, modes=modes, further=further)).test_client()


def table(client: FlaskClient, path: str) -> list[list[str]]:
    return list(csv.reader(seen(client, path).html.splitlines()))


# -- searches ------------------------------------------------------------------------------------


def test_a_comparison_names_what_is_left_of_a_person(rows: FlaskClient) -> None:
    says(
        rows,
        f"/compare?q=java&user={OREN}",
        "My reduced profile This ranking sees the query and the released row: what a deletion has "
        "left of the own profile.",
        "your reduced profile finds 10, plain search",
        "People behind the row 1 This row is what a deletion has left of one",
        "Rows that have the same interest 2 or more Each interest of a row is in at least",
        wrong=("hides nothing", "group", "Linked to an", "“My reduced profile”"),
    )


def test_of_whom_nothing_is_left_the_order_is_plain_and_says_why(rows: FlaskClient) -> None:
    for path in ("/?mode=group&", "/?mode=own&", "/compare?"):
        wrong = (NOT_PERSONAL, "My reduced profile AP")
        assert says(rows, f"{path}q=java&user={MIRA}", wrong=wrong).count(NO_ROW) == 1
    answer = rows.get(f"/api/v1/search?q=java&mode=group&user={MIRA}").json
    assert (answer["mode"], answer["row"], answer["notices"]) == ("none", None, [NO_ROW])
    assert [hit["rank"] - hit["plain_rank"] for hit in answer["results"]] == [0] * 10


def test_a_row_that_fails_is_still_a_fault(rows: FlaskClient, forward: ToyForward) -> None:
    forward.broken = True
    answer = rows.get(f"/api/v1/search?q=java&mode=group&user={OREN}").json
    assert answer["notices"] == [NOT_PERSONAL]
    both = rows.get(f"/api/v1/search?q=java&mode=group&user={MIRA}").json["notices"]
    assert both == [NO_ROW, NOT_PERSONAL]  # own failed


def test_beside_groups_each_release_is_told_by_what_its_rows_are(beside: FlaskClient) -> None:
    asked, of_row = f"/?q=java&user={OREN}&mode=group", "People behind the row 1"
    says(beside, asked, "Linked to an interest, at worst", wrong=("People behind the row",))
    says(beside, f"{asked}:km", of_row, wrong=("Linked to an",))
    both = "The release behind “My reduced profile, km” is made by deletion"
    about = says(beside, "/about", both)
    assert about.index("Three readings of one promise") < about.index("What (k,m)-anonymity says")
    says(
        beside,
        f"/compare?q=java&user={MIRA}&show=own&show=group:km",
        "No row stands for you in the release km, so instead of “My reduced profile, km” you get",
    )
    sees = "My reduced profile, km This ranking sees"
    others = "/compare?q=java&user=1003&show=group:km"
    says(beside, others, sees, wrong=("No row stands for you",))


def test_why_speaks_of_released_interests(rows: FlaskClient) -> None:
    asked = f"q=java&user={OREN}&mode=group"
    moved = "Moved up 1, from 2 to 1: your released interest in code."
    says(
        rows,
        f"/why?{asked}&doc=doc01",
        moved,
        "Without code in your released row it would stand at 2, not 1.",
        "What the interests of the released row add",
        "which is what a deletion has left of one person’s own interests.",
        wrong=("hides nothing",),
    )
    says(rows, f"/?{asked}", "Up 1: shares code with your released interests")
    assert rows.get(f"/api/v1/explain?{asked}&doc=doc01").json["sentence"] == moved
    says(rows, f"/why?q=java&user={OREN}&mode=own&doc=doc01", "your interest in code")


def test_no_search_is_logged_of_whom_nothing_is_left(rows: FlaskClient) -> None:
    """Their lines would differ from everybody else's."""
    assert rows.get(f"/?q=java&user={MIRA}").status_code == 200
    assert len(table(rows, "/log.csv")) == 1
    assert rows.get(f"/?q=java&user={OREN}").status_code == 200
    assert {line[0] for line in table(rows, "/log.csv")[1:]} == {"1"}


# -- a person's own page -------------------------------------------------------------------------


def test_who_has_a_row_sees_what_is_left(rows: FlaskClient) -> None:
    text = says(
        rows,
        f"/me?user={OREN}",
        "This row is what a deletion has left of your own interests, so it stands for you",
        "What your row gives away",
        "Interests of yours that are left 1 of 1 They are your row",
        "Rows with your rarest interest 3 The rarest of your released interests is in 3 rows",
        "Left in your row 1",
        "Deleted 0",
        wrong=("hides nothing", "blind guess", "Linked to"),
    )
    assert "group" not in text.partition("Shortcut")[0].replace("Search Me Groups", "")


def test_who_has_no_row_is_told_so(rows: FlaskClient) -> None:
    says(
        rows,
        f"/me?user={MIRA}",
        "No row stands for you.",
        "sees the query only: no row stands for the own profile",
        "Nothing is sent in this mode: you get the plain order.",
        "Interests of yours that are left none",
        "Interests only you have 1",
        wrong=("Rows with your rarest interest",),
    )
    told = rows.get(f"/api/v1/profile?user={MIRA}").json
    assert (told["row"], told["worst_linkability"]) == (None, None)


def own_facts(shown: Disclosure, user: str, ledger: Sequence[Noted] = ()) -> list[Fact]:
    assert shown.population
    return shown.own_facts(shown.population.view(user, {}), ledger)


def test_a_persons_belief_counts_the_terms_of_the_row_only(single: Site) -> None:
    """Three of four have code, so the row moves its chance by a quarter; coffee is not in it."""
    facts = own_facts(single.shown(), OREN)
    told = {fact.name: fact.value for fact in facts}
    assert told["Rows with your rarest interest"] == "3"
    assert told["Change of belief, at worst"] == "0.25"


def test_a_term_that_stands_in_one_row_points_it_out(single: Site) -> None:
    """With k = 1 nothing is deleted, and coffee is Mira's alone."""
    profiles = single.modes.profiles
    assert profiles is not None
    shown = SingleRows(single_rows(profiles, k=1), profiles)
    for user, told in ((MIRA, "your row alone. Someone who"), (OREN, "3 rows, and yours is")):
        assert told in own_facts(shown, user)[2].meaning


# -- the rows ------------------------------------------------------------------------------------


def test_rows_are_drawn_and_listed(rows: FlaskClient) -> None:
    assert len(seen(rows, "/groups").all("svg", "chart")) == 4
    says(
        rows,
        "/groups",
        "Half of the 4 people have at most 100 % of their different interests left. 1 person has",
        "The shortest of 3 rows has 1, the longest 1",
        "Every released interest is in 3 or more of the 3 rows",
        "is left with 3 rows or more that have it. For half of the rows, it is no more than 3.",
        "each interest of a row is in 2 rows or more",
        "People without a row 1 All of their interests were deleted. They get the plain order",
        "Different interests kept 50 %",
        "Log size kept 75 %",
        "g0001 1 3 g0002 1 3 g0003 1 3",
        wrong=("Linked", "smallest group", "hides nothing", "Order by: name people"),
    )


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


def test_a_row_shows_its_terms_and_in_how_many_rows_they_stand(rows: FlaskClient) -> None:
    rarest = "Rows with its rarest interest 3 The rarest interest of this row is in 3 rows."
    says(rows, "/groups/g0001", "code 3 1", rarest, wrong=("hides nothing",))
    summary = rows.get("/api/v1/groups").json["rows"][0]
    assert (summary["people"], summary["terms"], summary["rarest"]) == (1, 1, 3)
    assert {summary[name] for name in ("average", "share", "worst", "belief")} == {None}


@pytest.mark.parametrize("withheld", [False, True])
def test_of_real_people_no_row_is_told(single: Site, withheld: bool) -> None:
    single.modes.withheld = lambda: withheld
    shown = replace(single, people={}, examples=(), access="plain")
    client = create_app(shown).test_client()
    page = seen(client, "/groups")
    assert not page.all("svg", "chart")
    assert not page.all("table")
    assert "There are 3 rows. The people here may be real" in page.text
    assert "Log size kept 75 %" in page.text
    assert client.get("/groups/left.csv").status_code == 404
    text = seen(client, "/groups/g0001").text
    assert "The people here may be real, so its interests are not shown" in text
    assert "code" not in text
    assert table(client, "/groups/groups.csv")[1] == ["g0001", "1", "", ""]
    assert client.get("/api/v1/groups").json["rows"][0]["rarest"] is None


# -- what is promised ----------------------------------------------------------------------------


def test_about_tells_the_promise_of_the_rows_alone(rows: FlaskClient, client: FlaskClient) -> None:
    says(
        rows,
        "/about",
        "What (k,m)-anonymity says",
        "k = 2 and m = 1",
        "It says: each interest of a row is in at least 2 rows.",
        "Nothing is promised about two or more interests together",
        "1 person has no row, because all of their interests were deleted. They get the",
        wrong=("Three readings", "My group", "hides nothing", "readings"),
    )
    groups = "The promise has a number, p : how surely a person in a group"
    says(client, "/about", groups, wrong=("anonymity says",))


@pytest.mark.parametrize(
    ("frequencies", "value"), [("keep", "as in the profiles"), ("drop", "all 1")]
)
def test_weights_are_promised_nothing_of(single: Site, frequencies: str, value: str) -> None:
    assert single.modes.profiles is not None
    release = single_rows(single.modes.profiles, frequencies=frequencies)
    fact = SingleRows(release).facts()[1]
    assert fact.value == value
    assert ("Nothing is promised about weights" in fact.meaning) is (frequencies == "keep")


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


def test_the_name_of_a_release_has_its_promise(site: Site, single: Site, tmp_path: Path) -> None:
    for served, named in ((single, "km-anonymity k=2 m=1 "), (site, "p-linkability p=0.5 ")):
        release = served.modes.release
        assert release is not None
        folder = tmp_path / release.method
        write_release(release, folder, seed=0, input_hash="0a1b")
        assert _called(served.modes, tuple, "group", folder).startswith(named)


def test_left_out_is_nobody_without_a_profile(single: Site) -> None:
    modes = single.modes
    assert modes.lacks_row(MIRA)
    assert not modes.lacks_row(OREN)
    assert not modes.lacks_row("9999")
    assert not modes.lacks_row(None)
    assert not Modes(modes.engine, None, modes.release).lacks_row(MIRA)
    assert modes.row_for("9999") is None
    assert modes.answer("java", "group", MIRA, pool=40).request.row is None
