"""What the zhu-xiong experiment says: the paper's figures 2 to 6, and two it left open.

Each figure is one function of the outcomes; where its variants are not in an experiment, it is
left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ..intervals import half_width
from .claims import RULE
from .design import Variant
from .notes import notes_on
from .outcomes import Outcomes, PassSeconds
from .report import Figure, Line, Point, Report
from .summaries import Summary, SummedUp, summarize
from .zhu_xiong_claims import claims
from .zhu_xiong_tables import tables
from .zhu_xiong_variants import (
    BASELINES,
    EVERY_TERM,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    IMPROVEMENTS,
    NAMES,
    ORDER,
    POOLS,
    THE_PAPERS,
    changes,
    complete,
    fact,
    first,
    in_mode,
    main_pool,
    ordered,
)

_DEPTHS = (("AP@10", "AP@10"), ("AP@20", "AP@20"), ("AP@30", "AP"))
READINGS = (
    ("average_linkability", "average of the worst group"),
    ("mean_average_linkability", "average, mean of groups"),
    ("worst_linkability", "worst term of all"),
    ("mean_worst_linkability", "worst term, mean of groups"),
    ("change_of_belief", "largest change of belief"),
)


UNGIVEN = "The paper doesn't give the size of its pool; ours is named wherever AP stands."
TESTS = (
    "p is of a paired randomization test over people, two-sided, corrected by Holm within the "
    "claims and within each table."
)
_TRADED = (FIGURE_4, IMPROVEMENTS, EVERY_TERM)


def report(
    outcomes: Outcomes,
    summaries: Sequence[Summary] | None = None,
    _seconds: PassSeconds | None = None,
) -> Report:
    """Say what the outcomes say; summaries, if there are some already, are not made again."""
    found = tuple(summarize(outcomes) if summaries is None else summaries)
    summed = SummedUp(_with_p(outcomes), found)
    drawn = [make(summed) for make in FIGURES]
    return Report(
        name=outcomes.experiment.name,
        title=outcomes.experiment.title,
        notes=(*notes_on(outcomes), UNGIVEN, TESTS, RULE),
        claims=claims(summed),
        figures=tuple(figure for figure in drawn if figure is not None),
        tables=tables(summed),
    )


def _with_p(outcomes: Outcomes) -> Outcomes:
    """Leave out variants of the paper's tables that have no p, or no a: they are no part of it."""
    kept = tuple(each for each in outcomes.experiment.variants if _has_p(each))
    return replace(outcomes, experiment=replace(outcomes.experiment, variants=kept))


def _has_p(variant: Variant) -> bool:
    known = complete(variant)
    wanted = {FIGURE_3: ("p", "a"), BASELINES: ()}.get(variant.name, ("p",))
    return all(isinstance(known.get(name), int | float) for name in wanted)


def figure_2(summed: SummedUp) -> Figure | None:
    """Compare the modes at the first 10, 20 and 30 relevant documents."""
    variant = first(summed.outcomes, FIGURE_2)
    if variant is None:
        return None
    pool = main_pool(variant)
    lines = []
    for mode in ORDER:
        who = in_mode(summed.outcomes, variant, mode, pool)
        found = [summed.point(x, who, mode, pool, name) for x, name in _DEPTHS]
        lines.append(_line(NAMES[mode], found))
    return _figure(
        "figure-2",
        f"Figure 2: precision by mode (p = {complete(variant)['p']:g}, pool {pool})",
        _said(lines, "AP@10"),
        "relevant documents found",
        "mean precision",
        lines,
        "bar",
    )


def figure_3(summed: SummedUp) -> Figure | None:
    """Follow precision over the steps of hypernyms."""
    found = ordered(summed.outcomes, FIGURE_3, "a")
    if not found:
        return None
    pool = main_pool(found[0][1])
    lines = [
        _line(shown, [summed.point(a, each, "group", pool, name) for a, each in found])
        for shown, name in _DEPTHS
    ]
    return _figure(
        "figure-3",
        f"Figure 3: precision by augmentation (pool {pool})",
        _ends(lines, "a"),
        "a, steps of hypernyms",
        "mean precision",
        lines,
    )


def figure_4(summed: SummedUp) -> Figure | None:
    """Follow precision over p, beside what needs no group."""
    found = ordered(summed.outcomes, FIGURE_4, "p")
    if not found:
        return None
    pool = main_pool(found[0][1])
    lines = []
    for mode in ("group", "left-out", "random-groups", "average", "none"):
        who = [(p, in_mode(summed.outcomes, each, mode, pool)) for p, each in found]
        points = [summed.point(p, each, mode, pool) for p, each in who]
        lines.append(_line(NAMES[mode], points))
    return _figure(
        "figure-4",
        f"Figure 4: precision by privacy level (pool {pool})",
        _ends(lines, "p"),
        "p",
        "AP",
        lines,
    )


def figure_5(summed: SummedUp) -> Figure | None:
    """Follow the size of groups over p."""
    found = ordered(summed.outcomes, FIGURE_4, "p")
    line = _by_fact(summed.outcomes, "group", "mean_group", found)
    sizes = [f"{point.value:.2f} people at p = {point.x:g}" for point in line.points]
    about = f"A group has on average {', '.join(sizes)}.{_over_seeds([line])}"
    return _figure(
        "figure-5", "Figure 5: group size by privacy level", about, "p", "people a group", [line]
    )


