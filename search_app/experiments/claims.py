"""Statements held against the outcomes: holds, does not hold or undecided, and by which numbers.

A statement that one mean is above another is tested over people, paired, by randomization; all
tests of a report are one family, corrected by Holm. One that isn't certain either way stays
undecided. A difference that is surely below 0.005 AP is too slight to be called one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    """A claim before its family is known: that in each pair the first mean is above the second."""

    text: str
    source: str
    finding: Callable[[Sequence[Step]], str]
    pairs: tuple[tuple[Side, Side], ...] = ()
    least: float = 0.0  # difference of each pair
    settled: str = UNDECIDED  # the verdict where there is nothing to test
    level: float = LEVEL


def stated(text: str, source: str, finding: str, verdict: str) -> Draft:
    """Claim what needs no test."""
    return Draft(text, source, lambda _: finding, settled=verdict)


def steps_of(
    pairs: Sequence[tuple[Side, Side]], least: Sequence[float] | None = None
) -> list[Step]:
    """Compare pairs, the higher first; all differences are resampled alike."""
    gaps = [high.people - low.people for high, low in pairs]
    bounds = least or [0.0] * len(pairs)
    found = zip(pairs, gaps, bounds, all_intervals(gaps), strict=True)
    return [_step(*pair, gap, bound, ends) for pair, gap, bound, ends in found]


def _step(high: Side, low: Side, gap: Floats, least: float, ends: Interval) -> Step:
    known = ~np.isnan(gap)
    return Step(
        high.name,
        low.name,
        (_mean(high.people[known]), _mean(low.people[known])),
        ends,
        randomization(gap - least),
        least,
        int(np.count_nonzero(known)),
    )


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

    def finding(steps: Sequence[Step]) -> str:
        (step,) = steps
        return (
            f"{what} is {step.means[0]:.3f} for {step.high} and {step.means[1]:.3f} for "
            f"{step.low}: a difference of {difference_text(step.difference)} over {step.people} "
            "people."
        )

    return Draft(text, source, finding, ((high, low),), least, level=level)


def rising(text: str, source: str, sides: Sequence[Side], *, what: str = "AP") -> Draft:
    """Claim that means rise from each to the next."""

    def finding(steps: Sequence[Step]) -> str:
        first = (steps[0].low, steps[0].means[1])
        means = [first, *((each.high, each.means[0]) for each in steps)]
        return (
            f"{what} is {listed([f'{mean:.3f} for {name}' for name, mean in means])}; the "
            f"{'steps are' if len(steps) > 1 else 'step is'} "
            f"{listed([difference_text(each.difference) for each in steps])}."
        )

    return Draft(text, source, finding, tuple(zip(sides[1:], sides[:-1], strict=True)))


def each_greater(
    text: str, source: str, pairs: Sequence[tuple[Side, Side]], *, what: str = "AP"
) -> Draft:
    """Claim of each of several pairs that the first is above the second."""

    def finding(steps: Sequence[Step]) -> str:
        told = [
            f"{each.means[0]:.3f} for {each.high} and {each.means[1]:.3f} for {each.low} "
            f"({signed(each.difference.mean)})"
            for each in steps
        ]
        return f"{what} is {listed(told)}."

    return Draft(text, source, finding, tuple(pairs))


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
    return stated(text, source, finding, verdict)


def settle(drafts: Sequence[Draft]) -> tuple[Claim, ...]:
    """Measure all pairs of all drafts, correct their tests as one family and judge each draft."""
    steps = steps_of(
        [pair for draft in drafts for pair in draft.pairs],
        [draft.least for draft in drafts for _ in draft.pairs],
    )
    tested = iter(zip(steps, holm([step.p for step in steps]), strict=True))
    return tuple(_claim(draft, [next(tested) for _ in draft.pairs]) for draft in drafts)


def _claim(draft: Draft, tested: Sequence[tuple[Step, float]]) -> Claim:
    """Judge a draft: it holds if each step does, and not if any does not."""
    finding = draft.finding([step for step, _ in tested])
    if not tested:
        return Claim(draft.text, draft.source, finding, draft.settled)
    found = [step.verdict(p, draft.level) for step, p in tested]
    verdict = FAILS if FAILS in found else UNDECIDED if UNDECIDED in found else HOLDS
    all_p = [p for _, p in tested]
    worst = None if any(np.isnan(p) for p in all_p) else max(all_p)
    return Claim(draft.text, draft.source, finding, verdict, worst)


def difference_text(found: Interval) -> str:
    """Write a difference with its interval."""
    if np.isnan(found.low):
        return signed(found.mean)
    return f"{signed(found.mean)} ({signed(found.low)} to {signed(found.high)})"


def signed(value: float) -> str:
    """Write a difference; what rounds to nothing has no sign."""
    text = f"{value:+.3f}"
    return "0.000" if text in ("+0.000", "-0.000") else text


def p_text(p: float) -> str:
    """Write a p-value."""
    return "" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def listed(texts: Sequence[str]) -> str:
    """Join texts as a sentence lists them."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else float("nan")
