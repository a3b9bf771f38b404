"""Rows summed up: the mean over people, with its interval, for each variant, mode and measure."""
# Values are averaged first over seeds, then over each person's queries: the unit is the person.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats
from anonymizer.storage.records import csv_text

from ...measures.significance import Interval, by_person, intervals, worst_decile
from ..design import Variant
from ..outcomes import Outcomes
from .report import FigurePoint

# Columns resampled together: 10,000 resamples of them take 32 MB.
_AT_ONCE = 400


class SummaryLine(NamedTuple):
    """A line of summary.csv: one measure of one variant in one mode over one pool."""

    table: str
    release: str
    mode: str
    pool: int
    measure: str
    mean: float
    low: float
    high: float
    worst_decile: float
    people: int
    queries: int
    seeds: int
    sd_over_seeds: float  # standard deviation of the seeds' means; NaN for one seed


def summarize(outcomes: Outcomes) -> list[SummaryLine]:
    """Return the summary of all blocks of `outcomes`, in the order of the experiment."""
    columns, lines = list[Floats](), []
    for variant in outcomes.experiment.variants:
        places = product(variant.modes, variant.pools)
        for mode, pool in (place for place in places if outcomes.measured(variant, *place)):
            blocks = outcomes.blocks_of(variant, mode, pool)
            for measure in blocks[0].values:
                by_query = np.array([block.values[measure] for block in blocks])
                values = by_query.mean(0)
                stacked = np.concatenate([values[None], by_query])
                people, *people_by_seed = by_person(stacked, outcomes.person)
                seeds = np.array([mean_of(one_seed) for one_seed in people_by_seed])
                columns.append(people)
                place = (variant.name, variant.label, mode, pool, measure)
                counts = (_known(people), _known(values), seeds.size)
                spread = float(seeds.std(ddof=1)) if seeds.size > 1 else float("nan")
                lines.append((place, (worst_decile(people), *counts, spread)))
    summed = zip(lines, all_intervals(columns), strict=True)
    return [SummaryLine._make((*place, *ends, *rest)) for (place, rest), ends in summed]


def _known(values: Floats) -> int:
    return int(np.count_nonzero(~np.isnan(values)))


def mean_of(people: Floats) -> float:
    """Return the mean over those `people` who have a value."""
    known = people[~np.isnan(people)]
    return float(known.mean()) if known.size else float("nan")


def all_intervals(columns: Sequence[Floats]) -> list[Interval]:
    """Return the interval of each of `columns`, by the same resamples of people for all."""
    made: list[Interval] = []
    for at in range(0, len(columns), _AT_ONCE):
        made += intervals(np.array(columns[at : at + _AT_ONCE]))
    return made


def as_csv(summaries: Sequence[SummaryLine]) -> str:
    """Return `summaries` as CSV; an undefined value is empty."""
    rows = (["" if str(value) == "nan" else value for value in one] for one in summaries)
    return csv_text([SummaryLine._fields, *rows])


@dataclass(frozen=True)
class SummedUp:
    """Outcomes with their summaries, from which figures, tables and claims are made."""

    outcomes: Outcomes
    summaries: tuple[SummaryLine, ...]

    @cached_property
    def _by_place(self) -> dict[tuple[str, str, str, int, str], SummaryLine]:
        return {summary[:5]: summary for summary in self.summaries}

    def find(
        self, variant: Variant | None, mode: str, pool: int, measure: str = "AP"
    ) -> SummaryLine | None:
        """Return the summary of `measure` for `variant` in `mode`, or None if not measured."""
        if variant is None:
            return None
        return self._by_place.get((variant.name, variant.label, mode, pool, measure))

    def point(
        self, x: str | float, variant: Variant | None, mode: str, pool: int, measure: str = "AP"
    ) -> FigurePoint | None:
        """Return the summary of `measure` as a figure's point at `x`, or None if not measured."""
        summary = self.find(variant, mode, pool, measure)
        return as_point(x, summary) if summary else None


def as_point(x: str | float, summary: SummaryLine) -> FigurePoint | None:
    """Return the mean of `summary` with its interval as a point at `x`; None without a mean."""
    if np.isnan(summary.mean):
        return None
    if np.isnan(summary.low):
        return FigurePoint(x, summary.mean)
    return FigurePoint(x, summary.mean, summary.low, summary.high)


def sum_up(outcomes: Outcomes) -> SummedUp:
    """Return `outcomes` with their summaries."""
    return SummedUp(outcomes, tuple(summarize(outcomes)))
