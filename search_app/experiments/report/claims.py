"""Claims judged by the outcomes: each holds, does not hold or is undecided, with its numbers.

The rules of a report say how. A claim that one mean is above another is tested over people by a
paired randomization test. All tests of a report are one family, corrected by Holm. Where a claim
names a least difference, this replaces the 0.005.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from anonymizer.arrays import Floats

from ...measures.significance import Interval, holm, randomizations
from .report import FAILS, HOLDS, UNDECIDED, Claim, ClaimMargin
from .summaries import all_intervals, mean_of

LEVEL = 0.05
SLIGHT = 0.005  # of average precision
RULE = (
    "Holds: what is claimed to be higher is significantly so (P < 0.05 unless the claim names "
    "another level, corrected by Holm over all claims). All steps of a claim must hold.",
    "Does not hold: a step is significantly the other way, or surely smaller than "
    f"{SLIGHT:.3f} AP, the least that counts as a difference. A claim may name another least.",
    "Undecided: all else. The P of a claim is that of its deciding step. Intervals are not "
    "corrected for their number.",
)
AS_GOOD_RULE = (
    f"As good: this holds if the mean is significantly less than {SLIGHT:.3f} AP worse. It does "
    "not hold if the mean is surely worse, if perhaps by less.",
)
LIMIT_RULE = (
    "A limit: this holds if the value is significantly within it. It does not hold if the whole "
    "interval is beyond.",
)
FIGURE_RULE = (
    "A figure of a paper: the paper’s own setting decides. Where the paper names none, the figure "
    "holds only if the intervals of all settings tried contain it. It does not hold if all lie on "
    "one side of it.",
)
_TRIALS = 100_000
# Holm may multiply a P by the size of the family. This keeps the least P that a test can give
# below 0.001 even then.
_TRIALS_PER_TEST = 1_100
# A bound that is met exactly may be missed by rounding.
_ROUNDING = 1e-12
_WIDEST = 0.06  # a wider interval can't confirm a figure, as it contains too many
World = TypeVar("World")  # what the rows of a table of claims are judged by


@dataclass(frozen=True)
class Side:
    """One side of a comparison: its name and a value for each person."""

    name: str
    people: Floats


class StepVerdict(NamedTuple):
    """A step's verdict, and the corrected P if the test decides; None if the interval does."""

    word: str
    p: float | None


@dataclass(frozen=True)
class Step:
    """A comparison of what should be higher with what should be lower, over the same people."""

    high: str
    low: str
    means: tuple[float, float]  # of the higher and the lower
    difference: Interval
    p: float  # of the hypothesis that the difference is `least`
    least: float
    people: int
    slight: float = SLIGHT  # a smaller difference counts as none; 0 where a limit is claimed

    def verdict(self, p: float, level: float) -> StepVerdict:
        """Return the verdict at `level`, by the corrected `p` or by an interval that is slight."""
        sure = p < level
        if sure and self.difference.mean < self.least:
            return StepVerdict(FAILS, p)
        # A slight difference does not hold, however sure it is.
        if self.difference.high < self._margin:
            return StepVerdict(FAILS, None)
        return StepVerdict(HOLDS if sure else UNDECIDED, None if np.isnan(p) else p)

    @property
    def margin(self) -> ClaimMargin:
        """Return how far the difference is above the least."""
        value, low, high = (end - self.least for end in self.difference)
        return ClaimMargin(value) if np.isnan(low) else ClaimMargin(value, low, high)

    @property
    def _margin(self) -> float:
        return self.least if self.least > 0 else self.least + self.slight

    def reason(self, verdict: StepVerdict) -> tuple[str, str]:
        """Return why the step got this failing `verdict`, and the interval's number or nothing."""
        most = f"at most {signed(self.difference.high)}"
        if not self.slight:
            return "surely beyond the limit", most
        if self.least < 0:
            worse = "surely worse"
            return (worse, most) if verdict.p is None else (f"{worse} by {-self.least:.3f} AP", "")
        if verdict.p is not None:
            claimed = f"below the {self.least:.3f} AP claimed"
            return f"surely {claimed if self.least > 0 else 'the other way round'}", ""
        least = "the least claimed" if self.least > 0 else "the least that counts as a difference"
        slight = ", a difference, but slight" if self.difference.low > 0 else ""
        return f"below {self._margin:.3f} AP, {least}", f"{most}{slight}"


