"""Whether groups keep p, k, l and t: by whole numbers wherever a plain sum may err.

Entropies and distances are irrational, so their bounds have a tolerance of 1e-9 in the release's
favour: a group that misses its bound by no more than that passes, one that misses it by more never
does. Distances are compared squared, with 1e-15 more allowed: no float can tell a distance below
3e-8 from 0. A sum that is not a number never passes: the shares are then computed from whole
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ...arrays import Floats, Ints, Marks
from ..finding import Finding, Findings, row_findings
from ..tally import Tally

TOLERANCE = 1e-9


def judge_groups(parameters: Mapping[str, Any], tally: Tally) -> Findings:
    """Yield whether each group of `tally` keeps each bound that `parameters` set."""
    p, k, diversity, t = (parameters[name] for name in "pklt")
    if p is not None:
        need = math.ceil(Fraction(tally.profile_terms, tally.users) / Fraction(str(p)))
        line = f"has fewer than the {need} distinct terms that p={p} needs"
        good = f"each group has {need} distinct terms or more, as p={p} needs{tally.so_far}"
        yield from row_findings("p", tally.sure(tally.distinct < need), line, good)
    if p is not None and parameters["guarantee"] == "every-term":
        least = math.ceil(1 / Fraction(str(p)))
        line = f"has fewer than the {least} members that p={p} needs for every term"
        good = f"each group has {least} members or more"
        yield from row_findings("p", tally.sizes < least, line, good)
    if k is not None:
        line, good = f"has fewer than k={k} members", f"each group has k={k} members or more"
        yield from row_findings("k", tally.sizes < k, line, good)
    if diversity is not None:
        bound = f"log l={diversity}"
        line, good = f"has an entropy below {bound}", f"each group's entropy is {bound} or more"
        yield from row_findings("l", tally.sure(too_uniform(tally, diversity)), line, good)
    if t is not None and tally.unsure:
        line = f"t={t} is about all {tally.users} people of the making, and was checked then"
        yield Finding("t", True, "rows.jsonl", line)
    elif t is not None:
        line, good = f"is farther than t={t} from all users", f"no group is farther than t={t}"
        yield from row_findings("t", too_far(tally, t), line, good)


def too_uniform(tally: Tally, diversity: float) -> Marks:
    """Return marks for the groups of `tally` whose entropy, in nats, is below log `diversity`."""
    shares = _shares(tally)
    sums = np.add.reduceat(-shares * np.log(shares), tally.begins)
    edge = math.log(diversity) - TOLERANCE
    # Negated, so that a sum that is not a number is wrong.
    wrong: Marks = ~(sums >= edge)
    for group in _doubtful(sums, edge, tally):
        weights = _exact_sums(tally, cells_of(tally, group))
        wrong[group] = entropy(weights) < edge
    return wrong


def too_far(tally: Tally, t: float) -> Marks:
    """Return marks for the groups of `tally` farther than `t` (Jensen-Shannon) from all users."""
    mine = _shares(tally)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        all_ = (tally.overall / tally.overall.sum())[tally.column]
        middle = (mine + all_) / 2
        parts = mine * np.log2(mine / middle) + all_ * np.log2(all_ / middle)
        met = np.add.reduceat(all_, tally.begins)
        sums: Floats = (np.add.reduceat(parts, tally.begins) + (1 - met)) / 2
    edge = (t + TOLERANCE) ** 2 + 1e-15
    wrong: Marks = ~(sums <= edge)
    doubtful = _doubtful(sums, edge, tally)
    if doubtful:
        # Seldom needed and slow, so only for the groups in doubt.
        everybody = whole(_exact_overall(tally))
        for group in doubtful:
            cells = cells_of(tally, group)
            weights = _exact_sums(tally, cells)
            wrong[group] = divergence(weights, everybody, tally.column[cells]) > edge
    return wrong


def _doubtful(sums: Floats, edge: float, tally: Tally) -> list[int]:
    """Return the groups whose plain sum does not decide, as rounding may have crossed the edge."""
    added = tally.distinct if tally.weights is None else tally.distinct + tally.users
    decided = np.isfinite(sums) & (np.abs(sums - edge) > 1e-12 + 1e-15 * added)
    doubtful: list[int] = np.flatnonzero(~decided).tolist()
    return doubtful


def _shares(tally: Tally) -> Floats:
    totals: Floats = np.add.reduceat(tally.sums, tally.begins)
    # The smallest float above 0, so that no share vanishes and no logarithm fails.
    shares: Floats = np.maximum(tally.sums / totals[tally.group], 5e-324)
    return shares


def cells_of(tally: Tally, group: int) -> Ints:
    """Return the numbers of the cells of `group`."""
    return np.arange(tally.begins[group], tally.begins[group] + tally.distinct[group])


def _exact_sums(tally: Tally, cells: Ints) -> list[float]:
    return [math.fsum(tally.weights_of(cell)) for cell in cells.tolist()]


def _exact_overall(tally: Tally) -> list[float]:
    """Return the sum of each term's weights over all users, rounded once."""
    if tally.weights is None:
        return [float(users) for users in tally.having.tolist()]
    column = np.repeat(tally.column, tally.counts)
    order = np.argsort(column, kind="stable")
    parts = np.split(tally.weights[order], np.cumsum(tally.having)[:-1])
    return [math.fsum(part) for part in parts]


def entropy(weights: list[float]) -> float:
    """Return the entropy of the distribution of `weights`, in nats."""
    numbers = whole(weights)
    total = sum(numbers)
    return -math.fsum(_times_log(n / total, n / total, math.log) for n in numbers)


def divergence(weights: list[float], everybody: list[int], terms: Ints) -> float:
    """Return the Jensen-Shannon divergence, base 2, of `weights` of `terms` from `everybody`'s."""
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
    """Return whole numbers in exactly the proportions of `weights`, whatever their range."""
    ratios = [weight.as_integer_ratio() for weight in weights]
    unit = max(below for _, below in ratios)  # all are powers of two
    return [above * (unit // below) for above, below in ratios]


def _times_log(share: float, ratio: float, log: Callable[[float], float]) -> float:
    """Return `share` times the `log` of `ratio`; 0 if the ratio is too small for a float."""
    return share * log(ratio) if ratio else 0.0
