"""Rows summed up: of every variant, mode, pool and measure the mean over people, how sure it is.

Seeds are averaged query by query, then queries person by person; the unit is the person.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..significance import Interval, by_person, intervals, worst_decile
from .design import Variant
from .outcomes import Block, Floats, Outcomes
from .report import Point

_AT_ONCE = 400  # columns resampled together: 10,000 resamples of them take 32 MB


class Summary(NamedTuple):
    """One line of summary.csv: a measure of one variant in one mode over one pool."""

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
    sd_over_seeds: float  # of the seeds' means; NaN of one seed


class _Column(NamedTuple):
    """What a summary is made of: a measure by query, averaged over seeds, and by person."""

    variant: Variant
    mode: str
    pool: int
    measure: str
    queries: int
    people: Floats
    by_seed: Floats


def measured(outcomes: Outcomes, variant: Variant, mode: str, pool: int) -> bool:
    """Tell whether a variant was searched in a mode over a pool, by each of its seeds."""
    found = {unit.seed for unit in outcomes.units_of(variant) if (mode, pool) in unit.asked}
    return bool(variant.seeds) and found == set(variant.seeds)


def by_people(
    outcomes: Outcomes, variant: Variant, mode: str, pool: int, measure: str = "AP"
) -> Floats:
    """Return a measure person by person."""
    return by_person(outcomes.values(variant, mode, pool, measure), outcomes.person)


def summarize(outcomes: Outcomes) -> list[Summary]:
    """Sum up all blocks, in the order of the experiment."""
    columns = list(_columns(outcomes))
    found = all_intervals([column.people for column in columns])
    return [_summary(column, ends) for column, ends in zip(columns, found, strict=True)]


def all_intervals(columns: Sequence[Floats]) -> list[Interval]:
    """Return the interval of each column of people; the same people are drawn for all."""
    found: list[Interval] = []
    for at in range(0, len(columns), _AT_ONCE):
        found += intervals(np.array(columns[at : at + _AT_ONCE]))
    return found


def as_csv(summaries: Sequence[Summary]) -> str:
    """Return summaries as CSV; what is undefined is empty."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(Summary._fields)
    for summary in summaries:
        rows.writerow([_cell(value) for value in summary])
    return text.getvalue()


def _cell(value: str | int | float) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else repr(value)
    return str(value)


def _columns(outcomes: Outcomes) -> Iterator[_Column]:
    for variant in outcomes.experiment.variants:
        for mode in variant.modes:
            for pool in variant.pools:
                if measured(outcomes, variant, mode, pool):
                    blocks = outcomes.blocks_of(variant, mode, pool)
                    yield from _measures(outcomes, variant, mode, pool, blocks)


def _measures(
    outcomes: Outcomes, variant: Variant, mode: str, pool: int, blocks: list[Block]
) -> Iterator[_Column]:
    for measure in blocks[0].values:
        seeds = np.array([block.values[measure] for block in blocks])
        values = seeds.mean(0)
        people = by_person(np.concatenate([values[None], seeds]), outcomes.person)
        means = np.array([_mean(each) for each in people[1:]])
        known = int(np.count_nonzero(~np.isnan(values)))
        yield _Column(variant, mode, pool, measure, known, people[0], means)


def _mean(people: Floats) -> float:
    known = people[~np.isnan(people)]
    return float(known.mean()) if known.size else float("nan")


def _summary(column: _Column, ends: Interval) -> Summary:
    seeds = column.by_seed
    return Summary(
        table=column.variant.name,
        release=column.variant.label,
        mode=column.mode,
        pool=column.pool,
        measure=column.measure,
        mean=ends.mean,
        low=ends.low,
        high=ends.high,
        worst_decile=worst_decile(column.people),
        people=int(np.count_nonzero(~np.isnan(column.people))),
        queries=column.queries,
        seeds=seeds.size,
        sd_over_seeds=float(seeds.std(ddof=1)) if seeds.size > 1 else float("nan"),
    )


@dataclass(frozen=True)
class SummedUp:
    """Outcomes with their summaries: what figures, tables and claims are made of."""

    outcomes: Outcomes
    summaries: tuple[Summary, ...]

    @cached_property
    def _by_place(self) -> dict[tuple[str, str, str, int, str], Summary]:
        return {summary[:5]: summary for summary in self.summaries}

    def find(self, variant: Variant, mode: str, pool: int, measure: str = "AP") -> Summary | None:
        """Return a summary, if that was measured."""
        return self._by_place.get((variant.name, variant.label, mode, pool, measure))

    def point(
        self, x: str | float, variant: Variant | None, mode: str, pool: int, measure: str = "AP"
    ) -> Point | None:
        """Return a summary as a point of a figure, if there is one."""
        found = self.find(variant, mode, pool, measure) if variant else None
        return as_point(x, found) if found else None


def as_point(x: str | float, summary: Summary) -> Point | None:
    """Return a mean with its interval; None where there is no mean."""
    if np.isnan(summary.mean):
        return None
    if np.isnan(summary.low):
        return Point(x, summary.mean)
    return Point(x, summary.mean, summary.low, summary.high)


def sum_up(outcomes: Outcomes) -> SummedUp:
    """Sum up outcomes once, for all that is said of them."""
    return SummedUp(outcomes, tuple(summarize(outcomes)))
