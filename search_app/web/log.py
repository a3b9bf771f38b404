"""The log of average precision: means with their intervals, and the latest searches."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from flask import Blueprint, render_template

from ..precision_log import Summary
from .site import this_site
from .wording import MODE_NAMES

pages = Blueprint("log", __name__)
RECENT = 30
WIDTH = 200  # of the drawing, for values from 0 to 1


class Average(NamedTuple):
    """A mean with its interval, as values and as places in the drawing."""

    summary: Summary
    name: str
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


@pages.get("/log")
def show() -> str:
    """Show the log."""
    log = this_site().log
    return render_template(
        "log/show.html",
        blocks=_blocks(log.summary()),
        recent=[_search(row) for row in log.recent(RECENT)],
        width=WIDTH,
    )


def _blocks(summaries: Iterable[Summary]) -> list[Block]:
    def setting(summary: Summary) -> tuple[str, str, int, float]:
        return summary.corpus, summary.release, summary.pool, summary.mix

    return [
        Block(_source(corpus, release), pool, mix, [_average(summary) for summary in same])
        for (corpus, release, pool, mix), same in groupby(sorted(summaries, key=setting), setting)
    ]


def _source(corpus: str, release: str) -> str:
    return ", ".join(name for name in (corpus, release) if name)


def _average(summary: Summary) -> Average:
    half = summary.half_width
    low = None if half is None else max(summary.ap - half, 0.0)
    high = None if half is None else min(summary.ap + half, 1.0)
    at, start, end = (_place(v) for v in (summary.ap, low, high))
    return Average(summary, MODE_NAMES[summary.mode], low, high, at, start, max(end - start, 0))


def _place(value: float | None) -> int:
    return 0 if value is None else round(value * WIDTH)


def _search(row: Any) -> dict[str, Any]:
    time = datetime.fromtimestamp(row["at"], UTC)
    source = _source(row["corpus"], row["release"])
    shown = {"name": MODE_NAMES[row["mode"]], "time": f"{time:%Y-%m-%d %H:%M:%S}", "source": source}
    return {**row, **shown}
