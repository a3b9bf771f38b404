"""What guards a study that is served: a limit on requests, and the check of its health."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, jsonify, request
from flask.blueprints import BlueprintSetupState

from .... import __version__
from ...faults import all_work
from ...visitors.limits import OPEN, Buckets, network, refuse_haste
from .place import KEY, here, leads, visitor

pages = Blueprint("health", __name__)
_KEY = "veilsearch.limits"
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
    refuse_haste(buckets, client, place.clock())


@pages.get("/api/v1/health")
def show() -> tuple[Response, int]:
    """Return whether the index and the study's database answer."""
    place = here()
    working = all_work(
        {
            "the index": lambda: place.rank("health", place.study.conditions, "", {}),
            "study.sqlite": place.store.is_closed,
        }
    )
    status = "ok" if working else "failing"
    body = {"status": status, "version": __version__, "study": place.study.name}
    return jsonify(body), 200 if working else 503
