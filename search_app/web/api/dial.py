"""The dial as JSON: all stops of a search in one answer."""

from __future__ import annotations

from flask import Blueprint, request

from ..question import read_question
from ..site import this_site
from ..views.dial import ShownStop, dial_view
from .described import records
from .described.operations import Operation
from .described.schema import record_of
from .search import COMPARED, searched

pages = Blueprint("api_dial", __name__, url_prefix="/api/v1")


@pages.get("/dial")
@Operation(COMPARED, required=("q",), refusals=(404,), example={"q": "java", "pool": "50"})
def dial() -> records.DialJson:
    """Return a search at every stop of the dial: from the own profile to the plain order.

    Between them are the rows of releases, ordered by how many of the guesses about everybody are
    right. Without a person there is only the plain order. Nothing is logged or remembered. There is
    no dial where people are real.
    """
    site = this_site()
    question = read_question(request.args, site)
    shown = dial_view(site, question)
    return {
        **searched(question, shown.outcome, shown.notices),
        "building": list(shown.building),
        "stops": [_stop(one) for one in shown.stops],
    }


def _stop(shown: ShownStop) -> records.StopJson:
    hits = [
        record_of(records.StopHitJson, result, id=result.card.id, title=result.card.title)
        for result in shown.results
    ]
    guesses = [record_of(records.GuessJson, guess) for guess in shown.stop.guesses]
    given = {"says": shown.says, "results": hits, "guesses": guesses}
    return record_of(records.StopJson, shown.stop, **given)
