"""The operator's page: codes are made and revoked; of people nothing is shown but their ids."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from flask import (
    Blueprint,
    Response,
    abort,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)

from .access import visitor
from .parameters import PAGE, read_parameters
from .site import PRIVATE, Site, this_site

pages = Blueprint("admin", __name__)
ROWS = 50  # people on a page
NO_PROFILE = "Nobody with this id has a profile here. Codes are for people with a profile."
NO_CODE = "Nobody with this id has a code."


class Holder(NamedTuple):
    """A person with a code."""

    user: str
    made: str  # day and time in UTC


class Part(NamedTuple):
    """The people with a code, a page of them."""

    holders: list[Holder]
    first: int
    last: int
    previous: int  # page, 0 where there is none
    next: int


@pages.before_request
def _operators_only() -> None:
    if this_site().access != PRIVATE:
        abort(404)
    if not visitor().admin:
        abort(403, "Only the operator may see this page.")


@pages.get("/admin")
def show() -> str:
    """Show how many people there are, and a page of those with a code."""
    site = this_site()
    page = read_parameters(request.args, (PAGE,), site)["page"]
    return render_template(
        "admin/show.html",
        profiles=len(site.modes.profiles or ()),
        codes=(count := site.store.count_codes()),
        signed_in=site.store.count_signed_in(site.clock()),
        part=_part(site, page, count),
    )


@pages.post("/admin/codes")
def make() -> str:
    """Make a person's code and show it, this once."""
    site, user = this_site(), request.form.get("user", "").strip()
    if site.modes.profiles is None or user not in site.modes.profiles.row_of:
        abort(404, NO_PROFILE)
    site.transcripts.drop(user)  # the sessions of the code before end
    return render_template("admin/code.html", user=user, code=site.store.new_code(user))


@pages.post("/admin/codes/revoke")
def revoke() -> Response:
    """End a person's code and sessions."""
    site, user = this_site(), request.form.get("user", "").strip()
    if not site.store.revoke(user):
        abort(404, NO_CODE)
    site.transcripts.drop(user)
    return make_response(redirect(url_for("admin.show"), 303))


def _part(site: Site, page: int, count: int) -> Part:
    start = ROWS * (page - 1)
    found = site.store.codes(start=start, count=ROWS)
    holders = [
        Holder(user, f"{datetime.fromtimestamp(made, UTC):%Y-%m-%d %H:%M}") for user, made in found
    ]
    last = start + len(found)
    return Part(holders, start + 1, last, page - 1, page + 1 if last < count else 0)
