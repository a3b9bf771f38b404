"""Whether groups keep p, k, l and t: by whole numbers wherever a plain sum may err.

Entropies and distances are irrational, so that their bounds are taken with a tolerance of 1e-9 on
the release's side: a group that misses its bound by no more than that passes, one that misses it
by more never does. Distances are compared squared, where 1e-15 more is allowed: no float can
tell a distance below 3e-8 from 0. What is no number, as where a share vanishes, never passes: the
shares are then taken of whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .finding import Findings, Floats, Ints, Marks, told_rows
from .tally import Tally

TOLERANCE = 1e-9


def judge_groups(parameters: Mapping[str, Any], tally: Tally) -> Findings:
    """Check each bound that is set on each group."""
    p, k, diversity, t = (parameters[name] for name in "pklt")
    if p is not None:
        need = math.ceil(Fraction(tally.profile_terms, tally.users) / Fraction(str(p)))
        line = f"has fewer than the {need} distinct terms that p={p} needs"
        good = f"each group has {need} distinct terms or more, as p={p} needs"
        yield from told_rows("p", tally.distinct < need, line, good)
    if p is not None and parameters["guarantee"] == "every-term":
        least = math.ceil(1 / Fraction(str(p)))
        line = f"has fewer than the {least} members that p={p} needs for every term"
        good = f"each group has {least} members or more"
        yield from told_rows("p", tally.sizes < least, line, good)
    if k is not None:
        line, good = f"has fewer than k={k} members", f"each group has k={k} members or more"
        yield from told_rows("k", tally.sizes < k, line, good)
    if diversity is not None:
        bound = f"log l={diversity}"
        line, good = f"has an entropy below {bound}", f"each group's entropy is {bound} or more"
        yield from told_rows("l", too_uniform(tally, diversity), line, good)
    if t is not None:
        line, good = f"is farther than t={t} from all users", f"no group is farther than t={t}"
        yield from told_rows("t", too_far(tally, t), line, good)


def too_uniform(tally: Tally, diversity: float) -> Marks:
    """Mark the groups whose entropy, in natural units, is below the logarithm of the diversity."""
    shares = _shares(tally)
    found = np.add.reduceat(-shares * np.log(shares), tally.begins)
    edge = math.log(diversity) - TOLERANCE
    wrong: Marks = ~(found >= edge)
    for group in _doubtful(found, edge, tally):
        weights = _exact_sums(tally, cells_of(tally, group))
        wrong[group] = entropy(weights) < edge
    return wrong


def too_far(tally: Tally, t: float) -> Marks:
    """Mark the groups whose Jensen-Shannon distance from all users is above t."""
    found = _divergences(tally)
    edge = (t + TOLERANCE) ** 2 + 1e-15
    wrong: Marks = ~(found <= edge)
    doubtful = _doubtful(found, edge, tally)
    if doubtful:
        everybody = whole(_exact_overall(tally))
        for group in doubtful:
            cells = cells_of(tally, group)
            weights = _exact_sums(tally, cells)
            wrong[group] = divergence(weights, everybody, tally.column[cells]) > edge
    return wrong


def _divergences(tally: Tally) -> Floats:
    """Return each group's divergence by plain sums; no number where shares vanish."""
    mine = _shares(tally)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        all_ = (tally.overall / tally.overall.sum())[tally.column]
        middle = (mine + all_) / 2
        parts = mine * np.log2(mine / middle) + all_ * np.log2(all_ / middle)
        met = np.add.reduceat(all_, tally.begins)
        found: Floats = (np.add.reduceat(parts, tally.begins) + (1 - met)) / 2
    return found


def _doubtful(found: Floats, edge: float, tally: Tally) -> list[int]:
    """Return the groups whose plain sum does not decide: what rounding can do at most is more."""
    added = tally.distinct if tally.weights is None else tally.distinct + tally.users
    decided = np.isfinite(found) & (np.abs(found - edge) > 1e-12 + 1e-15 * added)
    doubtful: list[int] = np.flatnonzero(~decided).tolist()
    return doubtful


def _shares(tally: Tally) -> Floats:
    totals: Floats = np.add.reduceat(tally.sums, tally.begins)
    shares: Floats = np.maximum(tally.sums / totals[tally.group], 5e-324)  # none vanishes
    return shares


def cells_of(tally: Tally, group: int) -> Ints:
    """Return the numbers of a group's cells."""
    return np.arange(tally.begins[group], tally.begins[group] + tally.distinct[group])


def _exact_sums(tally: Tally, cells: Ints) -> list[float]:
    return [math.fsum(tally.weights_of(cell)) for cell in cells.tolist()]


def _exact_overall(tally: Tally) -> list[float]:
    """Return each term's weight over all users, rounded once."""
    if tally.weights is None:
        return [float(users) for users in tally.having.tolist()]
    column = np.repeat(tally.column, tally.counts)
    order = np.argsort(column, kind="stable")
    parts = np.split(tally.weights[order], np.cumsum(tally.having)[:-1])
    return [math.fsum(part) for part in parts]


def entropy(weights: list[float]) -> float:
    """Return the entropy of a distribution, in natural units."""
    numbers = whole(weights)
    total = sum(numbers)
    return -math.fsum(_times_log(n / total, n / total, math.log) for n in numbers)


def divergence(weights: list[float], everybody: list[int], terms: Ints) -> float:
    """Return the Jensen-Shannon divergence, base 2, of a group's weights from everybody's."""
    numbers = whole(weights)
    total, grand = sum(numbers), sum(everybody)
    parts = [1.0]
    for number, term in zip(numbers, terms.tolist(), strict=True):
        mine, all_ = number * grand, everybody[term] * total  # shares, times total * grand
        share, other = number / total, everybody[term] / grand
        parts.append(_times_log(share, 2 * mine / (mine + all_), math.log2))
        parts.append(_times_log(other, 2 * all_ / (mine + all_), math.log2))
        parts.append(-other)
    return math.fsum(parts) / 2


def whole(weights: list[float]) -> list[int]:
    """Return whole numbers in the very proportions of weights, however far these range."""
    ratios = [weight.as_integer_ratio() for weight in weights]
    unit = max(below for _, below in ratios)  # all are powers of two
    return [above * (unit // below) for above, below in ratios]


def _times_log(share: float, ratio: float, log: Callable[[float], float]) -> float:
    """Return a share times a logarithm; where the ratio is below all floats, so is the product."""
    return share * log(ratio) if ratio else 0.0
