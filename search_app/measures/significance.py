"""How sure a mean over people is: bootstrap intervals, randomization tests, Holm's correction.

The unit is the person: first comes the mean over each person's queries, then all else over people.
So a person with a hundred queries counts like a person with one (Efron and Tibshirani 1993, chapter
13; Smucker, Allan and Carterette 2007; Holm 1979). People without a value don't count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonymizer.arrays import Floats, Ints

LEVEL = 95.0  # percent
RESAMPLES = 10_000
TRIALS = 10_000
# Up to this number of people, all ways to choose signs are tried: at most 4,096.
EXACT = 12
_BELOW = (1 + LEVEL / 100) / 2  # share of Student's t below an interval's upper end
_AT_ONCE = 1 << 20  # people drawn or coins thrown at once, so that memory stays flat


class Interval(NamedTuple):
    """A mean and the ends of its 95 % interval; NaN where there are none."""

    mean: float
    low: float
    high: float


def by_person(values: Floats, person: Ints) -> Floats:
    """Return the mean of `values` for each person, ascending; NaN for people without a value."""
    order = np.argsort(person, kind="stable")
    starts = np.flatnonzero(np.diff(person[order], prepend=person.min(initial=0) - 1))
    if not starts.size:
        return np.empty((*values.shape[:-1], 0))
    sorted_values = np.asarray(values, dtype=np.float64)[..., order]
    known = ~np.isnan(sorted_values)
    counts = np.add.reduceat(known, starts, axis=-1, dtype=np.int64)
    sums = np.add.reduceat(np.where(known, sorted_values, 0.0), starts, axis=-1)
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means


def interval(values: Floats, *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Return the mean of `values` over people and its percentile bootstrap interval."""
    return intervals(values[None], seed=seed, resamples=resamples)[0]


def intervals(values: Floats, *, seed: int = 0, resamples: int = RESAMPLES) -> list[Interval]:
    """Return the interval of each row of `values`; the same people are drawn for all rows."""
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    whole, scales = _whole(filled)
    draws = _resampled(values.shape[1], seed, resamples)
    means = np.concatenate([_means(weights, whole, known) for weights in draws]) / scales
    return [
        _interval(total, int(count), means[:, row])
        for row, (total, count) in enumerate(zip(filled.sum(1), known.sum(1), strict=True))
    ]


def _whole(values: Floats) -> tuple[Floats, Floats]:
    """Return each row of `values` as whole numbers, and the factor by which it was multiplied.

    The numbers are so small that no sum over a row is rounded. So every sum has the same bytes,
    whatever the order and the number of threads. What is lost is below people / 2^52.
    """
    bound = np.abs(values).max(axis=-1, initial=0.0) * values.shape[-1]
    scales = np.ldexp(1.0, 52 - np.frexp(bound)[1])
    return np.rint(values * scales[..., None]), scales


