"""The bounds that a group must satisfy, in small compiled functions for the clustering.

terms      at least ceil(|U|avg / p) distinct original terms (Zhu & Xiong 2010)
members    k-anonymity: at least k members
entropy    l-diversity: the entropy of the group's term weights is at least log l
distance   t-closeness: the Jensen-Shannon distance between the group's distribution of term weight
           and that of all users is at most t

A new member never breaks the first two bounds, but may break the last two.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats
from ..compiled import compiled
from ..errors import BadParameter, Unsatisfiable
from ..model import Profiles

SLACK = 1e-12  # for entropies and distances, which are rounded


class Bounds(NamedTuple):
    """The bounds of each group; the defaults bound nothing."""

    terms: int = 0
    members: int = 1
    entropy: float = -1.0
    distance: float = 2.0

    @property
    def may_be_lost(self) -> bool:
        """Return whether a new member can break a bound that the group satisfied."""
        return self.entropy > 0 or self.distance < 1


def bounds_of(
    profiles: Profiles,
    *,
    p: float | None = None,
    k: int | None = None,
    l: float | None = None,  # noqa: E741 the paper's letter
    t: float | None = None,
    average: Fraction | None = None,
) -> Bounds:
    """Return the bounds that `p`, `k`, `l` and `t` set for groups of `profiles`; None sets none.

    Their `average` number of terms is given if they are some of all profiles.
    """
    faults = {
        f"p={p} must be above 0 and at most 1": p is None or 0 < p <= 1,
        f"k={k} must be at least 1": k is None or k >= 1,
        f"l={l} must be a number and at least 1": l is None or 1 <= l < math.inf,
        f"t={t} must be above 0 and at most 1": t is None or 0 < t <= 1,
        "p, k, l and t are all off; set at least one": {p, k, l, t} != {None},
    }
    if not all(faults.values()):
        raise BadParameter("; ".join(fault for fault, holds in faults.items() if not holds))
    return Bounds(
        terms=terms_needed(profiles, p, average) if p is not None else 0,
        members=k or 1,
        entropy=math.log(l) if l is not None else -1.0,
        distance=t if t is not None else 2.0,
    )


def terms_needed(profiles: Profiles, p: float, average: Fraction | None = None) -> int:
    """Return ceil(|U|avg / p) in exact arithmetic; |U|avg is that of `profiles` or is given."""
    average = average or Fraction(int(profiles.sizes.sum()), len(profiles))
    # As it is written: the float 0.1 is not exactly a tenth.
    return math.ceil(average / Fraction(str(p)))


def scaled_down(weights: Floats) -> Floats:
    """Return `weights` divided by the largest, so that no sum overflows; none becomes 0."""
    scaled: Floats = np.maximum(weights / weights.max(), np.finfo(np.float64).tiny)
    return scaled


def overall(profiles: Profiles) -> Floats:
    """Return the share of each term in the weight of all `profiles`."""
    cells = profiles.weights
    scaled = scaled_down(cells.data)
    weights = np.bincount(cells.indices, weights=scaled, minlength=len(profiles.terms))
    share: Floats = weights / weights.sum()
    return share


def refuse_hopeless(profiles: Profiles, bounds: Bounds) -> None:
    """Refuse `bounds` that not even one group of all users satisfies."""
    # The distance needs no check: for a group of all users it is 0.
    n = len(profiles)
    distinct = np.unique(profiles.weights.indices)
    if distinct.size < bounds.terms:
        raise Unsatisfiable(
            f"groups need {bounds.terms} distinct terms (mean profile size / p), but all {n} "
            f"profiles together have {distinct.size}; take a larger p or more users"
        )
    if n < bounds.members:
        raise Unsatisfiable(
            f"groups need {bounds.members} members, but there are {n} users; lower k, raise p, or "
            "take more users"
        )
    share = overall(profiles)[distinct]
    reached = entropy(share, share.size)
    if reached < bounds.entropy - SLACK:
        raise Unsatisfiable(
            f"l={math.exp(bounds.entropy):.6g} asks for more diversity than the terms of all users "
            f"together have, {math.exp(reached):.6g}; lower l"
        )


@compiled
def entropy(weights: Any, size: int) -> float:
    """Return the entropy of the distribution of the first `size` weights, in natural units."""
    total = 0.0
    for i in range(size):
        total += weights[i]
    reached = 0.0
    for i in range(size):
        share = weights[i] / total
        if share > 0:
            reached -= share * math.log(share)
    return reached


@compiled
def distance(terms: Any, weights: Any, size: int, overall: Any) -> float:
    """Return the Jensen-Shannon distance of a group's `weights` from everybody's, 0 to 1."""
    total = 0.0
    for i in range(size):
        total += weights[i]
    divergence, met = 0.0, 0.0
    for i in range(size):
        mine, all_ = weights[i] / total, overall[terms[i]]
        middle = (mine + all_) / 2
        met += all_
        divergence += mine * math.log2(mine / middle)
        if all_ > 0:
            divergence += all_ * math.log2(all_ / middle)
    # Each term that the group lacks adds its share times log2(2); together that is 1 - met.
    return math.sqrt(min(max(divergence + (1 - met), 0.0) / 2, 1.0))


@compiled
def holds(bounds: Any, members: int, terms: Any, weights: Any, size: int, overall: Any) -> Any:
    """Return whether a group satisfies all bounds."""
    if size < bounds.terms or members < bounds.members:
        return False
    if bounds.entropy > 0 and entropy(weights, size) < bounds.entropy - SLACK:
        return False
    limit = bounds.distance
    return limit >= 1 or distance(terms, weights, size, overall) <= limit + SLACK
