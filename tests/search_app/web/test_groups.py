"""The pages of groups: figures by hand, no members, nothing of one real person."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from anonymizer.model import Profiles, Release
from search_app.modes import Modes
from search_app.web import Site, create_app
from search_app.web.groups import figures_of
from search_app.web.site import Shown

CHARTS = ("sizes", "shares", "terms", "support", "belief")


def table(client: FlaskClient, path: str) -> list[list[str]]:
    response = client.get(path)
    assert response.status_code == 200
    assert response.mimetype == "text/csv"
    assert response.headers["Content-Disposition"].startswith("attachment; filename=")
    return list(csv.reader(response.text.splitlines()))


def release(
    rows: dict[str, dict[str, float]], row_of: list[int], users: tuple[str, ...]
) -> Release:
    numbers = np.array(row_of, dtype=np.int64)
    return Release(Profiles.from_rows(rows), users, numbers, "p-linkability", {"p": 0.5})


def with_release(site: Site, other: Release, profiles: Profiles | None = None) -> FlaskClient:
    modes = Modes(site.modes.engine, profiles, other)
    return create_app(replace(site, modes=modes)).test_client()


def test_the_page_draws_and_lists_the_groups(client: FlaskClient, read: Any) -> None:
    page = read(client.get("/groups").text)
    assert len(page.all("svg", "chart")) == len(CHARTS)
    assert (
        "The smallest of 2 groups has 1, the largest 2; half of them have at most 1." in page.text
    )
    assert "33 % of all 3 terms of groups are had by every member" in page.text
    assert "g0001 2 2 0.50 0.50 0.17 g0002 1 1 1.00 1.00 0.33" in page.text


def test_numbers_of_each_picture(client: FlaskClient) -> None:
    """g1 is coffee and code, each of one of two; g2 is code alone: see test_group_figures."""
    assert table(client, "/groups/sizes.csv") == [["people", "groups"], ["1", "1"], ["2", "1"]]
    support = table(client, "/groups/support.csv")
    assert support == [["members", "released_terms"], ["1", "3"]]
    found = {tuple(row[:2]): row[2] for row in table(client, "/groups/terms.csv")[1:]}
    assert {bar: n for bar, n in found.items() if n != "0"} == {
        ("0.5", "0.55"): "2",
        ("0.95", "1.0"): "1",
    }
    for name in CHARTS[1:]:
        assert len(table(client, f"/groups/{name}.csv")) > 1


def test_the_list_as_csv(client: FlaskClient) -> None:
    head, first, second = table(client, "/groups/groups.csv")
    assert head == ["row", "people", "released_terms", "average", "share", "worst", "belief"]
    assert first[:6] == ["g0001", "2", "2", "0.5", "0.5", "0.5"]
    assert second[:6] == ["g0002", "1", "1", "1.0", "1.0", "1.0"]


def test_a_group_shows_its_terms_and_no_member(client: FlaskClient, read: Any) -> None:
    text = read(client.get("/groups/g0001").text).text
    assert "code 0.5 coffee 0.5" in text
    assert "is right for 1 of 2 people" in text
    assert "Mira" not in text
    assert "1001" not in text
    assert table(client, "/groups/g0001/terms.csv")[1:] == [["code", "0.5"], ["coffee", "0.5"]]


def test_a_group_whose_members_all_have_a_term_says_so(client: FlaskClient, read: Any) -> None:
    text = read(client.get("/groups/g0002").text).text
    assert "There is a term that every member has" in text
    assert "This row is one person’s own profile: it hides nothing." in text


def test_where_people_are_real_a_group_of_one_tells_its_size_only(
    real: FlaskClient, read: Any
) -> None:
    text = read(real.get("/groups/g0002").text).text
    assert "neither its terms nor its figures are shown" in text
    assert "code" not in text
    assert table(real, "/groups/g0002/terms.csv") == [["term", "weight"]]
    assert table(real, "/groups/groups.csv")[2] == ["g0002", "1", "", "", "", "", ""]
    page = read(real.get("/groups").text)
    assert "g0002 1 – – – –" in page.text
    assert "0 % of all 2 terms of groups" in page.text  # of three: the third is that person's
    assert table(real, "/groups/sizes.csv")[1:] == [["1", "1"], ["2", "1"]]


def test_groups_of_one_real_person_only_leave_nothing_but_sizes(site: Site, read: Any) -> None:
    alone = release({"g1": {"code": 1.0}, "g2": {"code": 1.0}}, [0, 1], ("1002", "1003"))
    modes = Modes(site.modes.engine, site.modes.profiles, alone)
    shown = replace(site, people={}, examples=(), access="plain", modes=modes)
    page = read(create_app(shown).test_client().get("/groups").text)
    assert len(page.all("svg", "chart")) == 1


def test_without_a_release_the_page_says_how_to_make_one(site: Site) -> None:
    modes = Modes(site.modes.engine, site.modes.profiles, None)
    client = create_app(replace(site, modes=modes)).test_client()
    assert "veilsearch anonymize PROFILES -m p-linkability" in client.get("/groups").text
    for path in ("/groups/sizes.csv", "/groups/groups.csv", "/groups/g0001"):
        assert client.get(path).status_code == 404


def test_without_profiles_the_sizes_are_left(site: Site, read: Any) -> None:
    assert site.modes.release
    client = with_release(site, site.modes.release)
    page = read(client.get("/groups").text)
    assert len(page.all("svg", "chart")) == 1
    assert "g0001 2 2 – – –" in page.text
    assert client.get("/groups/belief.csv").status_code == 404


def test_groups_are_sorted_and_paged(site: Site, read: Any) -> None:
    """120 groups of two: the last by name has two terms and one person more."""
    rows = {f"g{at:03}": {"code": 1.0} for at in range(1, 121)}
    rows["g120"] = {"code": 1.0, "coffee": 0.5}
    people = tuple(str(at) for at in range(241))
    client = with_release(site, release(rows, [*range(120), *range(120), 119], people))
    assert read(client.get("/groups").text).text.count("g050 2 1") == 1
    last = read(client.get("/groups?page=3").text)
    assert "g101 2 1" in last.text
    assert "Page 3 of 3" in last.text
    for sort in ("people", "terms"):
        text = read(client.get(f"/groups?sort={sort}").text).text
        assert text.index("g120 3 2") < text.index("g001 2 1")
    assert client.get("/groups?page=4").status_code == 404
    assert client.get("/groups?sort=members").status_code == 400


def test_a_further_release_can_be_chosen(site: Site, read: Any) -> None:
    other = release({"k1": {"code": 1.0}}, [0, 0, 0], ("1001", "1002", "1003"))
    modes = Modes(site.modes.engine, site.modes.profiles, site.modes.release, further={"km": other})
    further = {"group:km": Shown("km-anonymity 1234", {"groups": 1, "smallest_group": 3})}
    client = create_app(replace(site, modes=modes, further=further)).test_client()
    assert "km-anonymity 1234" in client.get("/groups").text
    text = read(client.get("/groups?release=km").text).text
    assert "k1 3 1" in text
    assert "g0001" not in text
    assert table(client, "/groups/sizes.csv?release=km")[1:] == [["3", "1"]]
    assert "is right for 2 of 3 people" in client.get("/groups/k1?release=km").text
    assert client.get("/groups/k1").status_code == 404
    assert client.get("/groups?release=unknown").status_code == 400


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"><img src=x>', "=1+1", "{{ 7 }}"])
def test_hostile_terms_stay_text(site: Site, read: Any, text: str) -> None:
    profiles = Profiles.from_rows({"1": {text: 1.0}, "2": {text: 1.0}})
    client = with_release(site, release({"g1": {text: 1.0}}, [0, 0], ("1", "2")), profiles)
    page = read(client.get("/groups/g1").text)
    assert text in page.text
    assert len(page.all("script")) == 1
    assert not page.all("img")
    kept = f"'{text}" if text.startswith("=") else text
    assert table(client, "/groups/g1/terms.csv")[1] == [kept, "1.0"]


def test_figures_are_counted_once_for_a_site(site: Site) -> None:
    assert figures_of(site) is figures_of(site)
    assert figures_of(site) is not figures_of(replace(site))


@pytest.mark.parametrize("path", ["/groups/nobody", "/groups/1001", "/groups/nobody/terms.csv"])
def test_an_unknown_group_is_not_found_and_not_told_back(client: FlaskClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert "1001" not in response.text


def test_a_server_that_knows_nobody_does_not_deny_a_release(site: Site, modes: Modes) -> None:
    known_to_nobody = replace(
        site, access="plain", people={}, modes=Modes(modes.engine, None, None)
    )
    page = create_app(known_to_nobody).test_client().get("/groups").text
    assert "No groups here" in page
    assert "There is no release in this workspace" not in page
