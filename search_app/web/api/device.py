"""Candidates for a device that orders them itself: requests hold a query, but no person."""

from __future__ import annotations

import gzip
from itertools import pairwise
from typing import Any

from flask import Blueprint, Response, abort, request

from anonymizer.model import ReleasedRow

from ...search.candidates import CandidatePool
from ...search.candidates import candidates as find
from ...search.engine import Engine
from ...search.evidence import CARES, EvidenceRule
from ...search.modes import FURTHER
from ...search.request import Request
from ...settings import DEMO
from ..pages.device import question_of, refuse_closed
from ..pages.groups import NO_GROUP, NO_RELEASE
from ..parameters import (
    DEVICE_POOL,
    DEVICE_ROW,
    KEEP,
    OPERATORS,
    QUERY,
    RANKING,
    RELEASE,
    read_parameters,
)
from ..site import Site, this_site
from ..views.answering import CUT, MANY
from ..views.results import cards
from .described import records
from .described.operations import Operation
from .search import document

pages = Blueprint("api_device", __name__, url_prefix="/api/v1")
TAKEN = (QUERY, DEVICE_POOL, RANKING, OPERATORS, DEVICE_ROW, KEEP, RELEASE)
# gzip at level 1 takes a third of the size for a fifteenth of the work.
QUICK = 1
UNPUBLISHED = (
    "These rows are not published, so they can’t choose documents for a device, which does not "
    "say who it is."
)
OF_ONE = "This row is one person’s own profile, so it can’t choose documents for others."


@pages.get("/candidates")
@Operation(
    TAKEN,
    required=("q",),
    refusals=(403, 404),
    open=True,
    compact=True,
    example={"q": "java", "pool": "50"},
)
def candidates() -> records.CandidatesJson:
    """Return documents for a device that orders them by a profile of its own.

    The request names no person, needs no session and holds no profile. The answer has all that a
    cosine needs: a term’s weight in a document is its count times the term’s weight, over the norm.
    With row, that released row (smoothed, where this server smooths rows) orders the pool, and its
    first documents are kept: the server then learns the row.
    """
    site = this_site()
    refuse_closed(site)
    values = read_parameters(request.args, TAKEN, site)
    question = question_of(site)
    mode = f"{FURTHER}{values['release']}" if values["release"] else "group"
    row = _row(site, values, mode)
    start = site.clock()
    rule = site.rule._replace(ranking=values["ranking"])
    among = site.modes.among("group")
    search = Request(question.query, question.pool, question.operators, rule, among)
    if row:
        search = site.modes.by_row(search, mode, row)
    engine = site.modes.engine
    candidate_pool = find(engine, search, values["keep"])
    made = body_of(engine, search, candidate_pool)
    made["notices"] = [CUT] * question.cut + made["notices"]
    made["milliseconds"] = round(1000 * max(site.clock() - start, 0))
    return made


def body_of(engine: Engine, search: Request, pool: CandidatePool) -> records.CandidatesJson:
    """Return the answer to `search`, to which `engine` has the documents of `pool`."""
    ranking, vectors, evidence = pool.ranking, pool.vectors, pool.evidence
    known = cards(engine, [ranking], search.query, count=len(ranking))
    care = CARES[search.rule.care]
    places, counts = vectors.places.tolist(), vectors.counts.tolist()
    columns = (ranking.rows, ranking.plain_ranks, ranking.scores, vectors.norms)
    parts = pairwise([0, *vectors.ends.tolist()])
    supports = evidence.in_lists() if evidence else [(None, [], [])] * len(ranking)
    # JSON takes Python's numbers only, and Flask's encoder no NumPy number.
    lines = zip(*(column.tolist() for column in columns), parts, supports, strict=True)
    documents = [
        document(
            records.CandidateJson,
            known[row],
            plain_rank=rank,
            score=score,
            terms=places[first:last],
            counts=counts[first:last],
            norm=norm,
            log=log,
            near=near,
            alike=alike,
        )
        for row, rank, score, norm, (first, last), (log, near, alike) in lines
    ]
    return {
        "query": search.query,
        "pool": search.pool,
        "operators": search.operators,
        "ranking": search.rule.ranking,
        "found": pool.found,
        "milliseconds": 0,
        "notices": [MANY] * pool.cut,
        "row": {"name": search.row.name, "users": search.row.users} if search.row else None,
        "care": {"beta": care.beta, "start": care.start} if evidence else None,
        "closeness": evidence.closeness.tolist() if evidence else [],
        "vocabulary": vectors.terms,
        "weights": vectors.weights.tolist(),
        "documents": documents,
    }


@pages.get("/reference")
@Operation(refusals=(403, 404), open=True, compact=True)
def reference() -> records.ReferenceJson:
    """Return what a device compares its interests with, by the rule evidence.

    It is the same for everybody: a sample of the documents, and the mean of the published rows.
    Where rows are not published, all of it is made of the documents.
    """
    site = this_site()
    refuse_closed(site)
    return reference_of(site.modes.engine.evidence(site.modes.among("group")))


def reference_of(made: EvidenceRule) -> records.ReferenceJson:
    """Return what `made` compares interests with."""
    sample, common = made.sampled, made.common
    return {
        "vocabulary": sample.terms,
        "weights": sample.weights.tolist(),
        "ends": sample.ends.tolist(),
        "terms": sample.places.tolist(),
        "counts": sample.counts.tolist(),
        "norms": sample.norms.tolist(),
        "common": list(common),
        "shares": list(common.values()),
        "rows": made.of_rows,
        "searches": [] if made.of_rows else [s[s >= 0].tolist() for s in made.searches],
    }


@pages.after_request
def shorten(response: Response) -> Response:
    """Return `response`, compressed where the device takes gzip."""
    # The answer holds no secret that its compressed size could help to guess.
    response.vary.add("Accept-Encoding")
    if response.status_code == 200 and request.accept_encodings.quality("gzip"):
        # With mtime 0 the same answer has the same bytes at any time.
        response.data = gzip.compress(response.data, QUICK, mtime=0)
        response.content_encoding = "gzip"
    return response


def _row(site: Site, values: dict[str, Any], mode: str) -> ReleasedRow | None:
    """Return the row that `values` name, if a device may learn from it; None if they name none."""
    name = values["row"]
    if not name:
        if given := [other for other in (KEEP.name, RELEASE.name) if request.args.get(other)]:
            abort(400, f"{' and '.join(given)} can’t be given without row")
        return None
    chosen = site.modes.release_of(mode)
    if chosen is None:
        abort(404, NO_RELEASE)
    number = chosen.rows.row_of.get(name)
    if number is None:
        abort(404, NO_GROUP)
    row = chosen.released_row(number)
    # Anybody may ask, so only what the public has already may choose among real people's rows.
    if row.users == 1 and site.access != DEMO:
        abort(403, OF_ONE)
    if site.access != DEMO and (values["release"] or not site.published()):
        abort(403, UNPUBLISHED)
    return row
