"""Playing the attacker on pages: rounds by number, answers, scores in the address."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from flask import render_template
from flask.testing import FlaskClient
from werkzeug.datastructures import MultiDict

from anonymizer.promise import Promise
from search_app.evaluation.log import PrecisionLog
from search_app.web import Site, create_app
from search_app.web.pages.lesson.attack import slide

from ....village import at_village
from ...conftest import Page, seen


@pytest.fixture
def village(site: Site) -> FlaskClient:
    return create_app(at_village(site)).test_client()


def onwards(page: Page) -> str:
    [link] = [link["href"] for link in page.all("a") if link.get("rel") == "next"]
    assert link
    return link


def test_the_start_leads_to_both_games_of_each_release(village: FlaskClient) -> None:
    page = seen(village, "/attack")
    links = [link["href"] for link in page.all("a")]
    assert {"/attack/1", "/attack/2"} <= {*links}
    assert [option["value"] for option in page.all("option")] == ["", "bound"]
    assert "belief moves ≤ 0.1" in page.text  # as the dial calls it
    assert "profile fills at most 50 % of its group’s list" in page.text
    assert onwards(page) == "/attack/1"
    bound = seen(village, "/attack?release=bound")
    assert "/attack/2?release=bound" in [link["href"] for link in bound.all("a")]
    assert "by at most 10 percentage points" in bound.text


def test_four_people_are_four_keys_and_one_is_right(village: FlaskClient) -> None:
    page = seen(village, "/attack/1?round=7")
    assert page.html == seen(village, "/attack/1?round=7").html
    keys = {link["data-press"]: link["href"] for link in page.all("a") if "data-press" in link}
    assert keys == {str(at): f"/attack/1?round=7&pick={at}" for at in (1, 2, 3, 4)}
    ends = [seen(village, str(keys[str(at)])) for at in (1, 2, 3, 4)]
    right = [end for end in ends if "Right: the row is Name u" in end.text]
    assert len(right) == 1
    assert sum("No: the row is Name u" in end.text for end in ends) == 3
    assert onwards(right[0]) == "/attack/1?round=8&played=1&right=1"
    assert len({re.search(r"the row is (Name u\d+)", end.text)[1] for end in ends}) == 1  # type: ignore[index]
    assert "You 1 of 1 rounds so far" in right[0].text
    assert "By chance 25 % of rounds" in right[0].text
    assert "of 60 rounds" in right[0].text


def test_the_score_goes_on_in_the_address_and_nowhere_else(
    village: FlaskClient, log: PrecisionLog
) -> None:
    address, right = "/attack/1", 0
    for number in range(1, 6):
        page = seen(village, f"{address}{'&' if '?' in address else '?'}pick=1")
        right += "Right: " in page.text
        assert f"You {right} of {number} rounds so far" in page.text
        address = onwards(page)
    assert address == f"/attack/1?round=6&played=5&right={right}".replace("&right=0", "")
    answer = village.get(address)
    assert "Set-Cookie" not in answer.headers
    assert log.recent(9) == []


@pytest.mark.parametrize("last", ["round=99999", "played=99999", "right=99999&played=99998"])
def test_after_the_last_round_that_can_be_named_the_first_one_follows(
    village: FlaskClient, last: str
) -> None:
    every = [onwards(seen(village, f"/attack/1?{last}&pick={pick}")) for pick in range(1, 5)]
    assert "/attack/1" in every
    assert {village.get(address).status_code for address in every} == {200}


def ticked(*numbers: int) -> str:
    return "&".join(["ticks=1", *(f"tick={number}" for number in numbers)])


@pytest.mark.parametrize("release", ["", "release=bound&"])
def test_ticks_are_judged_one_by_one(village: FlaskClient, release: str) -> None:
    form = seen(village, f"/attack/2?{release}round=3")
    assert [box["value"] for box in form.all("input") if box["type"] == "checkbox"] == [
        str(at) for at in range(1, 25)
    ]
    hidden = {
        field["name"]: field["value"] for field in form.all("input") if "tick" not in field["name"]
    }  # type: ignore[operator]
    assert hidden == ({"release": "bound"} if release else {}) | {"round": "3"}
    none = seen(village, f"/attack/2?{release}round=3&{ticked()}")
    assert "You 12 of 24 12.0 on average so far" in none.text
    marks = [item["class"] for item in none.all("li") if item.get("class") in ("theirs", "not")]
    own = [at for at, mark in enumerate(marks, 1) if mark == "theirs"]
    assert (len(marks), len(own)) == (24, 12)
    best = seen(village, f"/attack/2?{release}round=3&played=1&right=12&{ticked(*own)}")
    assert "You 24 of 24 18.0 on average so far" in best.text
    assert onwards(best) == f"/attack/2?{release}round=4&played=2&right=36"
    worst = seen(village, f"/attack/2?{release}round=3&{ticked(*{*range(1, 25)} - {*own})}")
    assert "You 0 of 24" in worst.text


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/attack/3", 404, "There are two games, 1 and 2."),
        ("/attack/1?pick=5", 400, "pick=5 must be a whole number from 1 to 4"),
        ("/attack/1?round=0", 400, "round=0 must be a whole number from 1 to 99999"),
        ("/attack/2?ticks=1&tick=25", 400, "tick=25 must be a whole number from 1 to 24"),
        ("/attack/2?ticks=1&tick=x", 400, "tick=x must be"),
        ("/attack/1?played=-1", 400, "played=-1 must be"),
        ("/attack?release=none", 404, "There is no such release here"),
    ],
)
def test_what_is_not_there_is_refused(
    village: FlaskClient, path: str, status: int, words: str
) -> None:
    assert words in seen(village, path, status).text


def test_names_are_text(village: FlaskClient) -> None:
    assert "<tea>" not in village.get("/attack/1").text
    assert "&lt;tea&gt;, maps" in village.get("/attack/1").text


def test_where_there_is_nothing_to_play_a_sentence_says_so(client: FlaskClient, site: Site) -> None:
    for game in (1, 2):
        assert "Too few people have a row" in seen(client, f"/attack/{game}", 404).text
    bare = at_village(site)
    bare.modes.release, bare.modes.further = None, {}
    nobody = create_app(replace(bare, further={})).test_client()
    for path in ("/attack", "/attack/1"):
        assert "There is no such release here" in seen(nobody, path, 404).text
    whole = at_village(site)
    assert whole.modes.release
    whole.modes.release = replace(whole.modes.release, promise=Promise("person", "nothing"))
    profiles = create_app(whole).test_client()
    assert "so there is nothing to guess" in seen(profiles, "/attack").text
    assert "so there is nothing to guess" in seen(profiles, "/attack/2", 404).text


def test_a_slide_of_another_page_plays_where_there_are_people(site: Site) -> None:
    at = at_village(site)

    def to(**fields: str) -> str:
        return f"/lecture/5?{urlencode(fields)}"

    with create_app(at).test_request_context():
        table = slide(at, 1, MultiDict({"round": "3"}), to)
        assert table is not None
        shown = Page(render_template("lesson/game.html", table=table))
        assert [link["href"] for link in shown.all("a")] == [
            f"/lecture/5?round=3&pick={number}" for number in (1, 2, 3, 4)
        ]
        assert slide(site, 2, MultiDict(), to) is None
        assert slide(replace(at, access="plain"), 1, MultiDict(), to) is None


@pytest.mark.parametrize("access", ["plain", "private"])
def test_real_people_are_no_game(site: Site, access: str) -> None:
    real = at_village(site, access=access, examples=())
    client = create_app(replace(real, people={}, admin_token="t" * 40)).test_client()
    if access == "private":
        assert client.get("/attack").status_code == 303  # to sign in
    else:
        for path in ("/attack", "/attack/1", "/attack/2"):
            assert "There is no game here" in seen(client, path, 404).text
    assert 'href="/attack"' not in client.get("/about").text
