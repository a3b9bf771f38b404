"""The page on what is promised and what is not."""

from __future__ import annotations

from flask import Blueprint, render_template

from ...disclosure.disclosure import Words
from ..site import this_site
from ..views.attacked import sentences
from ..visitors.access import Visitor, visitor

pages = Blueprint("about", __name__)


@pages.get("/about")
def show() -> str:
    """Return the page on the promise and its limits."""
    site = this_site()
    # One section for each kind of row, by the first release that has it.
    first: dict[Words, str] = {}
    for mode in ("group", *site.further):
        first.setdefault(site.words_of(mode), mode)
    sections = [
        site.shown(mode).explained("" if mode == "group" else site.name_of(mode))
        for mode in first.values()
    ]
    if len(sections) > 1:
        sections = [section._replace(lead=section.among or section.lead) for section in sections]
    # The facts count groups. Strangers would see in them that somebody left, and when.
    stranger = site.modes.withheld() and visitor() == Visitor()
    facts = [] if stranger else site.shown().facts()
    attacked = sentences(site.certificate("group"))
    return render_template("about/show.html", facts=facts, sections=sections, attacked=attacked)
