"""A person's own page: what is known about them, what the server sees, and what they choose."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, abort, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as Answer

from ...accounts.codes import LONGEST_NAME, is_name
from ...accounts.store import MOST_TOKENS
from ...settings import DEMO, PLAIN, PRIVATE
from ..parameters import FIND, OWN_SORT, PAGE, Parameter, read_parameters
from ..site import Site, this_site
from ..views.own_page import Listing, download, gathered, kept, own_page, own_view, sent, tokens
from ..views.standing import standing
from ..visitors import consent
from ..visitors.access import NOBODY_HERE, person
from ..visitors.sign_in import drop_cookie

pages = Blueprint("me", __name__)
NOT_SIGNED_IN = "This is a page about one person. Sign in with your code to see your own."
GONE = [  # what forgetting did, as numbers in the address of the last page
    Parameter(name, "whole", meaning, 0, (0, 99_999))
    for name, meaning in {
        "rows": "Rows withdrawn.",
        "files": "Files that the person was removed from.",
        "left": "Files that may still hold something of the person.",
        "day": "The day, counted from 1970.",
        "minute": "The minute of that day.",
    }.items()
]
_MINUTES = 24 * 60  # of a day
_FIND = 100  # characters of a filter
_SWITCHES = {  # the messages for off and on
    "paused": ("resumed", "paused"),
    "remember": ("not-remembering", "remembering"),
}
_LISTED = (OWN_SORT.name, FIND.name, PAGE.name)
_SECTION = {  # where the click was that a message answers
    **dict.fromkeys(("paused", "resumed", "remembering", "not-remembering"), "choices"),
    **dict.fromkeys(("search", "searches"), "searches"),
    **dict.fromkeys(("no-name", "no-token", "revoked", "not-revoked"), "tokens"),
    **dict.fromkeys(("left", "not-in-group", "not-left"), "row"),
    **dict.fromkeys(("growing", "stopped", "stopped-removed", "removed", "none-chosen"), "grown"),
    "not-confirmed": "confirm",
}
DONE = {
    "terms": (
        "The chosen interests are removed from your profile. The released row still holds a share "
        "of them, until it is withdrawn: see below."
    ),
    "left": "The row is withdrawn. Your profile is as it was.",
    "not-in-group": "No row stands for you, so nothing was changed.",
    "not-left": "Nothing was changed: tick the box to confirm.",
    "no-terms": "No interest was chosen, so nothing was changed.",
    "all-terms": "These are all of your interests. Removing them all is being forgotten; read on.",
    "paused": "Personalization is paused: your searches are plain, and your profile is not read.",
    "resumed": "Personalization is resumed.",
    "remembering": "Your searches are kept from now on, to be listed here for you.",
    "not-remembering": "Your searches are no longer kept, and the list is deleted.",
    "search": "The search is deleted.",
    "searches": "All searches are deleted.",
    "no-name": f"A token needs a name of 1 to {LONGEST_NAME} visible characters.",
    "no-token": f"You have {MOST_TOKENS} tokens, and there can’t be more. Revoke one first.",
    "revoked": "The token is revoked, and no script can use it any more.",
    "not-revoked": "You have no such token, so nothing was changed.",
    "growing": "From now on, the words of your searches are added to your profile.",
    "stopped": (
        "Your searches no longer feed your profile. What was gathered stays in it. While this is "
        "off, it is not admitted to any group."
    ),
    "stopped-removed": "Your searches no longer feed your profile, and nothing gathered is left.",
    "removed": "What you chose is removed.",
    "none-chosen": "No interest was chosen, so nothing was changed.",
    "not-confirmed": "Nothing was removed: tick the box to confirm.",
}


@pages.get("/me")
def show() -> str:
    """Return the page on what is known about the visitor."""
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
        worst=site.shown().facts_of_ranking(user, group.row.users).worst if group else (),
        sent=sent(site, user, group.row.users if group else None),
        listing=listing,
        choices=site.store.choices(user),
        searches=kept(site, user),
        grown=gathered(site, user),
        tokens=tokens(site, user),
        longest_name=LONGEST_NAME,
        standing=standing(site, user),
        **_of(site, user),
    )


@pages.post("/me/terms")
def remove_terms() -> Answer:
    """Remove chosen terms from the profile and what was made from it; return to the page."""
    site = this_site()
    user = _person(site)
    view = own_view(site, user)
    own = {term.term for term in view.terms} if view else set()
    chosen = own & set(request.form.getlist("term"))
    if not chosen:
        return _back(site, user, "no-terms")
    # Removing everything is the same as being forgotten, which has to be confirmed.
    if chosen == own:
        return redirect(url_for("me.forget", done="all-terms", **_named(site, user)), 303)
    consent.forget_terms(site, user, chosen)
    return _back(site, user, "terms")


@pages.post("/me/leave")
def leave() -> Answer:
    """Withdraw the row of the person's group; they keep profile and code. Return to the page."""
    site = this_site()
    user = _person(site)
    if request.form.get("confirm") != "yes":
        return _back(site, user, "not-left")
    done = consent.leave_group(site, user)
    return _back(site, user, "left" if done.rows_withdrawn else "not-in-group")


