"""The dial: one search, from all that is known of a person to nothing, and what each stop costs."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from ...question import read_question
from ...site import this_site
from ...views.dial import dial_view, refuse_closed

pages = Blueprint("dial", __name__)


@pages.get("/dial")
def show() -> str:
    """Return the page of the dial; without a query, of the first example."""
    site = this_site()
    question = read_question(request.args, site)
    if not question.query and site.examples:
        first = site.examples[0]
        user = question.user or first.user
        question = question.but(query=first.query, user=user, mode=site.modes.usual_mode(user))
    refuse_closed(site)
    stop = request.args.get("stop", "")
    dial = dial_view(site, question, stop) if question.query else None
    return render_template("lesson/dial.html", dial=dial, question=question)
