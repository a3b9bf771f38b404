"""Candidates for a device that orders them itself: the server is told a query and nobody."""

from __future__ import annotations

import gzip
from itertools import pairwise
from typing import Any

from flask import Blueprint, Response, abort, request

from anonymizer.model import ReleasedRow

from ..candidates import Candidates
from ..candidates import candidates as find
from ..modes import FURTHER
from ..request import Request
from . import device_records as records
from .answering import CUT, MANY
from .api import marks
from .groups import NO_GROUP, NO_RELEASE
from .operations import operation
from .parameters import (
    DEVICE_POOL,
    DEVICE_ROW,
    KEEP,
    OPERATORS,
    QUERY,
    RELEASE,
    read_parameters,
)
from .question import Question, read_question
from .results import cards
from .site import DEMO, Site, this_site

pages = Blueprint("api_device", __name__, url_prefix="/api/v1")
ASKED = (QUERY, DEVICE_POOL, OPERATORS, DEVICE_ROW, KEEP, RELEASE)
QUICK = 1  # of gzip's levels: a third of the size for a fifteenth of the work
CLOSED = "Searching on one’s own device names nobody, so it is closed where people sign in."
UNPUBLISHED = (
    "These rows are not published, and a device does not say who it is: nobody learns from them "
    "here."
)
OF_ONE = "This row is one person’s own profile, and the people here are real: it chooses nothing."


@pages.get("/candidates")
@operation(
    *ASKED,
    required=("q",),
    refusals=(403, 404),
    open_to_all=True,
    compact=True,
    example={"q": "java", "pool": "50"},
)
def candidates() -> records.Candidates:
    """Find documents for a device that orders them by a profile of its own.

    Nobody is named, no session is needed and no profile is taken. The answer has what a cosine is
    made of: a document’s weight of a term is its count times the term’s weight, over the norm.
    With row, the pool is ordered by that released row (smoothed, where this server smooths rows)
    and the documents it puts first are kept: the server then learns the row.
    """
    site = this_site()
    refuse_closed(site)
    values = read_parameters(request.args, ASKED, site)
    question = question_of(site)
    row = _row(site, values)
    start = site.clock()
    asked = Request(question.query, question.pool, question.operators, site.settings.mix)
    if row:
        asked = site.modes.by_row(asked, _mode(values["release"]), row)
    found = find(site.modes.engine, asked, values["keep"])
    documents = _documents(site, question, found)
    return {
        "query": question.query,
        "pool": question.pool,
        "operators": question.operators,
        "mix": asked.mix,
        "found": found.found,
        "milliseconds": round(1000 * max(site.clock() - start, 0)),
        "notices": [CUT] * question.cut + [MANY] * found.cut,
        "row": {"name": row.name, "users": row.users} if row else None,
        "vocabulary": found.vectors.terms,
        "weights": found.vectors.weights.tolist(),
        "documents": documents,
    }


@pages.after_request
def _shorten(response: Response) -> Response:
    """Compress an answer where the device can take that; there is no secret in it to guess at."""
    response.vary.add("Accept-Encoding")
    if response.status_code == 200 and request.accept_encodings.quality("gzip"):
        response.data = gzip.compress(response.data, QUICK, mtime=0)
        response.content_encoding = "gzip"
    return response


def refuse_closed(site: Site) -> None:
    """Refuse where only who signs in may search: a device does not say who it is."""
    if not site.on_device:
        abort(404, CLOSED)


def question_of(site: Site) -> Question:
    """Read what a device may ask: a query, a pool and operators; whatever else is not looked at."""
    pool = read_parameters(request.args, (DEVICE_POOL,), site)["pool"]
    told = {name: request.args.get(name, "") for name in (QUERY.name, OPERATORS.name)}
    return read_question({**told, "pool": str(pool)}, site)


def _mode(release: str) -> str:
    return f"{FURTHER}{release}" if release else "group"


def _row(site: Site, values: dict[str, Any]) -> ReleasedRow | None:
    """Return the row by its name; of real people none that is one person's."""
    name, release = values["row"], values["release"]
    if not name:
        if given := [other for other in (KEEP.name, RELEASE.name) if request.args.get(other)]:
            abort(400, f"{' and '.join(given)} can’t be given without row")
        return None
    chosen = site.modes.release_of(_mode(release))
    if chosen is None:
        abort(404, NO_RELEASE)
    number = chosen.rows.row_of.get(name)
    if number is None:
        abort(404, NO_GROUP)
    row = chosen.released_row(number)
    if row.users == 1 and site.access != DEMO:
        abort(403, OF_ONE)
    if site.access != DEMO and (release or not site.is_published()):
        abort(403, UNPUBLISHED)
    return row


def _documents(site: Site, question: Question, found: Candidates) -> list[records.Candidate]:
    ranking, vectors = found.ranking, found.vectors
    known = cards(site.modes.engine, [ranking], question.query, count=len(ranking))
    places, counts = vectors.places.tolist(), vectors.counts.tolist()
    columns = (ranking.rows, ranking.plain_ranks, ranking.scores, vectors.norms)
    parts = pairwise([0, *vectors.ends.tolist()])
    each = zip(*(column.tolist() for column in columns), parts, strict=True)
    return [
        {
            "id": known[row].id,
            "title": known[row].title,
            "url": known[row].link,
            "source": known[row].source,
            "snippet": "".join(part.text for part in known[row].snippet),
            "marks": marks(known[row].snippet),
            "plain_rank": rank,
            "score": score,
            "terms": places[first:last],
            "counts": counts[first:last],
            "norm": norm,
        }
        for row, rank, score, norm, (first, last) in each
    ]
