"""A person's own page: terms, what the server sees, facts, choices; and being forgotten.

Mira (1001) has coffee, and nobody else has it; Oren (1002) has code, as two others have. The two
are one group, whose row has both.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient

from anonymizer.model import BadInput, Profiles
from anonymizer.origins import Origin
from search_app import personal_code
from search_app.errors import UsageError
from search_app.forgetting import Forgotten, UnknownPerson
from search_app.modes import Modes
from search_app.web import Site, create_app
from search_app.web.consent import BUSY, LEFTOVERS

DONE = Forgotten(("profiles.jsonl", "town.tsv"), ("old",), True, ("old",), (), ("notes.txt",))
COFFEE = Origin(3, 1_141_257_600, 1_147_564_800)  # 2006-03-02 and 2006-05-14, at midnight


@dataclass
class Forgetting:
    """Notes what was to be forgotten, and answers as told."""

    answer: Forgotten
    fault: Exception | None = None
    asked: list[tuple[str, set[str] | None]] = field(default_factory=list)

    def __call__(self, user: str, terms: Collection[str] | None) -> Forgotten:
        self.asked.append((user, None if terms is None else set(terms)))
        if self.fault:
            raise self.fault
        return self.answer


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
    origins = {"t07": Origin(1, 0, 86_400), "t09": Origin(1, 0, 2 * 86_400)}
    modes = Modes(modes.engine, Profiles.from_rows(rows), modes.release)
    return replace(site, modes=modes, origins=lambda _user: origins)


@pytest.fixture
def mira(site: Site, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    """Mira, signed in where people are real."""
    return signed_in(site, "1001", monkeypatch)


def signed_in(site: Site, user: str, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    monkeypatch.setattr(personal_code, "_COST", 16)
    real = replace(site, people={}, examples=(), access="private", admin_token="t" * 30)
    client = create_app(real).test_client()
    assert client.post("/sign-in", data={"code": real.store.new_code(user)}).status_code == 303
    return client


def place(response: Any) -> str:
    assert response.status_code == 303
    return str(response.headers["Location"])


def checkboxes(page: Any) -> list[str]:
    return [box["value"] for box in page.all("input") if box.get("name") == "term"]


# -- whose page ----------------------------------------------------------------------------------


def test_nobody_chosen_is_asked_to_choose(client: FlaskClient, read: Any) -> None:
    page = read(client.get("/me").text)
    assert "Choose one to see what the system knows of them" in page.text
    assert [option["value"] for option in page.all("option")] == [
        "",
        "1001",
        "1002",
        "1003",
        "1004",
    ]


def test_a_site_of_nobody_has_no_such_page(real: FlaskClient) -> None:
    for path in ("/me", "/me/forget", "/me/download", "/me/forgotten"):
        assert real.get(path).status_code == 403
    assert real.post("/me/forget", data={"confirm": "yes"}).status_code == 403


def test_in_private_only_the_own_page_is_shown(mira: FlaskClient, read: Any) -> None:
    page = mira.get("/me")
    assert checkboxes(read(page.text)) == ["coffee"]
    assert "1001" not in page.text
    assert mira.get("/me?user=1002").status_code == 404
    assert mira.post("/me/pause", data={"user": "1002", "paused": "1"}).status_code == 404


def test_unknown_people_are_refused(client: FlaskClient) -> None:
    assert client.get("/me?user=9999").status_code == 404
    assert client.post("/me/pause", data={"paused": "1"}).status_code == 400


def test_who_has_no_profile_still_has_choices(
    site: Site, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(site, "5555", monkeypatch)
    text = read(client.get("/me").text).text
    assert "There is no profile of you here" in text
    assert "Pause personalization" in text
    assert client.get("/me/download").json["terms"] == []


# -- terms ---------------------------------------------------------------------------------------


def test_a_term_is_told_with_weight_origin_and_whether_the_row_has_it(
    client: FlaskClient, read: Any
) -> None:
    text = read(client.get("/me?user=1001").text).text
    assert "coffee 1 in 3 searches, 2 March to 14 May 2006 yes only you have it" in text


def test_where_nothing_is_known_of_origins_the_page_says_so(
    client: FlaskClient, site: Site, read: Any
) -> None:
    def damaged(_user: str) -> Mapping[str, Origin]:
        raise BadInput("profiles.origins.npz: damaged")

    client = create_app(replace(site, origins=damaged)).test_client()
    text = read(client.get("/me?user=1001").text).text
    assert "It is not known which searches the terms came from." in text
    assert "coffee 1 yes" in text
    assert "Searched for" not in text


@pytest.mark.parametrize(
    ("asked", "first", "last", "number"),
    [
        ("", "t00", "t24", 25),
        ("&page=3", "t50", "t59", 10),
        ("&page=99", "t50", "t59", 10),
        ("&sort=name&page=2", "t25", "t49", 25),
        ("&sort=last", "t09", "t24", 25),  # t09, t07, and 23 never dated: t00 to t24 without them
        ("&find=T5", "t50", "t59", 10),
        ("&find=nothing", "", "", 0),
    ],
)
def test_many_terms_are_sorted_paged_and_found(
    many: Site, read: Any, asked: str, first: str, last: str, number: int
) -> None:
    client = create_app(many).test_client()
    found = checkboxes(read(client.get(f"/me?user=1001{asked}").text))
    assert len(found) == number
    assert found[:1] + found[-1:] == ([first, last] if number else [])


def test_sorting_keeps_what_is_looked_for(many: Site, read: Any) -> None:
    page = read(create_app(many).test_client().get("/me?user=1001&find=t1&sort=name").text)
    heads = [head for head in page.all("th") if "aria-sort" in head]
    assert heads == [{"scope": "col", "aria-sort": "ascending"}]
    assert {"href": "/me?sort=weight&find=t1&user=1001#terms"} in page.all("a")


def test_chosen_terms_are_removed_if_they_are_own(many: Site, forgetting: Forgetting) -> None:
    client = create_app(many).test_client()
    chosen = {"user": "1001", "term": ["t01", "t02", "code", "<b>"]}
    assert place(client.post("/me/terms", data=chosen)) == "/me?done=terms&user=1001#terms"
    assert forgetting.asked == [("1001", {"t01", "t02"})]
    assert "The chosen terms are removed" in client.get("/me?done=terms&user=1001").text


def test_no_term_changes_nothing(client: FlaskClient, forgetting: Forgetting) -> None:
    for terms in ([], ["code"]):
        answer = client.post("/me/terms", data={"user": "1001", "term": terms})
        assert place(answer) == "/me?done=no-terms&user=1001#terms"
    assert forgetting.asked == []


def test_all_terms_are_not_removed_by_the_way(client: FlaskClient, forgetting: Forgetting) -> None:
    answer = client.post("/me/terms", data={"user": "1001", "term": ["coffee"]})
    assert place(answer) == "/me/forget?done=all-terms&user=1001"
    assert "These are all of your terms." in client.get(place(answer)).text
    assert forgetting.asked == []


def test_removed_terms_leave_what_the_server_saw(many: Site) -> None:
    client = create_app(many).test_client()
    client.get("/?q=java&user=1001")
    client.post("/me/terms", data={"user": "1001", "term": ["t01"]})
    assert many.transcripts.of("1001") == {}


# -- what the server sees ------------------------------------------------------------------------


def sent(html: str) -> list[str]:
    """Return the requests on the page as a browser would have them."""
    pieces = html.split('<pre class="bytes"')[1:]
    return [unescape(piece.partition(">")[2].partition("</pre>")[0]) for piece in pieces]


def test_nothing_is_shown_before_the_first_search(client: FlaskClient) -> None:
    page = client.get("/me?user=1001").text
    assert sent(page) == []
    assert page.count("Nothing was sent in this mode yet.") == 3


def test_the_requests_are_shown_to_the_byte(client: FlaskClient, site: Site, read: Any) -> None:
    client.get("/?q=java+%3Cb%3E%22&user=1001")
    requests = site.transcripts.of("1001")
    expected = [requests[mode].as_bytes() for mode in ("none", "own", "group")]
    html = client.get("/me?user=1001").text
    assert [line.encode() for line in sent(html)] == expected
    assert expected[0] == (b'{"mix": 1.0, "operators": false, "pool": 100, "query": "java <b>\\""}')
    text = read(html).text
    for line in expected:
        assert f"{len(line)} bytes" in text
        assert hashlib.sha256(line).hexdigest() in text


def test_nobody_sees_what_others_sent(client: FlaskClient, site: Site) -> None:
    client.get("/?q=java&user=1001")
    assert sent(client.get("/me?user=1002").text) == []
    client.get("/?q=java")
    assert site.transcripts.of("") == {}


# -- facts ---------------------------------------------------------------------------------------


def test_the_facts_of_a_group_are_counted(client: FlaskClient, read: Any) -> None:
    text = read(client.get("/me?user=1001").text).text
    # All four profiles have one term; the group has two, and each is had by one of two members.
    assert "Linked to a term, on average 0.50 A profile has 1.0 terms in the mean" in text
    assert "The method promises at most p = 0.50 for this." in text
    assert "names one of yours 50 times in 100" in text
    assert "names one of your terms rightly at best 1 time in 2, by naming" in text
    # coffee: 1 of 2 members, 1 of 4 people.
    assert "Change of belief, at worst 0.25" in text
    assert "1 stands in your group’s row, because of you alone." in text


def test_who_is_in_no_group_is_told(client: FlaskClient, read: Any) -> None:
    text = read(client.get("/me?user=1004").text).text
    assert "You are in no group of this release." in text
    assert "Linked to a term" not in text


def test_a_group_of_one_hides_nothing(client: FlaskClient, read: Any) -> None:
    text = read(client.get("/me?user=1003").text).text
    assert "You are alone in it: its row is your own profile, and it hides nothing." in text
    assert "names one of your terms rightly every time" in text


# -- choices -------------------------------------------------------------------------------------


def test_who_pauses_is_searched_for_plainly(client: FlaskClient, site: Site, read: Any) -> None:
    client.get("/?q=java&user=1001")
    answer = client.post("/me/pause", data={"user": "1001", "paused": "1"})
    assert place(answer) == "/me?done=paused&user=1001#choices"
    assert site.transcripts.of("1001") == {}
    results = read(client.get("/?q=java&user=1001&mode=own").text)
    assert "You have paused personalization" in results.text
    assert {"href": "/me?user=1001#choices"} in results.all("a")
    assert [piece for piece in results.pieces if piece.startswith("Title ")][:2] == [
        "Title 00",
        "Title 01",
    ]
    assert site.transcripts.of("1001") == {}
    assert site.log.summary()[0].searches == 1  # the one before: paused, nothing is measured
    client.post("/me/pause", data={"user": "1001", "paused": "0"})
    again = read(client.get("/?q=java&user=1001&mode=own").text)
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


def test_searches_are_kept_with_consent_only(client: FlaskClient, site: Site, read: Any) -> None:
    client.get("/?q=java+before&user=1001")
    client.post("/me/remember", data={"user": "1001", "remember": "1"})
    client.get("/?q=java+kept&user=1001&mode=own")
    client.get("/?q=java+kept&user=1001&mode=own&page=2")
    client.get("/?q=java+forged&user=1001", headers={"Sec-Fetch-Site": "cross-site"})
    assert [each.query for each in site.store.searches("1001")] == ["java kept"]
    text = read(client.get("/me?user=1001").text).text
    assert "java kept My own profile 2027-01-15 08:00" in text
    answer = client.post("/me/remember", data={"user": "1001", "remember": "0"})
    assert place(answer) == "/me?done=not-remembering&user=1001#searches"
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
    client: FlaskClient, site: Site, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise UsageError("people.sqlite can't be used (java as 1001)")

    site.store.choose("1001", remember=True)
    monkeypatch.setattr(site.store, "remember", broken)
    page = client.get("/?q=java&user=1001&mode=own")
    assert page.status_code == 200
    assert "could not be added to the list of your searches" in page.text
    monkeypatch.setattr(site.store, "choices", broken)
    titles = [
        p for p in read(client.get("/?q=java&user=1001").text).pieces if p.startswith("Title")
    ]
    assert titles[:2] == ["Title 00", "Title 01"]
    assert "could not be read" in client.get("/?q=java&user=1001").text
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
            "only_mine": True,
        }
    ]
    assert told["row"] == {"row": "g0001", "users": 2, "terms": {"code": 0.5, "coffee": 0.5}}
    assert told["choices"] == {"paused": False, "remember": True}
    assert [each["query"] for each in told["searches"]] == ["java"]
    assert told["last_requests"]["own"]["profile"] == {"coffee": 1.0}
    assert [fact["value"] for fact in told["facts"]][:2] == ["2", "0.50"]


def test_to_be_forgotten_takes_two_steps(client: FlaskClient, forgetting: Forgetting) -> None:
    asked = client.get("/me/forget?user=1001").text
    assert "What can’t be recalled" in asked
    assert place(client.post("/me/forget", data={"user": "1001"})) == (
        "/me/forget?done=not-confirmed&user=1001"
    )
    assert forgetting.asked == []


def test_in_demo_it_is_told_what_was_done(
    client: FlaskClient, site: Site, forgetting: Forgetting, read: Any
) -> None:
    site.store.choose("1001", remember=True)
    client.get("/?q=java&user=1001")
    answer = client.post("/me/forget", data={"user": "1001", "confirm": "yes"})
    assert place(answer) == "/me/forgotten?files=3&made=1&dropped=1&left=1"
    assert forgetting.asked == [("1001", None)]
    assert (site.store.searches("1001"), site.transcripts.of("1001")) == ([], {})
    text = read(client.get(place(answer)).text).text
    assert "3 files were changed or removed." in text
    assert "The groups were made anew" in text
    assert "1 release was removed, because it could not be made anew" in text
    assert "1 file in the workspace still names this person" in text


def test_in_private_the_session_ends(mira: FlaskClient) -> None:
    answer = mira.post("/me/forget", data={"confirm": "yes"})
    assert place(answer).startswith("/me/forgotten?")
    assert mira.get_cookie("veilsearch") is None
    assert "Goodbye" in mira.get(place(answer)).text
    assert place(mira.get("/me")) == "/sign-in"


def test_a_busy_workspace_changes_nothing(
    client: FlaskClient, site: Site, forgetting: Forgetting, caplog: pytest.LogCaptureFixture
) -> None:
    forgetting.fault = UsageError("/ws is being written to by veilsearch index of 1001")
    site.store.choose("1001", remember=True)
    answer = client.post("/me/forget", data={"user": "1001", "confirm": "yes"})
    assert (answer.status_code, BUSY in answer.text) == (503, True)
    assert site.store.choices("1001").remember
    assert "1001" not in caplog.text


def test_what_the_store_could_not_remove_is_told(
    client: FlaskClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(_user: str) -> None:
        raise UsageError("people.sqlite is being read by others")

    monkeypatch.setattr(site.store, "forget", busy)
    answer = client.post("/me/forget", data={"user": "1001", "confirm": "yes"})
    assert (answer.status_code, LEFTOVERS in answer.text) == (503, True)


def test_who_is_gone_from_the_workspace_is_forgotten_by_the_store(
    client: FlaskClient, site: Site, forgetting: Forgetting
) -> None:
    forgetting.fault = UnknownPerson("nobody of this id")
    site.store.choose("1001", remember=True)
    answer = client.post("/me/forget", data={"user": "1001", "confirm": "yes"})
    assert place(answer) == "/me/forgotten?files=0&made=0&dropped=0&left=0"
    assert not site.store.choices("1001").remember


def test_the_operator_is_told_which_files_are_left(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        client.post("/me/forget", data={"user": "1001", "confirm": "yes"})
    assert "notes.txt" in caplog.text
    assert "1001" not in caplog.text


@pytest.mark.parametrize("numbers", ["files=-1", "left=many", "dropped=123456"])
def test_numbers_that_are_none_are_refused(client: FlaskClient, numbers: str) -> None:
    assert client.get(f"/me/forgotten?{numbers}").status_code == 400
