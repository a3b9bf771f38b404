"""Statements held against the outcomes: holds, does not hold or undecided, and by which numbers.

A statement that one mean is above another is tested over people, paired, by randomization; all
tests of a report are one family, corrected by Holm. One that isn't certain either way stays
undecided. A difference that is surely below 0.005 AP is too slight to be called one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..significance import Interval, holm, randomization
from .outcomes import Floats
from .report import FAILS, HOLDS, UNDECIDED, Claim
from .summaries import all_intervals

LEVEL = 0.05
SLIGHT = 0.005  # of average precision
_ROUNDING = 1e-12  # of a bound that is met exactly


@dataclass(frozen=True)
class Side:
    """A name and its values, person by person."""

    name: str
    people: Floats


@dataclass(frozen=True)
class Step:
    """What should be higher held against what should be lower, over the same people."""

    high: str
    low: str
    means: tuple[float, float]  # of the higher and the lower
    difference: Interval
    p: float  # of no difference, or of none but the least
    least: float
    people: int

    def verdict(self, p: float, level: float) -> str:
        """Judge by the corrected p."""
        sure = p < level
        if sure and self.difference.mean > self.least:
            return HOLDS
        slight = self.least if self.least > 0 else SLIGHT
        if (sure and self.difference.mean < self.least) or self.difference.high < slight:
            return FAILS
        return UNDECIDED


@dataclass(frozen=True)
class Draft:
    """A claim before its family is known: one with steps is judged by them."""

    text: str
    source: str
    finding: str
    steps: tuple[Step, ...] = ()
    settled: str = UNDECIDED  # the verdict where there are no steps
    level: float = LEVEL


def steps_of(pairs: Sequence[tuple[Side, Side]], least: float = 0.0) -> list[Step]:
    """Compare pairs, the higher first; all differences are resampled alike."""
    both = [~np.isnan(high.people + low.people) for high, low in pairs]
    gaps = [high.people - low.people for high, low in pairs]
    found = zip(pairs, both, gaps, all_intervals(gaps), strict=True)
    return [
        Step(
            high.name,
            low.name,
            (_mean(high.people[known]), _mean(low.people[known])),
            ends,
            randomization(gap - least),
            least,
            int(np.count_nonzero(known)),
        )
        for (high, low), known, gap, ends in found
    ]


def greater(
    text: str,
    source: str,
    high: Side,
    low: Side,
    *,
    level: float = LEVEL,
    least: float = 0.0,
    what: str = "AP",
) -> Draft:
    """Claim that one mean is above another, by a least difference if one is given."""
    (step,) = steps_of([(high, low)], least)
    finding = (
        f"{what} is {step.means[0]:.3f} for {high.name} and {step.means[1]:.3f} for {low.name}: a "
        f"difference of {difference_text(step.difference)} over {step.people} people."
    )
    return Draft(text, source, finding, (step,), level=level)


def rising(text: str, source: str, sides: Sequence[Side], *, what: str = "AP") -> Draft:
    """Claim that means rise from each to the next."""
    pairs = list(zip(sides[1:], sides[:-1], strict=True))
    steps = steps_of(pairs)
    means = [(steps[0].low, steps[0].means[1]), *((each.high, each.means[0]) for each in steps)]
    finding = (
        f"{what} is {listed([f'{mean:.3f} for {name}' for name, mean in means])}; the "
        f"{'steps are' if len(steps) > 1 else 'step is'} "
        f"{listed([difference_text(each.difference) for each in steps])}."
    )
    return Draft(text, source, finding, tuple(steps))


def each_greater(
    text: str, source: str, pairs: Sequence[tuple[Side, Side]], *, what: str = "AP"
) -> Draft:
    """Claim of each of several pairs that the first is above the second."""
    steps = steps_of(pairs)
    told = [
        f"{each.means[0]:.3f} for {each.high} and {each.means[1]:.3f} for {each.low} "
        f"({each.difference.mean:+.3f})"
        for each in steps
    ]
    return Draft(text, source, f"{what} is {listed(told)}.", tuple(steps))


def at_most(
    text: str, source: str, what: str, cases: Sequence[tuple[float, float]], *, releases: str
) -> Draft:
    """Claim that in every release a value is at most its bound; cases are (value, bound)."""
    kept = sum(value <= bound + _ROUNDING for value, bound in cases)
    value, bound = max(cases, key=lambda case: case[0] - case[1])
    verdict = HOLDS if kept == len(cases) else FAILS
    beyond = "the closest" if verdict == HOLDS else "the furthest beyond it"
    finding = (
        f"{what} is within the bound in {kept} of {len(cases)} {releases}; {beyond} is {value:.3f} "
        f"where p = {bound:g}."
    )
    return Draft(text, source, finding, settled=verdict)


def settle(drafts: Sequence[Draft]) -> tuple[Claim, ...]:
    """Correct the tests of all drafts as one family and judge each."""
    corrected = iter(holm([step.p for draft in drafts for step in draft.steps]))
    return tuple(_claim(draft, [next(corrected) for _ in draft.steps]) for draft in drafts)


def _claim(draft: Draft, p: list[float]) -> Claim:
    """Judge a draft: it holds if each step does, and not if any does not."""
    if not draft.steps:
        return Claim(draft.text, draft.source, draft.finding, draft.settled)
    found = [step.verdict(each, draft.level) for step, each in zip(draft.steps, p, strict=True)]
    verdict = FAILS if FAILS in found else UNDECIDED if UNDECIDED in found else HOLDS
    worst = None if any(np.isnan(each) for each in p) else max(p)
    return Claim(draft.text, draft.source, draft.finding, verdict, worst)


def difference_text(found: Interval) -> str:
    """Write a difference with its interval."""
    if np.isnan(found.low):
        return f"{found.mean:+.3f}"
    return f"{found.mean:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def p_text(p: float) -> str:
    """Write a p-value."""
    return "" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def listed(texts: Sequence[str]) -> str:
    """Join texts as a sentence lists them."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")
