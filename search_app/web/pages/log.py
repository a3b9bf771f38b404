"""The log of average precision: over time, modes compared, means, and the latest searches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from flask import Blueprint, Response, abort, render_template, request, url_for

from ...disclosure.numbers import count
from ...evaluation.log import Chosen, LogSummary
from ...evaluation.log_history import latest
from ...settings import DEMO
from ..charts.drawing import Chart
from ..charts.log import compared, over_time, spread
from ..charts.log_figures import Pictured, Seen, patience, pictured, summaries
from ..parameters import LOG_CORPUS, LOG_POOL, LOG_RELEASE, LOG_RULE, read_parameters
from ..site import Site, this_site
from ..views.csv_file import download
from ..visitors.access import person, visitor
from ..wording import kind, logged_name

pages = Blueprint("log", __name__)
RECENT = 30
LEAST = 20  # searches in a mean of real people's searches that others than the operator see
_SINGLE = "Single lines of the log are for the operator."
DAY = 86_400  # seconds
WIDTH = 200  # of the drawing, for values from 0 to 1
_HEAD = ("search", "time", "mode", "pool", "found", "rule", "corpus", "release")
_HASH = re.compile(r" [0-9a-f]{8}\b")  # of a release's rows, in its name
_VALUES = ("ap", "ap_at_10", "ap_at_20", "ap_c", "plain")
Time = Callable[[int], str]


class Average(NamedTuple):
    """A mean with its interval, as values and as places in the drawing."""

    summary: LogSummary
    name: str
    kind: str
    low: float | None
    high: float | None
    at: int
    start: int
    width: int


class PoolBlock(NamedTuple):
    """All modes over one pool of one index and release."""

    source: str  # the index and the release by name
    pool: int
    rule: str
    averages: list[Average]
    address: str  # of its pictures

    @property
    def evidence(self) -> bool:
        """Return whether any of it has a share that was left plain."""
        return any(average.summary.plain is not None for average in self.averages)


@pages.get("/log")
def show() -> str:
    """Return the page of the log."""
    site = this_site()
    # The log is nobody's own; this only refuses an address that names somebody else.
    person(site, request.args)
    values = read_parameters(request.args, (LOG_POOL, LOG_RULE, LOG_CORPUS, LOG_RELEASE), site)
    return render_template("log/show.html", **_view(site, chosen_of(values)))


@pages.get("/log.csv")
def table() -> Response:
    """Return every row of the log as a CSV file, which is sent a thousand rows at a time."""
    site = this_site()
    if not sees_lines(site):
        abort(403, _SINGLE)
    time, names = _clock(site), (*_HEAD[2:], *_VALUES)
    rows = (
        (row["search"], time(row["at"]), *(row[name] for name in names)) for row in site.log.rows()
    )
    return download("log.csv", (*_HEAD, *_VALUES), rows)


def sees_lines(site: Site) -> bool:
    """Return whether the visitor may see single lines of the log of `site`, not only means."""
    # By equal scores one finds the searches of one person, and by a row's release who lost a row.
    return site.access == DEMO or visitor().admin


def means(site: Site, end: float | None = None) -> Seen[list[LogSummary]]:
    """Return the means in the log of `site` that the visitor may see; wait for them until `end`."""
    seen = summaries(site.log, end)
    if sees_lines(site):
        return seen
    return seen._replace(value=[_coarse(mean) for mean in seen.value if mean.searches >= LEAST])


def _coarse(mean: LogSummary) -> LogSummary:
    """Return the `mean` with two decimals, and its release without the hash of its rows."""
    return mean._replace(
        release=_HASH.sub("", mean.release),
        ap=round(mean.ap, 2),
        ap_at_10=round(mean.ap_at_10, 2),
        ap_c=mean.ap_c and round(mean.ap_c, 2),
        # An interval over few people would tell how many there are.
        half_width=round(mean.half_width or 0, 2) if mean.people >= LEAST else None,
        plain=mean.plain and round(mean.plain, 2),
    )


def shown_at(site: Site, at: int) -> int:
    """Return the time `at` as `site` may show it: only the day, unless people are invented."""
    # By the exact time, someone who saw a person search would find that person's line.
    return at if site.access == DEMO else at - at % DAY


def _clock(site: Site) -> Time:
    form = "%Y-%m-%d %H:%M:%S" if site.access == DEMO else "%Y-%m-%d"
    return lambda at: f"{datetime.fromtimestamp(shown_at(site, at), UTC):{form}}"


def chosen_of(values: Mapping[str, Any]) -> Chosen:
    """Return the part of the log that `values` choose; an empty value chooses all."""
    return Chosen(**{name: None if value == "" else value for name, value in values.items()})


def _view(site: Site, chosen: Chosen) -> dict[str, Any]:
    time, log = _clock(site), site.log
    # One deadline for both counts, so that a visit does not wait twice as long.
    end = patience()
    every, age = means(site, end)
    lines = sees_lines(site)
    shown = [summary for summary in every if summary.among(chosen)]
    # Without a summary, no row matches: the search for the latest would read the whole log.
    setting = latest(log, chosen) if shown and lines else None
    drawn = pictured(log, setting, end) if setting else Seen(Pictured([], []), 0)
    oldest = max(age, drawn.age)
    return {
        "blocks": _blocks(shown),
        "filters": _filters(every, chosen),
        "lines": lines,
        "least": LEAST,
        "setting": setting,
        "source": _source(setting.corpus, setting.release) if setting else "",
        "charts": _charts(drawn.value, time, setting.release or "") if setting else [],
        "recent": [
            {
                **row,
                "name": logged_name(row["mode"], row["release"]),
                "kind": kind(row["mode"]),
                "time": time(row["at"]),
                "source": _source(row["corpus"], row["release"]),
            }
            for row in (log.recent(RECENT, chosen) if shown and lines else ())
        ],
        "age": count(oldest, "second", "seconds") if oldest else "",
        "exact": site.access == DEMO,
        "width": WIDTH,
    }


def _charts(drawn: Pictured, time: Time, release: str) -> list[Chart]:
    courses, pairs = drawn
    charts = [over_time(courses, time, release), *([compared(pairs, release)] if pairs else [])]
    return charts + [spread(pair, at, release) for at, pair in enumerate(pairs)]


def _filters(
    summaries: Iterable[LogSummary], chosen: Chosen
) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """Return the choices of each kind that has more than one: name, address, whether chosen."""
    kinds = (("pool", "Pool"), ("rule", "Rule"), ("corpus", "Index"), ("release", "Release"))
    every = list(summaries)
    filters = []
    for name, shown in kinds:
        values = sorted({getattr(summary, name) for summary in every} - {""})
        now = getattr(chosen, name)
        if len(values) > 1 or now is not None:
            choices = [("All", _address(chosen._replace(**{name: None})), now is None)]
            choices += [
                (
                    f"{v:,}" if name == "pool" else str(v),
                    _address(chosen._replace(**{name: v})),
                    v == now,
                )
                for v in values
            ]
            filters.append((shown, choices))
    return filters


def _address(chosen: Chosen) -> str:
    wanted = {name: value for name, value in chosen._asdict().items() if value not in (None, "")}
    return url_for("log.show", **wanted)


def _blocks(summaries: Iterable[LogSummary]) -> list[PoolBlock]:
    def setting(summary: LogSummary) -> tuple[str, str, int, str]:
        return summary.corpus, summary.release, summary.pool, summary.rule

    return [
        PoolBlock(
            _source(corpus, release),
            pool,
            rule,
            [_average(summary) for summary in same],
            _address(Chosen(pool, rule, corpus, release)),
        )
        for (corpus, release, pool, rule), same in groupby(sorted(summaries, key=setting), setting)
    ]


def _source(corpus: str | None, release: str | None) -> str:
    return ", ".join(name for name in (corpus, release) if name)


def _average(summary: LogSummary) -> Average:
    half = summary.half_width
    low = None if half is None else max(summary.ap - half, 0.0)
    high = None if half is None else min(summary.ap + half, 1.0)
    at, start, end = (round((v or 0) * WIDTH) for v in (summary.ap, low, high))
    named = logged_name(summary.mode, summary.release), kind(summary.mode)
    return Average(summary, *named, low, high, at, start, max(end - start, 0))
