"""What went wrong, as a page with one plain sentence."""

from __future__ import annotations

import logging
import traceback

from flask import Flask, render_template
from werkzeug.exceptions import HTTPException

from anonymizer.model import AnonymizerError
from index.model import SearchError, TooSlow

from ..errors import UsageError

Page = tuple[str, int] | tuple[str, int, dict[str, str]]
_SENTENCES = {
    400: "The request can’t be read.",
    404: "There is no such page.",
    405: "This page can only be read.",
    416: "The file ends before the part that was asked for.",
}
_NOT_ANSWERED = "The request can’t be answered as it was asked."
_UNKNOWN = "Something went wrong here, and it is not your fault. Please try again."
_DOCTOR = "the operator finds the reason with: veilsearch doctor"
_UNUSABLE: dict[type[Exception], str] = {  # the narrower kind first
    TooSlow: (
        "The search took longer than a search may take here, so it was stopped. "
        "Try fewer words or a smaller pool, or try again when less is going on."
    ),
    SearchError: f"The index can’t be used; {_DOCTOR}",
    AnonymizerError: f"The profiles or the release can’t be used; {_DOCTOR}",
    UsageError: f"A part of this workspace can’t be used; {_DOCTOR}",
}
_logger = logging.getLogger(__name__)


def show_faults(app: Flask) -> None:
    """Answer every exception with a page, never with a traceback."""
    app.register_error_handler(HTTPException, _refused)
    for kind in _UNUSABLE:
        app.register_error_handler(kind, _unavailable)
    app.register_error_handler(Exception, _broken)


def _refused(fault: HTTPException) -> Page:
    status = fault.code or 500
    ours = fault.description != type(fault).description
    usual = _UNKNOWN if status >= 500 else _NOT_ANSWERED
    sentence = fault.description if ours else _SENTENCES.get(status, usual)
    page = _page(status, sentence or _UNKNOWN)
    return (*page, {"Allow": "GET, HEAD"}) if status == 405 else page


def _unavailable(fault: Exception) -> Page:
    """Say what can't be used without the exception's text, which may hold a path."""
    _logger.warning("a request failed: %s", type(fault).__name__)
    return _page(503, next(_UNUSABLE[kind] for kind in _UNUSABLE if isinstance(fault, kind)))


def _broken(fault: Exception) -> Page:
    """Log where it broke without the exception's text, which may hold a query."""
    place = traceback.extract_tb(fault.__traceback__)[-1]
    _logger.error("%s at %s:%s", type(fault).__name__, place.filename, place.lineno)
    return _page(500, _UNKNOWN)


def _page(status: int, sentence: str) -> tuple[str, int]:
    return render_template("fault/show.html", status=status, sentence=sentence), status
