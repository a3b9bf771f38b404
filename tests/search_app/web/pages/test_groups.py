"""The pages of groups: figures by hand, no members, nothing of one real person."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from flask.testing import FlaskClient

from anonymizer.model import Profiles, Release
from anonymizer.promise import AVERAGE
from search_app.search.modes import Modes
from search_app.web import Site, create_app
from search_app.web.pages.groups import counted

from ..conftest import says, seen

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
    return Release(
        Profiles.from_rows(rows), users, numbers, "p-linkability", {"p": 0.5}, promise=AVERAGE
    )


def with_release(site: Site, other: Release, profiles: Profiles | None = None) -> FlaskClient:
    modes = Modes(site.modes.engine, profiles, other)
    return create_app(replace(site, modes=modes)).test_client()


def test_the_page_draws_and_lists_the_groups(client: FlaskClient) -> None:
    page = seen(client, "/groups")
    assert len(page.all("svg", "chart")) == len(CHARTS)
    assert (
        "The smallest of 2 groups has 1, the largest 2 people. Half of the groups have at most 1."
        in page.text
    )
    assert "33 % of all 3 interests of groups are shared by all members of the group" in page.text
    assert "g0001 2 2 0.50 0.50 0.17 g0002 1 1 1.00 1.00 0.34" in page.text


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
    head, first, second = table(client, "/groups/groups.csv")
    assert head == ["row", "people", "released_terms", "average", "share", "worst", "belief"]
    assert first[:6] == ["g0001", "2", "2", "0.5", "0.5", "0.5"]
    assert second[:6] == ["g0002", "1", "1", "1.0", "1.0", "1.0"]


def test_a_group_shows_its_terms_and_no_member(client: FlaskClient) -> None:
    text = seen(client, "/groups/g0001").text
    assert "code 0.5 coffee 0.5" in text
    assert "is right for 1 of 2 people" in text
    assert "Mira" not in text
    assert "1001" not in text
    assert table(client, "/groups/g0001/terms.csv")[1:] == [["code", "0.5"], ["coffee", "0.5"]]
    hides_nothing = "This row is one person’s own profile: it hides nothing."
    says(client, "/groups/g0002", "All members share an interest", hides_nothing)


def test_where_people_are_real_a_group_of_one_tells_its_size_only(real: FlaskClient) -> None:
    text = seen(real, "/groups/g0002").text
    assert "neither its interests nor its figures are shown" in text
    assert "code" not in text
    assert table(real, "/groups/g0002/terms.csv") == [["term", "weight"]]
    assert table(real, "/groups/groups.csv")[2] == ["g0002", "1", "", "", "", "", ""]
    page = seen(real, "/groups")
    assert "g0002 1 – – – –" in page.text
    assert "interests of groups" not in page.text  # no profile of real people is counted
    assert table(real, "/groups/sizes.csv")[1:] == [["1", "1"], ["2", "1"]]


def test_groups_of_one_real_person_only_leave_nothing_but_sizes(site: Site) -> None:
    alone = release({"g1": {"code": 1.0}, "g2": {"code": 1.0}}, [0, 1], ("1002", "1003"))
    modes = Modes(site.modes.engine, site.modes.profiles, alone)
    shown = replace(site, people={}, examples=(), access="plain", modes=modes)
    page = seen(create_app(shown).test_client(), "/groups")
    assert len(page.all("svg", "chart")) == 1


def test_without_a_release_the_page_says_how_to_make_one(site: Site) -> None:
    modes = Modes(site.modes.engine, site.modes.profiles, None)
    client = create_app(replace(site, modes=modes)).test_client()
    assert "veilsearch anonymize PROFILES -m p-linkability" in client.get("/groups").text
    for path in ("/groups/sizes.csv", "/groups/groups.csv", "/groups/g0001"):
        assert client.get(path).status_code == 404


def test_without_profiles_the_sizes_are_left(site: Site) -> None:
    assert site.modes.release
    client = with_release(site, site.modes.release)
    page = seen(client, "/groups")
    assert len(page.all("svg", "chart")) == 1
    assert "g0001 2 2 – – –" in page.text
    assert client.get("/groups/belief.csv").status_code == 404


def test_groups_are_sorted_and_paged(site: Site) -> None:
    """120 groups of two: the last by name has two terms and one person more."""
    rows = {f"g{at:03}": {"code": 1.0} for at in range(1, 121)}
    rows["g120"] = {"code": 1.0, "coffee": 0.5}
    people = tuple(str(at) for at in range(241))
    client = with_release(site, release(rows, [*range(120), *range(120), 119], people))
    assert seen(client, "/groups").text.count("g050 2 1") == 1
    last = seen(client, "/groups?page=3")
    assert "g101 2 1" in last.text
    assert "Page 3 of 3" in last.text
    for sort in ("people", "terms"):
        text = seen(client, f"/groups?sort={sort}").text
        assert text.index("g120 3 2") < text.index("g001 2 1")
    assert client.get("/groups?page=4").status_code == 404
    assert client.get("/groups?sort=members").status_code == 400


def test_a_further_release_can_be_chosen(site: Site) -> None:
    other = release({"k1": {"code": 1.0}}, [0, 0, 0], ("1001", "1002", "1003"))
    modes = Modes(site.modes.engine, site.modes.profiles, site.modes.release, further={"km": other})
    further = {"group:km": "km-anonymity 1234"}
    client = create_app(replace(site, modes=modes, further=further)).test_client()
    assert "km-anonymity 1234" in client.get("/groups").text
    text = seen(client, "/groups?release=km").text
    assert "k1 3 1" in text
    assert "g0001" not in text
    assert table(client, "/groups/sizes.csv?release=km")[1:] == [["3", "1"]]
    assert "is right for 2 of 3 people" in client.get("/groups/k1?release=km").text
    assert client.get("/groups/k1").status_code == 404
    assert client.get("/groups?release=unknown").status_code == 400


def test_figures_are_counted_once_for_a_site(site: Site) -> None:
    assert counted(site) is counted(site)
    assert counted(site) is not counted(replace(site))


@pytest.mark.parametrize("path", ["/groups/nobody", "/groups/1001", "/groups/nobody/terms.csv"])
def test_an_unknown_group_is_not_found_and_not_told_back(client: FlaskClient, path: str) -> None:
    response = seen(client, path, 404).html
    assert "1001" not in response


def test_a_server_that_knows_nobody_does_not_deny_a_release(site: Site, modes: Modes) -> None:
    known_to_nobody = replace(
        site, access="plain", people={}, modes=Modes(modes.engine, None, None)
    )
    page = create_app(known_to_nobody).test_client().get("/groups").text
    assert "No groups here" in page
    assert "There is no release in this workspace" not in page
