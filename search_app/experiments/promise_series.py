"""What the promise experiment sets beside each other: by which table, in which mode, under p."""

from __future__ import annotations

from typing import NamedTuple

from .beliefs import beyond, largest
from .claims import Side
from .design import Variant
from .outcomes import Outcomes
from .summaries import SummedUp, by_people, measured
from .zhu_xiong_variants import BASELINES, NAMES, complete, fact, ordered

AVERAGE = "average"
PLAIN_STAGES = "two-stages-plain"


class Series(NamedTuple):
    """Rows of one kind: what they are called, the table that makes them, the mode that serves."""

    name: str
    table: str
    mode: str


PAPER = Series("the paper's rows", "paper", "group")
EVERY_TERM = Series("every-term rows", "every-term", "group")
CLIPPED = Series("clipped rows", "paper", "clipped")
SUPPRESSED = Series("suppressed rows", "paper", "suppressed")
COMPOSITION = Series("composition", "composition", "group")
POOLED = Series("pooled", "pooled", "group")
POOLED_SMOOTHED = Series("pooled, smoothed", "pooled", "smoothed")
RANDOM = Series("random groups", "paper", "random-groups")
TWO_STAGES = Series("pooled, two stages", "two-stages", "two-stages")
TWO_SMOOTHED = Series("pooled, smoothed, two stages", "two-stages", "two-stages-smoothed")
ALL = (
    *(PAPER, EVERY_TERM, CLIPPED, SUPPRESSED, RANDOM),
    *(COMPOSITION, POOLED, POOLED_SMOOTHED, TWO_STAGES, TWO_SMOOTHED),
)
NAMED = {**NAMES, PLAIN_STAGES: "BM25, two stages"}  # what needs no rows


def by_p(outcomes: Outcomes, series: Series) -> list[tuple[float, Variant]]:
    """Return a series' variants with their p, ascending."""
    return [
        (p, variant)
        for p, variant in ordered(outcomes, series.table, "p")
        if series.mode in variant.modes
    ]


def pools(outcomes: Outcomes) -> list[int]:
    """Return the pools that any of the series was searched over, ascending."""
    found = {pool for each in ALL for _, variant in by_p(outcomes, each) for pool in variant.pools}
    return sorted(found)


def at(outcomes: Outcomes, series: Series, p: float, pool: int) -> Variant | None:
    """Return the variant of a series at a p, if it was searched over a pool."""
    for found, variant in by_p(outcomes, series):
        if found == p and measured(outcomes, variant, series.mode, pool):
            return variant
    return None


def side(summed: SummedUp, series: Series, p: float, pool: int) -> Side | None:
    """Return a series' average precision at a p, person by person."""
    variant = at(summed.outcomes, series, p, pool)
    if variant is None:
        return None
    people = by_people(summed.outcomes, variant, series.mode, pool)
    return Side(f"{series.name} at p = {p:g}", people)


def baseline(outcomes: Outcomes, mode: str, pool: int) -> Variant | None:
    """Return who was searched over a pool in a mode that needs no release."""
    for variant in outcomes.experiment.named(BASELINES):
        if mode in variant.modes and measured(outcomes, variant, mode, pool):
            return variant
    return None


def belief(outcomes: Outcomes, series: Series, variant: Variant) -> float | None:
    """Return the largest change of belief, averaged over seeds."""
    return fact(outcomes, variant, largest(series.mode))


def broken(outcomes: Outcomes, series: Series, variant: Variant) -> float | None:
    """Return the share of cells in which belief changes by more than p, averaged over seeds."""
    return fact(outcomes, variant, beyond(series.mode))


def releases(outcomes: Outcomes, series: Series) -> list[tuple[float, float, float]]:
    """List (largest change of belief, share of cells beyond p, p) of each release of a series."""
    names = (largest(series.mode), beyond(series.mode))
    return [
        (float(facts[names[0]]), float(facts[names[1]]), float(complete(variant)["p"]))
        for _, variant in by_p(outcomes, series)
        for facts in outcomes.facts_of(variant)
        if all(name in facts for name in names)
    ]
