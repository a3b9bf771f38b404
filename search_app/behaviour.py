"""How the real application of a workspace treats strangers: asked in process, nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import AnyConverter, BaseConverter, Rule
from werkzeug.routing.converters import NumberConverter
from werkzeug.test import TestResponse

from .admission import PRIVATE, is_loopback
from .checkup import Check, Finding, guarded
from .serving import Serving
from .settings import Settings
from .web import create_app
from .web.headers import LARGEST_BODY, SAFE, headers
from .web.sign_in import COOKIE, OPEN
from .web.site import Site

_FOREIGN = "evil.example"
_ELSEWHERE: tuple[dict[str, str], ...] = (  # what browsers say of a page of another site
    {"Sec-Fetch-Site": "cross-site"},
    {"Origin": f"https://{_FOREIGN}"},
    {"Origin": "null"},
)
_OURS = {"Sec-Fetch-Site": "same-origin"}
_FORM = "application/x-www-form-urlencoded"
_CLOSED = {303, 401, 403, 404}
_FAULT = "tell who makes veilsearch: this is a fault of the program, not of what is set"


class _Case(NamedTuple):
    """The application, asked as browsers ask it."""

    app: Flask
    site: Site
    client: FlaskClient

    def ask(self, method: str, path: str, **more: Any) -> TestResponse:
        """Send a request; its answer is read whole."""
        scheme = "https" if self.site.settings.https else "http"
        return self.client.open(
            path, method=method, base_url=f"{scheme}://localhost", buffered=True, **more
        )

    def changing(self) -> list[tuple[str, str]]:
        """Return method and address of all that changes something."""
        return [
            (method, address(rule))
            for rule in self.app.url_map.iter_rules()
            for method in sorted(set(rule.methods or ()) - set(SAFE))
        ]

    def pages(self) -> dict[str, str]:
        """Return the address of each page by its endpoint."""
        rules = self.app.url_map.iter_rules()
        return {rule.endpoint: address(rule) for rule in rules if "GET" in (rule.methods or ())}


def behaviour(settings: Settings, host: str) -> Iterator[Check]:
    """Ask the application what strangers would ask it."""
    serving = Serving(settings, lambda _text: None, loopback=is_loopback(host), lasting=False)
    try:
        site = serving.open()
    except Exception as fault:
        yield guarded("pages", partial(_raise, fault), "see the other lines")
        return
    # Without a rate: these questions come faster than a person asks.
    app = create_app(replace(site, settings=replace(settings, rate=0)))
    case = _Case(app, site, app.test_client(use_cookies=False))
    try:
        for name, look in _LOOKS.items():
            yield guarded(name, partial(look, case), _FAULT)
    finally:
        site.close()


def _raise(fault: Exception) -> str:
    raise fault


def address(rule: Rule) -> str:
    """Return an address that a route answers."""
    built = rule.build({name: _value(kind) for name, kind in rule._converters.items()})
    return built[1] if built else rule.rule


def _value(kind: BaseConverter) -> Any:
    if isinstance(kind, AnyConverter):
        return min(kind.items)
    return 1 if isinstance(kind, NumberConverter) else "g0001"


def _other_sites(case: _Case) -> str:
    asked = [(*each, said) for each in case.changing() for said in _ELSEWHERE]
    taken = {
        f"{method} {path}"
        for method, path, said in asked
        if case.ask(method, path, headers=said).status_code != 403
    }
    if taken:
        raise Finding(f"other sites can send: {', '.join(sorted(taken))}", _FAULT)
    return f"{len(asked)} requests of other sites, each refused"


def _other_names(case: _Case) -> str:
    pages = case.pages().values()
    said = {"Host": _FOREIGN}
    taken = [path for path in pages if case.ask("GET", path, headers=said).status_code != 400]
    if taken:
        raise Finding(f"answered under a foreign host name: {', '.join(taken)}", _FAULT)
    return f"{len(pages)} pages, none answers under a foreign host name"


def _headers(case: _Case) -> str:
    """Look at an answer of each kind: found, missing, not to be asked so, foreign, too long."""
    answers = [
        case.ask("GET", "/about"),
        case.ask("GET", "/missing"),
        case.ask("OPTIONS", "/about"),
        case.ask("GET", "/", headers={"Host": _FOREIGN}),
        case.ask("POST", "/about", headers=_ELSEWHERE[0]),
    ]
    statuses = [answer.status_code for answer in answers]
    if statuses != [200, 404, 405, 400, 403]:
        raise Finding(f"the answers are {statuses} instead of 200, 404, 405, 400, 403", _FAULT)
    wanted = {**headers(case.site.settings.https), "Cache-Control": "no-store"}
    for answer in answers:
        wrong = [name for name, value in wanted.items() if answer.headers.getlist(name) != [value]]
        wrong += [name for name, _ in answer.headers if name.startswith("Access-Control-")]
        if wrong:
            raise Finding(f"{answer.status_code} has wrong headers: {', '.join(wrong)}", _FAULT)
    return f"{len(wanted)} headers on {len(answers)} kinds of answers, no other site may read any"


def _bodies(case: _Case) -> str:
    long, asked = b"x" * (LARGEST_BODY + 1), case.changing()
    for method, path in asked:
        answer = case.ask(method, path, data=long, content_type=_FORM, headers=_OURS)
        if answer.status_code != 413:
            raise Finding(f"{method} {path} takes a body of {len(long):,} bytes", _FAULT)
        answer = case.ask(method, path, data=b"x", content_type="text/plain", headers=_OURS)
        if answer.status_code != 415:
            raise Finding(f"{method} {path} takes a body of plain text", _FAULT)
    return f"{len(asked)} routes take no more than {LARGEST_BODY // 1024} kB, of forms or JSON"


def _nobody(case: _Case) -> str:
    """Look at each page that is not open to everybody, as somebody who has not signed in."""
    if case.site.access != PRIVATE:
        return f"mode {case.site.access} has no pages that need signing in"
    pages = {
        endpoint: path
        for endpoint, path in case.pages().items()
        if not {endpoint, endpoint.partition(".")[0]} & OPEN
    }
    forged = {"Cookie": f"{COOKIE}=forged"}
    for path in pages.values():
        for said in ({}, forged):
            status = case.ask("GET", path, headers=said).status_code
            if status not in _CLOSED:
                raise Finding(f"{path} answers {status} to who has not signed in", _FAULT)
    return f"{len(pages)} pages, none of them for who has not signed in"


def _cookies(case: _Case) -> str:
    """Sign in as the operator; what the browser is told to keep has all its flags."""
    if case.site.access != PRIVATE:
        return f"mode {case.site.access} sets none"
    answer = case.ask("POST", "/sign-in", data={"code": case.site.admin_token}, headers=_OURS)
    set_ = answer.headers.getlist("Set-Cookie")
    if answer.status_code != 303 or len(set_) != 1:
        raise Finding(f"the operator can't sign in ({answer.status_code})", "set the token anew")
    flags = {each.strip().lower() for each in set_[0].split(";")[1:]}
    wanted = {"httponly", "samesite=strict", "path=/"}
    wanted |= {"secure"} if case.site.settings.https else set()
    if wanted - flags or any(flag.startswith("domain=") for flag in flags):
        raise Finding(f"the cookie has {', '.join(sorted(flags))}", _FAULT)
    return f"one, and it is {', '.join(sorted(flags))}"


_LOOKS: dict[str, Callable[[_Case], str]] = {
    "sites": _other_sites,
    "names": _other_names,
    "headers": _headers,
    "bodies": _bodies,
    "nobody": _nobody,
    "cookies": _cookies,
}
