"""The operator's page makes and revokes codes; it shows nothing of people except their ids."""

from __future__ import annotations

from datetime import UTC, datetime

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

from ...accounts.codes import LONGEST_ID, is_id
from ...settings import PRIVATE
from ..parameters import PAGE, read_parameters
from ..site import this_site
from ..views.standing import standings
from ..visitors.access import visitor

pages = Blueprint("admin", __name__)
ROWS = 50  # people on a page
NO_CODE = "Nobody with this id has a code."


@pages.before_request
def _operators_only() -> None:
    if this_site().access != PRIVATE:
        abort(404)
    if not visitor().admin:
        abort(403, "Only the operator may see this page.")


@pages.get("/admin")
def show() -> str:
    """Return the page on how many people there are, with a part of the list of codes."""
    site = this_site()
    page, count = read_parameters(request.args, (PAGE,), site)["page"], site.store.count_codes()
    start = ROWS * (page - 1)
    codes = site.store.codes(start=start, count=ROWS)
    last = start + len(codes)
    return render_template(
        "admin/show.html",
        profiles=len(site.modes.profiles or ()),
        codes=count,
        signed_in=site.store.count_signed_in(site.clock()),
        standings=standings(site),
        holders=[
            (user, f"{datetime.fromtimestamp(made, UTC):%Y-%m-%d %H:%M}") for user, made in codes
        ],
        first=start + 1,
        last=last,
        page=page,
    )


@pages.post("/admin/codes")
def make() -> str:
    """Make a code for a person, and return the page that shows it this once."""
    site, user = this_site(), request.form.get("user", "").strip()
    new = not site.modes.has_profile(user)
    if new and not is_id(user):
        abort(400, f"An id has 1 to {LONGEST_ID} visible characters, and is no row’s name.")
    # A new code ends the sessions of the old one, and with them what they left in memory.
    site.transcripts.drop(user)
    return render_template("admin/code.html", user=user, code=site.store.new_code(user), new=new)


@pages.post("/admin/codes/revoke")
def revoke() -> Response:
    """End a person's code and sessions, and return to the list."""
    site, user = this_site(), request.form.get("user", "").strip()
    if not site.store.revoke(user):
        abort(404, NO_CODE)
    site.transcripts.drop(user)
    return make_response(redirect(url_for("admin.show"), 303))
