"""The report of experiments that follow no paper: a table of all means and a figure of AP."""

from __future__ import annotations

from ..outcomes import PassSeconds
from .cells import mean
from .making import figure, line, made
from .planes import PlaneAxes, PlanePoint, plane
from .report import Figure, Report, Table
from .summaries import SummaryLine, SummedUp, as_point

# The table is wide enough without it; summary.csv has it.
_HIDDEN = ("AP@20",)


def tradeoff(summed: SummedUp) -> Figure | None:
    """Return the plane of AP over the first pool against the change of belief by each release."""
    outcomes = summed.outcomes
    releases = [one for one in outcomes.experiment.variants if one.method and "group" in one.modes]
    pool = next((one.pools[0] for one in releases), 0)
    points = (
        PlanePoint(
            one.name,
            one.label,
            outcomes.fact(one, "change_of_belief"),
            summed.find(one, "group", pool),
        )
        for one in releases
    )
    names = ("tradeoff", f"AP against the largest change of belief (pool {pool})")
    return plane(names, "By members' shares of a row's terms.", PlaneAxes(), points)


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
    return made(summed.outcomes, figures=[tradeoff(summed), drawn], tables=[table])
