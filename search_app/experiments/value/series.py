"""The ways to order that the value experiment compares: whose interests, and by which rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats

from ...measures.relevance import AP
from ..design import Variant
from ..modes import EVIDENCE
from ..outcomes import Outcomes
from ..report.claims import Side
from ..report.making import BASELINES

CONTROLS = "controls"
RELEASES = ("p-linkability", "pooled", "composition")
COSINE, BY_EVIDENCE, CAREFUL = RULES = "cosine", "evidence", "careful"
GROUP = dict(zip(RULES, ("group", EVIDENCE, "group-careful"), strict=True))


class Way(NamedTuple):
    """One way to order: whose interests, the rule, and what was measured of it."""

    whose: str
    rule: str
    variant: Variant
    mode: str
    p: float | None = None  # of a release

    @property
    def name(self) -> str:
        """Return the way in a few words."""
        whose = self.whose if self.p is None else f"{self.whose} p = {self.p:g}"
        return f"{whose}, {self.rule}" if self.rule else whose

    def people(self, outcomes: Outcomes, pool: int, measure: str = AP) -> Floats:
        """Return `measure` for each person over `pool`, averaged over seeds."""
        return outcomes.by_people(self.variant, self.mode, pool, measure)

    def side(self, outcomes: Outcomes, pool: int, measure: str = AP) -> Side:
        """Return this way as a side of a comparison, by `measure` over `pool`."""
        return Side(self.name, self.people(outcomes, pool, measure))


_SINGLE = {  # whose, by which rule: the table and the mode
    ("plain order", ""): (BASELINES, "none"),
    ("global average", COSINE): (BASELINES, "average"),
    ("own profile", COSINE): (BASELINES, "own"),
    ("own profile", BY_EVIDENCE): (CONTROLS, "own-evidence"),
    ("own profile", CAREFUL): (CONTROLS, "own-careful"),
    ("a stranger's row", COSINE): (CONTROLS, "stranger"),
    ("a stranger's row", BY_EVIDENCE): (CONTROLS, "stranger-evidence"),
}


def single(outcomes: Outcomes, whose: str, rule: str, pool: int) -> Way | None:
    """Return the way of `whose` interests by `rule`; None if it was not measured over `pool`."""
    table, mode = _SINGLE[whose, rule]
    searched = outcomes.searched(mode, pool, table)
    return next((Way(whose, rule, variant, mode) for variant in searched), None)


def released(outcomes: Outcomes, rule: str, pool: int) -> list[Way]:
    """Return the ways by the rows of each release and `rule` that were measured over `pool`."""
    return [
        Way(f"{table} rows", rule, variant, GROUP[rule], p)
        for table in RELEASES
        for p, variant in outcomes.experiment.ordered(table, "p")
        if GROUP[rule] in variant.modes and outcomes.measured(variant, GROUP[rule], pool)
    ]


def ways(outcomes: Outcomes, pool: int) -> Iterator[Way]:
    """Yield all ways that were measured over `pool`: the single ones, then the releases'."""
    yield from (way for key in _SINGLE if (way := single(outcomes, *key, pool)))
    for rule in RULES:
        yield from released(outcomes, rule, pool)


def mean_over(
    outcomes: Outcomes, some: Sequence[Way], pool: int, measure: str, name: str
) -> Side | None:
    """Return the mean of `measure` over the ways `some` for each person, called `name`."""
    if not some:
        return None
    return Side(name, np.mean([way.people(outcomes, pool, measure) for way in some], axis=0))


def pools(outcomes: Outcomes) -> list[int]:
    """Return the pools of all variants of `outcomes`, ascending."""
    return sorted({pool for variant in outcomes.experiment.variants for pool in variant.pools})
