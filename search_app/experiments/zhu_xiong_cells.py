"""The cells of tables: numbers, differences and facts as texts; a dash where there is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..significance import holm
from .claims import Step, difference_text, p_text
from .design import Variant
from .outcomes import Outcomes
from .summaries import Summary
from .zhu_xiong_variants import fact

NONE = "–"
FACTS = (
    ("mean_group", "people a group"),
    ("average_linkability", "average"),
    ("worst_linkability", "worst term"),
    ("change_of_belief", "belief"),
)
FACTS_HEAD = tuple(name for _, name in FACTS)


def number(value: float | None) -> str:
    """Write a number."""
    return NONE if value is None or np.isnan(value) else f"{value:z.3f}"


def mean(summary: Summary | None) -> str:
    """Write a mean."""
    return NONE if summary is None else number(summary.mean)


def ends(summary: Summary) -> str:
    """Write an interval."""
    return NONE if np.isnan(summary.low) else f"{summary.low:z.3f} to {summary.high:z.3f}"


def least_and_most(values: Sequence[float]) -> str:
    """Write how far values reach."""
    return f"{min(values):z.3f} to {max(values):z.3f}" if values else NONE


def facts(outcomes: Outcomes, variant: Variant) -> list[str]:
    """Write what is measured of a variant's releases."""
    return [number(fact(outcomes, variant, name)) for name, _ in FACTS]


def corrected(steps: Sequence[Step]) -> list[tuple[str, str]]:
    """Write differences and their p, corrected as one family."""
    found = holm([step.p for step in steps])
    return [
        (difference_text(step.difference), p_text(p)) for step, p in zip(steps, found, strict=True)
    ]
