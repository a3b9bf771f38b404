"""The report of the value experiment: gain against harm, by kind, query, person and standing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

from anonymizer.arrays import Floats

from ...measures.relevance import AP, GAIN, HARM, HARM_MUCH, HARMED, KINDS, LOST, MUCH, NDCG
from ...measures.significance import worst_decile
from ..beliefs import largest
from ..evidence import BINS
from ..outcomes import Outcomes, PassSeconds
from ..report import cells
from ..report.claims import LIMIT_RULE, RULE
from ..report.making import FEW, figure, line, made
from ..report.planes import by_belief
from ..report.report import Figure, FigureLine, FigurePoint, Report, Table
from ..report.summaries import SummedUp, as_point
from .claims import LIMITS, claims
from .series import RULES, Way, pools, released, ways

_STEPS = np.arange(0, 101, 2.5)  # percentiles of the sorted changes
RELEVANT = (
    "A document is relevant to a query if it belongs to an interest (a label) of the query. No "
    "profile says so. Queries are kept if at least 2 and at most 90 % of the first 100 documents "
    "are relevant. AP is the mean precision at the ranks of the relevant documents of the pool. A "
    f"query is harmed if its AP falls by more than {HARMED:g} below the plain order's. The loss is "
    "the mean fall of harmed queries."
)
RULES_SAID = (
    "By cosine, as in the papers, the interests alone order the pool. By the rule evidence, a "
    "result moves only as far as the interests, beyond what all rows share, fit the search better "
    "than other rows do. Careful moves results less. By the rule evidence the global average is "
    "the plain order, so it is not listed."
)
CONTROLS_SAID = (
    "A stranger's row is that of another group, drawn at random. What a control gains, any row "
    "gains. Own profiles and strangers stand among the rows of p-linkability at p = 0.4."
)
PAPERS_SAID = (
    "The papers' AP judges an order by the own-profile order by cosine: its first 30 documents "
    "count as relevant. Every mean is over people: first over seeds for each query, then over each "
    "person's queries. Intervals are 95 %, by bootstrap over people."
)


def report(summed: SummedUp, _seconds: PassSeconds) -> Report:
    """Return the report of `summed`; it is empty without relevance of its own."""
    relevant = any(AP in block.values for block in summed.outcomes.blocks.values())
    some = pools(summed.outcomes) if relevant else []
    makers = (against_belief, tradeoff, by_kind, by_query, by_person, by_standing, papers)
    return made(
        summed.outcomes,
        (RELEVANT, RULES_SAID, CONTROLS_SAID, PAPERS_SAID, *RULE, *LIMIT_RULE),
        figures=[make(summed, pool) for make in makers for pool in some],
        tables=[table(summed, pool) for pool in some],
        claims=claims(summed.outcomes) if some else (),
        questions=who_asked,
    )


def who_asked(outcomes: Outcomes) -> Iterator[str]:
    """Yield how many people of `outcomes` asked how many queries."""
    size = outcomes.experiment.inputs.size
    yield (
        f"{outcomes.people:,} people asked {outcomes.person.size:,} queries that are not in the "
        f"log. Profiles of {f'{size} terms' if size else 'all their terms'} are made of the whole "
        "log."
    )
    if outcomes.people < 30:
        yield FEW


def against_belief(summed: SummedUp, pool: int) -> Figure | None:
    """Return the plane of the gain over `pool` against the change of belief by the rows."""
    rows = [
        (name, way.name, way.variant, way.mode)
        for name, some in _families(ways(summed.outcomes, pool))
        for way in some
        if way.p is not None  # others are no releases
    ]
    about, name = "All rules order by the same rows. Along a line, p rises.", f"value-belief-{pool}"
    # Whatever the rule, an attacker reads the same rows.
    return by_belief(
        summed, pool, about, rows, name=name, fact=lambda _: largest("group"), gain=GAIN
    )


def tradeoff(summed: SummedUp, pool: int) -> Figure:
    """Return the gain over `pool` against the share of queries harmed, with the goal lines."""
    outcomes, lines, ends = summed.outcomes, list[FigureLine](), list[float]()
    for name, some in _families(ways(outcomes, pool)):
        points = [
            as_point(harmed.mean, gain)
            for way in some
            if (harmed := summed.find(way.variant, way.mode, pool, HARM))
            and (gain := summed.find(way.variant, way.mode, pool, GAIN))
        ]
        lines.append(line(name, points))
        ends += [point.value for point in lines[-1].points]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    for rule, limit in LIMITS.items():
        # The goal is a limit of harm at any gain, thus an upright line.
        goal = (FigurePoint(limit, low), FigurePoint(limit, high))
        lines.append(FigureLine(f"goal, {rule}: at most {limit:.0%}", goal))
    return figure(
        (f"value-{pool}", f"Gain against harm (pool {pool})"),
        "Upper left is better: the plain order gains and harms nothing. Along a line, p rises from "
        "point to point, which protects less.",
        ("share of queries harmed", "gain in AP over the plain order"),
        lines,
    )


def _families(some: Iterable[Way]) -> Iterator[tuple[str, list[Way]]]:
    """Yield `some` ways together that differ in p only."""
    for (whose, rule), alike in groupby(some, key=lambda way: (way.whose, way.rule)):
        yield (f"{whose}, {rule}" if rule else whose), list(alike)


def by_kind(summed: SummedUp, pool: int) -> Figure:
    """Return the gain of each way over `pool`, for queries in and off the asker's interests."""
    some = [way for way in ways(summed.outcomes, pool) if way.rule]
    lines = [
        line(
            f"{kind} the asker's interests",
            (summed.point(way.name, way.variant, way.mode, pool, f"{GAIN} {kind}") for way in some),
        )
        for kind in KINDS
    ]
    return figure(
        (f"value-by-kind-{pool}", f"Gain in and off the asker's interests (pool {pool})"),
        "A person who asks about what they are not interested in can only lose.",
        ("whose interests, and the rule", "gain in AP"),
        lines,
        "bar",
    )


