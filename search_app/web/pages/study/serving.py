"""What guards a study that is served: a limit on requests, and the check of its health."""

from __future__ import annotations

import logging
import math

from flask import Blueprint, Response, current_app, jsonify, request
from flask.blueprints import BlueprintSetupState
from werkzeug.exceptions import TooManyRequests

from .... import __version__
from ...visitors.limits import OPEN, Buckets, network
from .place import KEY, here, leads, visitor

__all__ = ["leads", "pages"]
pages = Blueprint("health", __name__)
_KEY = "veilsearch.limits"
_logger = logging.getLogger(__name__)
# These cost no token. Many participants may arrive at once from one address, as in a classroom, and
# a flood from there must keep nobody from withdrawing.
_FREE = {"assets.file", "study.invited", "study.join", "study.consent", "study.withdraw"}


@pages.record_once
def _remember_in_memory(state: BlueprintSetupState) -> None:
    rate = state.app.extensions[KEY].settings.rate
    state.app.config.setdefault(OPEN, False)
    state.app.extensions[_KEY] = Buckets(rate) if rate else None


@pages.before_app_request
def _refuse_haste() -> None:
    buckets: Buckets | None = current_app.extensions[_KEY]
    # People on their own machine are not limited.
    if buckets is None or request.endpoint in _FREE or not current_app.config[OPEN]:
        return
    place, person = here(), visitor()
    address = f"address {network(request.remote_addr)}"
    client = f"participant {person.id}" if person else "leader" if leads() else address
    if wait := buckets.take(client, place.clock()):
        seconds = math.ceil(wait)
        message = f"You sent too many requests; wait {seconds} s and try again."
        raise TooManyRequests(message, retry_after=seconds)


@pages.get("/api/v1/health")
def show() -> tuple[Response, int]:
    """Return whether the index and the study's database answer."""
    place = here()
    working = True
    for name, use in {
        "the index": lambda: place.rank("health", place.study.conditions, "", {}),
        "study.sqlite": place.store.is_closed,
    }.items():
        try:
            use()
        # Whatever the fault is, the answer is that the part fails.
        except Exception as fault:
            _logger.error("%s does not answer: %s", name, type(fault).__name__)
            working = False
    status = "ok" if working else "failing"
    body = {"status": status, "version": __version__, "study": place.study.name}
    return jsonify(body), 200 if working else 503
