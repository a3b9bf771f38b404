"""The page whose script ranks on the person's own device; without script it has the plain order."""

from __future__ import annotations

from flask import Blueprint, abort, render_template, request

from ...search.candidates import KEPT, MOST
from ..parameters import DEVICE_POOL, OPERATORS, QUERY, RANKING, read_parameters
from ..question import Question, address, read_question, syntax
from ..site import Site, this_site
from ..views.answering import ask
from ..views.results import Result, cards, results

pages = Blueprint("device", __name__)
CLOSED = "A search on one’s own device names nobody, so it is closed where people sign in."


@pages.get("/device")
def show() -> str:
    """Return the page with the plain order, without a look at who is searching."""
    site = this_site()
    refuse_closed(site)
    question = question_of(site)
    hits: list[Result] = []
    notices: tuple[str, ...] = ()
    if question.query:
        outcome = ask(site, question, counted=False)
        ranking, notices = outcome.in_mode("none").ranking, outcome.notices
        size = site.settings.top
        known = cards(site.modes.engine, [ranking], question.query, count=size)
        hits = results(ranking, known, count=size)
    return render_template(
        "device/show.html",
        question=question,
        notices=notices,
        syntax=syntax(site, question, "device.show"),
        results=hits,
        plain=address("search.show", question, site),
        most=MOST,
        usual=DEVICE_POOL.usual(site),
        keep=KEPT,
        rows=site.modes.release is not None,
    )


def refuse_closed(site: Site) -> None:
    """Refuse where `site` serves only people who sign in: a device does not say who it is."""
    if not site.on_device:
        abort(404, CLOSED)


def question_of(site: Site) -> Question:
    """Return what a device asks of `site`: a query, a pool and operators; the rest is not read."""
    pool = read_parameters(request.args, (DEVICE_POOL,), site)["pool"]
    given = {
        name: request.args.get(name, "") for name in (QUERY.name, OPERATORS.name, RANKING.name)
    }
    return read_question({**given, "pool": str(pool)}, site)