@pages.post("/me/pause", endpoint="pause", defaults={"choice": "paused"})
@pages.post("/me/remember", endpoint="remember", defaults={"choice": "remember"})
def choose(choice: str) -> Answer:
    """Set `choice`, pausing or keeping searches, and return to the page."""
    site = this_site()
    user, value = _person(site), request.form.get(choice, "")
    if value not in ("0", "1"):
        abort(400, f"{choice} must be 0 or 1")
    consent.choose(site, user, **{choice: value == "1"})
    off, on = _SWITCHES[choice]
    return _back(site, user, on if value == "1" else off)


@pages.post("/me/grow")
def grow() -> Answer:
    """Set whether searches feed the profile, remove what was gathered if chosen; return."""
    site = this_site()
    user, value = _person(site), request.form.get("grow", "")
    removed = request.form.get("gathered", "keep")
    if value not in ("0", "1") or removed not in ("keep", "remove"):
        abort(400, "grow must be 0 or 1, and gathered must be keep or remove")
    consent.let_grow(site, user, value == "1", keep=value == "1" or removed == "keep")
    stopped = "stopped" if removed == "keep" else "stopped-removed"
    return _back(site, user, "growing" if value == "1" else stopped)


@pages.post("/me/grown")
def remove_grown() -> Answer:
    """Remove chosen terms, or all, from what grew from searches; return to the page."""
    site = this_site()
    user, chosen = _person(site), request.form.getlist("term")
    everything = request.form.get("all") == "1"
    if not (chosen or everything):
        return _back(site, user, "none-chosen")
    consent.forget_grown(site, user, None if everything else chosen)
    return _back(site, user, "removed")


@pages.post("/me/searches")
def delete_searches() -> Answer:
    """Delete one of the person's searches, or all, and return to the page."""
    site = this_site()
    user, chosen = _person(site), request.form.get("search", "")
    if chosen == "all":
        consent.forget_search(site, user, None)
        return _back(site, user, "searches")
    # Numbers of 19 digits may be too large for SQLite.
    if not (chosen.isascii() and chosen.isdigit() and len(chosen) < 19):
        abort(400, "search must be the number of one of your searches, or all")
    consent.forget_search(site, user, int(chosen))
    return _back(site, user, "search")


@pages.post("/me/tokens")
def make_token() -> str | Answer:
    """Make a token for the person's scripts, and return the page that shows it this once."""
    site = this_site()
    user, name = _person(site), request.form.get("name", "").strip()
    _private(site)
    if not is_name(name):
        return _back(site, user, "no-name")
    token = site.store.new_token(user, name)
    if token is None:
        return _back(site, user, "no-token")
    return render_template("me/token.html", name=name, token=token)


@pages.post("/me/tokens/revoke")
def revoke_token() -> Answer:
    """End one of the person's tokens, and return to the page."""
    site = this_site()
    user = _person(site)
    _private(site)
    ended = site.store.revoke_tokens(user, request.form.get("token", ""))
    return _back(site, user, "revoked" if ended else "not-revoked")