class Wording(NamedTuple):
    """The name of a claim, its sentence and its source."""

    name: str
    text: str
    source: str


@dataclass(frozen=True)
class Draft:
    """A claim before its tests: that in each pair the first mean is above the second."""

    name: str
    text: str
    source: str
    finding: Callable[[Sequence[Step]], str]
    pairs: Sequence[tuple[Side, Side]] = ()
    least: float = 0.0  # least difference of each pair; if negative, the first may be worse by less
    settled: str = UNDECIDED  # the verdict if there is nothing to test
    margin: ClaimMargin | None = None  # if there is nothing to test
    level: float = LEVEL
    slight: float = SLIGHT  # a smaller difference counts as none; 0 where a limit is claimed


class SidePairs(NamedTuple):
    """The pairs that a selector picks, the higher side first, and the name of their values."""

    pairs: Sequence[tuple[Side, Side]] = ()  # none: the claim is not made
    what: str = "AP"
    more: str = ""  # text to add to the finding


class TestedClaim(NamedTuple, Generic[World]):
    """A row of a table of claims on means: its wording, its test, and the pairs to test."""

    name: str
    text: str
    source: str
    predicate: Callable[[Wording, SidePairs], Draft]
    selector: Callable[[World], SidePairs]

    def draft(self, world: World) -> Draft | None:
        """Return the claim on `world`, or None if there is nothing to test."""
        picked = self.selector(world)
        return self.predicate(Wording(*self[:3]), picked) if picked.pairs else None


class UntestedClaim(NamedTuple, Generic[World]):
    """A row of a table of claims that need no test: its wording, its numbers, and when it holds."""

    name: str
    text: str
    source: str
    finding: str  # a template for the values that the selector picks, and its margin if any
    selector: Callable[[World], Mapping[str, object] | None]
    # Gets these values; None: undecided. By default the selector judges by itself.
    predicate: Callable[..., bool | None] = lambda right, **_: right

    def draft(self, world: World) -> Draft | None:
        """Return the claim on `world`, or None if nothing was measured."""
        values = self.selector(world)
        if values is None:
            return None
        holds = self.predicate(**values)
        verdict = UNDECIDED if holds is None else HOLDS if holds else FAILS
        finding = self.finding.format(**values)
        margin: Any = values.get("margin")
        return Draft(*self[:3], lambda _: finding, settled=verdict, margin=margin)


def drafts_of(
    table: Iterable[TestedClaim[World] | UntestedClaim[World]], world: World
) -> list[Draft]:
    """Return the claims of `table` that can be made on `world`."""
    return [draft for row in table if (draft := row.draft(world)) is not None]


def steps_of(
    pairs: Sequence[tuple[Side, Side]], least: Sequence[float] = (), slight: Sequence[float] = ()
) -> list[Step]:
    """Return a comparison for each of `pairs` (higher, lower), with its `least` difference.

    `slight` says for each which difference counts as none.
    """
    if not pairs:
        return []
    # All pairs in one call, so that all are resampled and tested alike.
    gaps = [high.people - low.people for high, low in pairs]
    bounds, ignored = least or [0.0] * len(pairs), slight or [SLIGHT] * len(pairs)
    trials = max(_TRIALS, _TRIALS_PER_TEST * len(pairs))
    beyond = np.array([gap - bound for gap, bound in zip(gaps, bounds, strict=True)])
    all_p = randomizations(beyond, trials=trials)
    differences = all_intervals(gaps)
    steps = []
    compared = zip(pairs, gaps, bounds, differences, all_p, ignored, strict=True)
    for (high, low), gap, bound, difference, p, none in compared:
        known = ~np.isnan(gap)
        means = (mean_of(high.people[known]), mean_of(low.people[known]))
        people = int(np.count_nonzero(known))
        steps.append(Step(high.name, low.name, means, difference, p, bound, people, none))
    return steps


