"""What is served in mode study, and to whom: every route, for every kind of visitor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from search_app.accounts.store import PeopleStore
from search_app.search.modes import Modes
from search_app.web import ServedStudy, create_study_app
from search_app.web.visitors.limits import OPEN

from .conftest import Clock, Phone, place_of, write_study

VISITORS = ("nobody", "participant", "another participant", "leader")
IN = "/leader/sign-in"
HOME = "/"


@dataclass(frozen=True)
class Row:
    """What each visitor gets: a status, or the address they are sent to."""

    told: tuple[int | str, int | str, int | str, int | str]
    path: str = ""
    form: Mapping[str, str] = field(default_factory=dict)


FOR_ALL = Row((200, 200, 200, 200))
STEP = Row((HOME, HOME, HOME, HOME), form={"step": "4", "choice": "1", "open": "1-1"})
LEADERS = Row((IN, IN, IN, 200))
NOT_HERE = Row((404, 404, 404, 404))
DOES = Row((IN, IN, IN, "/leader"))
ROWS = {
    "GET /": FOR_ALL,
    "GET /join/<code>": Row((403, 403, 403, 403), "/join/nonsense"),
    "POST /join": Row((403, 403, 403, 403), form={"code": "nonsense"}),
    "POST /consent": Row((200, 200, 200, 200), form={"version": "none"}),  # asked again
    "POST /profile": STEP,
    "POST /query": STEP,
    "POST /open": Row((HOME, "/document/1/1", HOME, HOME), form=STEP.form),
    "POST /answer": STEP,
    "POST /form": STEP,
    "GET /document/<int:column>/<int:at>": Row((HOME, 200, 200, HOME), "/document/1/1"),
    "GET /withdraw": FOR_ALL,
    "GET /withdraw/<proof>": replace(FOR_ALL, path="/withdraw/x"),
    "POST /withdraw": Row((403, "/withdrawn", "/withdrawn", 403)),
    "GET /withdrawn": FOR_ALL,
    "GET /leader": LEADERS,
    "GET /leader/numbers": LEADERS,
    "GET /leader/sign-in": FOR_ALL,
    "POST /leader/sign-in": Row((403, 403, 403, 403), form={"token": "wrong"}),
    "POST /leader/sign-out": Row((IN, IN, IN, IN)),
    "POST /leader/door": DOES,
    "POST /leader/close": replace(DOES, form={"sure": "1"}),
    "GET /leader/slide/<name>": Row((IN, IN, IN, 404), "/leader/slide/vote"),
    "POST /leader/slide/<name>": Row(
        (IN, IN, IN, "/leader/slide/vote"), "/leader/slide/vote", {"searches": "code"}
    ),
    "GET /leader/slide/<name>/bars": Row((IN, IN, IN, 404), "/leader/slide/vote/bars"),
    "GET /static/<path:name>": replace(FOR_ALL, path="/static/style.css"),
    "GET /api/v1/health": FOR_ALL,
    # Only a study whose profiles stay on devices has these: see test_study_device.py.
    "GET /profile": Row((HOME, HOME, HOME, HOME)),
    "GET /api/v1/study/words": NOT_HERE,
    "GET /api/v1/study/basis": NOT_HERE,
    "POST /api/v1/study/candidates": NOT_HERE,
}
WORKSPACE = ("/compare", "/device", "/me", "/groups", "/log", "/experiments", "/about", "/admin")
WORKSPACE += ("/docs", "/sign-in", "/lecture", "/api/v1/search?q=java", "/api/v1/profile", "/why")


def in_practice(app: Flask, code: object) -> Phone:
    phone = Phone(app, code)
    phone.agree()
    while phone.step != "3":
        phone.go_on()
    return phone


def visitor(app: Flask, place: ServedStudy, leader: FlaskClient, number: int) -> FlaskClient:
    """Return the browser of a kind of visitor; one participant is in the first task."""
    one, other = (in_practice(app, code) for code in place.store.invite(2))
    one.go_on()
    return [app.test_client(), one.client, other.client, leader][number]


def test_every_route_has_a_row_and_every_row_a_route(app: Flask) -> None:
    here = {
        f"{method} {rule.rule}"
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD"}
    }
    assert here == set(ROWS)


@pytest.mark.parametrize("number", range(len(VISITORS)), ids=VISITORS)
@pytest.mark.parametrize("key", [key for key in ROWS if key.startswith("POST")])
def test_each_visitor_gets_what_the_table_says_and_changes_nobody_else(
    app: Flask, place: ServedStudy, leader: FlaskClient, key: str, number: int
) -> None:
    client = visitor(app, place, leader, number)
    row, rule = ROWS[key], key.removeprefix("POST ")
    before = {person.id: person.step for person in place.store.participants()}
    rows = place.store.events()
    assert told(client, row.path or rule, data=dict(row.form)) == row.told[number]
    if key == "POST /withdraw" and number in (1, 2):
        return  # that is what they may
    steps = {person.id: person.step for person in place.store.participants()}
    assert Counter(steps.values()) - Counter(before.values()) == (
        Counter([5]) if key == "POST /answer" and number == 1 else Counter()
    )
    kept = len(place.store.events()) - len(rows)
    assert kept == (key in ("POST /open", "POST /answer") and number == 1)


def told(client: FlaskClient, path: str, **form: Any) -> int | str | None:
    """Return the status of an answer, or the address it leads to."""
    with client.open(path, method="POST" if form else "GET", **form) as answer:
        return answer.headers.get("Location") if answer.status_code == 303 else answer.status_code


@pytest.mark.parametrize("number", range(len(VISITORS)), ids=VISITORS)
def test_looking_shows_what_the_table_says_and_changes_nobody(
    app: Flask, place: ServedStudy, leader: FlaskClient, number: int
) -> None:
    client = visitor(app, place, leader, number)
    before = (place.store.participants(), place.store.events())
    rows = {key: row for key, row in ROWS.items() if key.startswith("GET")}
    seen = {key: told(client, row.path or key.removeprefix("GET ")) for key, row in rows.items()}
    assert seen == {key: row.told[number] for key, row in rows.items()}
    assert (place.store.participants(), place.store.events()) == before


@pytest.mark.parametrize("key", [key for key in ROWS if key.startswith("POST")])
def test_another_site_changes_nothing(
    app: Flask, place: ServedStudy, leader: FlaskClient, key: str
) -> None:
    client = visitor(app, place, leader, 1)
    before = (place.store.participants(), place.store.events())
    path = ROWS[key].path or key.split(" ")[1]
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        answer = client.post(path, data=dict(ROWS[key].form), headers=headers)
        assert answer.status_code == 403
    assert (place.store.participants(), place.store.events()) == before


@pytest.mark.parametrize("path", WORKSPACE)
def test_no_page_of_the_workspace_is_there(app: Flask, path: str) -> None:
    answer = app.test_client().get(path)
    assert answer.status_code == 404
    assert "There is no such page." in answer.text


def test_health_says_whether_index_and_database_answer(app: Flask, index: Any) -> None:
    client = app.test_client()
    body = client.get("/api/v1/health").json
    assert body is not None
    assert (body["status"], body["study"]) == ("ok", "toy")
    index.broken = True
    assert client.get("/api/v1/health").status_code == 503


def test_haste_is_refused_but_nobody_is_kept_from_coming_or_leaving(
    place: ServedStudy, app: Flask, phone: Phone
) -> None:
    app.config[OPEN] = True
    phone.agree()
    statuses = Counter(app.test_client().get("/").status_code for _ in range(60))
    assert set(statuses) == {200, 429}
    assert phone.get()  # at the same address, but with a bucket of their own
    late = Phone(app, place.store.invite(1)[0])
    late.agree()
    late.post("/withdraw")


@pytest.mark.parametrize("profile", ["interests", "persona", "code"])
def test_other_ways_to_a_profile(
    tmp_path: Path, modes: Modes, clock: Clock, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(write_study(tmp_path / "other", profile), modes, clock)
    made = {"coffee": 1.0}
    # WordNet is another test's: the subjects of the town are.
    monkeypatch.setattr(type(place.rankings), "of_interests", lambda _self, _labels: made)
    place.people = PeopleStore(tmp_path / "people.sqlite")
    code, stranger = place.people.new_code("1002"), place.people.new_code("unknown")
    right, wrong = {
        "interests": ({"interest": "baking"}, [{}, {"interest": "nonsense"}]),
        "persona": ({"persona": "1002"}, [{}, {"persona": "9999"}]),
        "code": ({"own-code": code}, [{}, {"own-code": "x"}, {"own-code": stranger}]),
    }[profile]
    phone = Phone(create_study_app(place), place.store.invite(1)[0])
    phone.agree()
    for form in wrong:
        assert "wrong" in phone.post("/profile", 400, step=phone.step, **form).text
    phone.post("/profile", step=phone.step, **right)
    (person,) = place.store.participants()
    assert (person.step, person.person) == (2, "" if profile == "interests" else "1002")
    assert dict(person.profile) == (made if profile == "interests" else {})
    assert place.people.count_signed_in(place.clock()) == 0
    phone.go_on()
    assert ("You play Oren" in phone.get().text) == (profile == "persona")
    place.store.close()


def test_the_profile_of_somebody_who_paused_is_not_read(
    tmp_path: Path, modes: Modes, clock: Clock
) -> None:
    place = place_of(write_study(tmp_path / "other", "code", practice=""), modes, clock)
    place.people = people = PeopleStore(tmp_path / "people.sqlite")
    code, phone = people.new_code("1002"), Phone(create_study_app(place), place.store.invite(1)[0])
    phone.agree()
    people.choose("1002", paused=True)
    refused = phone.post("/profile", 400, step=phone.step, **{"own-code": code})
    assert "have paused personalization" in refused.text
    people.choose("1002", paused=False)
    phone.post("/profile", step=phone.step, **{"own-code": code})
    people.choose("1002", paused=True)
    phone.go_on()  # a form
    with phone.client.get("/") as answer:
        assert (answer.status_code, "have paused" in answer.text) == (409, True)
    people.choose("1002", paused=False)
    assert "/answer" in phone.to_the_end()
    people.close()
    place.store.close()


def test_a_completion_address_has_the_code_in_it(
    tmp_path: Path, modes: Modes, clock: Clock
) -> None:
    address = "https://panel.example/done?cc={code}"
    folder = write_study(tmp_path / "other", code=address, practice="")
    place = place_of(folder, modes, clock)
    phone = Phone(create_study_app(place), place.store.invite(1)[0])
    phone.agree()
    phone.to_the_end()
    (link,) = [a["href"] for a in phone.get().all("a") if "panel" in str(a["href"])]
    assert str(link)[:-8] == address[:-6]
    place.store.close()


# -- generated requests ----------------------------------------------------------------------------

CHECKS = [schemathesis.checks.not_a_server_error]
GENERATED = settings(
    max_examples=25,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
FIELDS = ("step", "code", "version", "agree", "queries", "interest", "persona", "q", "open")
FIELDS += ("choice", "grade-1", "answer-age", "answer-satisfied", "client_time", "proof", "token")
VALUES = {"step": ["4", "5", "x"], "open": ["1-1", "9-9"], "choice": ["1", "same"]}


def document(app: Flask) -> dict[str, Any]:
    """Return an OpenAPI document of the study's routes."""
    text = {"type": "string"}
    fields = {name: {"anyOf": [{"enum": VALUES[name]}, text]} if name in VALUES else text
              for name in FIELDS}  # fmt: skip
    body = {
        "application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": fields}}
    }
    paths: dict[str, Any] = {}
    for rule in app.url_map.iter_rules():
        path = rule.rule
        for name in rule.arguments:
            path = path.replace(f"<int:{name}>", f"{{{name}}}").replace(
                f"<path:{name}>", f"{{{name}}}"
            )
            path = path.replace(f"<{name}>", f"{{{name}}}")
        parameters = [
            {"name": name, "in": "path", "required": True,
             "schema": {"type": "integer"} if f"<int:{name}>" in rule.rule else text}
            for name in rule.arguments
        ]  # fmt: skip
        for method in (rule.methods or set()) - {"HEAD"}:
            operation: dict[str, Any] = {"responses": {"200": {"description": "."}}}
            operation["parameters"] = parameters
            if method == "POST":
                operation["requestBody"] = {"content": body}
            paths.setdefault(path, {})[method.lower()] = operation
    return {"openapi": "3.1.0", "info": {"title": "study", "version": "1"}, "paths": paths}


def test_generated_requests_break_nothing(
    app: Flask, place: ServedStudy, leader: FlaskClient
) -> None:
    """As a participant in a task and as the leader, whose cookies go along."""
    phone = in_practice(app, place.store.invite(1)[0])
    phone.go_on()
    tokens = {}
    for client, name in ((phone.client, "veilsearch-study"), (leader, "veilsearch-leader")):
        cookie = client.get_cookie(name)
        assert cookie is not None
        tokens[name] = cookie.value
    schema = schemathesis.openapi.from_dict(document(app))
    schema.app = app
    statuses: Counter[int] = Counter()
    ends = ("/withdraw", "/leader/close", "/leader/sign-out")  # of the study or of a session: last
    operations = [found.ok() for found in schema.get_all_operations()]
    for operation in sorted(operations, key=lambda one: one.path in ends):

        @GENERATED
        @given(operation.as_strategy(GenerationMode.POSITIVE))
        def send(case: schemathesis.Case) -> None:
            response = case.call(cookies=tokens, headers={"Accept-Encoding": "identity"})
            statuses[response.status_code] += 1
            case.validate_response(response, checks=CHECKS)

        send()
    assert sum(statuses.values()) > 400
    assert statuses[303] > 50
