"""A person's own profile and choices as JSON, and their deletion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, abort, after_this_request, request

from ...disclosure.own_view import OwnView
from ...settings import DEMO, PLAIN, PRIVATE
from ..parameters import USER
from ..site import Site, this_site
from ..views.own_page import own_view
from ..views.standing import standing
from ..visitors import consent
from ..visitors.access import NOBODY_HERE, person
from ..visitors.sign_in import drop_cookie
from .described import records
from .described.operations import Operation
from .described.schema import record_of

if TYPE_CHECKING:
    from ...forgetting.person import ForgetReport

pages = Blueprint("api_profile", __name__, url_prefix="/api/v1/profile")
OWN = (USER,)
_COUNTED = ("changed", "removed", "releases_dropped", "left")  # lists that are sent as counts


@pages.get("")
@Operation(OWN, required=("user",), refusals=(404,))
def show() -> records.OwnProfileJson:
    """Return the own terms with their origins, and the group’s row."""
    site = this_site()
    user = asking_user(site)
    view = own_view(site, user) or OwnView((), None)
    group = view.group
    return {
        "standing": record_of(records.StandingJson, standing(site, user)),
        "terms": [
            record_of(
                records.OwnTermJson,
                own_term,
                origin=own_term.origin and record_of(records.OriginJson, own_term.origin),
            )
            for own_term in sorted(view.terms, key=lambda term: (-term.weight, term.term))
        ],
        "row": {"name": group.row.name, "users": group.row.users} if group else None,
        "worst_linkability": group.worst.value if group and group.measured else None,
    }


@pages.delete("")
@Operation(OWN, required=("user",), refusals=(404,))
def forget() -> records.ForgottenJson:
    """Forget me: remove every byte of the person who asks, and return what changed.

    Profile, code, tokens, sessions, choices and remembered searches are deleted, and the group’s
    row is withdrawn. No other row changes. This can’t be undone. Files that others downloaded stay.
    """
    site = this_site()
    done = consent.forget_person(site, asking_user(site))
    if site.access == PRIVATE:
        # The session has ended, so the browser drops its cookie with this answer.
        @after_this_request
        def _without_session(answer: Response) -> Response:
            drop_cookie(site, answer)
            return answer

    return _forgotten(done)


@pages.post("/forget-terms")
@Operation(
    OWN,
    required=("user",),
    body=records.TermsToForgetJson,
    refusals=(404,),
    example={"terms": ["coffee", "espresso"]},
)
def forget_terms(body: records.TermsToForgetJson) -> records.ForgottenJson:
    """Remove the body’s terms from the profile, and from what grew; return what changed.

    The group’s row still holds a share of them. To withdraw it, leave the group. Terms that are not
    in the profile change nothing. To remove all terms, DELETE /api/v1/profile.
    """
    site = this_site()
    user = asking_user(site)
    terms, own = set(body["terms"]), site.modes.past(user).keys()
    if terms.isdisjoint(own | site.grown(user).keys()):
        abort(404, "None of these terms is in the profile.")
    if own and own <= terms:
        abort(400, "These are all terms of the profile; to remove them all, DELETE /api/v1/profile")
    return _forgotten(consent.forget_terms(site, user, terms))


@pages.post("/leave-group")
@Operation(OWN, required=("user",), refusals=(404,))
def leave_group() -> records.ForgottenJson:
    """Leave the group and keep the profile: its row is withdrawn; return what changed.

    The row of the closest group serves its members from then on. No other row changes.
    """
    site = this_site()
    done = consent.leave_group(site, asking_user(site))
    if not done.rows_withdrawn:
        abort(404, "This person is in no group.")
    return _forgotten(done)


def _forgotten(done: ForgetReport) -> records.ForgottenJson:
    counted = {name: len(getattr(done, name)) for name in _COUNTED}
    return record_of(records.ForgottenJson, done, **counted)


def asking_user(site: Site) -> str:
    """Return the user whose profile at `site` the request is about."""
    user = person(site, request.args)
    if site.access == PLAIN:
        abort(403, NOBODY_HERE)
    if not user and site.access == DEMO:
        abort(400, "user is empty; name the invented person to ask as")
    if not user:
        abort(403, "The visitor has no profile.")
    return user


@pages.get("/choices")
@Operation(OWN, required=("user",), refusals=(404,))
def choices() -> records.ChoicesJson:
    """Return the choices of a person."""
    site = this_site()
    return record_of(records.ChoicesJson, site.store.choices(asking_user(site)))


@pages.put("/choices")
@Operation(
    OWN,
    required=("user",),
    body=records.ChoicesJson,
    refusals=(404,),
    example={"paused": True, "remember": False},
)
def choose(body: records.ChoicesJson) -> records.ChoicesJson:
    """Store the choices in the body, pause and remember, and return them.

    Where remembering ends, the searches kept so far are deleted.
    """
    site = this_site()
    user = asking_user(site)
    consent.choose(site, user, paused=body["paused"], remember=body["remember"])
    return record_of(records.ChoicesJson, site.store.choices(user))


@pages.get("/growth")
@Operation(OWN, required=("user",), refusals=(404,))
def growth() -> records.GrowthJson:
    """Return whether searches feed the profile, and the terms gathered from them."""
    return _growth(this_site())


@pages.put("/growth")
@Operation(
    OWN,
    required=("user",),
    body=records.GrowthChoiceJson,
    refusals=(404,),
    example={"on": True, "keep": True},
)
def let_grow(body: records.GrowthChoiceJson) -> records.GrowthJson:
    """Store whether searches feed the profile, as the body says, and return what was gathered.

    Profiles that are weighted by time or by all people, or are of sessions, can’t grow.
    """
    site = this_site()
    user = asking_user(site)
    consent.let_grow(site, user, body["on"], keep=body["keep"])
    return _growth(site)


def _growth(site: Site) -> records.GrowthJson:
    user = asking_user(site)
    terms = site.grown(user).items()
    return {
        "on": site.store.choices(user).grow,
        "fault": site.growth.fault or None,
        "terms": [{"term": term, "times": times} for term, times in terms],
    }
