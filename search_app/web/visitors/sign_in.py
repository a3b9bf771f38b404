"""Signing in and out; without signing in, only the open pages are shown."""

from __future__ import annotations

from typing import Any

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
from werkzeug.exceptions import TooManyRequests, Unauthorized
from werkzeug.wrappers import Response as Answer

from ...accounts.codes import TOKEN, public_part, read_token
from ...settings import PRIVATE, Settings
from ..faults import API
from ..headers import bearer
from ..site import STOPPED, Site, this_site
from . import sessions
from .access import Visitor, visitor
from .limits import network
from .tries import Tries

pages = Blueprint("sign_in", __name__)
COOKIE = "veilsearch"
OPEN = {
    "sign_in",
    "about",
    "device",
    "api_device",
    "assets",
    "health",
    "docs",
    "openapi",
    "opensearch.describe",
    "metrics",
    "me.forgotten",
}  # blueprints or endpoints that need no session
PERSONAL = {"me", "api_profile"}  # blueprints that only a person has
_OF_PEOPLE = {*PERSONAL, "admin", "groups", "api_groups"}  # blueprints with profiles or rows
_ALWAYS = {"me.forget", "me.be_forgotten"} | OPEN  # whether a later state can be opened or not
WRONG = "This code is not known here. Please check every letter and digit."
NO_TOKENS = "Nobody signs in here, so this server takes no tokens. Leave Authorization out."
WRONG_TOKEN = "This token is not known here. It may be revoked; make another on your page."  # noqa: S105
TOO_MANY = "Too many wrong codes came from your network. A right one is let in at any time."
_SCHEMES = ("cookie", "bearer")
TRIES = "veilsearch.sign_in"


@pages.record_once
def _remember_in_memory(state: BlueprintSetupState) -> None:
    state.app.extensions[TRIES] = Tries()


@pages.before_app_request
def _know_visitor() -> Response | None:
    """Find out who the visitor is; send strangers to the sign-in page."""
    site = this_site()
    if site.stopped and _among(_OF_PEOPLE) and not _among(_ALWAYS):
        abort(503, STOPPED)
    token = bearer()
    if token is not None and site.access != PRIVATE:
        abort(400, NO_TOKENS)
    if site.access != PRIVATE or request.endpoint == "assets.file":
        return None
    # A wrong token is refused, whatever cookie comes with it.
    g.visitor = known = _holder(site, token) if token is not None else _session(site)
    if known.admin and _among(PERSONAL):
        abort(403, "The operator has no profile. To see a person’s page, that person signs in.")
    # Addresses that don't exist get their 404, not the sign-in page.
    if known.user or known.admin or _among(OPEN) or request.routing_exception:
        return None
    if request.path.startswith(API):
        schemes = [WWWAuthenticate(scheme, {"realm": "veilsearch"}) for scheme in _SCHEMES]
        sentence = f"Sign in first, at {url_for('sign_in.show')}, or send a token."
        raise Unauthorized(sentence, www_authenticate=schemes)
    return _to("sign_in.show")


def _session(site: Site) -> Visitor:
    """Return the visitor by the request's cookie."""
    return sessions.whose(site, request.cookies.get(COOKIE, ""))


def _holder(site: Site, token: str) -> Visitor:
    """Return the visitor by the request's `token`; refuse a wrong one, and too many of them."""
    if user := site.store.holder_of(token):
        return Visitor(user)
    # As with codes: only wrong ones count, by address and public part.
    key = f"{TOKEN}{read_token(token).public}"
    if wait := _tries().begin(network(request.remote_addr), key, site.clock()):
        raise TooManyRequests("Too many wrong tokens came from your network.", retry_after=wait)
    scheme = WWWAuthenticate("bearer", {"realm": "veilsearch", "error": "invalid_token"})
    raise Unauthorized(WRONG_TOKEN, www_authenticate=scheme)


def operators_only(site: Site) -> None:
    """Refuse the request unless the operator of `site` has signed in, or it has their token."""
    if visitor().admin:
        return
    tries, client, given = _tries(), network(request.remote_addr), request.authorization
    token = (given.token or "") if given and given.type == "bearer" else ""
    # The operator may choose a weak token, so here even a right one waits after many wrong ones.
    if token and (wait := tries.begin(client, None, site.clock())):
        raise TooManyRequests("Too many wrong tokens came from your network.", retry_after=wait)
    if site.admin_token and sessions.same(token, site.admin_token):
        tries.take_back(client, None)
        return
    scheme = WWWAuthenticate("bearer", {"realm": "veilsearch"})
    raise Unauthorized("Only the operator may see this.", www_authenticate=scheme)


@pages.app_context_processor
def _visitor() -> dict[str, Visitor]:
    return {"visitor": visitor()}


@pages.get("/sign-in")
def show() -> Response:
    """Return the sign-in form, or the way to sign out."""
    _private()
    return _form(200, "")


@pages.post("/sign-in")
def enter() -> Response:
    """Begin a session with the code in the form, and return the next page."""
    site, tries, client = _private(), _tries(), network(request.remote_addr)
    code = request.form.get("code", "")
    public = public_part(code)
    wait = tries.begin(client, public, site.clock())
    # Nobody guesses the 100 random bits of a person's code. So a right one never waits: else a
    # guesser at the same address would keep its owner out. The operator may choose a weak token.
    if wait and public is None:
        sentence = f"Too many wrong codes came from your network. Please wait {wait} seconds."
        return _form(429, sentence, wait)
    token = sessions.begin(site, code)
    if token is None:
        return _form(429, f"{WRONG} {TOO_MANY}", wait) if wait else _form(403, WRONG)
    if not wait:
        tries.take_back(client, public)
    # One browser has one session: the former one ends.
    sessions.end(site, request.cookies.get(COOKIE, ""))
    begun = sessions.whose(site, token)
    response = _to("admin.show" if begun.admin else "search.show")
    response.set_cookie(COOKIE, token, **cookie_attributes(site.settings))
    return response


@pages.post("/sign-out")
def leave() -> Response:
    """End the session and return to the sign-in page."""
    site = _private()
    sessions.end(site, request.cookies.get(COOKIE, ""))
    site.transcripts.drop(visitor().user)
    response = _to("sign_in.show")
    drop_cookie(site, response)
    return response


def _private() -> Site:
    site = this_site()
    if site.access != PRIVATE:
        abort(404)
    return site


def _tries() -> Tries:
    tries: Tries = current_app.extensions[TRIES]
    return tries


def _among(names: set[str]) -> bool:
    endpoint = request.endpoint or ""
    return endpoint in names or endpoint.rpartition(".")[0] in names


def cookie_attributes(settings: Settings) -> dict[str, Any]:
    """Return a cookie's attributes by `settings`: closed to scripts, gone with the browser."""
    place = {"path": settings.root_path or "/", "secure": settings.https}
    return {"httponly": True, "samesite": "Strict", **place}


def drop_cookie(site: Site, response: Answer) -> None:
    """Make `response` delete the session's cookie of `site` in the browser."""
    response.delete_cookie(COOKIE, **cookie_attributes(site.settings))


def _form(status: int, sentence: str, wait: int = 0) -> Response:
    page = render_template("sign_in/show.html", sentence=sentence)
    return make_response(page, status, {"Retry-After": str(wait)} if wait else {})


def _to(endpoint: str) -> Response:
    """Redirect to a page of ours, never to an address from the request."""
    return make_response(redirect(url_for(endpoint), 303))
