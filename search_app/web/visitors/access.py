"""The visitor behind a request, and the person it may ask as."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from flask import abort, g

from ...settings import DEMO, PRIVATE
from ..site import STOPPED, Site

NOBODY_HERE = "The people in this workspace may be real, so nobody can search as one of them here."


class Visitor(NamedTuple):
    """A person or the operator who has signed in; by default, neither."""

    user: str = ""
    admin: bool = False


def visitor() -> Visitor:
    """Return who sends this request: in private mode the one who has signed in, else nobody."""
    known: Visitor = g.get("visitor", Visitor())
    return known


def person(site: Site, arguments: Mapping[str, str]) -> str:
    """Return the user that `arguments` ask as at `site`: the chosen person, or the visitor."""
    named = arguments.get("user", "")
    if site.access == PRIVATE:
        own = visitor().user
        if named and named != own:
            # The same answer for every other name: it tells nobody who is in the workspace.
            abort(404, "There is no such person here.")
        return own
    if site.access != DEMO and named:
        abort(403, NOBODY_HERE)
    if named and site.stopped:
        abort(503, STOPPED)
    if named and named not in site.people:
        abort(404, "There is no such person here. Choose one from the list.")
    return named
