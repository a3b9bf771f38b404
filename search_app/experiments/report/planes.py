"""Planes of search quality against what attackers learn, the first picture of most reports.

A point is (what an attacker gets, search quality). Less of the first is better, and more of the
second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..design import Variant
from . import cells
from .making import BASELINES, NAMES
from .report import Figure, FigureLine, FigurePoint
from .summaries import SummaryLine, SummedUp, as_point

GAIN_ENDS = ("helps less", "helps more")
BELIEF_ENDS = ("learns nothing", "is certain of a term")
AP_ENDS = ("unlike your own order", "like your own order")
Point = tuple[float, float]


class PlaneAxes(NamedTuple):
    """The names of both axes, and what their ends stand for."""

    across: str = "largest change of belief"
    up: str = "AP"
    ends: tuple[str, str, str, str] = (*BELIEF_ENDS, *AP_ENDS)
    hides: int = -1  # 1 if more of the axis across is more private


class PlanePoint(NamedTuple):
    """One release in a plane, or a mode without any; it is not drawn if a value is unknown."""

    series: str
    name: str  # of the point, with its setting
    cost: float | None
    quality: SummaryLine | None
    about: str = ""
    release: str = ""


def plane(
    names: tuple[str, str],
    about: str,
    axes: PlaneAxes,
    points: Iterable[PlanePoint],
    kind: str = "plane",
) -> Figure | None:
    """Return the figure of `points`; `names` are its file's and its title.

    The `kind` path joins the points of a series in their order. It returns None if nobody learns
    anything by any point.
    """
    placed = [
        (one, one.cost, shown)
        for one in points
        if one.cost is not None and one.quality and (shown := as_point(one.cost, one.quality))
    ]
    lines: dict[str, list[FigurePoint]] = {}
    beaten = dominated([(-axes.hides * cost, shown.value) for _, cost, shown in placed])
    for (one, cost, shown), pale in zip(placed, beaten, strict=True):
        interval = f" ({ends})" if (ends := cells.ends(one.quality)) != cells.NONE else ""
        words = f"{one.name}: {axes.up} {shown.value:z.3f}{interval}, {axes.across} {cost:.3f}."
        point = (*(cost, shown.value, shown.low, shown.high), f"{words} {one.about}".rstrip())
        lines.setdefault(one.series, []).append(FigurePoint(*point, one.release, pale))
    best = dict.fromkeys(
        one.name for (one, *_), pale in zip(placed, beaten, strict=True) if not pale
    )
    side = "right" if axes.hides > 0 else "left"
    text = (
        f"Upper {side} is better. {about} Pale points are dominated by their means: another is as "
        f"good in both ways, and better in one. Not dominated: {', '.join(best)}."
    )
    drawn = tuple(FigureLine(name, tuple(some)) for name, some in lines.items())
    learnt = any(cost for _, cost, _ in placed)
    return Figure(*names, text, axes.across, axes.up, drawn, kind, axes.ends) if learnt else None


def by_belief(
    summed: SummedUp,
    pool: int,
    about: str,
    rows: Iterable[tuple[str, str, Variant, str]],
    *,
    name: str = "tradeoff",
    kind: str = "path",
    fact: Callable[[str], str] = lambda _: "change_of_belief",
    gain: str = "",
) -> Figure | None:
    """Return the plane of search over `pool` in `summed` against the change of belief, a `fact`.

    The `rows` are (series, name, variant, mode); `fact` names the fact of a mode. Modes that need
    no release stand where nobody learns anything. Search is judged by AP, or by the measure `gain`.
    """
    outcomes, measure = summed.outcomes, gain or "AP"
    points = [
        PlanePoint(
            series,
            label,
            outcomes.fact(variant, fact(mode)),
            summed.find(variant, mode, pool, measure),
        )
        for series, label, variant, mode in rows
    ]
    for mode in ("none", "average"):
        baseline = next(outcomes.searched(mode, pool, BASELINES), None)
        quality = summed.find(baseline, mode, pool, measure)
        points.append(PlanePoint(NAMES[mode], NAMES[mode], 0.0, quality))
    title = f"{'Gain' if gain else 'Search'} against the largest change of belief (pool {pool})"
    axes = PlaneAxes(up="gain in AP", ends=(*BELIEF_ENDS, *GAIN_ENDS)) if gain else PlaneAxes()
    return plane((name, title), about, axes, points, kind)


def dominated(points: Sequence[Point]) -> list[bool]:
    """Return for each of `points` whether another is as good in both ways, and better in one."""
    beaten, best = [False] * len(points), float("-inf")
    order = sorted(range(len(points)), key=lambda at: (points[at][0], -points[at][1]))
    previous: Point | None = None
    for at in order:
        # Equal points beat each other in nothing.
        beaten[at] = points[at][1] <= best and points[at] != previous
        if not beaten[at]:
            best, previous = points[at][1], points[at]
    return beaten


def hypervolume(points: Sequence[Point], reference: Point) -> float:
    """Return the area that `points` dominate, up to the `reference`, which is worse than all."""
    area, best = 0.0, reference[1]
    for cost, quality in sorted(points):
        if cost < reference[0] and quality > best:
            area += (reference[0] - cost) * (quality - best)
            best = quality
    return area