def chain(sides: Iterable[Side | None], what: str = "AP") -> SidePairs:
    """Return pairs of each of `sides` and the one before it; none if any side is missing."""
    there = list(sides)
    known = [side for side in there if side is not None]
    pairs = [(high, low) for low, high in pairwise(known)] if len(known) == len(there) else []
    return SidePairs(pairs, what)


def greater(words: Wording, sides: SidePairs, *, level: float = LEVEL, least: float = 0.0) -> Draft:
    """Return the claim that one mean is above another, by more than `least`."""

    def finding(steps: Sequence[Step]) -> str:
        (step,) = steps
        return (
            f"{sides.what} is {step.means[0]:.3f} for {step.high} and {step.means[1]:.3f} for "
            f"{step.low}: a difference of {difference_text(step.difference)} over {step.people} "
            f"people.{sides.more}"
        )

    return Draft(*words, finding, sides.pairs, least, level=level)


def within(words: Wording, sides: SidePairs) -> Draft:
    """Return the claim of a limit: of `sides`, the first is above the second, however little."""
    return replace(greater(words, sides), slight=0.0)


def rising(words: Wording, picked: SidePairs) -> Draft:
    """Return the claim that each of the `picked` means is above the one before it."""

    def finding(steps: Sequence[Step]) -> str:
        first = (steps[0].low, steps[0].means[1])
        means = [first, *((step.high, step.means[0]) for step in steps)]
        return (
            f"{picked.what} is {listed([f'{mean:.3f} for {name}' for name, mean in means])}; the "
            f"{'steps are' if len(steps) > 1 else 'step is'} "
            f"{listed([difference_text(step.difference) for step in steps])}."
        )

    return Draft(*words, finding, picked.pairs)


def each_greater(words: Wording, picked: SidePairs) -> Draft:
    """Return the claim that in each of the `picked` pairs the first mean is above the second."""

    def finding(steps: Sequence[Step]) -> str:
        pairs = [
            f"{step.means[0]:.3f} for {step.high} and {step.means[1]:.3f} for {step.low}, "
            f"{difference_text(step.difference)}"
            for step in steps
        ]
        return f"{picked.what} is {'; '.join(pairs)}."

    return Draft(*words, finding, picked.pairs)


def as_good(words: Wording, picked: SidePairs) -> Draft:
    """Return the claim that the first of each `picked` pair is at most slightly worse."""

    def finding(steps: Sequence[Step]) -> str:
        pairs = [
            f"{difference_text(step.difference)} for {step.high} against {step.low}"
            for step in steps
        ]
        return f"The difference in {picked.what} is {'; '.join(pairs)}."

    return Draft(*words, finding, picked.pairs, -SLIGHT)


def at_most(
    words: Wording, what: str, cases: Callable[[World], Sequence[tuple[float, float]]]
) -> UntestedClaim[World]:
    """Return the claim that `what` is at most its bound in all `cases` of (value, bound)."""

    def selector(world: World) -> Mapping[str, object] | None:
        releases = cases(world)
        if not releases:
            return None
        kept = sum(value <= bound + _ROUNDING for value, bound in releases)
        value, bound = max(releases, key=lambda case: case[0] - case[1])
        right = kept == len(releases)
        worst = "Closest to the bound" if right else "Worst case"
        limit = f"{value:.3f} {'of' if right else 'instead of'} at most {bound:g}"
        counts = {"kept": kept, "of": len(releases), "margin": ClaimMargin(bound - value)}
        return {**counts, "worst": f"{worst}: {limit}", "right": right}

    finding = f"{what} is within the bound p in {{kept}} of {{of}} releases. {{worst}}."
    return UntestedClaim(*words, finding, selector)


