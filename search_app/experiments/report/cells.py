"""The cells of tables: numbers, differences and facts as texts, or a dash if there is none."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from anonymizer.arrays import Floats

from ...measures.significance import holm
from ..design import Variant
from ..outcomes import Outcomes
from .claims import Side, difference_text, p_text, steps_of
from .summaries import SummaryLine, all_intervals

NONE = "–"
NO_DIFFERENCE = (NONE, NONE)  # no difference and no P
FACTS = (
    ("mean_group", "people a group"),
    ("average_linkability", "average"),
    ("worst_linkability", "worst term"),
    ("change_of_belief", "belief"),
)
FACTS_HEAD = tuple(name for _, name in FACTS)
Key = TypeVar("Key", bound=Hashable)


def number(value: float | None) -> str:
    """Return `value` as text."""
    return NONE if value is None or np.isnan(value) else f"{value:z.3f}"


def mean(summary: SummaryLine | None) -> str:
    """Return the mean of `summary` as text."""
    return NONE if summary is None else number(summary.mean)


def ends(summary: SummaryLine | None) -> str:
    """Return the interval of `summary` as text."""
    if summary is None or np.isnan(summary.low):
        return NONE
    return f"{summary.low:z.3f} to {summary.high:z.3f}"


def least_and_most(values: Sequence[float]) -> str:
    """Return the least and the largest of `values` as text."""
    return f"{min(values):z.3f} to {max(values):z.3f}" if values else NONE


def facts(outcomes: Outcomes, variant: Variant) -> list[str]:
    """Return the facts of the releases of `variant` as texts, in the order of FACTS."""
    return [number(outcomes.fact(variant, name)) for name, _ in FACTS]


def corrected(pairs: Mapping[Key, tuple[Side, Side]]) -> dict[Key, tuple[str, str]]:
    """Return the difference of each of `pairs` and its P, corrected as one family, as texts."""
    steps = steps_of(list(pairs.values()))
    tested = zip(steps, holm([step.p for step in steps]), strict=True)
    texts = [(difference_text(step.difference), p_text(p)) for step, p in tested]
    return dict(zip(pairs, texts, strict=True))


def differences(gaps: Mapping[Key, Floats]) -> dict[Key, str]:
    """Return the mean of each of `gaps` over people with its interval, as texts."""
    intervals = all_intervals(list(gaps.values()))
    return {key: difference_text(gap) for key, gap in zip(gaps, intervals, strict=True)}