def figure_6(summed: SummedUp) -> Figure | None:
    """Hold what is measured of the linking probabilities against the bound."""
    found = ordered(summed.outcomes, FIGURE_4, "p")
    measured = [_by_fact(summed.outcomes, shown, name, found) for name, shown in READINGS]
    bound = Line("the bound p", tuple(Point(p, p) for p, _ in found))
    return _figure(
        "figure-6",
        "Figure 6: actual linkability by privacy level",
        f"{_ends(measured, 'p')} The paper bounds the first: the average over a group's terms. "
        "The worst term reads definition 1 literally; the change of belief is equation 1 for who "
        f"knows how many people have each term.{_over_seeds(measured)}",
        "p",
        "probability",
        [bound, *measured] if any(line.points for line in measured) else [],
    )


def pools_ap(summed: SummedUp) -> Figure | None:
    """Follow AP over the size of the pool."""
    return _by_pool(summed, "AP", "pools-ap", "AP depends mostly on the pool")


def pools_ap_c(summed: SummedUp) -> Figure | None:
    """Follow AP_c over the size of the pool."""
    return _by_pool(summed, "AP_c", "pools-ap-c", "AP_c, corrected for chance, by pool")


def _by_pool(summed: SummedUp, measure: str, name: str, title: str) -> Figure | None:
    variant = first(summed.outcomes, POOLS)
    if variant is None:
        return None
    lines = []
    for mode in ORDER:
        who = [(pool, in_mode(summed.outcomes, variant, mode, pool)) for pool in variant.pools]
        found = [summed.point(float(pool), each, mode, pool, measure) for pool, each in who]
        lines.append(_line(NAMES[mode], found))
    about = _ends(lines, "pool")
    return _figure(name, title, about, "documents in the pool", measure, lines)


def tradeoff(summed: SummedUp) -> Figure | None:
    """Set precision against the change of belief, for every setting that was made by p."""
    outcomes = summed.outcomes
    found = ordered(outcomes, FIGURE_4, "p")
    if not found:
        return None
    pool = main_pool(found[0][1])
    settings: dict[str, list[tuple[float, Point]]] = {}
    for variant in outcomes.experiment.variants:
        again = variant.name != FIGURE_4 and changes(outcomes, variant) == THE_PAPERS
        if variant.name in _TRADED and not again:
            belief = fact(outcomes, variant, "change_of_belief") if variant.method else None
            point = None if belief is None else summed.point(belief, variant, "group", pool)
            if point is not None:
                p = float(complete(variant).get("p", 0))
                settings.setdefault(changes(outcomes, variant), []).append((p, point))
    lines = [
        Line(name, tuple(point for _, point in sorted(points, key=lambda each: each[0])))
        for name, points in settings.items()
    ]
    who = in_mode(outcomes, found[0][1], "average", pool)
    lines.append(_line(NAMES["average"], [summed.point(0.0, who, "average", pool)]))
    return _figure(
        "tradeoff",
        f"Quality against privacy (pool {pool})",
        "One point a release: upper left is better. Along a line p rises. The global average "
        "changes no belief, and needs no group.",
        "largest change of belief",
        "AP",
        lines if settings else [],
    )


FIGURES = (figure_2, figure_3, figure_4, figure_5, figure_6, pools_ap, pools_ap_c, tradeoff)


def _line(name: str, points: Iterable[Point | None]) -> Line:
    return Line(name, tuple(point for point in points if point is not None))


def _by_fact(
    outcomes: Outcomes, shown: str, name: str, found: Sequence[tuple[float, Variant]]
) -> Line:
    points = []
    for p, variant in found:
        values = [facts[name] for facts in outcomes.facts_of(variant) if name in facts]
        if values:
            mean, half = float(np.mean(values)), half_width(len(values), float(np.var(values)))
            ends = () if half is None else (mean - half, mean + half)
            points.append(Point(p, mean, *ends))
    return Line(shown, tuple(points))


def _over_seeds(lines: Sequence[Line]) -> str:
    """Say what the intervals of facts are, where there are any."""
    if all(point.low is None for line in lines for point in line.points):
        return ""
    return " Intervals are 95 %, by Student's t over the seeds' releases."


def _figure(
    name: str,
    title: str,
    about: str,
    across: str,
    up: str,
    lines: Sequence[Line],
    kind: str = "line",
) -> Figure | None:
    """Return a figure of the series that have points; None if none has."""
    full = tuple(line for line in lines if line.points)
    return Figure(name, title, about, across, up, full, kind) if full else None


def _said(lines: Sequence[Line], x: str) -> str:
    """Say each series' value at a place."""
    found = [(line.name, point) for line in lines for point in line.points if point.x == x]
    return f"{x}: {', '.join(f'{name} {point.value:z.3f}' for name, point in found)}."


def _ends(lines: Sequence[Line], name: str) -> str:
    """Say from where to where each series goes."""
    full = [line for line in lines if line.points]
    if not full:
        return ""
    told = [
        f"{line.name} {line.points[0].value:z.3f} to {line.points[-1].value:z.3f}" for line in full
    ]
    ends = full[0].points
    return f"From {name} = {ends[0].x:g} to {ends[-1].x:g}: {'; '.join(told)}."