def _main(outcomes: Outcomes, pool: int) -> list[Way]:
    """Return the rows of the first kind of release that protect least, by each rule."""
    # One line a rule: more could not be told apart.
    by_rule = [released(outcomes, rule, pool) for rule in RULES]
    return [
        max((way for way in some if way.whose == some[0].whose), key=_by_p)
        for some in by_rule
        if some
    ]


def _by_p(way: Way) -> float:
    return way.p or 0.0


def by_query(summed: SummedUp, pool: int) -> Figure:
    """Return the changes of AP of all queries over `pool`, sorted, by each rule."""
    outcomes, lines = summed.outcomes, []
    for way in _main(outcomes, pool):
        blocks = outcomes.blocks_of(way.variant, way.mode, pool)
        gains = np.mean([block.values[GAIN] for block in blocks], axis=0)
        lines.append(_sorted(way.name, gains))
    return figure(
        (f"value-queries-{pool}", f"Change of AP per query, sorted (pool {pool})"),
        "From the query that loses most to the one that gains most. Where a line is 0, the search "
        "keeps the plain order.",
        ("percent of the queries", "change of AP"),
        lines,
    )


def by_person(summed: SummedUp, pool: int) -> Figure:
    """Return the mean changes of AP of all people over `pool`, sorted, by each rule."""
    outcomes = summed.outcomes
    some = {way.name: way.people(outcomes, pool, GAIN) for way in _main(outcomes, pool)}
    worst = [f"{worst_decile(gains):+.3f} for {name}" for name, gains in some.items()]
    return figure(
        (f"value-people-{pool}", f"Change of AP per person, sorted (pool {pool})"),
        f"The mean of the worst tenth of people: {'; '.join(worst)}.",
        ("percent of the people", "mean change of AP"),
        [_sorted(name, gains) for name, gains in some.items()],
    )


def _sorted(name: str, gains: Floats) -> FigureLine:
    values = np.percentile(gains[~np.isnan(gains)], _STEPS)
    pairs = zip(_STEPS.tolist(), values.tolist(), strict=True)
    return FigureLine(name, tuple(FigurePoint(at, value) for at, value in pairs))


