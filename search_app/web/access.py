"""Who a request is for: whom it may ask as, and whose pages it may see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from flask import abort, g

from .site import DEMO, PRIVATE, Site

NOBODY_HERE = "The people in this workspace are real: nobody can search as one of them here."


class Visitor(NamedTuple):
    """Who has signed in."""

    user: str = ""
    admin: bool = False


def visitor() -> Visitor:
    """Return who sends this request: in private mode who has signed in, else nobody."""
    found: Visitor = g.get("visitor", Visitor())
    return found


def person(site: Site, arguments: Mapping[str, str]) -> str:
    """Return whom a request asks as: in demo mode the chosen one, in private mode the visitor."""
    named = arguments.get("user", "")
    if site.access == PRIVATE:
        own = visitor().user
        if named and named != own:
            abort(404, "There is no such person here.")
        return own
    if site.access != DEMO and named:
        abort(403, NOBODY_HERE)
    if named and named not in site.people:
        abort(404, "There is no such person here. Choose one from the list.")
    return named
