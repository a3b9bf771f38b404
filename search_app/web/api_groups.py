"""The groups of a release and the log of average precision, for machines: nobody is in them."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, abort, request

from ..group_figures import Figures
from ..precision_log import Chosen, Summary
from . import records
from .groups import NO_RELEASE, Line, figures_of, group_of, list_groups
from .log import told_at
from .log_figures import summaries
from .operations import operation
from .parameters import (
    GROUP_SORT,
    LOG_CORPUS,
    LOG_MIX,
    LOG_PAGE,
    LOG_POOL,
    LOG_RELEASE,
    PAGE,
    RELEASE,
    ROW,
    read_parameters,
)
from .site import this_site

pages = Blueprint("api_groups", __name__, url_prefix="/api/v1")
LISTED = (RELEASE, GROUP_SORT, PAGE)
LOGGED = (LOG_POOL, LOG_MIX, LOG_CORPUS, LOG_RELEASE)
RECENT = 100  # searches a page


@pages.get("/groups")
@operation(*LISTED, refusals=(404,))
def groups() -> records.GroupList:
    """List the groups of a release, without their members."""
    values = read_parameters(request.args, LISTED, this_site())
    listed = list_groups(_figures(values["release"]), values["sort"], values["page"])
    return {
        "groups": listed.groups,
        "page": listed.page,
        "pages": listed.pages,
        "rows": [_summary(line) for line in listed.lines],
    }


@pages.get("/groups/<row>")
@operation(RELEASE, PAGE, in_path=(ROW,), refusals=(404,))
def group(row: str) -> records.Group:
    """Return a group’s released row: its terms, never its members.

    Where people are real, the terms of a row of one person are not told: they are that person’s
    own. Nor are those of rows of composition and pooled before they are published.
    """
    values = read_parameters(request.args, (RELEASE, PAGE), this_site())
    shown = group_of(_figures(values["release"]), row, values["page"])
    return {
        "summary": _summary(shown.line),
        "told": shown.told,
        "page": shown.page,
        "pages": shown.pages,
        "terms": [{"term": term.name, "weight": term.weight} for term in shown.terms],
    }


def _figures(release: str) -> Figures:
    found = figures_of(this_site(), release)
    if found is None:
        abort(404, NO_RELEASE)
    return found


def _summary(line: Line) -> records.GroupSummary:
    return {
        "row": line.name,
        "people": line.people,
        "terms": line.terms,
        "average": line.average,
        "share": line.share,
        "worst": line.worst,
        "belief": line.belief,
        "rarest": line.rarest,
    }


@pages.get("/log")
@operation(*LOGGED, LOG_PAGE)
def log() -> records.Log:
    """Return mean average precision by mode, and the latest searches.

    No query and no person is in the log. The whole of it is at /log.csv.
    """
    site = this_site()
    values = read_parameters(request.args, (*LOGGED, LOG_PAGE), site)
    page = values.pop(LOG_PAGE.name)
    chosen = Chosen(**{name: None if value == "" else value for name, value in values.items()})
    every, age = summaries(site.log)
    recent = site.log.recent(RECENT * page, chosen)[RECENT * (page - 1) :]
    return {
        "means": [_mean(summary) for summary in every if summary.among(chosen)],
        "age": age,
        "page": page,
        "recent": [_logged(dict(row), told_at(site, row["at"])) for row in recent],
    }


def _mean(summary: Summary) -> records.Mean:
    return {
        "mode": summary.mode,
        "pool": summary.pool,
        "mix": summary.mix,
        "corpus": summary.corpus,
        "release": summary.release,
        "searches": summary.searches,
        "ap": summary.ap,
        "ap_at_10": summary.ap_at_10,
        "ap_c": summary.ap_c,
        "half_width": summary.half_width,
    }


def _logged(row: dict[str, Any], at: int) -> records.Logged:
    return {
        "search": row["search"],
        "at": at,
        "mode": row["mode"],
        "pool": row["pool"],
        "found": row["found"],
        "mix": row["mix"],
        "corpus": row["corpus"],
        "release": row["release"],
        "ap": row["ap"],
        "ap_at_10": row["ap_at_10"],
        "ap_c": row["ap_c"],
    }
