"""What is known of who asks, for machines: terms, choices, and forgetting them."""

from __future__ import annotations

from flask import Blueprint, abort, request

from ..own_view import OwnTerm, OwnView
from . import records
from .access import NOBODY_HERE, person
from .operations import operation
from .parameters import USER
from .site import DEMO, PLAIN, Site, this_site

pages = Blueprint("api_profile", __name__, url_prefix="/api/v1/profile")
OWN = (USER,)
_NO_PROFILE = "There is no profile of this person here."


@pages.get("")
@operation(*OWN, required=("user",), refusals=(404,))
def show() -> records.OwnProfile:
    """Return the own terms, where they came from, and the group’s row beside them."""
    site = this_site()
    user = who(site)
    population = site.population
    if population is None or not population.knows(user):
        abort(404, _NO_PROFILE)
    return own_profile(population.view(user, site.origins(user)))


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
    """Choose: pause personalization, have searches remembered, or neither."""
    site = this_site()
    user = who(site)
    site.store.choose(user, paused=body["paused"], remember=body["remember"])
    if body["paused"]:
        site.transcripts.drop(user)
    return chosen(site, user)


def chosen(site: Site, user: str) -> records.Choices:
    """Return a person’s choices as they are kept."""
    now = site.store.choices(user)
    return {"paused": now.paused, "remember": now.remember}
