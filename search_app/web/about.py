"""What is promised here and what is not."""

from __future__ import annotations

from flask import Blueprint, render_template

from .facts import privacy_facts
from .site import this_site

pages = Blueprint("about", __name__)


@pages.get("/about")
def show() -> str:
    """Show the promise and its limits."""
    facts = this_site().facts
    share = facts.get("share_linkability")
    return render_template("about/show.html", facts=privacy_facts(facts), share=share)
