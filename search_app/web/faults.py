"""What went wrong, as a page with one plain sentence."""

from __future__ import annotations

import logging
import traceback

from flask import Flask, render_template
from werkzeug.exceptions import HTTPException

from anonymizer.model import AnonymizerError
from index.model import SearchError

from ..errors import UsageError

Page = tuple[str, int] | tuple[str, int, dict[str, str]]
_SENTENCES = {
    400: "The request can’t be read.",
    404: "There is no such page.",
    405: "This page can only be read.",
}
_UNKNOWN = "Something went wrong here, and it is not your fault. Please try again."
_logger = logging.getLogger(__name__)


def show_faults(app: Flask) -> None:
    """Answer every exception with a page, never with a traceback."""
    app.register_error_handler(HTTPException, _refused)
    app.register_error_handler(UsageError, _misused)
    app.register_error_handler(SearchError, _unavailable)
    app.register_error_handler(AnonymizerError, _unavailable)
    app.register_error_handler(Exception, _broken)


def _refused(fault: HTTPException) -> Page:
    status = fault.code or 500
    ours = fault.description != type(fault).description
    sentence = fault.description if ours else _SENTENCES.get(status, _UNKNOWN)
    page = _page(status, sentence or _UNKNOWN)
    return (*page, {"Allow": "GET, HEAD"}) if status == 405 else page


def _misused(fault: UsageError) -> Page:
    return _page(400, str(fault))


def _unavailable(fault: Exception) -> Page:
    _logger.warning("a request failed: %s", type(fault).__name__)
    return _page(503, str(fault))


def _broken(fault: Exception) -> Page:
    """Log where it broke without the exception's text, which may hold a query."""
    place = traceback.extract_tb(fault.__traceback__)[-1]
    _logger.error("%s at %s:%s", type(fault).__name__, place.filename, place.lineno)
    return _page(500, _UNKNOWN)


def _page(status: int, sentence: str) -> tuple[str, int]:
    return render_template("fault/show.html", status=status, sentence=sentence), status
