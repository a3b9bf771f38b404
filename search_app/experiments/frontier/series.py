"""The points of the frontier: each release that was attacked and searched by, with its figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...measures.relevance import GAIN
from ..design import Variant
from ..modes import EVIDENCE
from ..outcomes import Outcomes
from ..report.making import BASELINES
from ..report.planes import AP_ENDS, GAIN_ENDS
from ..report.summaries import SummaryLine, SummedUp
from .attacked import CHANGE, PERSON, PRECISION

MODE = "group"


class Axis(NamedTuple):
    """What an attacker gets: the fact that says it, its name, and the value of no protection."""

    fact: str
    name: str
    about: str
    ends: tuple[str, str]
    worst: float = 1.0


AXES = (
    Axis(
        PRECISION,
        "precision of 100 guesses",
        "The attacker knows the victim's row. Of the 100 best guesses of the victim's terms this "
        "share is right.",
        ("knows nothing", "knows everything"),
    ),
    Axis(
        PERSON,
        "chance to name the person",
        "The attacker knows 3 terms of the victim, guesses the row, and then one of its people.",
        ("names nobody", "names everybody"),
    ),
    Axis(
        CHANGE,
        "largest change of belief",
        "The attacker reads a term's own column: how far belief moves, and rightly, from the share "
        "of all people, at most.",
        ("learns nothing", "is certain of a term"),
    ),
)


class Qualities(NamedTuple):
    """How good search is: the name of the axis, and the mode and measure that say it."""

    name: str
    mode: str
    measure: str
    ends: tuple[str, str]


AP = Qualities("AP", MODE, "AP", AP_ENDS)
VALUE = Qualities("gain by relevance", EVIDENCE, GAIN, GAIN_ENDS)


class FrontierEntry(NamedTuple):
    """One release of the frontier: its method, its setting in a few words, and its variant."""

    method: str  # the table that makes it
    setting: str
    variant: Variant

    @property
    def name(self) -> str:
        """Return method and setting."""
        return f"{self.method} {self.setting}".strip()


def entries(outcomes: Outcomes) -> list[FrontierEntry]:
    """Return all releases of `outcomes` that were attacked, in the order of the experiment."""
    # By its facts, not by its name, so that a definition of one's own may have any tables.
    attacked = [
        variant
        for variant in outcomes.experiment.variants
        if variant.name != BASELINES and outcomes.fact(variant, CHANGE) is not None
    ]
    return [FrontierEntry(one.name, _setting(one, attacked), one) for one in attacked]


def _setting(variant: Variant, among: list[Variant]) -> str:
    """Return the parameters of `variant` that differ `among` those of its table."""
    alike = [one for one in among if one.name == variant.name]
    names = sorted({name for one in alike for name in one.parameters})
    given = [
        f"{name} = {variant.given.get(name)}"
        for name in names
        if len(alike) == 1 or len({one.given.get(name) for one in alike}) > 1
    ]
    return ", ".join([*given, *variant.unusual])


def qualities(summed: SummedUp, pool: int) -> list[Qualities]:
    """Return by what search is judged over `pool` in `summed`."""
    some = [one.variant for one in entries(summed.outcomes)]
    return [
        one
        for one in (AP, VALUE)
        if any(summed.find(variant, one.mode, pool, one.measure) for variant in some)
    ]


def placed(
    summed: SummedUp, axis: Axis, quality: Qualities, pool: int
) -> Iterator[tuple[FrontierEntry, float, SummaryLine]]:
    """Yield each release with what an attacker gets by `axis`, and its `quality` over `pool`."""
    for entry in entries(summed.outcomes):
        cost = summed.outcomes.fact(entry.variant, axis.fact)
        line = summed.find(entry.variant, quality.mode, pool, quality.measure)
        if cost is not None and line is not None:
            yield entry, cost, line


def pools(outcomes: Outcomes) -> list[int]:
    """Return the pools over which releases of `outcomes` were searched by, ascending."""
    return sorted({pool for one in entries(outcomes) for pool in one.variant.pools})
