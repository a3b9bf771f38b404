"""A person's own page: terms, what the server sees, facts, choices; and being forgotten.

Mira (1001) has coffee, and nobody else has it; Oren (1002) has code, as two others have. The two
are one group, whose row has both.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient

from anonymizer.errors import BadInput
from anonymizer.model import Profiles
from anonymizer.profiles.origins import TermOrigin
from search_app.errors import UsageError
from search_app.forgetting.person import ForgetReport, UnknownPerson
from search_app.search.modes import Modes
from search_app.web import Site, create_app
from search_app.web.visitors.consent import BUSY

from ..conftest import Forgetting, Page, says, seen, signed_in

DONE = ForgetReport(("profiles.jsonl", "town.tsv"), ("old",), 1, ("old",), (), ("notes.txt",))
COFFEE = TermOrigin(3, 1_141_257_600, 1_147_564_800)  # 2006-03-02 and 2006-05-14, at midnight


@pytest.fixture
def forgetting() -> Forgetting:
    return Forgetting(DONE)


@pytest.fixture
def site(site: Site, forgetting: Forgetting) -> Site:
    return replace(site, forget=forgetting, origins=lambda _user: {"coffee": COFFEE})


@pytest.fixture
def many(site: Site) -> Site:
    """Mira has sixty terms: t00 with weight 60 down to t59 with weight 1."""
    modes = site.modes
    assert modes.profiles is not None
    rows = {user: modes.profiles.row(user) for user in modes.profiles.users}
    rows["1001"] = {f"t{at:02}": 60.0 - at for at in range(60)}
    origins = {"t07": TermOrigin(1, 0, 86_400), "t09": TermOrigin(1, 0, 2 * 86_400)}
    modes = Modes(modes.engine, Profiles.from_rows(rows), modes.release)
    return replace(site, modes=modes, origins=lambda _user: origins)


@pytest.fixture
def mira(site: Site) -> FlaskClient:
    """Mira, signed in where people are real."""
    return of_real_people(site, "1001")


def of_real_people(site: Site, user: str) -> FlaskClient:
    """Return somebody who has signed in where people are real."""
    private = replace(site, people={}, examples=(), access="private", admin_token="t" * 30)
    return signed_in(private, site.store.new_code(user))


def place(response: Any) -> str:
    assert response.status_code == 303
    return str(response.headers["Location"])


def checkboxes(page: Any) -> list[str]:
    return [box["value"] for box in page.all("input") if box.get("name") == "term"]


# -- whose page ----------------------------------------------------------------------------------


def test_in_private_the_own_page_names_nobody(mira: FlaskClient) -> None:
    page = mira.get("/me").text
    assert checkboxes(Page(page)) == ["coffee"]
    assert "1001" not in page


def test_who_has_no_profile_still_has_choices(site: Site) -> None:
    client = of_real_people(site, "5555")
    says(client, "/me", "You are new here: you have no profile", "Pause personalization")
    assert client.get("/me/download").json["terms"] == []


# -- terms ---------------------------------------------------------------------------------------


# All four profiles have one term; the group has two, and each is had by one of two members.
# Coffee is of 1 of 2 members and 1 of 4 people. Bo is in no group, and Ada alone in hers.
@pytest.mark.parametrize(
    ("user", "told"),
    [
        ("1001", "coffee 3 searches , 2 March to 14 May 2006 only you have it"),
        ("1001", "a person here has 1.0 on average: 1.0 / 2 = 0.50."),
        ("1001", "The method promises at most p = 0.50 for this."),
        ("1001", "is right 50 times in 100, on average over its members"),
        ("1001", "that most members have, is right at best 1 time in 2."),
        ("1001", "Change of belief, at worst 0.25"),
        ("1001", "1 is in your group’s row, because of you alone."),
        ("1003", "You are alone in it: its row is your own profile and hides nothing."),
        ("1003", "can name at least one of your interests with certainty."),
        ("1004", "You are in no group of this release, and no row stands for you."),
    ],
)
def test_the_page_tells_terms_and_facts(client: FlaskClient, user: str, told: str) -> None:
    text = seen(client, f"/me?user={user}").text
    assert told in text
    assert ("Linked to an interest" in text) == (user != "1004")


def test_where_nothing_is_known_of_origins_the_page_says_so(
    client: FlaskClient, site: Site
) -> None:
    def damaged(_user: str) -> Mapping[str, TermOrigin]:
        raise BadInput("profiles.origins.npz: damaged")

    client = create_app(replace(site, origins=damaged)).test_client()
    unknown = "It is not known which searches the interests came from."
    says(client, "/me?user=1001", unknown, wrong=("3 searches", "Most searched", "Latest"))


@pytest.mark.parametrize(
    ("asked", "first", "last", "number"),
    [
        ("", "t07", "t59", 60),  # two folds: searched for once, and not known
        ("&sort=weight", "t00", "t24", 25),
        ("&sort=weight&page=3", "t50", "t59", 10),
        ("&sort=weight&page=99", "t50", "t59", 10),
        ("&sort=name&page=2", "t25", "t49", 25),
        ("&sort=last", "t09", "t24", 25),  # t09, t07, and 23 never dated: t00 to t24 without them
        ("&find=T5", "t50", "t59", 10),
        ("&find=nothing", "", "", 0),
    ],
)
def test_many_terms_are_sorted_paged_and_found(
    many: Site, asked: str, first: str, last: str, number: int
) -> None:
    client = create_app(many).test_client()
    found = checkboxes(seen(client, f"/me?user=1001{asked}"))
    assert len(found) == number
    assert found[:1] + found[-1:] == ([first, last] if number else [])


def test_sorting_keeps_what_is_looked_for(many: Site) -> None:
    page = seen(create_app(many).test_client(), "/me?user=1001&find=t1&sort=name")
    links = {link["href"]: link.get("aria-current") for link in page.all("a")}
    shown = {sort: f"/me?sort={sort}&find=t1&user=1001#terms" for sort in ("name", "weight")}
    assert (links[shown["name"]], links[shown["weight"]]) == ("true", None)


def test_terms_are_folded_by_how_often_they_were_searched_for(site: Site) -> None:
    """Of six terms one is not known from a search; all weigh the same, so no weight is shown."""
    assert site.modes.profiles is not None
    times = {"once": 1, "twice": 2, "four": 4, "five": 5, "many": 12, "unknown": 0}
    rows = {user: site.modes.profiles.row(user) for user in site.modes.profiles.users}
    rows["1001"] = dict.fromkeys(times, 1.0)
    modes = Modes(site.modes.engine, Profiles.from_rows(rows), site.modes.release)
    origins = {term: TermOrigin(number, None, None) for term, number in times.items()}
    client = create_app(replace(site, modes=modes, origins=lambda _user: origins)).test_client()
    page = seen(client, "/me?user=1001")
    folds = page.html.split('<details class="fold"')[1:]
    assert [checkboxes(Page(fold)) for fold in folds] == [
        *(["many"], ["five"], ["four", "twice"], ["once"], ["unknown"])
    ]
    names = "10 searches or more 1", "5 to 9 searches 1", "2 to 4 searches 2", "1 search 1"
    for name, fold in zip(names, folds, strict=False):
        assert Page(f"<details{fold}").text.startswith(name)
    assert ["open" in tag for tag in page.all("details", "fold")] == [True, *[False] * 4]
    assert not any("<svg" in fold.partition("</form>")[0] for fold in folds)
    assert "sort=weight" not in page.html


def test_chosen_terms_are_removed_if_they_are_own(many: Site, forgetting: Forgetting) -> None:
    client = create_app(many).test_client()
    chosen = {"user": "1001", "term": ["t01", "t02", "code", "<b>"]}
    answer = client.post("/me/terms", data={**chosen, "sort": "name", "find": "t", "page": "2"})
    assert place(answer) == "/me?done=terms&sort=name&find=t&page=2&user=1001#done"
    assert forgetting.asked == [("1001", {"t01", "t02"})]
    assert "The chosen interests are removed" in client.get("/me?done=terms&user=1001").text


def test_no_term_and_all_terms_change_nothing(client: FlaskClient, forgetting: Forgetting) -> None:
    """To remove all terms is to be forgotten, which is asked apart."""
    for terms in ([], ["code"]):
        answer = client.post("/me/terms", data={"user": "1001", "term": terms})
        assert place(answer) == "/me?done=no-terms&user=1001#done"
    answer = client.post("/me/terms", data={"user": "1001", "term": ["coffee"]})
    assert place(answer) == "/me/forget?done=all-terms&user=1001"
    assert "These are all of your interests." in client.get(place(answer)).text
    assert forgetting.asked == []


def test_removed_terms_leave_what_the_server_saw(many: Site) -> None:
    client = create_app(many).test_client()
    client.get("/?q=java&user=1001")
    client.post("/me/terms", data={"user": "1001", "term": ["t01"]})
    assert many.transcripts.of("1001") == {}


@pytest.mark.parametrize(
    ("done", "part"),
    [
        ("terms", "terms"),
        ("not-left", "row"),
        ("growing", "grown"),
        ("remembering", "choices"),
        ("searches", "searches"),
    ],
)
def test_a_message_stands_in_the_part_where_the_click_was(
    client: FlaskClient, done: str, part: str
) -> None:
    page = seen(client, f"/me?user=1001&done={done}")
    before, _, after = page.html.partition(f'<div id="{part}">')
    assert "<details open>" in before.rpartition("<section")[2]
    assert 'id="done" role="status" tabindex="-1"' in after.partition("</section>")[0]
    assert page.html.count('id="done"') == 1


# -- what the server sees ------------------------------------------------------------------------


def sent(html: str) -> list[str]:
    """Return the requests on the page as a browser would have them."""
    pieces = html.split('<pre class="bytes"')[1:]
    return [unescape(piece.partition(">")[2].partition("</pre>")[0]) for piece in pieces]


def test_the_requests_are_shown_to_the_byte(client: FlaskClient, site: Site) -> None:
    client.get("/?q=java+%3Cb%3E%22&user=1001")
    requests = site.transcripts.of("1001")
    expected = [requests[mode].as_bytes() for mode in ("none", "own", "group")]
    html = client.get("/me?user=1001").text
    assert [line.encode() for line in sent(html)] == expected
    plain = b'{"operators": false, "pool": 100, "query": "java <b>\\"", "ranking": "cosine"}'
    assert expected[0] == plain
    text = Page(html).text
    for line in expected:
        assert f"{len(line)} bytes" in text
        assert hashlib.sha256(line).hexdigest() in text


def test_nobody_sees_what_others_sent(client: FlaskClient, site: Site) -> None:
    client.get("/?q=java&user=1001")
    assert sent(client.get("/me?user=1002").text) == []
    client.get("/?q=java")
    assert site.transcripts.of("") == {}


# -- choices -------------------------------------------------------------------------------------


def test_who_pauses_is_searched_for_plainly(client: FlaskClient, site: Site) -> None:
    client.get("/?q=java&user=1001")
    answer = client.post("/me/pause", data={"user": "1001", "paused": "1"})
    assert place(answer) == "/me?done=paused&user=1001#done"
    assert site.transcripts.of("1001") == {}
    results = seen(client, "/?q=java&user=1001&mode=own")
    assert "You have paused personalization" in results.text
    assert {"href": "/me?user=1001#choices"} in results.all("a")
    compared = seen(client, "/compare?q=java&user=1001")
    for page in (results, compared):  # one order, and nothing measured by the profile
        assert not {"AP", "All by likeness", "Compare all three"} & set(page.pieces)
        assert "your full profile" not in page.text
        assert "How to read the numbers" not in page.text
    assert (
        "While personalization is paused, no request is kept." in seen(client, "/me?user=1001").text
    )
    assert [piece for piece in results.pieces if piece.startswith("Title ")][:2] == [
        "Title 00",
        "Title 01",
    ]
    assert site.transcripts.of("1001") == {}
    assert site.log.summary()[0].searches == 1  # the one before: paused, nothing is measured
    client.post("/me/pause", data={"user": "1001", "paused": "0"})
    again = seen(client, "/?q=java&user=1001&mode=own")
    assert "You have paused" not in again.text
    assert set(site.transcripts.of("1001")) == {"none", "own", "group"}


def test_a_paused_profile_is_not_read(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    true = Profiles.row
    monkeypatch.setattr(Profiles, "row", lambda self, user: read.append(user) or true(self, user))
    modes = Modes(site.modes.engine, site.modes.profiles, site.modes.release)  # that has read none
    client = create_app(replace(site, modes=modes)).test_client()
    site.store.choose("1001", paused=True)
    client.get("/?q=java&user=1001&mode=own")
    assert read == []
    site.store.choose("1001", paused=False)
    client.get("/?q=java&user=1001&mode=own")
    assert set(read) == {"1001"}


def test_searches_are_kept_with_consent_only(client: FlaskClient, site: Site) -> None:
    client.get("/?q=java+before&user=1001")
    client.post("/me/remember", data={"user": "1001", "remember": "1"})
    client.get("/?q=java+kept&user=1001&mode=own")
    client.get("/?q=java+kept&user=1001&mode=own&page=2")
    client.get("/?q=java+forged&user=1001", headers={"Sec-Fetch-Site": "cross-site"})
    assert [each.query for each in site.store.searches("1001")] == ["java kept"]
    text = seen(client, "/me?user=1001").text
    assert "java kept My own profile 2027-01-15 08:00" in text
    answer = client.post("/me/remember", data={"user": "1001", "remember": "0"})
    assert place(answer) == "/me?done=not-remembering&user=1001#done"
    assert site.store.searches("1001") == []


def test_searches_are_deleted_one_by_one_or_all(client: FlaskClient, site: Site) -> None:
    site.store.choose("1001", remember=True)
    site.store.choose("1002", remember=True)
    for user in ("1001", "1001", "1001", "1002"):
        site.store.remember(user, "java", "own", 0)
    (foreign,) = site.store.searches("1002")
    newest, *_ = site.store.searches("1001")
    for number in (foreign.id, newest.id):
        client.post("/me/searches", data={"user": "1001", "search": str(number)})
    assert len(site.store.searches("1001")) == 2
    client.post("/me/searches", data={"user": "1001", "search": "all"})
    assert (len(site.store.searches("1001")), len(site.store.searches("1002"))) == (0, 1)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/me/pause", {}),
        ("/me/pause", {"paused": "yes"}),
        ("/me/remember", {"remember": ""}),
        ("/me/searches", {}),
        ("/me/searches", {"search": "-1"}),
        ("/me/searches", {"search": "9" * 30}),
        ("/me/searches", {"search": "²"}),
    ],
)
def test_what_no_form_of_ours_sends_is_refused(
    client: FlaskClient, path: str, data: dict[str, str]
) -> None:
    assert client.post(path, data={"user": "1001", **data}).status_code == 400


def test_a_store_that_fails_breaks_no_search(
    client: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise UsageError("people.sqlite can't be used (java as 1001)")

    site.store.choose("1001", remember=True)
    monkeypatch.setattr(site.store, "remember", broken)
    page = client.get("/?q=java&user=1001&mode=own")
    assert page.status_code == 200
    assert "could not be added to the list of your searches" in page.text
    monkeypatch.setattr(site.store, "choices", broken)
    assert "The server could not read whether" in client.get("/?q=java&user=1001").text
    monkeypatch.setattr(site.store, "choose", broken)
    answer = client.post("/me/pause", data={"user": "1001", "paused": "1"})
    assert (answer.status_code, BUSY in answer.text) == (503, True)


# -- taking along and being forgotten --------------------------------------------------------------


def test_everything_can_be_downloaded(mira: FlaskClient) -> None:
    mira.post("/me/remember", data={"remember": "1"})
    mira.get("/?q=java&mode=own")
    answer = mira.get("/me/download")
    assert answer.headers["Content-Disposition"] == "attachment; filename=veilsearch-me.json"
    assert answer.headers["Cache-Control"] == "no-store"
    told = json.loads(answer.data)
    assert told["terms"] == [
        {
            "term": "coffee",
            "weight": 1.0,
            "searches": 3,
            "first": COFFEE.first,
            "last": COFFEE.last,
            "row_weight": 0.5,
            "only_mine": None,  # a count of real people's profiles
        }
    ]
    assert told["row"] == {"row": "g0001", "users": 2, "terms": {"code": 0.5, "coffee": 0.5}}
    assert told["choices"] == {"paused": False, "remember": True, "grow": False}
    assert [each["query"] for each in told["searches"]] == ["java"]
    assert told["last_requests"]["own"]["profile"] == {"coffee": 1.0}
    assert told["facts"][0]["value"] == "2"


def test_to_be_forgotten_takes_two_steps(client: FlaskClient, forgetting: Forgetting) -> None:
    asked = client.get("/me/forget?user=1001").text
    assert "What can’t be recalled" in asked
    assert place(client.post("/me/forget", data={"user": "1001"})) == (
        "/me/forget?user=1001&done=not-confirmed#confirm"
    )
    assert forgetting.asked == []


def test_in_demo_it_is_told_what_was_done(
    client: FlaskClient, site: Site, forgetting: Forgetting
) -> None:
    site.store.choose("1001", remember=True)
    client.get("/?q=java&user=1001")
    client.get("/?q=java&user=1002")
    answer = client.post("/me/forget", data={"user": "1001", "confirm": "yes"})
    assert site.log.repeats.numbers().keys() == {2}
    assert place(answer) == "/me/forgotten?rows=1&files=3&left=1&day=20833&minute=480"
    assert forgetting.asked == [("1001", None)]
    assert (site.store.searches("1001"), site.transcripts.of("1001")) == ([], {})
    says(
        client,
        place(answer),
        "Receipt: your data was removed from 3 files on 15 Jan 2027, 08:00 UTC.",
        "1 row was withdrawn. Every other row is as it was, byte for byte.",
        "1 file in the workspace may still hold something of this person",
    )


def test_who_is_gone_already_is_told_so(client: FlaskClient, forgetting: Forgetting) -> None:
    forgetting.fault = UnknownPerson("nobody of this id")
    answer = client.post("/me/forget", data={"user": "1001", "confirm": "yes"})
    assert place(answer) == "/me/forgotten?rows=0&files=0&left=0&day=20833&minute=480"


def test_the_operator_is_told_which_files_are_left(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        client.post("/me/forget", data={"user": "1001", "confirm": "yes"})
    assert "notes.txt" in caplog.text
    assert "1001" not in caplog.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/me?user=9999", 404),
        *((f"/me/forgotten?{each}", 400) for each in ("rows=-1", "left=many", "files=123456")),
    ],
)
def test_what_is_not_there_is_refused(client: FlaskClient, path: str, status: int) -> None:
    assert client.get(path).status_code == status


def test_leaving_the_group_takes_a_tick_and_says_before_what_others_see(
    client: FlaskClient, site: Site
) -> None:
    page = says(
        client,
        "/me?user=1001",
        "everybody who can sign in, and anybody who has a published copy, can learn that",
    )
    assert "You keep your profile" in page
    answer = client.post("/me/leave", data={"user": "1001"})
    assert place(answer) == "/me?done=not-left&user=1001#done"
    row = client.get("/me?done=not-left&user=1001").text.partition('id="row"')[2]
    assert "tick the box to confirm" in row.partition("<form")[0]
    left = replace(site, leave=lambda _user: ForgetReport(rows_withdrawn=1))
    sent_in = create_app(left).test_client().post
    answer = sent_in("/me/leave", data={"user": "1001", "confirm": "yes"})
    assert place(answer) == "/me?done=left&user=1001#done"
