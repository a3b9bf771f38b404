"""A person's own page: what is known of them, what the server sees, and what they choose."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as Answer

from . import consent
from .access import NOBODY_HERE, person
from .download import download
from .own_page import SORTS, Listing, kept, own_page, own_view
from .parameters import FIND, OWN_SORT, PAGE, Parameter, read_parameters
from .seen import sent
from .sign_in import COOKIE
from .site import DEMO, PLAIN, PRIVATE, Site, this_site

pages = Blueprint("me", __name__)
NOT_SIGNED_IN = "This is a page about one person. Sign in with your code to see your own."
GONE = [  # what was done, as numbers in the address of the last page
    Parameter(name, "whole", meaning, lambda _: 0, 0, 99_999)
    for name, meaning in {
        "files": "Files changed.",
        "made": "Whether the groups were made anew.",
        "dropped": "Releases removed.",
        "left": "Files that still name the person.",
    }.items()
]
_FIND = 100  # characters looked for in terms
DONE = {
    "terms": "The chosen terms are removed, and what was made from them was made anew.",
    "no-terms": "No term was chosen, so nothing was changed.",
    "all-terms": (
        "These are all of your terms. To remove all of them is to be forgotten: below stands "
        "what that means."
    ),
    "paused": "Personalization is paused: your searches are plain, and your profile is not read.",
    "resumed": "Personalization is resumed.",
    "remembering": "Your searches are kept from now on, to be listed here for you.",
    "not-remembering": "Your searches are not kept any more, and those kept are deleted.",
    "search": "The search is deleted.",
    "searches": "All searches are deleted.",
    "not-confirmed": "Nothing was removed: tick the box to confirm.",
}


@pages.get("/me")
def show() -> str:
    """Show what is known of the person who asks."""
    site = this_site()
    user = _person_or_none(site, request.args)
    if not user:
        return render_template("me/choose.html")
    values = read_parameters(request.args, (OWN_SORT, PAGE, FIND), site)
    listing = Listing(values["sort"], values["page"], values["find"].strip()[:_FIND])
    view = own_view(site, user)
    group = view.group if view else None
    return render_template(
        "me/show.html",
        page=own_page(site, view, listing) if view else None,
        sent=sent(site, user, group.row.users if group else None),
        listing=listing,
        sorts=SORTS,
        choices=site.store.choices(user),
        searches=kept(site, user),
        **_of(site, user),
    )


@pages.post("/me/terms")
def remove_terms() -> Answer:
    """Remove chosen terms from the person's profile and all that was made from it."""
    site = this_site()
    user = _person(site)
    view = own_view(site, user)
    own = {each.term for each in view.terms} if view else set()
    chosen = own & set(request.form.getlist("term"))
    if not chosen:
        return _back(site, user, "no-terms", "terms")
    if chosen == own:
        return redirect(url_for("me.forget", done="all-terms", **_named(site, user)), 303)
    consent.forget_terms(site, user, chosen)
    return _back(site, user, "terms", "terms")


@pages.post("/me/pause")
def pause() -> Answer:
    """Pause or resume personalization."""
    site = this_site()
    user, paused = _person(site), _switch("paused")
    consent.choose(site, user, paused=paused)
    return _back(site, user, "paused" if paused else "resumed", "choices")


@pages.post("/me/remember")
def remember() -> Answer:
    """Begin or end keeping the person's searches; at the end those kept are deleted."""
    site = this_site()
    user, keep = _person(site), _switch("remember")
    consent.choose(site, user, remember=keep)
    return _back(site, user, "remembering" if keep else "not-remembering", "searches")


@pages.post("/me/searches")
def delete_searches() -> Answer:
    """Delete one of the person's searches, or all."""
    site = this_site()
    user, chosen = _person(site), request.form.get("search", "")
    if chosen == "all":
        consent.forget_search(site, user, None)
        return _back(site, user, "searches", "searches")
    if not (chosen.isascii() and chosen.isdigit() and len(chosen) < 19):
        abort(400, "search must be the number of one of your searches, or all")
    consent.forget_search(site, user, int(chosen))
    return _back(site, user, "search", "searches")


@pages.get("/me/download", endpoint="download")
def take_along() -> Response:
    """Hand the person everything that is kept of them."""
    site = this_site()
    user = _person_or_none(site, request.args)
    if not user:
        abort(404, "Choose a person first.")
    told = download(site, user, own_view(site, user))
    text = json.dumps(told, ensure_ascii=False, indent=1, allow_nan=False)
    answer = Response(text.encode("utf-8", "replace"), mimetype="application/json")
    answer.headers["Content-Disposition"] = "attachment; filename=veilsearch-me.json"
    return answer


@pages.get("/me/forget")
def forget() -> str:
    """Say what goes and what can't be recalled, and ask whether it shall be done."""
    site = this_site()
    user = _person_or_none(site, request.args)
    if not user:
        return render_template("me/choose.html")
    view = own_view(site, user)
    searches = kept(site, user)
    return render_template("me/forget.html", view=view, searches=searches, **_of(site, user))


@pages.post("/me/forget")
def be_forgotten() -> Answer:
    """Remove every byte of the person, and end their session."""
    site = this_site()
    user = _person(site)
    if request.form.get("confirm") != "yes":
        named = _named(site, user)
        return redirect(url_for("me.forget", done="not-confirmed", **named), 303)
    done = consent.forget_person(site, user)
    numbers: dict[str, Any] = {
        "files": len(done.changed) + len(done.removed),
        "made": int(done.release_made),
        "dropped": len(done.releases_dropped),
        "left": len(done.left),
    }
    answer = redirect(url_for("me.forgotten", **numbers), 303)
    if site.access == PRIVATE:
        _end_cookie(site, answer)
    return answer


@pages.get("/me/forgotten")
def forgotten() -> str:
    """Say goodbye, and what was done; of whom, nobody knows any more."""
    site = this_site()
    if site.access == PLAIN:
        abort(403, NOBODY_HERE)
    numbers = read_parameters(request.args, GONE, site)
    return render_template("me/forgotten.html", **numbers)


def _end_cookie(site: Site, answer: Answer) -> None:
    """Let the browser forget the session, which has ended with its person."""
    secure = site.settings.https
    answer.delete_cookie(COOKIE, path="/", secure=secure, httponly=True, samesite="Strict")


def _person_or_none(site: Site, arguments: Mapping[str, str]) -> str:
    """Return whose page is asked for; in demo mode nobody may be chosen yet."""
    if site.access == PLAIN:
        abort(403, NOBODY_HERE)
    user = person(site, arguments)
    if not user and site.access != DEMO:
        abort(403, NOT_SIGNED_IN)
    return user


def _person(site: Site) -> str:
    """Return who sends a form."""
    user = _person_or_none(site, request.form)
    if not user:
        abort(400, "user is missing; choose a person first")
    return user


def _named(site: Site, user: str) -> dict[str, Any]:
    """Return what names the person in an address: only where people are invented."""
    return {"user": user} if site.access == DEMO else {}


def _of(site: Site, user: str) -> dict[str, Any]:
    """Return what every page of a person shows."""
    return {
        "user": user if site.access == DEMO else "",
        "name": site.people.get(user, ""),
        "named": _named(site, user),
        "done": DONE.get(request.args.get("done", ""), ""),
    }


def _back(site: Site, user: str, done: str, section: str) -> Answer:
    address = url_for("me.show", done=done, _anchor=section, **_named(site, user))
    return redirect(address, 303)


def _switch(name: str) -> bool:
    value = request.form.get(name, "")
    if value not in ("0", "1"):
        abort(400, f"{name} must be 0 or 1")
    return value == "1"
