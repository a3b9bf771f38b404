"""The API: the pages' answers as records; whatever it does not know is refused in one sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from anonymizer.profiles.origins import TermOrigin
from search_app.errors import UsageError
from search_app.evaluation.log import Entry, PrecisionLog
from search_app.forgetting.person import ForgetReport
from search_app.measures.precision import PoolPrecision
from search_app.search.modes import MODES, Modes
from search_app.search.request import Request
from search_app.web import Site, create_app

from ..conftest import ADMIN_TOKEN, Forgetting, signed_in

API = "/api/v1"
DONE = {"changed": 2, "removed": 1, "rows_withdrawn": 1, "releases_dropped": 1, "left": 0}


@pytest.fixture
def forgetting() -> Forgetting:
    return Forgetting(ForgetReport(("profiles", "release"), ("old",), True, ("old",), (), ()))


@pytest.fixture
def app(site: Site, forgetting: Forgetting) -> Flask:
    origins = {"1001": {"coffee": TermOrigin(3, 1_140_000_000, 1_150_000_000)}}
    return create_app(replace(site, forget=forgetting, origins=lambda user: origins.get(user, {})))


@pytest.fixture
def own(private: Site, forgetting: Forgetting) -> FlaskClient:
    """Somebody who has signed in as 1001."""
    return signed_in(replace(private, forget=forgetting), private.store.new_code("1001"))


def told(response: Any) -> str:
    """Return the sentence of a refusal."""
    error = response.json["error"]
    assert list(response.json) == ["error"]
    assert error["status"] == response.status_code
    assert response.content_type == "application/json"
    sentence: str = error["message"]
    return sentence


def test_a_page_of_a_ranking_is_told(client: FlaskClient) -> None:
    answer = client.get(f"{API}/search?q=java&user=1003&mode=group&page=2").json
    assert (answer["mode"], answer["page"], answer["pages"], answer["found"]) == ("group", 2, 4, 40)
    assert answer["row"] == {"name": "g0002", "users": 1}
    assert answer["notices"] == []
    # Ada's row wants code: the odd rows first, 1, 3, ... 39; rank 11 is row 21.
    first = answer["results"][0]
    assert (first["rank"], first["plain_rank"], first["id"]) == (11, 22, "doc21")
    assert first["score"] == 1.0
    assert [result["rank"] for result in answer["results"]] == list(range(11, 21))


@pytest.mark.parametrize(
    ("asked", "ranks", "pages"),
    [
        ("size=40", (1, 40), 1),
        ("size=1000&pool=1000", (1, 40), 1),
        ("size=15&page=3", (31, 40), 3),
        ("size=1&page=40", (40, 40), 40),
    ],
)
def test_a_page_has_as_many_results_as_asked(
    client: FlaskClient, asked: str, ranks: tuple[int, int], pages: int
) -> None:
    answer = client.get(f"{API}/search?q=java&user=1003&mode=group&{asked}").json
    assert [hit["rank"] for hit in answer["results"]] == list(range(ranks[0], ranks[1] + 1))
    assert (answer["found"], answer["pages"]) == (40, pages)


def test_the_settings_size_pages_up_to_the_largest(site: Site) -> None:
    for top, size in ((3, 3), (5000, 1000)):
        app = create_app(replace(site, settings=replace(site.settings, top=top)))
        answer = app.test_client().get(f"{API}/search?q=java").json
        assert answer["pages"] == -(-40 // size)


def test_marks_stand_where_the_words_of_the_query_are(client: FlaskClient) -> None:
    first = client.get(f"{API}/search?q=java+coffee").json["results"][0]
    assert first["snippet"] == "A text on coffee. It speaks of java."
    marked = [first["snippet"][mark["start"] : mark["end"]] for mark in first["marks"]]
    assert marked == ["coffee", "java"]


def test_nothing_found_is_no_fault(client: FlaskClient) -> None:
    for query in ("", "%00", "nothing"):
        answer = client.get(f"{API}/search?q={query}").json
        assert (answer["found"], answer["pages"], answer["results"]) == (0, 0, [])
        assert client.get(f"{API}/compare?q={query}&user=1001").json["found"] == 0


def test_what_the_engine_was_told_is_known_by_its_hash(client: FlaskClient) -> None:
    sent = client.get(f"{API}/search?q=java&mode=none").json["sent"]
    expected = Request("java", 100).as_bytes()
    assert sent == {"bytes": len(expected), "sha256": sha256(expected).hexdigest()}


def test_the_modes_are_told_side_by_side(client: FlaskClient) -> None:
    answer = client.get(f"{API}/compare?q=java&user=1003").json
    columns = {column["mode"]: column for column in answer["columns"]}
    assert list(columns) == ["none", "own", "group"]
    assert [hit["id"] for hit in columns["none"]["results"]] == [f"doc{n:02}" for n in range(10)]
    assert [hit["id"] for hit in columns["own"]["results"]] == [
        f"doc{n:02}" for n in range(1, 20, 2)
    ]
    assert columns["own"]["precision"]["ap"] == columns["own"]["agreement"]["tau"] == 1.0
    # Of the ten first plain ones the five with coffee fell behind all twenty with code.
    gone = [(each["id"], each["plain_rank"], each["rank"]) for each in columns["own"]["gone"]]
    assert gone == [(f"doc{2 * at:02}", 2 * at + 1, 21 + at) for at in range(5)]
    assert columns["group"]["sees"].startswith("the query and one person’s own profile")


def test_a_place_is_explained(client: FlaskClient) -> None:
    asked = f"{API}/explain?q=java&user=1003&mode=group"
    answer = client.get(f"{asked}&doc=doc03").json
    # Twenty documents have code, weight 1; the fourth plain one is the second of them.
    assert (answer["plain_rank"], answer["rank"], answer["row"]) == (4, 2, "g0002")
    assert answer["sentence"].startswith("Moved up 2, from 4 to 2: your group’s interest in code")
    assert answer["terms"] == [{"term": "code", "weight": 1.0, "share": 1.0}]
    shares = [term["share"] for term in answer["terms"]]
    assert sum(shares) == pytest.approx(answer["score"], abs=1e-6)
    assert answer["without"] == {"terms": ["code"], "rank": 4, "smallest": True}
    plain = client.get(f"{API}/explain?q=java&doc=doc03").json
    assert (plain["kind"], plain["terms"], plain["without"]) == ("none", [], None)


def test_programs_leave_no_trace_in_the_log(
    client: FlaskClient, site: Site, log: PrecisionLog
) -> None:
    site.store.choose("1001", remember=True)
    client.get(f"{API}/search?q=java&user=1001")
    client.get(f"{API}/compare?q=java&user=1001")
    assert log.check() == 0
    assert site.store.searches("1001") == []


@pytest.mark.parametrize(
    ("asked", "sentences"),
    [
        ("search", ["q is missing; it must be given"]),
        ("search?q=java&pol=3", ["pol is not a parameter here; allowed are q, user, mode, pool,"]),
        ("search?q=java&pool=3&pool=4", ["pool is given 2 times; give it once"]),
        ("search?q=java&pool=", ["pool is empty; leave it out or give it a value"]),
        ("search?q=java&pool=0&page=x", ["pool=0 must be", "page=x must be a whole number"]),
        ("search?q=java&mode=best", ["mode=best must be one of none, own, group"]),
        ("search?q=java&size=1001&pool=0", ["size=1001 must be", "1 to 1000", "pool=0 must"]),
        ("search?q=java&size=0", ["size=0 must be a whole number from 1 to 1000"]),
        ("search?q=java&size=50&page=3", ["page=3 must be a whole number from 1 to 2"]),
        ("compare?q=java&size=20", ["size is not a parameter here"]),
        ("search?q=java&page=11", ["page=11 must be a whole number from 1 to 10"]),
        (
            "search?pol=3&ranking=&ranking=",
            ["pol is not", "ranking is given 2", "ranking is empty", "q is missing"],
        ),
        ("compare?q=java&mode=own", ["mode is not a parameter here"]),
        ("explain?q=java", ["doc is missing"]),
        ("explain?q=&doc=doc03", ["There is nothing to explain without a search"]),
        ("health?q=java", ["q is not a parameter here; there are none"]),
        ("profile", ["user is missing"]),
        ("profile?user=", ["user is empty"]),
        ("log?pool=99999", ["pool=99999 must be a whole number from 1 to 10000"]),
        ("groups?sort=size", ["sort=size must be one of name, people, terms"]),
        ("groups?release=x", ["release is not a parameter here"]),
    ],
)
def test_what_is_not_known_is_refused(
    client: FlaskClient, asked: str, sentences: list[str]
) -> None:
    response = client.get(f"{API}/{asked}")
    assert response.status_code == 400
    for sentence in sentences:
        assert sentence in told(response)


@pytest.mark.parametrize("name", ["my+secret+query", "geheim%C3%A9", "a" * 21, "%00"])
def test_what_may_be_a_query_is_not_told_back(client: FlaskClient, name: str) -> None:
    response = client.get(f"{API}/search?q=java&{name}")
    assert told(response).startswith("this is not a parameter here; allowed are q, user")


def test_the_own_profile_is_told(client: FlaskClient) -> None:
    answer = client.get(f"{API}/profile?user=1001").json
    assert answer == {
        "standing": {
            "state": "in a group",
            "sentence": "You are in a group of 2 people with one shared list of interests, its "
            "row. In “My group” its row serves you.",
        },
        "terms": [
            {
                "term": "coffee",
                "weight": 1.0,
                "origin": {"times": 3, "first": 1_140_000_000, "last": 1_150_000_000},
                "released": 0.5,
                "members": 1,
                "people": 1,
            }
        ],
        "row": {"name": "g0001", "users": 2},
        "worst_linkability": 1 / 2,  # each of the two terms is one of two members'
    }
    outside = client.get(f"{API}/profile?user=1004").json
    assert (outside["row"], outside["worst_linkability"]) == (None, None)
    assert outside["terms"][0]["origin"] is None


def test_choices_are_kept(client: FlaskClient) -> None:
    path = f"{API}/profile/choices?user=1001"
    assert client.get(path).json == {"paused": False, "remember": False}
    answer = client.put(path, json={"paused": True, "remember": True})
    assert answer.json == client.get(path).json == {"paused": True, "remember": True}
    assert client.get(f"{API}/search?q=java&user=1001&mode=own").json["mode"] == "none"
    assert client.get(f"{API}/profile/choices?user=1002").json["paused"] is False


def test_terms_are_forgotten(client: FlaskClient, forgetting: Forgetting) -> None:
    path = f"{API}/profile/forget-terms?user=1001"
    everything = client.post(path, json={"terms": ["coffee", "tea"]})
    assert everything.status_code == 400
    assert "to remove them all, DELETE /api/v1/profile" in told(everything)
    nothing = client.post(path, json={"terms": ["tea", "code"]})
    assert (nothing.status_code, told(nothing)) == (404, "None of these terms is in the profile.")
    assert forgetting.asked == []


def test_some_of_several_terms_are_forgotten(site: Site, forgetting: Forgetting) -> None:
    profiles = site.modes.profiles
    assert profiles is not None
    both = type(profiles).from_rows({"1001": {"coffee": 1.0, "code": 2.0}, "1002": {"code": 1.0}})
    modes = Modes(site.modes.engine, both, site.modes.release)
    client = create_app(replace(site, modes=modes, forget=forgetting)).test_client()
    answer = client.post(f"{API}/profile/forget-terms?user=1001", json={"terms": ["coffee", "tea"]})
    assert answer.json == DONE
    assert forgetting.asked == [("1001", {"coffee", "tea"})]


def test_a_person_is_forgotten(client: FlaskClient, forgetting: Forgetting, site: Site) -> None:
    site.store.choose("1001", paused=True)
    answer = client.delete(f"{API}/profile?user=1001")
    assert answer.json == DONE
    assert forgetting.asked == [("1001", None)]
    assert site.store.choices("1001").paused is False


def test_what_is_in_use_is_said_without_its_path(
    client: FlaskClient, forgetting: Forgetting
) -> None:
    forgetting.fault = UsageError("/srv/secret is in use")
    response = client.delete(f"{API}/profile?user=1001")
    assert response.status_code == 503
    assert "Please try again in a minute." in told(response)
    assert "secret" not in response.text


def test_who_has_not_signed_in_is_told_so(private: Site) -> None:
    client = create_app(private).test_client()
    response = client.get(f"{API}/search?q=java")
    assert response.status_code == 401
    schemes = "Cookie realm=veilsearch, Bearer realm=veilsearch"
    assert response.headers["WWW-Authenticate"] == schemes
    assert "Sign in first" in told(response)


def test_forgetting_ends_the_session(own: FlaskClient, forgetting: Forgetting) -> None:
    answer = own.delete(f"{API}/profile")
    assert forgetting.asked == [("1001", None)]
    assert answer.headers["Set-Cookie"].startswith("veilsearch=; Expires=Thu, 01 Jan 1970")
    assert own.get(f"{API}/profile").status_code == 401


DEEP = "[" * 50_000 + "]" * 50_000
BODIES = [
    ("", 400, "can’t be read as JSON"),
    ("{", 400, "can’t be read as JSON"),
    (DEEP[:30_000] + DEEP[-30_000:], 400, "can’t be read as JSON"),
    ("[]", 400, "the body must be an object"),
    ("null", 400, "the body must be an object"),
    ('{"terms": 3}', 400, "terms must be a list"),
    ('{"terms": [3, true, null]}', 400, "terms[0] must be text; terms[1] must be text; terms[2]"),
    ('{"terms": []}', 400, "terms must have 1 to 5000 items"),
    ('{"terms": [""]}', 400, "terms[0] must have 1 to 1000 characters"),
    ('{"terms": ["a"], "user": "1002"}', 400, "has an unknown field; allowed are terms"),
    ('{"terms": ["a"], "terms": ["b"]}', 400, "give each field once"),
    ('{"terms": ["\\ud800"]}', 400, "can’t be read as JSON in UTF-8"),
    ('{"terms": [NaN]}', 400, "can’t be read as JSON"),
    ('{"terms": [1e999]}', 400, "terms[0] must be text"),
    ('{"terms": [' + "9" * 5000 + "]}", 400, "can’t be read as JSON"),
    (b'{"terms": ["\xff"]}', 400, "can’t be read as JSON in UTF-8"),
    ("\ufeff{}", 400, "can’t be read as JSON"),
    ("{}", 400, "terms is missing"),
    (b" " * 10_000_000, 413, "larger"),
]


@pytest.mark.parametrize(("body", "status", "sentence"), BODIES, ids=range(len(BODIES)))
def test_bodies_that_are_not_as_asked_are_refused(
    client: FlaskClient, forgetting: Forgetting, body: str | bytes, status: int, sentence: str
) -> None:
    response = client.post(
        f"{API}/profile/forget-terms?user=1001", data=body, content_type="application/json"
    )
    assert response.status_code == status
    assert sentence in told(response)
    assert forgetting.asked == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "x"])
def test_bodies_of_another_type_are_refused(client: FlaskClient, kind: str) -> None:
    response = client.put(
        f"{API}/profile/choices?user=1001",
        data=json.dumps({"paused": True, "remember": False}),
        content_type=kind,
    )
    assert response.status_code == 415
    assert "application/json" in told(response)


@pytest.mark.parametrize("body", [{"paused": 1, "remember": 0}, {"paused": "yes"}, {"paused": {}}])
def test_a_switch_is_true_or_false(client: FlaskClient, body: Any) -> None:
    response = client.put(f"{API}/profile/choices?user=1001", json=body)
    assert response.status_code == 400
    assert "paused must be true or false" in told(response)


def test_the_groups_are_told_without_members(client: FlaskClient) -> None:
    answer = client.get(f"{API}/groups?sort=people").json
    assert (answer["groups"], answer["page"], answer["pages"]) == (2, 1, 1)
    assert [(row["row"], row["people"]) for row in answer["rows"]] == [("g0001", 2), ("g0002", 1)]
    one = client.get(f"{API}/groups/g0001").json
    assert one["summary"] == next(row for row in answer["rows"] if row["row"] == "g0001")
    assert one["terms"] == [{"term": "code", "weight": 0.5}, {"term": "coffee", "weight": 0.5}]
    for text in (client.get(f"{API}/groups").text, client.get(f"{API}/groups/g0001").text):
        assert not any(user in text for user in ("1001", "1002", "1003"))


NOBODY = "There is no such person here. Choose one from the list."


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        *((f"{path}user=7654321", NOBODY) for path in ("search?q=java&", "compare?q=java&")),
        *((f"{path}user=7654321", NOBODY) for path in ("profile?", "profile/choices?")),
        ("explain?q=java&doc=nothing", "This document is not among those found."),
        *((f"groups/{row}", "There is no such group here.") for row in ("g9999", "1001")),
        *(
            (f"groups{page}", "There is no such page of the")
            for page in ("?page=2", "/g0001?page=2")
        ),
    ],
)
def test_what_is_not_there_is_said(client: FlaskClient, asked: str, sentence: str) -> None:
    response = client.get(f"{API}/{asked}")
    assert (response.status_code, told(response)[: len(sentence)]) == (404, sentence)


def test_a_real_persons_row_is_not_told(own: FlaskClient) -> None:
    alone = own.get(f"{API}/groups/g0002").json
    assert (alone["told"], alone["terms"], alone["summary"]["terms"]) == (False, [], None)


def test_the_log_is_told_in_pages(client: FlaskClient, log: PrecisionLog) -> None:
    same = 100, "cosine", "toy corpus", "toy", PoolPrecision(1.0, 1.0, 1.0, 1.0, 40)
    for number in range(40):
        log.add([Entry(number, mode, *same) for mode in MODES], "1003", number)
    answer = client.get(f"{API}/log").json
    means = {mean["mode"]: mean for mean in answer["means"]}
    assert [mean["searches"] for mean in means.values()] == [40, 40, 40]
    assert (means["own"]["ap"], means["own"]["half_width"]) == (1.0, None)  # of one person
    assert len(answer["recent"]) == 100
    second = client.get(f"{API}/log?page=2").json["recent"]
    assert len(second) == 20
    assert {row["search"] for row in second} == set(range(1, 8))
    assert client.get(f"{API}/log?pool=50").json["means"] == []


def test_where_people_are_real_the_log_tells_days_as_its_page_does(
    private: Site, log: PrecisionLog
) -> None:
    """1,800,000,000 is 8 o'clock of 2027-01-15; that day began 28,800 seconds earlier."""
    same = PoolPrecision(1.0, 1.0, 1.0, None, 40)
    log.add([Entry(1_800_000_000, "group", 100, "cosine", "", "toy", same)])
    answer = signed_in(private, ADMIN_TOKEN).get(f"{API}/log").json
    assert [row["at"] for row in answer["recent"]] == [1_800_000_000 - 28_800]
    assert answer["age"] == 0
