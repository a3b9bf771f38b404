"""What an experiment of one's own says: one table of all means, one figure of AP; no claims."""

from __future__ import annotations

from collections.abc import Sequence

from .notes import notes_on
from .outcomes import Outcomes, PassSeconds
from .report import Figure, Line, Report, Table
from .summaries import Summary, SummedUp, as_point, summarize
from .zhu_xiong_cells import mean

_LEFT_OUT = ("AP@20",)  # it is in summary.csv; the table is wide enough


def report(
    outcomes: Outcomes,
    summaries: Sequence[Summary] | None = None,
    _seconds: PassSeconds | None = None,
) -> Report:
    """Say what was measured of each variant; summaries, if there are some, are not made again."""
    summed = SummedUp(outcomes, tuple(summarize(outcomes) if summaries is None else summaries))
    drawn, listed = _figure(summed), _table(summed)
    return Report(
        name=outcomes.experiment.name,
        title=outcomes.experiment.title,
        notes=notes_on(outcomes),
        claims=(),
        figures=(drawn,) if drawn else (),
        tables=(listed,) if listed.rows else (),
    )


def _figure(summed: SummedUp) -> Figure | None:
    """Draw AP, a cluster of bars for each variant, a bar for each mode and pool."""
    lines: dict[str, list[Summary]] = {}
    for summary in summed.summaries:
        if summary.measure == "AP":
            lines.setdefault(f"{summary.mode}, pool {summary.pool}", []).append(summary)
    drawn = tuple(_line(name, found) for name, found in lines.items())
    full = tuple(line for line in drawn if line.points)
    if not full:
        return None
    return Figure(
        "variants",
        "AP by variant",
        "The mean over people, with its 95 % interval.",
        "variant",
        "AP",
        full,
        "bar",
    )


def _line(name: str, found: Sequence[Summary]) -> Line:
    points = (as_point(f"{each.table}: {each.release}", each) for each in found)
    return Line(name, tuple(point for point in points if point is not None))


def _table(summed: SummedUp) -> Table:
    """List every variant, mode and pool with its means."""
    rows: dict[tuple[str, str, str, int], dict[str, Summary]] = {}
    for summary in summed.summaries:
        rows.setdefault(summary[:4], {})[summary.measure] = summary
    names = dict.fromkeys(summary.measure for summary in summed.summaries)
    shown = [name for name in names if name not in _LEFT_OUT]
    return Table(
        "variants",
        "All variants",
        "Means over people; summary.csv has their intervals, the worst tenth and the rest.",
        ("variant", "release", "mode", "pool", *shown),
        tuple(
            (*map(str, place), *(mean(found.get(name)) for name in shown))
            for place, found in rows.items()
        ),
    )
