"""The log of average precision: over time, mode against mode, means, and the latest searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from flask import Blueprint, Response, render_template, request, url_for

from ..precision_history import latest
from ..precision_log import Chosen, PrecisionLog, Summary
from .access import person
from .csv_file import Cell, download
from .drawing import Chart
from .log_charts import compared, over_time, spread
from .log_figures import Pictured, Seen, patience, pictured, summaries
from .parameters import LOG_CORPUS, LOG_MIX, LOG_POOL, LOG_RELEASE, read_parameters
from .site import DEMO, Site, this_site
from .wording import count, kind, logged_name

pages = Blueprint("log", __name__)
RECENT = 30
DAY = 86_400  # seconds
WIDTH = 200  # of the drawing, for values from 0 to 1
_HEAD = ("search", "time", "mode", "pool", "found", "mix", "corpus", "release")
_VALUES = ("ap", "ap_at_10", "ap_at_20", "ap_c")
Time = Callable[[int], str]


class Average(NamedTuple):
    """A mean with its interval, as values and as places in the drawing."""

    summary: Summary
    name: str
    kind: str
    low: float | None
    high: float | None
    at: int
    start: int
    width: int


class Block(NamedTuple):
    """All modes over one pool of one index and release."""

    source: str  # the index and the release by name
    pool: int
    mix: float
    averages: list[Average]
    address: str  # of its pictures


class Filter(NamedTuple):
    """What can be chosen of one kind: a name, an address, and whether it is chosen."""

    name: str
    choices: list[tuple[str, str, bool]]


@pages.get("/log")
def show() -> str:
    """Show the log."""
    site = this_site()
    return render_template("log/show.html", **_view(site, _chosen(site)))


@pages.get("/log.csv")
def table() -> Response:
    """Send every row of the log, a thousand at a time."""
    site = this_site()
    return download("log.csv", (*_HEAD, *_VALUES), _rows(site.log, _clock(site)))


def _rows(log: PrecisionLog, time: Time) -> Iterator[tuple[Cell, ...]]:
    for row in log.rows():
        told = (row["search"], time(row["at"]), *(row[name] for name in _HEAD[2:]))
        yield (*told, *(row[name] for name in _VALUES))


def told_at(site: Site, at: int) -> int:
    """Return a time as it may be told: to the day where people are real, lest it tell who."""
    return at if site.access == DEMO else at - at % DAY


def _clock(site: Site) -> Time:
    """Write times as they may be told."""
    form = "%Y-%m-%d %H:%M:%S" if site.access == DEMO else "%Y-%m-%d"
    return lambda at: f"{datetime.fromtimestamp(told_at(site, at), UTC):{form}}"


def _chosen(site: Site) -> Chosen:
    person(site, request.args)
    values = read_parameters(request.args, (LOG_POOL, LOG_MIX, LOG_CORPUS, LOG_RELEASE), site)
    return Chosen(**{name: None if value == "" else value for name, value in values.items()})


def _view(site: Site, chosen: Chosen) -> dict[str, Any]:
    time, log = _clock(site), site.log
    end = patience()
    every, age = summaries(log, end)
    shown = [summary for summary in every if summary.among(chosen)]
    setting = latest(log, chosen) if shown else None  # the whole log would be searched for nothing
    drawn = pictured(log, setting, end) if setting else Seen(Pictured([], []), 0)
    oldest = max(age, drawn.age)
    return {
        "blocks": _blocks(shown),
        "filters": _filters(every, chosen),
        "setting": setting,
        "source": _source(setting.corpus, setting.release) if setting else "",
        "charts": _charts(drawn.value, time, setting.release or "") if setting else [],
        "recent": [_search(row, time) for row in log.recent(RECENT, chosen)] if shown else [],
        "age": count(oldest, "second", "seconds") if oldest else "",
        "exact": site.access == DEMO,
        "width": WIDTH,
    }


def _charts(drawn: Pictured, time: Time, release: str) -> list[Chart]:
    courses, found = drawn
    charts = [over_time(courses, time, release)]
    if found:
        charts += [compared(found, release)]
        charts += [spread(each, at, release) for at, each in enumerate(found)]
    return charts


def _filters(summaries: Iterable[Summary], chosen: Chosen) -> list[Filter]:
    """List what can be chosen of each kind, where there is more than one."""
    kinds = (("pool", "Pool"), ("mix", "Mix"), ("corpus", "Index"), ("release", "Release"))
    every = list(summaries)
    filters = []
    for name, shown in kinds:
        values = sorted({getattr(summary, name) for summary in every} - {""})
        now = getattr(chosen, name)
        if len(values) > 1 or now is not None:
            choices = [("All", _address(chosen._replace(**{name: None})), now is None)]
            choices += [
                (
                    f"{v:,}" if name == "pool" else f"{v:g}" if name == "mix" else str(v),
                    _address(chosen._replace(**{name: v})),
                    v == now,
                )
                for v in values
            ]
            filters.append(Filter(shown, choices))
    return filters


def _address(chosen: Chosen) -> str:
    wanted = {name: value for name, value in chosen._asdict().items() if value not in (None, "")}
    return url_for("log.show", **wanted)


def _blocks(summaries: Iterable[Summary]) -> list[Block]:
    def setting(summary: Summary) -> tuple[str, str, int, float]:
        return summary.corpus, summary.release, summary.pool, summary.mix

    return [
        Block(
            _source(corpus, release),
            pool,
            mix,
            [_average(summary) for summary in same],
            _address(Chosen(pool, mix, corpus, release)),
        )
        for (corpus, release, pool, mix), same in groupby(sorted(summaries, key=setting), setting)
    ]


def _source(corpus: str | None, release: str | None) -> str:
    return ", ".join(name for name in (corpus, release) if name)


def _average(summary: Summary) -> Average:
    half = summary.half_width
    low = None if half is None else max(summary.ap - half, 0.0)
    high = None if half is None else min(summary.ap + half, 1.0)
    at, start, end = (_place(v) for v in (summary.ap, low, high))
    named = logged_name(summary.mode, summary.release), kind(summary.mode)
    return Average(summary, *named, low, high, at, start, max(end - start, 0))


def _place(value: float | None) -> int:
    return 0 if value is None else round(value * WIDTH)


def _search(row: Any, time: Time) -> dict[str, Any]:
    source = _source(row["corpus"], row["release"])
    named = {"name": logged_name(row["mode"], row["release"]), "kind": kind(row["mode"])}
    return {**row, **named, "time": time(row["at"]), "source": source}
