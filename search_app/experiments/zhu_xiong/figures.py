"""The report of the zhu-xiong experiment: the paper's figures 2 to 6, and some of ours."""
# Each figure is one function of the outcomes. It appears only if the experiment has its variants.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ...measures.significance import half_width
from ..design import Variant
from ..outcomes import Outcomes, PassSeconds
from ..report.claims import FIGURE_RULE, RULE
from ..report.making import BASELINES, NAMES, ends_of, figure, line, made
from ..report.planes import by_belief
from ..report.report import Figure, FigureLine, FigurePoint, Report
from ..report.summaries import SummedUp
from .claims import claims
from .tables import TABLES
from .variants import (
    EVERY_TERM,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    IMPROVEMENTS,
    ORDER,
    POOLS,
    THE_PAPERS,
    changes,
    first,
    in_mode,
    main_pool,
)

_DEPTHS = (("AP@10", "AP@10"), ("AP@20", "AP@20"), ("AP@30", "AP"))
READINGS = (
    ("average_linkability", "average of the worst group"),
    ("mean_average_linkability", "average, mean of groups"),
    ("worst_linkability", "worst term of all"),
    ("mean_worst_linkability", "worst term, mean of groups"),
    ("change_of_belief", "largest change of belief"),
)
UNGIVEN = "The paper doesn't give the size of its pool. Ours is named next to each AP."
TESTS = (
    "P-values come from a paired, two-sided randomization test over people, corrected by Holm "
    "within the claims and within each table. The letter p is the bound on linkability."
)
_TRADED = (FIGURE_4, IMPROVEMENTS, EVERY_TERM)


def report(summed: SummedUp, _seconds: PassSeconds) -> Report:
    """Return the report of `summed`, without variants that lack the paper's p or a."""
    experiment = summed.outcomes.experiment
    # Figures and claims read p, and those of figure 3 also a.
    wanted = {FIGURE_3: ("p", "a"), BASELINES: ()}
    kept = tuple(
        variant
        for variant in experiment.variants
        if all(variant.number(name) is not None for name in wanted.get(variant.name, ("p",)))
    )
    outcomes = replace(summed.outcomes, experiment=replace(experiment, variants=kept))
    summed = SummedUp(outcomes, summed.summaries)
    return made(
        outcomes,
        (UNGIVEN, TESTS, *RULE, *FIGURE_RULE),
        figures=[make(summed) for make in FIGURES],
        tables=[make(summed) for make in TABLES],
        claims=claims(summed),
    )


def figure_2(summed: SummedUp) -> Figure | None:
    """Return AP of the modes of `summed` at the first 10, 20 and 30 relevant documents."""
    variant = first(summed.outcomes, FIGURE_2)
    if variant is None:
        return None
    pool, lines = main_pool(variant), []
    for mode in ORDER:
        who = in_mode(summed.outcomes, variant, mode, pool)
        points = (summed.point(x, who, mode, pool, name) for x, name in _DEPTHS)
        lines.append(line(NAMES[mode], points))
    at_10 = [(one.name, point.value) for one in lines for point in one.points if point.x == "AP@10"]
    return figure(
        ("figure-2", f"Figure 2: precision by mode (p = {variant.p:g}, pool {pool})"),
        f"AP@10: {', '.join(f'{name} {value:z.3f}' for name, value in at_10)}.",
        ("relevant documents found", "mean precision"),
        lines,
        "bar",
    )


def figure_3(summed: SummedUp) -> Figure | None:
    """Return precision of `summed` by the steps of hypernyms."""
    variants = summed.outcomes.experiment.ordered(FIGURE_3, "a")
    if not variants:
        return None
    pool = main_pool(variants[0][1])
    lines = [
        line(shown, (summed.point(a, variant, "group", pool, name) for a, variant in variants))
        for shown, name in _DEPTHS
    ]
    return figure(
        ("figure-3", f"Figure 3: precision by augmentation (pool {pool})"),
        ends_of(lines, "a"),
        ("a, steps of hypernyms", "mean precision"),
        lines,
    )