def figure_verdict(figure: float, settings: Sequence[Interval]) -> tuple[bool | None, ClaimMargin]:
    """Return whether `figure` holds by the intervals of its `settings`, and by how much it misses.

    These are the one setting that the paper names, or all that were tried if it names none.
    """
    # That one of many settings meets a figure says nothing: one of them would meet any figure.
    misses = [max(ends.low - figure, figure - ends.high, 0.0) for ends in settings]
    margin = ClaimMargin(-max(misses), -max(misses), -min(misses))
    if not any(misses):
        wide = any(ends.high - ends.low > _WIDEST for ends in settings)
        return (None if wide else True), margin
    tried = min(ends.low for ends in settings), max(ends.high for ends in settings)
    return (None if tried[0] <= figure <= tried[1] else False), margin


def settle(drafts: Sequence[Draft]) -> tuple[Claim, ...]:
    """Return the claims of all `drafts`, judged by tests that are corrected as one family."""
    steps = steps_of(
        [pair for draft in drafts for pair in draft.pairs],
        [draft.least for draft in drafts for _ in draft.pairs],
        [draft.slight for draft in drafts for _ in draft.pairs],
    )
    tested = iter(zip(steps, holm([step.p for step in steps]), strict=True))
    return tuple(_claim(draft, [next(tested) for _ in draft.pairs]) for draft in drafts)


def _claim(draft: Draft, tested: Sequence[tuple[Step, float]]) -> Claim:
    """Return `draft` judged: it holds if all steps hold, and fails if any step fails."""
    steps = [step for step, _ in tested]
    finding = draft.finding(steps)
    if not tested:
        judged = (finding, draft.settled, None, draft.margin)
        return Claim(draft.name, draft.text, draft.source, *judged)
    verdicts = [step.verdict(p, draft.level) for step, p in tested]
    words = [of_step.word for of_step in verdicts]
    verdict = FAILS if FAILS in words else UNDECIDED if UNDECIDED in words else HOLDS
    deciding = [pair for pair in zip(steps, verdicts, strict=True) if pair[1].word == verdict]
    known = [of_step.p for _, of_step in deciding if of_step.p is not None]
    why = _why(deciding, len(steps)) if verdict == FAILS else ""
    # One failing step is enough, so the surest decides. Otherwise the least sure one does.
    p = (min if verdict == FAILS else max)(known, default=None)
    margins = [step.margin for step, _ in deciding if not np.isnan(step.difference.mean)]
    margin = min(margins, key=lambda one: one.value, default=None)
    return Claim(draft.name, draft.text, draft.source, f"{finding}{why}", verdict, p, margin)


def _why(failing: Sequence[tuple[Step, StepVerdict]], steps: int) -> str:
    """Return why a claim fails, and which of its steps fail if it has several."""
    failed: dict[str, list[str]] = {}  # reason -> the steps that fail for it
    for step, verdict in failing:
        reason, number = step.reason(verdict)
        name = f"{step.high} against {step.low}" if steps > 1 else ""
        text = f"{name} ({number})" if name and number else name or number
        failed.setdefault(reason, []).extend([text] if text else [])
    sentences = [f"{why}{': ' if some else ''}{', '.join(some)}" for why, some in failed.items()]
    return "".join(f" {text[0].upper()}{text[1:]}." for text in sentences)


def difference_text(difference: Interval) -> str:
    """Return `difference` with its interval as text."""
    mean, low, high = map(signed, difference)
    return mean if np.isnan(difference.low) else f"{mean} ({low} to {high})"


def signed(value: float) -> str:
    """Return `value` as text with its sign, without one if it rounds to 0."""
    text = f"{value:+.3f}"
    return "0.000" if text in ("+0.000", "-0.000") else text


def p_text(p: float) -> str:
    """Return a P-value `p` as text; NaN gives an empty one."""
    return "" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def listed(texts: Sequence[str]) -> str:
    """Return `texts` as one list within a sentence: a, b and c."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
