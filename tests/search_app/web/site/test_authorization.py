"""Who may what: every route and method of the application, for every kind of visitor.

A route without a row fails, and so does a row without a route. To add one, write what each kind of
visitor is to be told; `nobody` in private mode is sent to sign in (pages) or told so (the API).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from anonymizer.model import Profiles
from search_app.accounts.store import PersonChoices
from search_app.disclosure.kinds import PICTURES
from search_app.forgetting.person import ForgetReport
from search_app.search.modes import Modes
from search_app.settings import ACCESS
from search_app.web import Example, Site, create_app

from ..conftest import ADMIN_TOKEN, PEOPLE, Forgetting
from ..run_folders import with_runs

ME, OTHER = "1001", "1002"
SIGN_IN = "sign in"  # 303 to the page for signing in
Told = int | str
Private = tuple[
    Told, Told, Told, Told
]  # nobody, who is signed in, they with another's id, operator
Public = tuple[Told, Told]  # nobody chosen, somebody named
VISITORS = {
    "private": ("nobody", "person", "person with another's id", "operator"),
    "demo": ("nobody chosen", "somebody chosen"),
    "plain": ("nobody named", "somebody named"),
}


@dataclass(frozen=True)
class Row:
    """What each visitor is told by a route, and a request that is right but for who sends it."""

    private: Private
    demo: Public
    plain: Public
    path: str = ""  # where the rule has variables
    form: Mapping[str, str] = field(default_factory=dict)
    json: Any = None


FOR_ALL = Row((200, 200, 200, 200), (200, 200), (200, 200))
SEARCH = Row((SIGN_IN, 200, 404, 200), (200, 200), (200, 403))
ANSWER = Row((401, 200, 404, 200), (200, 200), (200, 403))
FOUND = Row((SIGN_IN, 200, 200, 200), (200, 200), (200, 200))  # `user` means nothing
LINES = Row((SIGN_IN, 403, 403, 200), (200, 200), (403, 403))  # of nobody: `user` means nothing
DATA = Row((401, 200, 400, 200), (200, 400), (200, 400))  # of nobody: `user` is refused
OPEN_DATA = Row((200, 200, 400, 200), (200, 400), (200, 400))
CLOSED = (404, 404, 404, 404)  # until the operator opens it to all
OWN_PAGE = Row((SIGN_IN, 200, 404, 403), (200, 200), (403, 403))  # in demo mode: choose somebody
OWN_FORM = Row((SIGN_IN, 303, 404, 403), (400, 303), (403, 403))
OWN_DATA = Row((401, 200, 404, 403), (400, 200), (403, 403))
OPERATOR = Row((SIGN_IN, 403, 403, 200), (404, 404), (404, 404))
MEANS = Row((SIGN_IN, 403, 403, 200), (200, 200), (200, 200))  # of experiments, over people
MEANS_DATA = Row((401, 403, 403, 200), (200, 400), (200, 400))
SHOW = Row((SIGN_IN, 404, 404, 404), (200, 200), (200, 200))  # nothing of people who are real
DIAL = Row((SIGN_IN, 404, 404, 404), (200, 200), (200, 403))

ROWS = {
    # -- searching
    "GET /": replace(SEARCH, path="/?q=java"),
    "GET /compare": replace(SEARCH, path="/compare?q=java"),
    "GET /why": replace(SEARCH, path="/why?q=java&doc=doc00"),
    "GET /documents/<path:doc>": replace(FOUND, path="/documents/doc03"),
    "GET /dial": replace(DIAL, path="/dial?q=java"),
    "GET /people": replace(SHOW, plain=(404, 404)),
    "GET /lecture": SHOW,
    "GET /lecture/<int:number>": replace(SHOW, path="/lecture/1", plain=(404, 404)),
    "GET /attack": replace(SHOW, plain=(404, 404)),
    "GET /attack/<int:number>": replace(SHOW, path="/attack/1", demo=(404, 404), plain=(404, 404)),
    # -- on the own device: nobody is asked for, and `user` means nothing
    "GET /device": replace(FOR_ALL, path="/device?q=java", private=CLOSED),
    # -- the own page
    "GET /me": OWN_PAGE,
    "GET /me/download": replace(OWN_PAGE, demo=(404, 200)),
    "GET /me/forget": OWN_PAGE,
    "POST /me/forget": replace(OWN_FORM, form={"confirm": "yes"}),
    "GET /me/forgotten": Row((200, 200, 200, 403), (200, 200), (403, 403)),  # names nobody
    "POST /me/pause": replace(OWN_FORM, form={"paused": "1"}),
    "POST /me/remember": replace(OWN_FORM, form={"remember": "1"}),
    "POST /me/searches": replace(OWN_FORM, form={"search": "all"}),
    "POST /me/terms": replace(OWN_FORM, form={"term": "coffee"}),
    "POST /me/grow": replace(OWN_FORM, form={"grow": "0"}),
    "POST /me/grown": replace(OWN_FORM, form={"all": "1"}),
    "POST /me/tokens": replace(
        OWN_FORM,
        private=(SIGN_IN, 200, 404, 403),
        demo=(400, 404),
        form={"name": "my script"},
    ),
    "POST /me/tokens/revoke": replace(OWN_FORM, demo=(400, 404), form={"token": "7K3QD"}),
    "POST /me/leave": replace(OWN_FORM, form={"confirm": "yes"}),
    # -- groups and the log
    "GET /groups": SEARCH,
    "GET /groups/<row>": replace(SEARCH, path="/groups/g0001"),
    "GET /groups/<row>/terms.csv": replace(SEARCH, path="/groups/g0001/terms.csv"),
    "GET /groups/groups.csv": replace(SEARCH, path="/groups/groups.csv"),
    f"GET /groups/<any({', '.join(PICTURES)}):name>.csv": replace(SEARCH, path="/groups/sizes.csv"),
    "GET /log": SEARCH,
    "GET /log.csv": LINES,
    # -- experiments
    "GET /experiments": MEANS,
    "GET /experiments/compare": replace(MEANS, path="/experiments/compare?one=toy&other=later"),
    "GET /experiments/<name>": replace(MEANS, path="/experiments/toy"),
    "GET /experiments/<name>/figures/<file>": replace(
        MEANS, path="/experiments/toy/figures/figure-2.svg"
    ),
    "GET /experiments/<name>/files/<file>": replace(
        MEANS, path="/experiments/toy/files/summary.csv"
    ),
    # -- signing in, and the operator
    "GET /sign-in": Row((200, 200, 200, 200), (404, 404), (404, 404)),
    "POST /sign-in": Row((403, 403, 403, 403), (404, 404), (404, 404), form={"code": "wrong"}),
    "POST /sign-out": Row((SIGN_IN, SIGN_IN, SIGN_IN, SIGN_IN), (404, 404), (404, 404)),
    "GET /admin": OPERATOR,
    "POST /admin/codes": replace(OPERATOR, form={"user": OTHER}),
    "POST /admin/codes/revoke": replace(
        OPERATOR, private=(SIGN_IN, 403, 403, 303), form={"user": OTHER}
    ),
    # -- open to everybody
    "GET /about": FOR_ALL,
    "GET /docs": FOR_ALL,
    "GET /opensearch.xml": FOR_ALL,
    "GET /suggest": replace(FOUND, path="/suggest?q=ja"),
    "GET /metrics": FOR_ALL,  # in private mode only from this machine: see test_metrics
    "GET /static/<path:name>": replace(FOR_ALL, path="/static/style.css"),
    "GET /api/v1/health": OPEN_DATA,
    "GET /api/v1/openapi.json": FOR_ALL,
    "GET /api/v1/reference": replace(
        OPEN_DATA, path="/api/v1/reference", private=(404, 404, 400, 404)
    ),
    "GET /api/v1/candidates": replace(
        OPEN_DATA, path="/api/v1/candidates?q=java", private=(404, 404, 400, 404)
    ),
    # -- the API
    "GET /api/v1/search": replace(ANSWER, path="/api/v1/search?q=java"),
    "GET /api/v1/compare": replace(ANSWER, path="/api/v1/compare?q=java"),
    "GET /api/v1/dial": replace(DIAL, path="/api/v1/dial?q=java", private=(401, 404, 404, 404)),
    "GET /api/v1/explain": replace(ANSWER, path="/api/v1/explain?q=java&doc=doc00"),
    "GET /api/v1/documents/<path:doc>": replace(DATA, path="/api/v1/documents/doc03"),
    "GET /api/v1/suggest": replace(DATA, path="/api/v1/suggest?q=ja"),
    "GET /api/v1/groups": DATA,
    "GET /api/v1/groups/<row>": replace(DATA, path="/api/v1/groups/g0001"),
    "GET /api/v1/log": DATA,
    "GET /api/v1/experiments": MEANS_DATA,
    "GET /api/v1/experiments/<experiment>": replace(MEANS_DATA, path="/api/v1/experiments/toy"),
    "GET /api/v1/profile": OWN_DATA,
    "DELETE /api/v1/profile": OWN_DATA,
    "POST /api/v1/profile/forget-terms": replace(OWN_DATA, json={"terms": ["coffee"]}),
    "POST /api/v1/profile/leave-group": replace(OWN_DATA, json={}),
    "GET /api/v1/profile/choices": OWN_DATA,
    "GET /api/v1/profile/growth": OWN_DATA,
    "PUT /api/v1/profile/growth": replace(OWN_DATA, json={"on": False, "keep": False}),
    "PUT /api/v1/profile/choices": replace(OWN_DATA, json={"paused": True, "remember": True}),
}
CASES = [
    (key, access, number)
    for key in ROWS
    if not key.startswith("GET")
    for access, visitors in VISITORS.items()
    for number in range(len(visitors))
]


class World:
    """A site in one access mode, and what was forgotten in it."""

    def __init__(self, site: Site, access: str):
        self.forgetting = Forgetting()
        shown: dict[str, Any] = {"people": PEOPLE, "examples": (Example(ME, "java"),)}
        site = replace(site, **shown) if access == "demo" else site
        leave = ForgetReport(rows_withdrawn=1)
        self.site = replace(site, access=access, forget=self.forgetting, leave=lambda _user: leave)
        self.app = create_app(self.site)
        self.codes = self.site.store.new_codes([ME, OTHER])

    def told(self, key: str, number: int, **headers: str) -> Told:
        """Return what the visitor of a number is told by a route."""
        client, access = self.app.test_client(), self.site.access
        if access == "private" and number:
            code = ADMIN_TOKEN if number == 3 else self.codes[ME]
            assert client.post("/sign-in", data={"code": code}).status_code == 303
        named = {("private", 2): OTHER, ("demo", 1): ME, ("plain", 1): ME}.get((access, number))
        return outcome(self._send(client, key, named, headers))

    def _send(
        self, client: FlaskClient, key: str, named: str | None, headers: dict[str, str]
    ) -> TestResponse:
        row, (method, rule) = ROWS[key], key.split(" ", 1)
        path = row.path or rule
        form = dict(row.form)
        if named and method == "POST" and row.json is None:
            form.setdefault("user", named)
        elif named:
            path += f"{'&' if '?' in path else '?'}user={named}"
        body: dict[str, Any] = {"data": form} if row.json is None else {"json": row.json}
        if method == "GET":
            body = {}
        with client.open(path, method=method, headers=headers, **body) as response:
            return response

    def of(self, user: str) -> tuple[object, ...]:
        """Return all that a request could have changed of a person."""
        store = self.site.store
        signed = store.sign_in(self.codes[user], self.site.clock()) is not None
        return signed, store.choices(user), user in dict(self.forgetting.asked)


def outcome(response: TestResponse) -> Told:
    """Return the status, or that it was sent to sign in."""
    sent = response.status_code == 303 and response.headers["Location"] == "/sign-in"
    return SIGN_IN if sent else response.status_code


@pytest.fixture
def private(private: Site, tmp_path: Path) -> Site:
    """A site with runs of experiments, where who asks has two terms, so that one can go."""
    private = with_runs(private, tmp_path / "workspace")
    modes = private.modes
    assert modes.profiles is not None
    rows = {user: modes.profiles.row(user) for user in modes.profiles.users}
    profiles = Profiles.from_rows({**rows, ME: {"coffee": 1.0, "code": 0.5}})
    return replace(private, modes=Modes(modes.engine, profiles, modes.release))


def routes(app: Flask) -> set[str]:
    return {
        f"{method} {rule.rule}"
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD"}
    }


def test_every_route_has_a_row_and_every_row_a_route(private: Site) -> None:
    here = routes(create_app(private))
    assert sorted(here - set(ROWS)) == [], "routes without a row: say who may what"
    assert sorted(set(ROWS) - here) == [], "rows without a route"
    assert set(VISITORS) == set(ACCESS), "a way to be served without visitors"


@pytest.mark.parametrize(
    ("key", "access", "number"),
    CASES,
    ids=[f"{key}, {access}: {VISITORS[access][number]}" for key, access, number in CASES],
)
def test_each_visitor_is_told_what_the_table_says_and_changes_nobody_else(
    private: Site, key: str, access: str, number: int
) -> None:
    world = World(private, access)
    assert world.told(key, number) == getattr(ROWS[key], access)[number]
    if access != "private" or (number == 3 and key.startswith("POST /admin/")):
        return  # that is what the operator may
    assert world.of(OTHER) == (True, PersonChoices(), False)
    assert not world.site.transcripts.of(OTHER)
    if number in (0, 3):
        assert world.of(ME) == (True, PersonChoices(), False)


@pytest.mark.parametrize(
    ("access", "number"),
    [(access, at) for access in VISITORS for at in range(len(VISITORS[access]))],
)
def test_looking_shows_what_the_table_says_and_changes_nobody(
    private: Site, access: str, number: int
) -> None:
    world = unlimited(private, access)
    rows = {key: getattr(row, access)[number] for key, row in ROWS.items() if key.startswith("GET")}
    assert {key: world.told(key, number) for key in rows} == rows
    if access == "private":
        assert [world.of(user) for user in (ME, OTHER)] == [(True, PersonChoices(), False)] * 2
        assert not world.site.transcripts.of(OTHER)


def unlimited(site: Site, access: str) -> World:
    return World(replace(site, settings=replace(site.settings, rate=0)), access)


@pytest.mark.parametrize("access", VISITORS)
def test_another_site_changes_nothing(private: Site, access: str) -> None:
    world = unlimited(private, access)
    for key, number in product(ROWS, range(len(VISITORS[access]))):
        for sent in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
            if not key.startswith("GET"):
                assert world.told(key, number, **sent) == 403, (key, number)
                unchanged = [world.of(user) for user in (ME, OTHER)]
                assert unchanged == [(True, PersonChoices(), False)] * 2, (key, number)