def figure_4(summed: SummedUp) -> Figure | None:
    """Return precision of `summed` by p, with modes that need no group for comparison."""
    variants = summed.outcomes.experiment.ordered(FIGURE_4, "p")
    if not variants:
        return None
    pool, lines = main_pool(variants[0][1]), []
    for mode in ("group", "left-out", "random-groups", "average", "none"):
        by_p = [(p, in_mode(summed.outcomes, variant, mode, pool)) for p, variant in variants]
        points = (summed.point(p, variant, mode, pool) for p, variant in by_p)
        lines.append(line(NAMES[mode], points))
    title = f"Figure 4: precision by privacy level (pool {pool})"
    return figure(("figure-4", title), ends_of(lines, "p"), ("p", "AP"), lines)


def figure_5(summed: SummedUp) -> Figure:
    """Return the size of groups of `summed` by p."""
    sizes = _by_fact(summed.outcomes, "group", "mean_group")
    texts = [f"{point.value:.2f} people at p = {point.x:g}" for point in sizes.points]
    about = f"A group has {', '.join(texts)} on average.{_over_seeds([sizes])}"
    names = ("figure-5", "Figure 5: group size by privacy level")
    return figure(names, about, ("p", "people a group"), [sizes])


def figure_6(summed: SummedUp) -> Figure | None:
    """Return the readings of linkability of `summed` by p, with the bound."""
    readings = [_by_fact(summed.outcomes, shown, name) for name, shown in READINGS]
    if not any(reading.points for reading in readings):
        return None
    by_p = summed.outcomes.experiment.ordered(FIGURE_4, "p")
    return figure(
        ("figure-6", "Figure 6: actual linkability by privacy level"),
        f"{ends_of(readings, 'p')} The paper bounds the first: the average over a group's terms. "
        "The worst term reads definition 1 literally. The change of belief is equation 1, for an "
        f"attacker with the number of people who have each term.{_over_seeds(readings)}",
        ("p", "probability"),
        [line("the bound p", (FigurePoint(p, p) for p, _ in by_p)), *readings],
    )


def by_pool(measure: str, names: tuple[str, str], summed: SummedUp) -> Figure | None:
    """Return `measure` of all modes by the size of the pool."""
    variant = first(summed.outcomes, POOLS)
    if variant is None:
        return None
    lines = []
    for mode in ORDER:
        searched = [(pool, in_mode(summed.outcomes, variant, mode, pool)) for pool in variant.pools]
        points = (summed.point(float(pool), one, mode, pool, measure) for pool, one in searched)
        lines.append(line(NAMES[mode], points))
    return figure(names, ends_of(lines, "pool"), ("documents in the pool", measure), lines)


def tradeoff(summed: SummedUp) -> Figure | None:
    """Return AP of `summed` against the change of belief, for every setting with a p."""
    outcomes = summed.outcomes
    by_p = outcomes.experiment.ordered(FIGURE_4, "p")
    if not by_p:
        return None
    rows: list[tuple[str, str, Variant, str]] = []
    for variant in sorted(outcomes.experiment.variants, key=lambda one: one.number("p") or 0):
        name = changes(outcomes, variant)
        # Other tables repeat the paper's setting; figure 4's variants are enough.
        again = variant.name != FIGURE_4 and name == THE_PAPERS
        if variant.name in _TRADED and not again and variant.method:
            rows.append((name, f"{name} at p = {variant.number('p'):g}", variant, "group"))
    about = "Each point is one setting at one p. Along a line, p rises."
    return by_belief(summed, main_pool(by_p[0][1]), about, rows)


POOL_FIGURES = (
    partial(by_pool, "AP", ("pools-ap", "AP depends mostly on the pool")),
    partial(by_pool, "AP_c", ("pools-ap-c", "AP_c, corrected for chance, by pool")),
)
FIGURES = (tradeoff, figure_2, figure_3, figure_4, figure_5, figure_6, *POOL_FIGURES)


def _by_fact(outcomes: Outcomes, shown: str, name: str) -> FigureLine:
    """Return a fact of figure 4's releases by p, with intervals over seeds."""
    points = []
    for p, variant in outcomes.experiment.ordered(FIGURE_4, "p"):
        values = [facts[name] for facts in outcomes.facts_of(variant, name)]
        if values:
            mean, half = float(np.mean(values)), half_width(len(values), float(np.var(values)))
            ends = () if half is None else (mean - half, mean + half)
            points.append(FigurePoint(p, mean, *ends))
    return line(shown, points)


def _over_seeds(lines: Sequence[FigureLine]) -> str:
    """Return a sentence on the intervals of facts, if `lines` have any."""
    if all(point.low is None for line in lines for point in line.points):
        return ""
    return " Intervals are 95 %, by Student's t over the seeds' releases."
