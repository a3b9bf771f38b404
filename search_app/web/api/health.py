"""A check that searching and signing in work, for programs that watch the server."""

from __future__ import annotations

import logging
from collections.abc import Callable

from flask import Blueprint

from ... import __version__
from ...disclosure.kinds import name_of
from ..site import this_site
from . import records
from .operations import Operation

pages = Blueprint("health", __name__)
_logger = logging.getLogger(__name__)


@pages.get("/api/v1/health")
@Operation(unready=True, open=True)
def show() -> tuple[records.HealthJson, int]:
    """Return whether a search for one document worked, and whether people can sign in."""
    site = this_site()
    parts: dict[str, Callable[[], object]] = {
        "the index": lambda: site.modes.engine.pool("health", 1),
        "people.sqlite": site.store.use,
    }
    working = True
    for name, use in parts.items():
        try:
            use()
        # Whatever the fault is, the answer is that the part fails.
        except Exception as fault:
            _logger.error("%s does not answer: %s", name, type(fault).__name__)
            working = False
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
