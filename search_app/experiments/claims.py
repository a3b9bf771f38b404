"""Statements held against the outcomes: holds, does not hold or undecided, and by which numbers.

A statement that one mean is above another is tested over people, paired, by randomization; all
tests of a report are one family, corrected by Holm. One that isn't certain either way stays
undecided. A difference that is surely below 0.005 AP is too slight to be called one, however sure
it is that there is one. What a claim names as the least difference takes the place of the 0.005.
That one mean is as good as another says that its difference is above -0.005.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..significance import Interval, holm, randomizations
from .outcomes import Floats
from .report import FAILS, HOLDS, UNDECIDED, Claim
from .summaries import all_intervals

LEVEL = 0.05
SLIGHT = 0.005  # of average precision
RULE = (
    "That one mean is above another holds if the test is sure of it, at p < 0.05 where no other "
    "level is named. It does not hold if the test is sure of the reverse, or if the upper end of "
    f"the difference's interval is below {SLIGHT:.3f} AP, the least that counts as a difference "
    "(or below the least difference that the claim names): then no test decides, and no p is told. "
    "Else it is undecided. A claim of several steps holds if each does; its p is that of the step "
    "that decides: one that fails, else the one least sure. Intervals are not corrected for their "
    "number."
)
AS_GOOD_RULE = (
    f"That one mean is as good as another holds if the test is sure that it is not {SLIGHT:.3f} AP "
    "worse, or more. It does not hold if the test is sure that it is, or if the upper end of the "
    "difference's interval is below 0: then it is surely worse, if by less. Else it is undecided."
)
_TRIALS = 100_000
_TRIALS_EACH = 1_100  # of a family: the least p there can be, corrected, is still below 0.001
_ROUNDING = 1e-12  # of a bound that is met exactly


@dataclass(frozen=True)
class Side:
    """A name and its values, person by person."""

    name: str
    people: Floats


class Verdict(NamedTuple):
    """What a step comes to, and the corrected p if the test decides; None if the interval does."""

    word: str
    p: float | None


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

    def verdict(self, p: float, level: float) -> Verdict:
        """Judge by the corrected p, or by the interval where that shows the difference slight."""
        sure = p < level
        if sure and self.difference.mean < self.least:
            return Verdict(FAILS, p)
        if self.difference.high < self._margin:
            return Verdict(FAILS, None)
        return Verdict(HOLDS if sure else UNDECIDED, None if np.isnan(p) else p)

    @property
    def _margin(self) -> float:
        return self.least if self.least > 0 else self.least + SLIGHT

    def reason(self, found: Verdict) -> tuple[str, str]:
        """Say why a step fails, and by which number if the interval shows it."""
        most = f"at most {signed(self.difference.high)}"
        if self.least < 0:
            worse = "surely worse"
            return (worse, most) if found.p is None else (f"{worse} by {-self.least:.3f} AP", "")
        if found.p is not None:
            claimed = f"below the {self.least:.3f} AP claimed"
            return f"surely {claimed if self.least > 0 else 'the other way round'}", ""
        least = "the least claimed" if self.least > 0 else "the least that counts as a difference"
        slight = ", a difference, but slight" if self.difference.low > 0 else ""
        return f"below {self._margin:.3f} AP, {least}", f"{most}{slight}"


@dataclass(frozen=True)
class Draft:
    """A claim before its family is known: that in each pair the first mean is above the second."""

    name: str
    text: str
    source: str
    finding: Callable[[Sequence[Step]], str]
    pairs: tuple[tuple[Side, Side], ...] = ()
    least: float = 0.0  # difference of each pair; below 0 the first may be worse, but less than so
    settled: str = UNDECIDED  # the verdict where there is nothing to test
    level: float = LEVEL


class Wording(NamedTuple):
    """The name of a claim, what it says and where it is said."""

    name: str
    text: str
    source: str


def stated(words: Wording, finding: str, verdict: str) -> Draft:
    """Claim what needs no test."""
    return Draft(*words, lambda _: finding, settled=verdict)


def as_verdict(holds: bool) -> str:
    """Return the verdict on what needs no test."""
    return HOLDS if holds else FAILS


def steps_of(
    pairs: Sequence[tuple[Side, Side]], least: Sequence[float] | None = None
) -> list[Step]:
    """Compare pairs, the higher first; all differences are resampled and tested alike."""
    if not pairs:
        return []
    gaps = [high.people - low.people for high, low in pairs]
    bounds = least or [0.0] * len(pairs)
    trials = max(_TRIALS, _TRIALS_EACH * len(pairs))
    beyond = np.array([gap - bound for gap, bound in zip(gaps, bounds, strict=True)])
    all_p = randomizations(beyond, trials=trials)
    found = zip(pairs, bounds, all_intervals(gaps), all_p, strict=True)
    return [_step(*pair, bound, ends, p) for pair, bound, ends, p in found]


def _step(high: Side, low: Side, least: float, ends: Interval, p: float) -> Step:
    known = ~np.isnan(high.people - low.people)
    means = (_mean(high.people[known]), _mean(low.people[known]))
    return Step(high.name, low.name, means, ends, p, least, int(np.count_nonzero(known)))


def greater(
    words: Wording,
    high: Side,
    low: Side,
    *,
    level: float = LEVEL,
    least: float = 0.0,
    what: str = "AP",
    more: str = "",
) -> Draft:
    """Claim that one mean is above another, by a least difference if one is given."""

    def finding(steps: Sequence[Step]) -> str:
        (step,) = steps
        return (
            f"{what} is {step.means[0]:.3f} for {step.high} and {step.means[1]:.3f} for "
            f"{step.low}: a difference of {difference_text(step.difference)} over {step.people} "
            f"people.{more}"
        )

    return Draft(*words, finding, ((high, low),), least, level=level)


def rising(words: Wording, sides: Sequence[Side], *, what: str = "AP") -> Draft:
    """Claim that means rise from each to the next."""

    def finding(steps: Sequence[Step]) -> str:
        first = (steps[0].low, steps[0].means[1])
        means = [first, *((each.high, each.means[0]) for each in steps)]
        return (
            f"{what} is {listed([f'{mean:.3f} for {name}' for name, mean in means])}; the "
            f"{'steps are' if len(steps) > 1 else 'step is'} "
            f"{listed([difference_text(each.difference) for each in steps])}."
        )

    return Draft(*words, finding, tuple(zip(sides[1:], sides[:-1], strict=True)))


def each_greater(words: Wording, pairs: Sequence[tuple[Side, Side]], *, what: str = "AP") -> Draft:
    """Claim of each of several pairs that the first is above the second."""

    def finding(steps: Sequence[Step]) -> str:
        told = [
            f"{each.means[0]:.3f} for {each.high} and {each.means[1]:.3f} for {each.low}, "
            f"{difference_text(each.difference)}"
            for each in steps
        ]
        return f"{what} is {'; '.join(told)}."

    return Draft(*words, finding, tuple(pairs))


def as_good(words: Wording, pairs: Sequence[tuple[Side, Side]], *, what: str = "AP") -> Draft:
    """Claim of each of several pairs that the first is not worse than the second, but slightly."""

    def finding(steps: Sequence[Step]) -> str:
        told = [
            f"{each.high} is {difference_text(each.difference)} beside {each.low}" for each in steps
        ]
        return f"In {what}, {'; '.join(told)}."

    return Draft(*words, finding, tuple(pairs), -SLIGHT)


def at_most(
    words: Wording, what: str, cases: Sequence[tuple[float, float]], *, releases: str
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
    return stated(words, finding, verdict)


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
    steps = [step for step, _ in tested]
    finding = draft.finding(steps)
    if not tested:
        return Claim(draft.name, draft.text, draft.source, finding, draft.settled)
    found = [step.verdict(p, draft.level) for step, p in tested]
    words = [each.word for each in found]
    verdict = FAILS if FAILS in words else UNDECIDED if UNDECIDED in words else HOLDS
    deciding = [each for each in zip(steps, found, strict=True) if each[1].word == verdict]
    known = [each.p for _, each in deciding if each.p is not None]
    why = _why(deciding, len(steps)) if verdict == FAILS else ""
    p = (min if verdict == FAILS else max)(known, default=None)  # one failing step is enough
    return Claim(draft.name, draft.text, draft.source, f"{finding}{why}", verdict, p)


def _why(failing: Sequence[tuple[Step, Verdict]], steps: int) -> str:
    """Say why a claim fails; where it has several steps, which of them do."""
    told: dict[str, list[str]] = {}
    for step, found in failing:
        reason, number = step.reason(found)
        name = f"{step.high} against {step.low}" if steps > 1 else ""
        text = f"{name} ({number})" if name and number else name or number
        told.setdefault(reason, []).extend([text] if text else [])
    sentences = [f"{why}{': ' if each else ''}{', '.join(each)}" for why, each in told.items()]
    return "".join(f" {text[0].upper()}{text[1:]}." for text in sentences)


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
