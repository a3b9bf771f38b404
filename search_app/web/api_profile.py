"""What is known of who asks, for machines: terms, choices, and forgetting them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, abort, after_this_request, request

from ..own_view import OwnTerm, OwnView
from . import consent, records
from .access import NOBODY_HERE, person
from .operations import operation
from .parameters import USER
from .sign_in import COOKIE
from .site import DEMO, PLAIN, PRIVATE, Site, this_site

if TYPE_CHECKING:
    from ..forgetting import Forgotten

pages = Blueprint("api_profile", __name__, url_prefix="/api/v1/profile")
OWN = (USER,)
_NO_PROFILE = "There is no profile of this person here."


@pages.get("")
@operation(*OWN, required=("user",), refusals=(404,))
def show() -> records.OwnProfile:
    """Return the own terms, where they came from, and the group’s row beside them."""
    site = this_site()
    return own_profile(_view(site, who(site)))


@pages.delete("")
@operation(*OWN, required=("user",), refusals=(404,))
def forget() -> records.Forgotten:
    """Forget me: remove every byte of who asks.

    Profile, code, session, choices and remembered searches go, and the groups are made anew
    without this person. This can’t be taken back, and files that others have downloaded can’t be
    recalled.
    """
    site = this_site()
    done = consent.forget_person(site, who(site))
    if site.access == PRIVATE:
        after_this_request(lambda answer: _without_session(site, answer))
    return _forgotten(done)


@pages.post("/forget-terms")
@operation(
    *OWN,
    required=("user",),
    body=records.TermsToForget,
    refusals=(404,),
    example={"terms": ["coffee", "espresso"]},
)
def forget_terms(body: records.TermsToForget) -> records.Forgotten:
    """Remove terms from the own profile and from all that was made from it.

    Terms that are not in the profile change nothing. To remove all, ask to be forgotten: DELETE
    /api/v1/profile.
    """
    site = this_site()
    user = who(site)
    own = {each.term for each in _view(site, user).terms}
    chosen = own & set(body["terms"])
    if not chosen:
        abort(404, "None of these terms is in the profile.")
    if chosen == own:
        abort(400, "These are all terms of the profile; to remove all, DELETE /api/v1/profile")
    return _forgotten(consent.forget_terms(site, user, chosen))


def _view(site: Site, user: str) -> OwnView:
    population = site.population
    if population is None or not population.knows(user):
        abort(404, _NO_PROFILE)
    return population.view(user, site.origins(user))


def _forgotten(done: Forgotten) -> records.Forgotten:
    return {
        "changed": len(done.changed),
        "removed": len(done.removed),
        "release_made": done.release_made,
        "releases_dropped": len(done.releases_dropped),
        "left": len(done.left),
    }


def _without_session(site: Site, answer: Response) -> Response:
    """Let the browser forget the session, which has ended with its person."""
    secure = site.settings.https
    answer.delete_cookie(COOKIE, secure=secure, httponly=True, samesite="Strict")
    return answer


def who(site: Site) -> str:
    """Return whose profile a request is about."""
    user = person(site, request.args)
    if site.access == PLAIN:
        abort(403, NOBODY_HERE)
    if not user and site.access == DEMO:
        abort(400, "user is empty; name the invented person to ask as")
    if not user:
        abort(403, "There is no profile of who asks.")
    return user


def own_profile(view: OwnView) -> records.OwnProfile:
    """Tell what a person sees of themselves."""
    group = view.group
    return {
        "terms": [
            _term(each) for each in sorted(view.terms, key=lambda each: (-each.weight, each.term))
        ],
        "row": {"name": group.row.name, "users": group.row.users} if group else None,
        "worst_linkability": group.worst.value if group else None,
    }


def _term(each: OwnTerm) -> records.OwnTerm:
    origin = each.origin
    return {
        "term": each.term,
        "weight": each.weight,
        "origin": {"times": origin.times, "first": origin.first, "last": origin.last}
        if origin
        else None,
        "released": each.released,
        "members": each.members,
        "people": each.people,
    }


@pages.get("/choices")
@operation(*OWN, required=("user",), refusals=(404,))
def choices() -> records.Choices:
    """Return what a person has chosen."""
    site = this_site()
    return chosen(site, who(site))


@pages.put("/choices")
@operation(
    *OWN,
    required=("user",),
    body=records.Choices,
    refusals=(404,),
    example={"paused": True, "remember": False},
)
def choose(body: records.Choices) -> records.Choices:
    """Choose: pause personalization, have searches remembered, or neither.

    Who ends remembering leaves nothing: the searches kept so far are deleted.
    """
    site = this_site()
    user = who(site)
    consent.choose(site, user, paused=body["paused"], remember=body["remember"])
    return chosen(site, user)


def chosen(site: Site, user: str) -> records.Choices:
    """Return a person’s choices as they are kept."""
    now = site.store.choices(user)
    return {"paused": now.paused, "remember": now.remember}
