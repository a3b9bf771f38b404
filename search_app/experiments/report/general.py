"""The report of experiments that follow no paper: a table of all means and a figure of AP."""

from __future__ import annotations

from ..outcomes import PassSeconds
from .cells import mean
from .making import figure, line, made
from .report import Report, Table
from .summaries import SummaryLine, SummedUp, as_point

# The table is wide enough without it; summary.csv has it.
_HIDDEN = ("AP@20",)


def report(summed: SummedUp, _seconds: PassSeconds) -> Report:
    """Return the report of `summed`: AP as bars, and all means as rows of a table."""
    bars: dict[str, list[SummaryLine]] = {}
    rows: dict[tuple[str, str, str, int], dict[str, SummaryLine]] = {}
    for summary in summed.summaries:
        rows.setdefault(summary[:4], {})[summary.measure] = summary
        if summary.measure == "AP":
            bars.setdefault(f"{summary.mode}, pool {summary.pool}", []).append(summary)
    names = dict.fromkeys(summary.measure for summary in summed.summaries)
    shown = [name for name in names if name not in _HIDDEN]
    drawn = figure(
        ("variants", "AP by variant"),
        "The mean over people, with its 95 % interval.",
        ("variant", "AP"),
        [
            line(name, (as_point(f"{bar.table}: {bar.release}", bar) for bar in some))
            for name, some in bars.items()
        ],
        "bar",
    )
    table = Table(
        "variants",
        "All variants",
        "Means over people. summary.csv also has their intervals and the worst tenth.",
        ("variant", "release", "mode", "pool", *shown),
        tuple(
            (*map(str, place), *(mean(summaries.get(name)) for name in shown))
            for place, summaries in rows.items()
        ),
    )
    return made(summed.outcomes, figures=[drawn], tables=[table])