def by_standing(summed: SummedUp, pool: int) -> Figure:
    """Return gain and harm over `pool` by standing, if results moved at any standing."""
    outcomes, lines, plain = summed.outcomes, list[FigureLine](), list[str]()
    for way in released(outcomes, RULES[1], pool):
        if way.p != max(_by_p(one) for one in released(outcomes, RULES[1], pool)):
            continue
        for what in ("gain", "harmed"):
            values = [
                (float(start), outcomes.fact(way.variant, f"{what}_at_standing_{start}"))
                # By standing the gate is open at any value: else nothing below 0.6 would be seen.
                for start in BINS
            ]
            points = (FigurePoint(at, value) for at, value in values if value is not None)
            lines.append(line(f"{way.name}: {what}", points))
        left = outcomes.fact(way.variant, "left_plain")
        plain += [] if left is None else [f"{left:.0%} for {way.name}"]
    return figure(
        (f"value-standing-{pool}", f"Gain and harm by standing (pool {pool})"),
        "Standing is the share of the other rows that fit a search less. Here the rule moves "
        "results at any standing. In truth it begins at 0.6, so that some searches keep the plain "
        f"order: {'; '.join(plain)}.",
        ("standing, from", "mean over queries"),
        lines,
    )


def papers(summed: SummedUp, pool: int) -> Figure:
    """Return AP by relevance against the papers' AP over `pool`."""
    outcomes, lines = summed.outcomes, []
    for name, some in _families(ways(outcomes, pool)):
        points = [
            as_point(by_gold.mean, by_labels)
            for way in some
            if (by_gold := summed.find(way.variant, way.mode, pool))
            and (by_labels := summed.find(way.variant, way.mode, pool, AP))
        ]
        lines.append(line(name, points))
    return figure(
        (f"value-papers-{pool}", f"The papers' AP against AP by relevance (pool {pool})"),
        "If both measures agreed, the points would rise from left to right.",
        ("AP by the own-profile order", "AP by relevance"),
        lines,
    )


def table(summed: SummedUp, pool: int) -> Table:
    """Return all ways side by side over `pool`."""
    rows = [_row(summed, way, pool) for way in ways(summed.outcomes, pool)]
    head = ("whose interests", "rule", "AP", "gain", "gain, 95 % interval", "harmed",
            "harmed, 95 % interval", f"fall > {MUCH:g}", "loss", "worst tenth", "nDCG@10",
            "gain in", "gain off", "the papers' AP")  # fmt: skip
    about = (
        "AP and nDCG@10 by relevance. Gain: over the plain order. Harmed: share of queries. Worst "
        "tenth: the mean gain of the people who gain least. In and off: queries in and off the "
        "asker's interests."
    )
    return Table(f"value-{pool}", f"All ways (pool {pool})", about, head, tuple(rows))


def _row(summed: SummedUp, way: Way, pool: int) -> tuple[str, ...]:
    def find(measure: str) -> str:
        return cells.mean(summed.find(way.variant, way.mode, pool, measure))

    def interval(measure: str) -> str:
        return cells.ends(summed.find(way.variant, way.mode, pool, measure))

    lost, harmed, gain = (
        summed.find(way.variant, way.mode, pool, name) for name in (LOST, HARM, GAIN)
    )
    # The measure is 0 for queries that were not harmed, so its mean is over all queries.
    loss = lost.mean / harmed.mean if lost and harmed and harmed.mean else 0.0
    return (
        way.whose if way.p is None else f"{way.whose} p = {way.p:g}",
        way.rule or cells.NONE,
        find(AP),
        *(find(GAIN), interval(GAIN)),
        *(find(HARM), interval(HARM), find(HARM_MUCH)),
        cells.number(loss),
        cells.number(gain.worst_decile if gain else None),
        find(NDCG),
        *(find(f"{GAIN} {kind}") for kind in KINDS),
        find("AP"),
    )
