"""The page of the dial: its table and panels without script, and what the first page says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from search_app.web import Site, create_app

from ...conftest import says, seen, signed_in


def answer(client: FlaskClient, path: str) -> Any:
    with client.get(path) as response:
        assert response.status_code == 200
        return response.json


def stop_of(client: FlaskClient, name: str, user: str = "1001") -> Mapping[str, Any]:
    stops = answer(client, f"/api/v1/dial?q=java&user={user}")["stops"]
    return {stop["mode"]: stop for stop in stops}[name]


def test_without_a_query_the_first_example_is_shown(client: FlaskClient) -> None:
    page = seen(client, "/dial")
    assert "Searching java as Mira · coffee" in page.text
    names = [link["data-stop"] for link in page.all("a") if "data-stop" in link]
    assert names == ["own", "group", "none"]
    assert [link["data-stop"] for link in page.all("a") if link.get("aria-current") == "true"] == [
        "group"
    ]


def test_panels_begin_at_the_stop_of_the_address(client: FlaskClient) -> None:
    page = seen(client, "/dial?q=java&user=1001&stop=none")
    assert "Nobody known. The ranking is" in page.text
    assert "All 4 people." in page.text
    assert not page.all("li", "right")
    links = [link["href"] for link in page.all("a") if "data-stop" in link]
    assert links[1] == "/dial?q=java&user=1001&stop=group"
    assert client.get(links[1] or "").status_code == 200


def test_guesses_by_hand(client: FlaskClient) -> None:
    # Mira has coffee, Oren has code, and their row has both: it is right about one of the two.
    guesses = [(guess["term"], guess["right"]) for guess in stop_of(client, "group")["guesses"]]
    assert sorted(guesses) == [("code", False), ("coffee", True)]
    own = stop_of(client, "own")["guesses"]
    assert own[0] == {"term": "coffee", "right": True}
    assert stop_of(client, "group")["people"] == 2
    page = seen(client, "/dial?q=java&user=1001&stop=group")
    assert "1 of 2 are right" in page.text
    assert len(page.all("li", "right")) == 1


def test_a_person_in_no_group_has_no_stop_by_a_row(client: FlaskClient) -> None:
    stops = answer(client, "/api/v1/dial?q=java&user=1004")
    assert [stop["mode"] for stop in stops["stops"]] == ["own", "none"]
    assert stops["notices"] == ["In 1 release you are in no group, so it is no stop here."]


def test_who_paused_is_read_by_no_stop(client: FlaskClient) -> None:
    client.post("/me/pause", data={"user": "1001", "paused": "1"})
    stops = answer(client, "/api/v1/dial?q=java&user=1001")
    assert [stop["mode"] for stop in stops["stops"]] == ["none"]
    assert stops["stops"][0]["ap"] is None
    assert "You have paused personalization" in stops["notices"][0]


def test_looking_is_no_search(client: FlaskClient, site: Site) -> None:
    client.post("/me/remember", data={"user": "1001", "remember": "1"})
    client.get("/dial?q=java&user=1001")
    client.get("/api/v1/dial?q=java&user=1001")
    assert site.log.recent(10) == []
    assert site.store.searches("1001") == []
    assert site.transcripts.of("1001") == {}


def test_releases_under_way_are_counted(site: Site) -> None:
    client = create_app(replace(site, building=lambda: ("pooled, p = 0.1",))).test_client()
    says(client, "/dial", "One more stop is being made")
    assert answer(client, "/api/v1/dial?q=java")["building"] == ["pooled, p = 0.1"]


def test_nobody_chosen_or_nobody_here(client: FlaskClient, real: FlaskClient) -> None:
    says(client, "/dial?q=java", "Choose a person above", wrong=["All stops"])
    says(real, "/dial?q=java", "Nobody can be chosen here", wrong=["All stops"])
    assert len(answer(real, "/api/v1/dial?q=java")["stops"]) == 1


@pytest.mark.parametrize("certain", [True, False])
def test_the_first_page_boasts_of_no_group_that_gives_interests_away(
    site: Site, certain: bool
) -> None:
    release = site.modes.release
    assert release is not None
    site.modes.release = replace(
        release, facts={**release.facts, "worst_linkability": 1.0 if certain else 0.5}
    )
    client, boast = create_app(site).test_client(), "Personalized by your group, not by you."
    warning = "Some interests are certain: everybody in a group has them."
    says(client, "/", warning if certain else boast, wrong=[boast if certain else warning])
    if certain:
        assert "are right on average" not in seen(client, "/").text  # nothing is counted for it
        mean = stop_of(client, "group")["mean"]
        says(client, "/", f"Of 24 guesses about a person, {mean:.0f} are right on average")


def test_nor_does_it_where_people_sign_in(private: Site) -> None:
    release, boast = private.modes.release, "Personalized by your group, not by you."
    assert release is not None
    private.modes.release = replace(release, facts={**release.facts, "worst_linkability": 1.0})
    client = signed_in(private, private.store.new_code("1001"))
    says(client, "/", "What does a good ranking need", wrong=[boast])
