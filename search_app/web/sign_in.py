"""Signing in and out; who has not signed in sees only what is open to everybody."""

from __future__ import annotations

from typing import Any, NamedTuple

from flask import (
    Blueprint,
    Response,
    abort,
    current_app,
    g,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from flask.blueprints import BlueprintSetupState
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from ..personal_code import public_part
from . import sessions
from .access import Visitor, visitor
from .limits import network
from .sessions import OperatorSessions
from .site import PRIVATE, Site, this_site
from .tries import Busy, Tries, Turns

pages = Blueprint("sign_in", __name__)
COOKIE = "veilsearch"
API = "/api/"
OPEN = {
    "sign_in",
    "about",
    "device",
    "api_device",
    "assets",
    "health",
    "docs",
    "openapi",
    "me.forgotten",
}  # blueprints, or single endpoints
PERSONAL = {"me", "api_profile"}  # what only a person has: blueprints, or single endpoints
WRONG = "This code is not known here. Please look at it again: every letter and digit counts."
BUSY = "Many people are signing in at this moment. Please try again in a few seconds."
_SECONDS = 3  # until then
_KEY = "veilsearch.sign_in"


class _Door(NamedTuple):
    """What is kept in memory about signing in."""

    tries: Tries
    turns: Turns
    operators: OperatorSessions


@pages.record_once
def _remember_in_memory(state: BlueprintSetupState) -> None:
    state.app.extensions[_KEY] = _Door(Tries(), Turns(), OperatorSessions())


@pages.before_app_request
def _know_visitor() -> Response | None:
    """Find out who asks; send whom nobody knows to sign in."""
    site = this_site()
    if site.access != PRIVATE or request.endpoint == "assets.file":
        return None
    g.visitor = known = sessions.whose(site, _door().operators, request.cookies.get(COOKIE, ""))
    if known.admin and _among(PERSONAL):
        abort(403, "The operator has no profile. To see a person’s page, that person signs in.")
    if known.user or known.admin or _among(OPEN) or request.routing_exception:
        return None
    if request.path.startswith(API):
        scheme = WWWAuthenticate("cookie", {"realm": "veilsearch"})
        raise Unauthorized("Sign in first, at /sign-in.", www_authenticate=scheme)
    return _to("sign_in.show")


@pages.app_context_processor
def _visitor() -> dict[str, Visitor]:
    return {"visitor": visitor()}


@pages.get("/sign-in")
def show() -> Response:
    """Show the form, or to who has signed in the way out."""
    _private()
    return _form(200, "")


@pages.post("/sign-in")
def enter() -> Response:
    """Begin a session with a code."""
    site, door, client = _private(), _door(), network(request.remote_addr)
    code = request.form.get("code", "")
    public = public_part(code)
    wait = door.tries.begin(client, public, site.clock())
    if wait:
        sentence = f"Too many wrong codes came from your network. Please wait {wait} seconds."
        return _form(429, sentence, wait)
    try:
        token = sessions.begin(site, door.operators, code, door.turns)
    except Busy:  # nobody has looked at the code
        door.tries.take_back(client, public)
        return _form(429, BUSY, _SECONDS)
    if token is None:
        return _form(403, WRONG)
    door.tries.take_back(client, public)
    return _begun(site, door, token)


def _begun(site: Site, door: _Door, token: str) -> Response:
    """End the session before in this browser, and go on with the new one."""
    sessions.end(site, door.operators, request.cookies.get(COOKIE, ""))
    begun = sessions.whose(site, door.operators, token)
    response = _to("admin.show" if begun.admin else "search.show")
    response.set_cookie(COOKIE, token, **_cookie(site))
    return response


@pages.post("/sign-out")
def leave() -> Response:
    """End the session."""
    site = _private()
    sessions.end(site, _door().operators, request.cookies.get(COOKIE, ""))
    site.transcripts.drop(visitor().user)
    response = _to("sign_in.show")
    response.delete_cookie(COOKIE, **_cookie(site))
    return response


def _private() -> Site:
    site = this_site()
    if site.access != PRIVATE:
        abort(404)
    return site


def _door() -> _Door:
    door: _Door = current_app.extensions[_KEY]
    return door


def _among(names: set[str]) -> bool:
    endpoint = request.endpoint or ""
    return endpoint in names or endpoint.rpartition(".")[0] in names


def _cookie(site: Site) -> dict[str, Any]:
    """Return how the cookie is kept: until the browser is closed, from scripts and other sites."""
    return {"httponly": True, "samesite": "Strict", "path": "/", "secure": site.settings.https}


def _form(status: int, sentence: str, wait: int = 0) -> Response:
    page = render_template("sign_in/show.html", sentence=sentence)
    return make_response(page, status, {"Retry-After": str(wait)} if wait else {})


def _to(endpoint: str) -> Response:
    """Send the browser to a page of ours: never to an address from the request."""
    return make_response(redirect(url_for(endpoint), 303))
