"""Whether searching works, for machines."""

from __future__ import annotations

import logging
from typing import Any

from flask import Blueprint

from .. import __version__
from .site import this_site

pages = Blueprint("health", __name__)
_logger = logging.getLogger(__name__)


@pages.get("/api/v1/health")
def show() -> tuple[dict[str, Any], int]:
    """Search for one document and tell whether that worked."""
    site = this_site()
    try:
        site.modes.engine.pool("health", 1)
        working = True
    except Exception as fault:
        _logger.error("the index does not answer: %s", type(fault).__name__)
        working = False
    status = "ok" if working else "failing"
    body = {
        "status": status,
        "version": __version__,
        "index": site.build,
        "release": site.release_name,
    }
    return body, 200 if working else 503
