"""Checks of how the real application treats strangers: it is asked in process, nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import AnyConverter, Rule
from werkzeug.routing.converters import NumberConverter
from werkzeug.test import TestResponse

from ..accounts.admission import is_loopback
from ..settings import PRIVATE, Settings
from ..web import ServedStudy, create_app, create_study_app
from ..web.headers import LARGEST_BODY, SAFE, headers
from ..web.pages.study.place import LEADERS_COOKIE
from ..web.visitors.sign_in import COOKIE, OPEN
from .checkup import Check, FailedCheck, guarded
from .opening import Serving

_FOREIGN = "evil.example"
_ELSEWHERE: tuple[dict[str, str], ...] = (  # headers that browsers send from pages of other sites
    {"Sec-Fetch-Site": "cross-site"},
    {"Origin": f"https://{_FOREIGN}"},
    {"Origin": "null"},
)
_OURS = {"Sec-Fetch-Site": "same-origin"}
_FORM = "application/x-www-form-urlencoded"
# Pages of a study for everybody; without a code they show nothing of anybody.
_OPEN_IN_STUDY = {
    "study.show",
    "study.ask_withdrawal",
    "study.ask_withdrawal_later",
    "study.erased",
}
_OPEN_IN_STUDY |= {"assets", "health", "leader.show_door"}
_CLOSED = {303, 401, 403, 404}
_FAULT = "report this to the makers of veilsearch: the program is at fault, not the settings"


class _Case(NamedTuple):
    """The application with a client that sends requests as browsers do."""

    app: Flask
    settings: Settings
    client: FlaskClient
    page: str  # that takes GET only, from everybody
    open: Set[str]  # endpoints or blueprints that are open to everybody
    sign_in: tuple[str, str]  # the address where the operator's token goes, and the field
    cookie: str
    closed: str = ""  # why nobody signs in, if that is so

    def ask(self, method: str, path: str, **more: Any) -> TestResponse:
        """Send a request to `path` by `method` and return the whole answer."""
        scheme = "https" if self.settings.https else "http"
        base = f"{scheme}://localhost"
        return self.client.open(path, method=method, base_url=base, buffered=True, **more)

    def changing(self) -> list[tuple[str, str]]:
        """Return method and address of each route that changes something."""
        return [
            (method, address(rule))
            for rule in self.app.url_map.iter_rules()
            for method in sorted(set(rule.methods or ()) - set(SAFE))
        ]

    def pages(self) -> dict[str, str]:
        """Return the address of each page by its endpoint."""
        rules = self.app.url_map.iter_rules()
        return {rule.endpoint: address(rule) for rule in rules if "GET" in (rule.methods or ())}


def behaviour(settings: Settings, host: str, study: Path | None = None) -> Iterator[Check]:
    """Yield checks of how the application of `settings` on `host` answers strangers.

    It serves the workspace, or the study in the folder `study`.
    """
    # Without a rate limit, as these requests come faster than a person's.
    settings = replace(settings, rate=0)
    try:
        case, close = _of_study(settings, study) if study else _of_site(settings, host)
    except Exception as fault:
        yield guarded("pages", partial(_raise, fault), "see the other lines")
        return
    try:
        for name, look in _LOOKS.items():
            yield guarded(name, partial(look, case), _FAULT)
    finally:
        close()


def _of_site(settings: Settings, host: str) -> tuple[_Case, Callable[[], object]]:
    """Return the site of the workspace to ask, and what closes it."""
    # Not lasting: nothing that these requests do may reach the workspace.
    serving = Serving(settings, lambda _text: None, loopback=is_loopback(host), lasting=False)
    site = serving.open()
    return _case_of(create_app(replace(site, settings=settings)), settings, site.access), site.close


def _case_of(app: Flask, settings: Settings, access: str) -> _Case:
    closed = "" if access == PRIVATE else f"mode {access}"
    client, door = app.test_client(use_cookies=False), ("/sign-in", "code")
    return _Case(app, settings, client, "/about", OPEN, door, COOKIE, closed)


def _of_study(settings: Settings, folder: Path) -> tuple[_Case, Callable[[], object]]:
    """Return the study in `folder` to ask, where nobody is invited, and what closes it."""
    from ..study.design import read_study
    from ..study.rankings import open_rankings
    from ..study.store import StudyStore

    store = StudyStore(None)
    place = ServedStudy(read_study(folder), store, open_rankings(settings), settings)
    app = create_study_app(place)
    closed = "" if settings.admin_token else "without a token"
    client, door = app.test_client(use_cookies=False), ("/leader/sign-in", "token")
    case = _Case(app, settings, client, "/withdrawn", _OPEN_IN_STUDY, door, LEADERS_COOKIE, closed)
    return case, store.close


def _raise(fault: Exception) -> str:
    raise fault


def address(rule: Rule) -> str:
    """Return an address that the route `rule` answers."""
    values: dict[str, Any] = {}
    for name, kind in rule._converters.items():
        values[name] = 1 if isinstance(kind, NumberConverter) else "g0001"
        if isinstance(kind, AnyConverter):
            values[name] = min(kind.items)
    built = rule.build(values)
    return built[1] if built else rule.rule


def _other_sites(case: _Case) -> str:
    taken, routes = set(), case.changing()
    for method, path in routes:
        if any(case.ask(method, path, headers=sent).status_code != 403 for sent in _ELSEWHERE):
            taken.add(f"{method} {path}")
    if taken:
        raise FailedCheck(f"other sites can send: {', '.join(sorted(taken))}", _FAULT)
    return f"{len(routes) * len(_ELSEWHERE)} requests from other sites, each refused"


def _other_names(case: _Case) -> str:
    pages = case.pages().values()
    foreign = {"Host": _FOREIGN}
    taken = [path for path in pages if case.ask("GET", path, headers=foreign).status_code != 400]
    if taken:
        raise FailedCheck(f"answered under a foreign host name: {', '.join(taken)}", _FAULT)
    return f"{len(pages)} pages, none answers under a foreign host name"


def _headers(case: _Case) -> str:
    """Check the headers of every kind of answer: a page, and each way to be refused."""
    answers = [
        case.ask("GET", case.page),
        case.ask("GET", "/missing"),
        case.ask("OPTIONS", case.page),
        case.ask("GET", "/", headers={"Host": _FOREIGN}),
        case.ask("POST", case.page, headers=_ELSEWHERE[0]),
    ]
    statuses = [answer.status_code for answer in answers]
    if statuses != [200, 404, 405, 400, 403]:
        raise FailedCheck(f"the answers are {statuses} instead of 200, 404, 405, 400, 403", _FAULT)
    wanted = {**headers(case.settings.https), "Cache-Control": "no-store"}
    for answer in answers:
        wrong = [name for name, value in wanted.items() if answer.headers.getlist(name) != [value]]
        wrong += [name for name, _ in answer.headers if name.startswith("Access-Control-")]
        if wrong:
            raise FailedCheck(f"{answer.status_code} has wrong headers: {', '.join(wrong)}", _FAULT)
    return f"{len(wanted)} headers on {len(answers)} kinds of answers; other sites can read none"


def _bodies(case: _Case) -> str:
    long, routes = b"x" * (LARGEST_BODY + 1), case.changing()
    for method, path in routes:
        answer = case.ask(method, path, data=long, content_type=_FORM, headers=_OURS)
        if answer.status_code != 413:
            raise FailedCheck(f"{method} {path} takes a body of {len(long):,} bytes", _FAULT)
        answer = case.ask(method, path, data=b"x", content_type="text/plain", headers=_OURS)
        if answer.status_code != 415:
            raise FailedCheck(f"{method} {path} takes a body of plain text", _FAULT)
    return f"{len(routes)} routes take at most {LARGEST_BODY // 1024} kB, of forms or JSON"


def _nobody(case: _Case) -> str:
    """Ask for each page that is not open to everybody without being signed in."""
    if case.closed:
        return f"{case.closed} has no pages that require signing in"
    pages = {
        endpoint: path
        for endpoint, path in case.pages().items()
        if not {endpoint, endpoint.partition(".")[0]} & case.open
    }
    forged = {"Cookie": f"{case.cookie}=forged"}
    for path in pages.values():
        for sent in ({}, forged):
            status = case.ask("GET", path, headers=sent).status_code
            if status not in _CLOSED:
                raise FailedCheck(f"{path} answers {status} without being signed in", _FAULT)
    return f"{len(pages)} pages, each closed to people who have not signed in"


def _cookies(case: _Case) -> str:
    """Sign in as the operator and check that the cookie has all its flags."""
    if case.closed:
        return f"{case.closed} sets none"
    (path, field), token = case.sign_in, case.settings.admin_token
    answer = case.ask("POST", path, data={field: token}, headers=_OURS)
    set_ = answer.headers.getlist("Set-Cookie")
    if answer.status_code != 303 or len(set_) != 1:
        raise FailedCheck(f"the operator can't sign in ({answer.status_code})", "set another token")
    flags = {flag.strip().lower() for flag in set_[0].split(";")[1:]}
    wanted = {"httponly", "samesite=strict", "path=/"}
    wanted |= {"secure"} if case.settings.https else set()
    if wanted - flags or any(flag.startswith("domain=") for flag in flags):
        raise FailedCheck(f"the cookie has {', '.join(sorted(flags))}", _FAULT)
    return f"one, and it is {', '.join(sorted(flags))}"


_LOOKS: dict[str, Callable[[_Case], str]] = {
    "sites": _other_sites,
    "names": _other_names,
    "headers": _headers,
    "bodies": _bodies,
    "nobody": _nobody,
    "cookies": _cookies,
}
