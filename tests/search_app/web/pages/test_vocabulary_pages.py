"""Pages over rows of vocabularies: Mira and Oren share one, of Ada and Bo nothing matched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flask.testing import FlaskClient

from anonymizer.measures.facts import facts
from anonymizer.model import Profiles, Release, Slot
from anonymizer.promise import Promise
from search_app.search.modes import Modes
from search_app.web import Site, create_app

from ..conftest import says, seen

MIRA, ADA = "1001", "1003"
TELLS = (
    "A word of the row is one that some member used, maybe a rare one of a single member; if all "
    "members used it, the row tells this word of everybody in it."
)


@pytest.fixture
def matched(site: Site) -> Site:
    rows = {user: {"coffee": 2.0, "code": 1.0} for user in (MIRA, "1002")}
    profiles = Profiles.from_rows({**rows, ADA: {"code": 1.0}, "1004": {"code": 3.0}})
    pairs = tuple((user, "coffee") for user in rows)
    release = Release(
        Profiles.from_rows({"g0001": {"coffee": 2.0}}),
        (MIRA, "1002"),
        np.zeros(2, dtype=np.int64),
        "vocabulary-k",
        {"k": 2, "eps": 4.0, "typical": "majority", "count": "people"},
        {"users_left_out": 2},
        promise=Promise("group", "vocabulary"),
        slots=(Slot(0, "coffee", pairs), Slot(0, "coffee", pairs)),
    )
    release = replace(release, facts=facts(profiles, release))
    modes = Modes(site.modes.engine, profiles, release)
    return replace(site, modes=modes, release_name="vocabulary-k k=2 eps=4.0")


@pytest.fixture
def client(matched: Site) -> FlaskClient:
    return create_app(matched).test_client()


@pytest.mark.parametrize(
    "path",
    [
        "/groups",
        "/groups/g0001",
        f"/me?user={MIRA}",
        f"/compare?q=java&user={MIRA}",
        "/about",
    ],
)
def test_each_page_that_shows_rows_says_what_a_word_tells(client: FlaskClient, path: str) -> None:
    says(client, path, TELLS)


def test_the_page_of_a_group_shows_counts(client: FlaskClient) -> None:
    says(client, "/groups/g0001", "coffee 2", "People behind each word of a row 2 or more")
    assert client.get("/groups/g0001/terms.csv").text.split() == ['"term","weight"', '"coffee",2.0']
    says(client, "/groups", "Uses of words kept 40 %", "People without a row 2")
    assert "average" not in client.get("/groups/groups.csv").text


def test_a_search_by_such_a_row_is_explained(client: FlaskClient) -> None:
    first = seen(client, f"/?q=java&user={MIRA}&mode=group").text
    assert "Title 18" in first  # on coffee, like all before it
    assert "Title 01" not in first
    assert "coffee" in seen(client, f"/why?q=java&doc=doc04&user={MIRA}&mode=group").text
    assert client.get(f"/device?q=java&user={MIRA}").status_code == 200


def test_someone_without_a_match_is_in_no_group(client: FlaskClient) -> None:
    says(client, f"/me?user={ADA}", "You are in no group of this release")
    page = seen(client, f"/?q=java&user={ADA}&mode=group").text
    assert "plain order" in page


@pytest.mark.parametrize("withheld", [False, True])
def test_of_a_withheld_release_no_number_of_people_without_a_row_is_shown(
    matched: Site, withheld: bool
) -> None:
    matched.modes.withheld = lambda: withheld
    text = create_app(replace(matched, access="private")).test_client().get("/about").text
    told = "as 2 people here have none" in " ".join(text.split())
    assert told is not withheld
