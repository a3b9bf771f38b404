"""A check that searching and signing in work, for programs that watch the server."""

from __future__ import annotations

from flask import Blueprint

from ... import __version__
from ...disclosure.kinds import name_of
from ..faults import all_work
from ..site import this_site
from .described import records
from .described.operations import Operation

pages = Blueprint("health", __name__)


@pages.get("/api/v1/health")
@Operation(unready=True, open=True)
def show() -> tuple[records.HealthJson, int]:
    """Return whether a search for one document worked, and whether people can sign in."""
    site = this_site()
    working = all_work(
        {
            "the index": lambda: site.modes.engine.pool("health", 1),
            "people.sqlite": site.store.use,
        }
    )
    release = site.release_name
    if site.modes.release and site.modes.withheld():
        # Strangers read this. What changes with the rows would say that somebody left, and when.
        release = name_of(site.modes.release)
    body: records.HealthJson = {
        "status": "ok" if working else "failing",
        "version": __version__,
        "index": site.build,
        "release": release,
    }
    return body, 200 if working else 503
