"""Faults as one plain sentence: on a page, and under /api/ as JSON."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Mapping

from flask import Flask, Response, jsonify, render_template, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from anonymizer.errors import AnonymizerError
from index.model import SearchError, TooSlow

from ..errors import UsageError

API = "/api/"  # addresses that begin so answer in JSON
_Answer = tuple[str | Response, int, dict[str, str]]
_SENTENCES = {
    400: "The request can’t be read.",
    404: "There is no such page.",
    405: "This address does not take this method.",
    413: "The request is too large.",
    416: "The file ends before the requested part.",
    429: "Too many requests came at once; wait a moment.",
}
_KEPT = ("Allow", "Retry-After", "WWW-Authenticate", "Content-Range")  # headers of a refusal
_NOT_ANSWERED = "The request can’t be answered as it was asked."
_UNKNOWN = "Something went wrong here, and it is not your fault. Please try again."
_DOCTOR = "the operator finds the reason with: veilsearch doctor"
# The first match counts, and TooSlow is a SearchError: the narrower class stands first.
_UNUSABLE: dict[type[Exception], str] = {
    TooSlow: (
        "The search took too long, so it was stopped. "
        "Try fewer words or a smaller pool, or try again when the server is less busy."
    ),
    SearchError: f"The index can’t be used; {_DOCTOR}",
    AnonymizerError: f"The profiles or the release can’t be used; {_DOCTOR}",
    UsageError: f"A part of this workspace can’t be used; {_DOCTOR}",
}
_logger = logging.getLogger(__name__)


def show_faults(app: Flask) -> None:
    """Make `app` answer every exception with a page, never with a traceback."""
    app.register_error_handler(HTTPException, _refused)
    for kind in _UNUSABLE:
        app.register_error_handler(kind, _unavailable)
    app.register_error_handler(Exception, _broken)


def _refused(fault: HTTPException) -> _Answer:
    status = fault.code or 500
    ours = fault.description != type(fault).description
    sentence = fault.description if ours else sentence_of(status)
    kept: dict[str, str] = {}
    for name, value in fault.get_headers():
        if name in _KEPT:
            kept[name] = f"{kept[name]}, {value}" if name in kept else value
    if isinstance(fault, MethodNotAllowed):
        # Werkzeug writes the methods of a set, in any order.
        kept["Allow"] = ", ".join(sorted(fault.valid_methods or ()))
    return _answer(status, sentence or _UNKNOWN, kept)


def sentence_of(status: int) -> str:
    """Return the sentence for a `status` that no code explained."""
    return _SENTENCES.get(status, _UNKNOWN if status >= 500 else _NOT_ANSWERED)


def fault_record(status: int, sentence: str) -> dict[str, dict[str, int | str]]:
    """Return the JSON body of a fault: its `status` and `sentence`."""
    return {"error": {"status": status, "message": sentence}}


def _unavailable(fault: Exception) -> _Answer:
    """Say what can't be used, but not the exception's text: it may hold a path."""
    _logger.warning("a request failed: %s", type(fault).__name__)
    return _answer(503, next(_UNUSABLE[kind] for kind in _UNUSABLE if isinstance(fault, kind)), {})


def _broken(fault: Exception) -> _Answer:
    """Log where the program broke, but not the exception's text: it may hold a query."""
    place = traceback.extract_tb(fault.__traceback__)[-1]
    _logger.error("%s at %s:%s", type(fault).__name__, place.filename, place.lineno)
    return _answer(500, _UNKNOWN, {})


def _answer(status: int, sentence: str, headers: dict[str, str]) -> _Answer:
    if request.path.startswith(API):
        return jsonify(fault_record(status, sentence)), status, headers
    page = render_template("fault/show.html", status=status, sentence=sentence)
    return page, status, headers


def all_work(parts: Mapping[str, Callable[[], object]]) -> bool:
    """Return whether no use of `parts` fails; those that do are logged by name."""
    working = True
    for name, use in parts.items():
        try:
            use()
        # Whatever the fault is, the answer is that the part fails.
        except Exception as fault:
            _logger.error("%s does not answer: %s", name, type(fault).__name__)
            working = False
    return working
