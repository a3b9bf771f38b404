"""Pages of a release whose rows hide their members' shares tell no more than the rows do.

Two pairs of people and one who is left over. Coffee is of both of the first pair or of one of each;
both ways all groups publish a half. The first person has the same profile in either world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from flask.testing import FlaskClient

from anonymizer.measures.facts import facts
from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release
from search_app.search.modes import Modes
from search_app.web import Site, create_app
from search_app.workspace.ledger import Noted
from search_app.workspace.withholding import Published

BOTH, ONE = {"code": 1.0, "coffee": 1.0}, {"code": 1.0}
TOGETHER = {"1001": BOTH, "1002": BOTH, "1003": ONE, "1004": ONE, "1005": ONE}
APART = {"1001": BOTH, "1002": ONE, "1003": BOTH, "1004": ONE, "1005": BOTH}
HALF = {"code": 1.0, "coffee": 0.5}
ROWS = Profiles.from_rows(dict.fromkeys(("g0001", "g0002", "g0003"), HALF))
PAGES = (
    *("/about", "/groups", "/groups/groups.csv", "/groups/g0001", "/groups/g0001/terms.csv"),
    *("/groups/sizes.csv", "/groups/shares.csv", "/groups/terms.csv", "/groups/belief.csv"),
    *("/api/v1/groups", "/api/v1/groups/g0001", "/api/v1/profile?user=1001"),
    *("/me?user=1001", "/me/download?user=1001", "/?q=java&user=1001&mode=group"),
)


def served(
    site: Site,
    people: dict[str, dict[str, float]],
    method: str = "pooled",
    withheld: Callable[[], bool] = lambda: False,
) -> FlaskClient:
    """Serve the same rows, made of some people."""
    profiles = Profiles.from_rows(people)
    row_of_user = np.array([0, 0, 1, 1, 2], dtype=np.int64)
    parameters = {"p": 0.5, "meet_paper": "false", "documents": 2, "steps": None}
    release = Release(
        ROWS,
        profiles.users,
        row_of_user,
        method,
        parameters,
        promise=promise_of(method, parameters),
    )
    release = replace(release, facts=facts(profiles, release))
    modes = Modes(site.modes.engine, profiles, release)
    modes.withheld = withheld
    people_shown = dict.fromkeys(people, "somebody")
    return create_app(replace(site, modes=modes, people=people_shown, examples=())).test_client()


@pytest.mark.parametrize("path", PAGES)
def test_what_members_have_changes_nothing(site: Site, path: str) -> None:
    answers = [served(site, people).get(path) for people in (TOGETHER, APART)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].data == answers[1].data


def test_nobody_is_told_how_many_have_a_term(site: Site) -> None:
    client = served(site, TOGETHER)
    assert client.get("/groups/support.csv").status_code == 404
    terms = client.get("/api/v1/profile?user=1001").get_json()["terms"]
    assert [(each["term"], each["members"], each["people"]) for each in terms] == [
        ("code", None, None),
        ("coffee", None, None),
    ]


def test_who_is_left_over_is_told_so(site: Site) -> None:
    client = served(site, APART)
    text = client.get("/me?user=1005").get_data(as_text=True)
    assert "You are in no group: nothing of your profile is in any row." in text
    for wrong in ("you alone", "hides nothing", "every time", "own profile, and"):
        assert wrong not in text
    page = client.get("/?q=java&user=1005&mode=group").get_data(as_text=True)
    assert "hides nothing" not in page
    assert "You are in no group. You get the average of the rows of all 4 people in groups" in page
    for path in ("/me?user=1005", "/compare?q=java&user=1005", "/?q=java&user=1005&mode=group"):
        page = client.get(path).get_data(as_text=True)
        assert "the shared interests of" not in page, path
    compared = client.get("/compare?q=java&user=1005").get_data(as_text=True)
    assert (
        "the query and the average of all groups’ shared interests (their rows), of 4 people"
        in compared
    )
    assert client.get("/groups/g0003").status_code == 404  # it is no group
    assert client.get("/api/v1/candidates?q=java&row=g0003").get_json()["row"]["users"] == 4


def test_the_promise_is_said_where_it_is_kept(site: Site) -> None:
    client = served(site, TOGETHER)
    about = client.get("/about").get_data(as_text=True)
    assert "Promised here, for every interest: at most 0.50." in about
    assert "p-linkability promises" not in about
    for path in ("/groups", "/groups/g0001", "/me?user=1001"):
        text = client.get(path).get_data(as_text=True)
        said = (
            "The method promises at most p = 0.50 for every interest, present or absent, compared"
        )
        assert said in text, path
        assert "The method promises at most p = 0.50 for this" not in text


# --- where people are real ---

ROW_PAGES = [path for path in PAGES if path.startswith(("/groups", "/api/v1/groups"))]


def signed_in(
    private: Site, published: str = "", method: str = "pooled", user: str = "1001"
) -> FlaskClient:
    """Serve somebody, where a release of these rows was published or none."""
    line = Noted(1_700_000_000, published, method, {}, 5, 3, "ab")
    shown = Published(lambda: (line,) if published else (), "ab", {b"row"})
    client = served(private, TOGETHER, method, lambda: not shown())
    assert client.post("/sign-in", data={"code": private.store.new_code(user)}).status_code == 303
    return client


@pytest.mark.parametrize("published", ["", "made", "withdrawn"])
@pytest.mark.parametrize("method", ["pooled", "composition", "p-linkability"])
def test_nobody_sees_all_rows_that_are_not_published(
    private: Site, method: str, published: str
) -> None:
    """Else whoever looked before and after somebody was forgotten could tell who that was."""
    client = signed_in(private, published, method)
    for path in ROW_PAGES:
        answer = client.get(path)
        picture = path in ("/groups/shares.csv", "/groups/terms.csv", "/groups/belief.csv")
        assert answer.status_code == (404 if picture else 200), path
        assert "coffee" not in answer.text, path
        assert "0.5" not in answer.text.replace("p = 0.50", ""), path
    page = client.get("/groups").text
    assert "The rows of this release are not published, so only their sizes are shown" in page
    assert "profiles that this release was made from are not here" not in page
    assert "are not published, so their interests are not shown" in client.get("/groups/g0002").text
    assert client.get("/api/v1/groups/g0002").get_json()["told"] is False
    own = client.get("/me").text
    assert "coffee" in own
    assert client.get("/?q=java&mode=group").status_code == 200


@pytest.mark.parametrize(
    ("published", "method"),
    [("published", "pooled"), ("published", "composition"), ("published", "p-linkability")],
)
def test_other_rows_may_be_seen(private: Site, published: str, method: str) -> None:
    client = signed_in(private, published, method)
    assert "coffee" in client.get("/groups/g0002").text
    assert "not published" not in client.get("/groups").text


@pytest.mark.parametrize("method", ["pooled", "composition"])
def test_how_many_people_have_an_own_term_is_not_told(private: Site, method: str) -> None:
    """A count that falls by one tells what whoever has left has had."""
    terms = signed_in(private, "", method).get("/api/v1/profile").get_json()["terms"]
    assert {each["people"] for each in terms} == {None}
    counted = signed_in(private, "published", "composition").get("/api/v1/profile").get_json()
    assert {each["people"] for each in counted["terms"]} == {None}


def test_the_mean_of_all_groups_serves_nobody_unless_it_is_published(private: Site) -> None:
    """It is everybody's total: seen twice, it tells who is gone."""
    client = signed_in(private, user="1005")
    page = client.get("/?q=java&mode=group").text
    assert "You are in no group, and there is no row that may serve you. So instead" in page
    assert "Personalization failed" not in page
    own = client.get("/me").text
    assert "You are in no group, so no row stands for you." in own
    assert "the query only: you are in no group, and there is no row that may serve you" in own
    kept = client.get("/me/download").get_json()
    assert "coffee" not in str(kept)
    assert client.get("/api/v1/profile").get_json()["row"] is None
    for path in ("/why?q=java&mode=group&document=doc01", "/compare?q=java"):
        assert "coffee" not in client.get(path).text.replace("on coffee", ""), path
    open_ = signed_in(private, "published", user="1005")
    assert (
        "the average of all groups’ shared interests (their rows), of 4 people"
        in open_.get("/me").text
    )
