"""Ordered on the person's own device: the page, and the plain order where no script works."""

from __future__ import annotations

from flask import Blueprint, render_template

from ..candidates import KEPT, MOST
from .answering import ask
from .api_device import question_of, refuse_closed
from .parameters import DEVICE_POOL
from .question import address
from .results import Result, cards, results
from .site import this_site
from .syntax import syntax

pages = Blueprint("device", __name__)


@pages.get("/device")
def show() -> str:
    """Show the plain order, for the script to order again; who asks is not looked at."""
    site = this_site()
    refuse_closed(site)
    question = question_of(site)
    found: list[Result] = []
    notices: tuple[str, ...] = ()
    if question.query:
        outcome = ask(site, question, counted=False)
        ranking, notices = outcome.in_mode("none").ranking, outcome.notices
        size = site.settings.top
        known = cards(site.modes.engine, [ranking], question.query, count=size)
        found = results(ranking, known, count=size)
    return render_template(
        "device/show.html",
        question=question,
        notices=notices,
        syntax=syntax(site, question, "device.show"),
        results=found,
        plain=address("search.show", question, site),
        most=MOST,
        usual=DEVICE_POOL.usual(site),
        keep=KEPT,
        rows=site.modes.release is not None,
    )
