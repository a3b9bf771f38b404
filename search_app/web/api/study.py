"""What a participant's browser needs to order results by a profile that stays there."""
# Nothing here takes a profile. All answers but that for a task are the same for everybody.

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, abort, json, jsonify

from anonymizer.model import Release

from ...search.candidates import candidates as find
from ...search.request import EVIDENCE, Request
from ...study.design import INTERESTS
from ...study.rankings import Rankings
from ...study.trials import SHOWN, Trial, generator
from ..pages.study.participant import step_and_shown
from ..pages.study.place import STOPPED, ServedStudy, here, visitor
from .device import body_of, reference_of, shorten

pages = Blueprint("api_study", __name__, url_prefix="/api/v1/study")
pages.after_request(shorten)
_SECONDS = 600  # for which a browser keeps what is the same for all tasks
LONGEST = 4000  # characters of a document's text; those of a whole pool are sent


@pages.before_request
def _participants_only() -> None:
    if not here().study.device:
        abort(404)
    if visitor() is None:
        abort(403, "Open your invitation first.")


def _rankings() -> Rankings:
    """Return what orders results now; refuse if what browsers get of it is not public."""
    place = here()
    rankings = place.rankings
    # People may have joined the release since it was published: their rows are no browser's.
    if place.stopped or (place.by_rows and rankings.modes.withheld()):
        abort(503, STOPPED)
    return rankings


@pages.get("/words")
def words() -> Mapping[str, Any]:
    """Return the terms of which profiles are made: of each interest, or of the whole index."""
    rankings = _rankings()
    growth, labels = rankings.growth, rankings.interests()
    known = here().study.profile == INTERESTS
    counts = rankings.counts_of_interests(labels) if known else {}
    return {
        # In lists, which keep their order: it decides between equally frequent terms.
        "interests": [[label, list(counted.items())] for label, counted in counts.items()],
        "vocabulary": [] if known else rankings.modes.engine.terms,
        "sums": growth.sums,
        "size": growth.size,
    }


@pages.get("/basis")
def basis() -> Response:
    """Return the conditions, with the published rows and what evidence compares with."""
    rankings, conditions = _rankings(), here().study.conditions
    modes = rankings.modes
    among = {one: modes.among(one) for one in conditions if one != "none"}
    used = {*among.values()} if rankings.rule.ranking == EVIDENCE else set()
    answer = jsonify({
        "conditions": conditions,
        "among": among,
        "rows": {one: _lines(made) for one in conditions if (made := modes.release_of(one))},
        "fallback": {one: _fallback(made) for one in conditions if (made := modes.release_of(one))},
        "references": {one: reference_of(modes.engine.evidence(one)) for one in used},
    })  # fmt: skip
    # It is large, and each task needs it.
    answer.cache_control.private, answer.cache_control.max_age = True, _SECONDS
    return answer


def _lines(release: Release) -> str:
    """Return the rows that may serve somebody who is in no group, as a file of them has them."""
    if release.promise.single_person:
        return ""
    rows = map(release.released_row, range(release.groups))
    lines = ({"row": one.name, "users": one.users, "terms": one.weights} for one in rows)
    return "\n".join(json.dumps(line) for line in lines)


def _fallback(release: Release) -> list[tuple[str, float]]:
    """Return the row for a profile that no group's row fits; empty if there is none."""
    if release.promise.single_person or release.groups == len(release.rows):
        return []
    return list(release.released_row(release.groups).weights.items())


@pages.post("/candidates")
def candidates() -> Mapping[str, Any]:
    """Return the documents of the task where the participant stands, and what chance decided."""
    place, rankings = here(), _rankings()
    person, step, shown = step_and_shown()
    if person is None or shown is None or not shown.trial.blank:
        abort(409, "This task is done. Go on where you are.")
    modes, rule = rankings.modes, rankings.rule
    # As the engine gets it from everybody: without any person.
    search = Request(shown.query, place.settings.pool, rule=rule, among=modes.among("own"))
    pool = find(modes.engine, search)
    others = {modes.among(one) for one in place.study.conditions if one != "none"}
    evidence = {one: modes.engine.evidence(one) for one in others if pool.evidence}
    texts = modes.engine.documents(pool.ranking.rows)
    draws = generator(person.seed, step.name).random(SHOWN * len(place.study.conditions))
    return {
        **body_of(modes.engine, search, pool),
        "close": {one: e.closeness_of(pool.ranking.rows).tolist() for one, e in evidence.items()},
        "texts": [one.text[:LONGEST] for one in texts],
        "draws": draws.tolist(),
        **_masked(place, shown.trial),
    }


def _masked(place: ServedStudy, trial: Trial) -> dict[str, str]:
    """Return which condition fills which list of `trial`, or which place, for the script only.

    Neither part tells anything alone, and each has one length whatever it says.
    """
    names = [trial.conditions[team] for team in trial.teams] or trial.conditions
    numbers = bytes(place.study.conditions.index(name) for name in names)
    pad = secrets.token_bytes(len(numbers))
    # In two spellings: equal bytes would compress better.
    masked = bytes(one ^ other for one, other in zip(numbers, pad, strict=True)).hex()
    return {"pad": base64.b64encode(pad).decode(), "masked": masked}
