"""The groups of a release and the log of average precision as JSON: neither names a person."""

from __future__ import annotations

from flask import Blueprint, abort, request

from ...disclosure.disclosure import Disclosure, ListLine
from ..pages.groups import NO_RELEASE, counted, list_rows, row_of
from ..pages.log import chosen_of, means, sees_lines, shown_at
from ..parameters import (
    GROUP_SORT,
    LOG_CORPUS,
    LOG_PAGE,
    LOG_POOL,
    LOG_RELEASE,
    LOG_RULE,
    PAGE,
    RELEASE,
    ROW,
    read_parameters,
)
from ..site import this_site
from .described import records
from .described.operations import Operation
from .described.schema import record_of

pages = Blueprint("api_groups", __name__, url_prefix="/api/v1")
LISTED = (RELEASE, GROUP_SORT, PAGE)
LOGGED = (LOG_POOL, LOG_RULE, LOG_CORPUS, LOG_RELEASE)
RECENT = 100  # searches a page


@pages.get("/groups")
@Operation(LISTED, refusals=(404,))
def groups() -> records.GroupListJson:
    """Return the groups of a release, without their members."""
    values = read_parameters(request.args, LISTED, this_site())
    listed = list_rows(_counted(values["release"]), values["sort"], values["page"])
    return record_of(records.GroupListJson, listed, rows=[_summary(line) for line in listed.lines])


@pages.get("/groups/<row>")
@Operation((RELEASE, PAGE), in_path=(ROW,), refusals=(404,))
def group(row: str) -> records.GroupJson:
    """Return the group of a row: its released terms, never its members.

    Where people are real, the terms of a single-person row are not shown: they are that person’s
    own. If a promise holds for one release only, its rows are not shown before publication.
    """
    values = read_parameters(request.args, (RELEASE, PAGE), this_site())
    shown = row_of(_counted(values["release"]), row, values["page"])
    terms = [{"term": term.name, "weight": term.weight} for term in shown.terms]
    extra = {"summary": _summary(shown.line), "told": not shown.why_hidden, "terms": terms}
    return record_of(records.GroupJson, shown, **extra)


def _counted(release: str) -> Disclosure:
    shown = counted(this_site(), release)
    if shown is None:
        abort(404, NO_RELEASE)
    return shown


def _summary(line: ListLine) -> records.GroupSummaryJson:
    # Figures that were not measured are null.
    figures = {**dict.fromkeys(records.GroupSummaryJson.__annotations__), **line.measured}
    return record_of(records.GroupSummaryJson, figures, row=line.name)


@pages.get("/log")
@Operation((*LOGGED, LOG_PAGE))
def log() -> records.LogJson:
    """Return mean average precision by mode, and the latest searches.

    The log holds no query and no person. The whole log is at /log.csv. Where people are
    real, single searches are for the operator, and others see rounded means over 20 searches or
    more.
    """
    site = this_site()
    values = read_parameters(request.args, (*LOGGED, LOG_PAGE), site)
    page = values.pop(LOG_PAGE.name)
    chosen = chosen_of(values)
    every, age = means(site)
    lines = site.log.recent(RECENT * page, chosen) if sees_lines(site) else []
    recent = lines[RECENT * (page - 1) :]
    return {
        "means": [record_of(records.MeanJson, mean) for mean in every if mean.among(chosen)],
        "age": age,
        "page": page,
        "recent": [
            record_of(records.LoggedJson, dict(row), at=shown_at(site, row["at"])) for row in recent
        ],
    }
