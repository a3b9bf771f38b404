"""The kinds of rows that the promise experiment compares: their tables, modes and p."""

from __future__ import annotations

from typing import NamedTuple

from ..beliefs import beyond, largest
from ..design import Variant
from ..outcomes import Outcomes
from ..report.claims import Side
from ..report.making import BASELINES, NAMES

AVERAGE = "average"
PLAIN_STAGES = "two-stages-plain"
NAMED = {**NAMES, PLAIN_STAGES: "BM25, two stages"}  # what needs no rows


class Series(NamedTuple):
    """Rows of one kind: their name, the table that makes them, and the mode that serves by them."""

    name: str
    table: str
    mode: str

    def by_p(self, outcomes: Outcomes) -> list[tuple[float, Variant]]:
        """Return (p, variant) for these rows in `outcomes`, by ascending p."""
        variants = outcomes.experiment.ordered(self.table, "p")
        return [(p, variant) for p, variant in variants if self.mode in variant.modes]

    def at(self, outcomes: Outcomes, p: float, pool: int) -> Variant | None:
        """Return the variant at `p`, or None if it was not searched over `pool`."""
        for own_p, variant in self.by_p(outcomes):
            if own_p == p and outcomes.measured(variant, self.mode, pool):
                return variant
        return None

    def side(self, outcomes: Outcomes, p: float, pool: int) -> Side | None:
        """Return the average precision of each person at `p` over `pool`, if measured."""
        variant = self.at(outcomes, p, pool)
        if variant is None:
            return None
        return Side(f"{self.name} at p = {p:g}", outcomes.by_people(variant, self.mode, pool))

    def releases(self, outcomes: Outcomes) -> list[tuple[float, float, float]]:
        """Return (largest change of belief, share beyond p, p) of each release in `outcomes`."""
        change, share = largest(self.mode), beyond(self.mode)
        return [
            (float(facts[change]), float(facts[share]), p)
            for p, variant in self.by_p(outcomes)
            for facts in outcomes.facts_of(variant, change)
            if share in facts
        ]


PAPER = Series("the paper's rows", "paper", "group")
EVERY_TERM = Series("every-term rows", "every-term", "group")
COMPOSITION = Series("composition", "composition", "group")
POOLED = Series("pooled", "pooled", "group")
POOLED_SMOOTHED = Series("pooled, smoothed", "pooled", "smoothed")
RANDOM = Series("random groups", "paper", "random-groups")
TWO_STAGES = Series("pooled, two stages", "two-stages", "two-stages")
TWO_SMOOTHED = Series("pooled, smoothed, two stages", "two-stages", "two-stages-smoothed")
ALL = (
    *(PAPER, EVERY_TERM, RANDOM),
    *(COMPOSITION, POOLED, POOLED_SMOOTHED, TWO_STAGES, TWO_SMOOTHED),
)


def pools(outcomes: Outcomes) -> list[int]:
    """Return the pools over which `outcomes` has searches by any series, ascending."""
    variants = (variant for series in ALL for _, variant in series.by_p(outcomes))
    return sorted({pool for variant in variants for pool in variant.pools})


def baseline(outcomes: Outcomes, mode: str, pool: int) -> Variant | None:
    """Return the baseline searched over `pool` in `mode`, which needs no release."""
    return next(outcomes.searched(mode, pool, BASELINES), None)