@pages.get("/me/download", endpoint="download")
def take_along() -> Response:
    """Return a JSON file with everything that is kept about the person."""
    site = this_site()
    user = _person_or_none(site, request.args)
    if not user:
        abort(404, "Choose a person first.")
    everything = download(site, user, own_view(site, user))
    text = json.dumps(everything, ensure_ascii=False, indent=1, allow_nan=False)
    answer = Response(text.encode("utf-8", "replace"), mimetype="application/json")
    answer.headers["Content-Disposition"] = "attachment; filename=veilsearch-me.json"
    return answer


@pages.get("/me/forget")
def forget() -> str:
    """Return the page that says what goes and what can't be recalled, and asks to confirm."""
    site = this_site()
    user = _person_or_none(site, request.args)
    if not user:
        return render_template("me/choose.html")
    view = own_view(site, user)
    return render_template(
        "me/forget.html",
        view=view,
        searches=kept(site, user),
        grown=gathered(site, user),
        **_of(site, user),
    )


@pages.post("/me/forget")
def be_forgotten() -> Answer:
    """Remove all that is kept about the person, end their session, and return the way out."""
    site = this_site()
    user = _person(site)
    if request.form.get("confirm") != "yes":
        named = _named(site, user)
        named |= {"done": "not-confirmed", "_anchor": "confirm"}
        return redirect(url_for("me.forget", **named), 303)
    done = consent.forget_person(site, user)
    numbers: dict[str, Any] = {
        "rows": done.rows_withdrawn,
        "files": len(done.changed) + len(done.removed),
        "left": len(done.left),
        **dict(zip(("day", "minute"), divmod(int(site.clock()) // 60, _MINUTES), strict=True)),
    }
    answer = redirect(url_for("me.forgotten", **numbers), 303)
    if site.access == PRIVATE:
        drop_cookie(site, answer)
    return answer


@pages.get("/me/forgotten")
def forgotten() -> str:
    """Return the page that says what was done; the person is no longer known."""
    site = this_site()
    if site.access == PLAIN:
        abort(403, NOBODY_HERE)
    numbers = read_parameters(request.args, GONE, site)
    at = time.gmtime(60 * (_MINUTES * numbers["day"] + numbers["minute"]))
    when = time.strftime("%d %b %Y, %H:%M UTC", at)
    return render_template("me/forgotten.html", **numbers, when=when)


def _person_or_none(site: Site, arguments: Mapping[str, str]) -> str:
    """Return the person whose page is wanted; empty in demo mode while nobody is chosen."""
    if site.access == PLAIN:
        abort(403, NOBODY_HERE)
    user = person(site, arguments)
    if not user and site.access != DEMO:
        abort(403, NOT_SIGNED_IN)
    return user


def _person(site: Site) -> str:
    user = _person_or_none(site, request.form)
    if not user:
        abort(400, "user is missing; choose a person first")
    return user


def _private(site: Site) -> None:
    if site.access != PRIVATE:
        abort(404, "Nobody signs in here, so there are no tokens.")


def _named(site: Site, user: str) -> dict[str, Any]:
    """Return what names the person in an address: only where people are invented."""
    return {"user": user} if site.access == DEMO else {}


def _of(site: Site, user: str) -> dict[str, Any]:
    done = request.args.get("done", "")
    return {
        "user": user if site.access == DEMO else "",
        "name": site.people.get(user, ""),
        "named": _named(site, user),
        "done": {_SECTION.get(done, "terms"): DONE[done]} if done in DONE else {},
    }


def _back(site: Site, user: str, done: str) -> Answer:
    """Return the way back to the same list; the message stands, and has the focus, where it was."""
    listed: dict[str, Any] = {name: value for name in _LISTED if (value := request.form.get(name))}
    return redirect(
        url_for("me.show", done=done, _anchor="done", **listed, **_named(site, user)), 303
    )
