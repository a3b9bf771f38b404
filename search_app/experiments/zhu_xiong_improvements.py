"""Better groups under the paper's constraint: what each setting gains, at each p and pool."""

from __future__ import annotations

from collections.abc import Sequence

from . import zhu_xiong_cells as cells
from .claims import Side, difference_text, steps_of
from .design import Variant
from .outcomes import Outcomes
from .report import Table
from .summaries import SummedUp, all_intervals, by_people, measured
from .zhu_xiong_variants import IMPROVEMENTS, THE_PAPERS, changes, complete, usual_like


def pair(outcomes: Outcomes, variant: Variant, paper: Variant, pool: int) -> tuple[Side, Side]:
    """Set a variant's groups beside the paper's."""
    return (
        Side(changes(outcomes, variant), by_people(outcomes, variant, "group", pool)),
        Side(THE_PAPERS, by_people(outcomes, paper, "group", pool)),
    )


def improvements(summed: SummedUp) -> Table | None:
    """Compare other ways to group under the same constraint with the paper's and with chance."""
    outcomes = summed.outcomes
    measures = [
        (variant, pool, paper)
        for variant in outcomes.experiment.named(IMPROVEMENTS)
        for pool in variant.pools
        if measured(outcomes, variant, "group", pool)
        and (paper := usual_like(outcomes, variant, "group", pool)) is not None
    ]
    if not measures:
        return None
    measures.sort(key=lambda each: (each[1], float(complete(each[0])["p"])))
    told = _against_papers(outcomes, measures)
    chance = _against_chance(summed, measures)
    rows = [
        (
            f"p={complete(variant)['p']:g} {changes(outcomes, variant)}",
            str(pool),
            cells.mean(summed.find(variant, "group", pool)),
            *difference,
            random,
            *cells.facts(outcomes, variant),
        )
        for (variant, pool, _), difference, random in zip(measures, told, chance, strict=True)
    ]
    about = (
        "Each setting keeps the paper's constraint at the same p. The first difference is to the "
        "paper's grouping, p corrected by Holm within this table; the second is to random groups "
        "of the paper's sizes, where they were searched over that pool. The best of many lines "
        "looks better than it is: the claims test it on other people than it was chosen on."
    )
    head = ("setting", "pool", "AP", "difference to the paper's", "p",
            "difference to random groups", *cells.FACTS_HEAD)  # fmt: skip
    return Table(
        "improvements", "Better groups under the same constraint", about, head, tuple(rows)
    )


def _against_papers(
    outcomes: Outcomes, measures: Sequence[tuple[Variant, int, Variant]]
) -> list[tuple[str, str]]:
    """Return the difference of each setting to the paper's; the paper's own has none."""
    pairs = {
        at: pair(outcomes, variant, paper, pool)
        for at, (variant, pool, paper) in enumerate(measures)
        if changes(outcomes, variant) != THE_PAPERS
    }
    found = dict(zip(pairs, cells.corrected(steps_of(list(pairs.values()))), strict=True))
    return [found.get(at, (cells.NONE, cells.NONE)) for at in range(len(measures))]


def _against_chance(
    summed: SummedUp, measures: Sequence[tuple[Variant, int, Variant]]
) -> list[str]:
    """Return the difference of each setting to random groups of the paper's sizes."""
    outcomes, gaps = summed.outcomes, {}
    for at, (variant, pool, _) in enumerate(measures):
        random = usual_like(outcomes, variant, "random-groups", pool)
        if random is not None:
            ours = by_people(outcomes, variant, "group", pool)
            gaps[at] = ours - by_people(outcomes, random, "random-groups", pool)
    found = dict(zip(gaps, all_intervals(list(gaps.values())), strict=True))
    return [
        difference_text(found[at]) if at in found else cells.NONE for at in range(len(measures))
    ]
