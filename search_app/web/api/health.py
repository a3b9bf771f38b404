"""A check that searching and signing in work, for programs that watch the server."""

from __future__ import annotations

from flask import Blueprint

from ... import __version__
from ...disclosure.kinds import name_of
from ..faults import all_work
from ..site import Site, this_site
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
    body: records.HealthJson = {
        "status": "ok" if working else "failing",
        "version": __version__,
        "index": site.build,
        "release": release_shown(site),
    }
    return body, 200 if working else 503


def release_shown(site: Site) -> str:
    """Return the name of the release of `site` that strangers may read; "" without a release."""
    # What changes with the rows would say that somebody left, and when.
    if site.modes.release and site.modes.withheld():
        return name_of(site.modes.release)
    return site.release_name
