"""What the promise experiment says: search against the largest change of belief.

Each row of a table and each point of a figure is one kind of rows at one p. Where the variants of a
figure are not in an experiment, it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import zhu_xiong_cells as cells
from .baselines import PICKED
from .claims import AS_GOOD_RULE, RULE
from .design import Variant
from .notes import notes_on
from .outcomes import Outcomes, PassSeconds
from .promise_claims import claims
from .promise_series import (
    ALL,
    AVERAGE,
    NAMED,
    PLAIN_STAGES,
    Series,
    at,
    baseline,
    belief,
    broken,
    by_p,
    pools,
)
from .report import Figure, Line, Point, Report, Table
from .summaries import Summary, SummedUp, summarize
from .zhu_xiong_variants import fact

ATTACKER = (
    "The change of belief is that of equation 1, |posterior - prior|, for an attacker who knows "
    "how many people have each term, which row serves whom and all rows, and reads a term's own "
    "column. It is the largest of all rows and all terms, those that a row does not hold included; "
    "cells beyond p are the rows and terms in which it is more than p. What goes together with a "
    "term he does not use: who does can learn more from pooled rows, not from composition's."
)
SMOOTHED = (
    "Smoothed rows are made of the published rows and the public corpus alone, so belief changes "
    "as by the rows that they are made of. Their prior is the mean of the released rows, each "
    "counted as often as people share it. Above p = 0.2 nothing is smoothed."
)
STAGES = (
    f"In two stages a row, or BM25, picks one of {PICKED} documents of the pool, 200 of 1,000, and "
    "the person's own device orders those by the own profile, which the server never sees; the "
    "others stay behind as they were. What is believed changes as by the rows that pick."
)
LEFT_OVER = (
    "People whom pooled leaves over are drawn without a look at their profiles, of which nothing "
    "is made that is published: their row holds the shares of all who are in groups, by which "
    "belief about them does not change. Who knows from elsewhere how many of all people have a "
    "term can take the groups' from that; this is outside of the promise."
)
KEY = (
    "The secret key of a pooled release comes from the seed here, so that a run can be made again: "
    "these releases are for measuring only, and are never written."
)


def report(
    outcomes: Outcomes,
    summaries: Sequence[Summary] | None = None,
    _seconds: PassSeconds | None = None,
) -> Report:
    """Say what the outcomes say; summaries, if there are some already, are not made again."""
    found = tuple(summarize(outcomes) if summaries is None else summaries)
    summed = SummedUp(outcomes, found)
    drawn = [*_tradeoffs(summed), *_curves(summed)]
    tables = [table(summed, pool) for pool in pools(outcomes)]
    return Report(
        name=outcomes.experiment.name,
        title=outcomes.experiment.title,
        notes=(*notes_on(outcomes), ATTACKER, LEFT_OVER, SMOOTHED, STAGES, KEY, RULE, AS_GOOD_RULE),
        claims=claims(summed),
        figures=tuple(figure for figure in drawn if figure.lines),
        tables=tuple(each for each in tables if each.rows),
    )


def _tradeoffs(summed: SummedUp) -> list[Figure]:
    return [tradeoff(summed, pool) for pool in pools(summed.outcomes)]


def _curves(summed: SummedUp) -> list[Figure]:
    return [precision(summed, pool) for pool in pools(summed.outcomes)]


def tradeoff(summed: SummedUp, pool: int) -> Figure:
    """Set precision against the largest change of belief, a line a kind of rows."""
    lines = []
    for series in ALL:
        found = [
            (belief(summed.outcomes, series, variant), variant)
            for _, variant in by_p(summed.outcomes, series)
        ]
        points = [
            summed.point(change, variant, series.mode, pool)
            for change, variant in found
            if change is not None
        ]
        lines.append(Line(series.name, tuple(point for point in points if point is not None)))
    lines.append(Line(NAMED[AVERAGE], _average(summed, 0.0, pool)))
    return Figure(
        f"promise-{pool}",
        f"Search against the largest change of belief (pool {pool})",
        "Upper left is better. Along a line p rises from point to point; rows that keep their "
        "promise stand no further right than p. The global average changes no belief.",
        "largest change of belief",
        "AP",
        tuple(line for line in lines if line.points),
    )


def precision(summed: SummedUp, pool: int) -> Figure:
    """Follow precision over p."""
    outcomes, lines = summed.outcomes, []
    for series in ALL:
        points = [
            summed.point(p, variant, series.mode, pool) for p, variant in by_p(outcomes, series)
        ]
        lines.append(Line(series.name, tuple(point for point in points if point is not None)))
    every = sorted({p for series in ALL for p, _ in by_p(outcomes, series)})
    lines.append(Line(NAMED[AVERAGE], tuple(p for x in every for p in _average(summed, x, pool))))
    full = tuple(line for line in lines if line.points)
    ends = [
        f"{line.name} {line.points[0].value:.3f} to {line.points[-1].value:.3f}" for line in full
    ]
    about = f"From p = {every[0]:g} to {every[-1]:g}: {'; '.join(ends)}." if full else ""
    return Figure(f"promise-by-p-{pool}", f"AP by p (pool {pool})", about, "p", "AP", full)


def _average(summed: SummedUp, x: float, pool: int) -> tuple[Point, ...]:
    point = summed.point(x, baseline(summed.outcomes, AVERAGE, pool), AVERAGE, pool)
    return () if point is None else (point,)


def table(summed: SummedUp, pool: int) -> Table:
    """Set all kinds of rows side by side, p by p."""
    outcomes = summed.outcomes
    every = sorted({p for series in ALL for p, _ in by_p(outcomes, series)})
    rows = []
    for p in every:
        for series in ALL:
            variant = at(outcomes, series, p, pool)
            if variant is not None:
                rows.append(_row(summed, series, p, variant, pool))
    plain = (AVERAGE, "none", PLAIN_STAGES)
    rows += [row for mode in plain if rows for row in _baseline(summed, mode, pool)]
    about = (
        f"AP and AP_c over pool {pool}. Belief: the largest change of belief of all rows and "
        "terms, which a kept promise holds at p or below; cells beyond p: the share of rows and "
        "terms in which it is more. All are means over the seeds' releases."
    )
    head = ("rows", "p", "AP", "AP_c", "AP, 95 % interval", "belief", "cells beyond p",
            "people a row")  # fmt: skip
    return Table(f"promise-{pool}", f"Search and belief (pool {pool})", about, head, tuple(rows))


def _row(
    summed: SummedUp, series: Series, p: float, variant: Variant, pool: int
) -> tuple[str, ...]:
    outcomes = summed.outcomes
    ap, corrected = (summed.find(variant, series.mode, pool, name) for name in ("AP", "AP_c"))
    return (
        series.name,
        f"{p:g}",
        cells.mean(ap),
        cells.mean(corrected),
        cells.NONE if ap is None else cells.ends(ap),
        cells.number(belief(outcomes, series, variant)),
        _share(broken(outcomes, series, variant)),
        cells.number(fact(outcomes, variant, "mean_group")),
    )


def _baseline(summed: SummedUp, mode: str, pool: int) -> list[tuple[str, ...]]:
    """Return the row of what tells nothing of anybody, if it was measured."""
    variant = baseline(summed.outcomes, mode, pool)
    ap = summed.find(variant, mode, pool) if variant else None
    if variant is None or ap is None:
        return []
    corrected = cells.mean(summed.find(variant, mode, pool, "AP_c"))
    means = (cells.mean(ap), corrected, cells.ends(ap))
    return [(NAMED[mode], "any", *means, "0.000", "0", cells.NONE)]


def _share(value: float | None) -> str:
    """Write a share of cells: none at all is told from few."""
    return cells.NONE if value is None else "0" if value == 0 else f"{value:.4%}"