def _means(weights: Floats, whole: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return the mean of each row in each resample: resamples x rows; NaN where nobody is in it."""
    sums = weights @ whole.T
    people = np.full(sums.shape, float(known.shape[1]))
    if not known.all():
        people = weights @ known.T.astype(np.float64)
    means: Floats = np.divide(sums, people, out=np.full(sums.shape, np.nan), where=people > 0)
    return means


def _interval(total: float, people: int, means: Floats) -> Interval:
    """Return the interval of a mean from those of the resamples; one person alone has none."""
    if not people:
        return Interval(np.nan, np.nan, np.nan)
    mean = float(total / people)
    if people == 1:
        return Interval(mean, np.nan, np.nan)
    outside = (100 - LEVEL) / 2
    low, high = np.nanpercentile(means, [outside, 100 - outside])
    return Interval(mean, float(low), float(high))


def _resampled(people: int, seed: int, resamples: int) -> Iterator[Floats]:
    """Yield how often each person is drawn in some resamples: resamples x people."""
    rng, step = np.random.default_rng(seed), max(_AT_ONCE // max(people, 1), 1)
    for at in range(0, resamples, step):
        some = min(step, resamples - at)
        drawn = rng.integers(people, size=(some, people)) if people else np.empty((some, 0), int)
        # One count serves all resamples, because each of them has its own range of numbers.
        drawn += np.arange(some)[:, None] * people
        counts = np.bincount(drawn.ravel(), minlength=some * people)
        yield counts.reshape(some, people).astype(np.float64)


def randomization(differences: Floats, *, seed: int = 0, trials: int = TRIALS) -> float:
    """Return the P-value of `differences` by the two-sided paired randomization test.

    If nothing differs, a coin decides each sign. For few people, all ways to set the signs are
    tried. For more, P = (1 + trials that are as extreme) / (1 + trials).
    """
    known = differences[~np.isnan(differences)]
    if not known.size:
        return float("nan")
    whole, _ = _whole(known)
    # Rounding moves each number by half at most, so two equal sums by the number of people.
    least = abs(whole.sum()) - known.size
    exact = known.size <= EXACT
    signs = _all_signs(known.size) if exact else _random_signs(known.size, seed, trials)
    extreme = sum(int(np.count_nonzero(np.abs(some @ whole) >= least)) for some in signs)
    return float(extreme / 2**known.size) if exact else (1 + extreme) / (1 + trials)


def randomizations(differences: Floats, *, seed: int = 0, trials: int = TRIALS) -> list[float]:
    """Return the P-value of each row of `differences`, fast: a trial's signs serve all rows."""
    known = ~np.isnan(differences)
    counts = known.sum(1)
    few = {at: randomization(differences[at]) for at in np.flatnonzero(counts <= EXACT).tolist()}
    rows = np.flatnonzero(counts > EXACT)
    if not rows.size:
        return [few[at] for at in range(counts.size)]
    whole, _ = _whole(np.where(known, differences, 0.0)[rows])
    least = np.abs(whole.sum(1)) - counts[rows]
    extreme = np.zeros(rows.size, dtype=np.int64)
    for signs in _random_signs(differences.shape[1], seed, trials):
        extreme += (np.abs(signs @ whole.T) >= least).sum(0)
    many = dict(zip(rows.tolist(), ((1 + extreme) / (1 + trials)).tolist(), strict=True))
    return [float((few | many)[at]) for at in range(counts.size)]


def _all_signs(people: int) -> Iterator[Floats]:
    ways = np.arange(2**people)[:, None] >> np.arange(people)
    yield (1 - 2 * (ways & 1)).astype(np.float64)


def _random_signs(people: int, seed: int, trials: int) -> Iterator[Floats]:
    rng, step = np.random.default_rng(seed), max(_AT_ONCE // people, 1)
    for at in range(0, trials, step):
        some = min(step, trials - at)
        bits = rng.integers(0, 2, size=(some, people), dtype=np.int8)
        yield (1 - 2 * bits).astype(np.float64)


def half_width(count: int, variance: float) -> float | None:
    """Return half of a mean's 95 % interval by Student's t; None for a `count` of 1 or less."""
    if count < 2:
        return None
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, _BELOW)) * sqrt(max(variance, 0.0) / (count - 1))


class PeopleMean(NamedTuple):
    """A mean over values of people, by sums over people; its interval is over people.

    All values of a person go together, as in the mean of a ratio (Cochran 1977, chapter 6).
    """

    people: int
    values: int
    total: float  # of all values
    totals: float  # the squares of each person's total
    both: float  # each person's total times their count
    counts: int  # the squares of each person's count

    @property
    def mean(self) -> float:
        """Return the mean of all values."""
        return self.total / self.values

    @property
    def half(self) -> float | None:
        """Return half of the mean's 95 % interval by Student's t; None for less than 2 people."""
        residuals = self.totals - 2 * self.mean * self.both + self.mean**2 * self.counts
        return half_width(self.people, residuals * self.people / self.values**2)


def holm(p: Sequence[float]) -> list[float]:
    """Return the P-values `p` of a family corrected by Holm's steps; NaN stands for no test."""
    tests = [at for at in np.argsort(p, kind="stable") if not np.isnan(p[at])]
    corrected, floor = [float("nan")] * len(p), 0.0
    for step, at in enumerate(tests):
        floor = max(floor, min(1.0, (len(tests) - step) * p[at]))
        corrected[at] = float(floor)
    return corrected


def worst_decile(values: Floats) -> float:
    """Return the mean of the lowest tenth of `values`, of one value at least."""
    known = np.sort(values[~np.isnan(values)])
    return float(known[: max(known.size // 10, 1)].mean()) if known.size else float("nan")
