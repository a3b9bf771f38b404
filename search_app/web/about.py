"""What is promised here and what is not."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, render_template

from ..lone_rows import LoneRows, known_in_words, not_promised_in_words, promise_in_words
from .facts import privacy_facts
from .site import Site, this_site

pages = Blueprint("about", __name__)


@pages.get("/about")
def show() -> str:
    """Show the promise and its limits."""
    site = this_site()
    share = site.facts.get("share_linkability")
    facts = privacy_facts(site.facts)
    return render_template("about/show.html", facts=facts, share=share, **_kinds(site))


def _kinds(site: Site) -> dict[str, Any]:
    """Return which promises there are to explain: of groups, and of rows of one person each."""
    of = {mode: site.lone(mode) for mode in ("group", *site.further)}
    mode, rows = next(((mode, rows) for mode, rows in of.items() if rows), ("", None))
    return {
        "lone": of["group"] is not None,
        "hides": site.modes.release is not None and site.modes.release.hides_shares,
        "belief": site.facts.get("p") if site.facts.get("bounds_belief") else None,
        "groups": not all(of.values()),
        "rows": rows and _promise(rows, "" if mode == "group" else site.name_of(mode)),
    }


def _promise(rows: LoneRows, mode: str) -> dict[str, Any]:
    """Return what is told of rows of one person each; mode: the one they serve, if a further."""
    return {
        "mode": mode,
        "k": rows.k,
        "m": rows.m,
        "weighed": rows.weighed,
        "left_out": rows.left_out,
        "promise": promise_in_words(rows),
        "known": known_in_words(rows),
        "not_promised": not_promised_in_words(rows),
    }
