"""Whether searching works, for machines."""

from __future__ import annotations

import logging

from flask import Blueprint

from .. import __version__
from . import records
from .operations import operation
from .site import this_site

pages = Blueprint("health", __name__)
_logger = logging.getLogger(__name__)


@pages.get("/api/v1/health")
@operation(unready=True, open_to_all=True)
def show() -> tuple[records.Health, int]:
    """Search for one document and tell whether that worked."""
    site = this_site()
    try:
        site.modes.engine.pool("health", 1)
        working = True
    except Exception as fault:
        _logger.error("the index does not answer: %s", type(fault).__name__)
        working = False
    body: records.Health = {
        "status": "ok" if working else "failing",
        "version": __version__,
        "index": site.build,
        "release": site.release_name,
    }
    return body, 200 if working else 503
