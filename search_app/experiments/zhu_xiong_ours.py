"""What we claim beside the paper's claims, marked as ours: what earns how much, what helps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .claims import Draft, Side, Wording, each_greater, greater, rising, signed
from .design import Variant
from .outcomes import Floats, Outcomes
from .summaries import SummedUp, by_people, measured
from .zhu_xiong_variants import (
    EVERY_TERM,
    FIGURE_2,
    FIGURE_4,
    IMPROVEMENTS,
    NAMES,
    THE_PAPERS,
    ap_in,
    changes,
    complete,
    fact,
    main_pool,
    ordered,
    sensitivity,
    side,
    sides,
    usual_like,
)

_OURS = "ours, not the paper's"
_BELIEF = "change_of_belief"
_BARS = ((100, 0.02), (1000, 0.04))  # least gain by pool


def better_than_random_groups(summed: SummedUp) -> list[Draft]:
    """Ask what grouping by similarity earns by itself."""
    found = sides(summed, FIGURE_2, ("group", "random-groups"))
    if found is None:
        return []
    text = "Grouping by similarity earns something: groups beat random groups of the same sizes."
    words = Wording("group-over-random-groups", text, f"{_OURS}; at p < 0.01")
    return [greater(words, found[0], found[1], level=0.01, what=ap_in(summed, FIGURE_2))]


def better_under_every_term(summed: SummedUp) -> list[Draft]:
    """Ask it again where no row shows a term that more than p of the members have."""
    pairs = _by_p(summed, EVERY_TERM, "group", "random-groups")
    if not pairs:
        return []
    text = (
        "Grouping by similarity still beats random groups, at each p, where the guarantee is "
        "every-term, which leaves out of a row what its members share."
    )
    words = Wording("group-over-random-groups-every-term", text, _OURS)
    return [each_greater(words, pairs, what=ap_in(summed, EVERY_TERM, p=False))]


def _by_p(summed: SummedUp, table: str, high: str, low: str) -> list[tuple[Side, Side]]:
    """Pair two modes of a table at each p at which both were searched."""
    pairs = []
    for p, variant in ordered(summed.outcomes, table, "p"):
        pool = main_pool(variant)
        upper = side(summed, variant, high, pool, f"{NAMES[high]} at p = {p:g}")
        lower = side(summed, variant, low, pool)
        if upper and lower:
            pairs.append((upper, lower))
    return pairs


def order_of_modes(summed: SummedUp) -> list[Draft]:
    """Rank the baselines."""
    found = sides(summed, FIGURE_2, ("none", "union", "average", "random-groups", "group"))
    if found is None:
        return []
    names = " < ".join(each.name for each in found)
    words = Wording("order-of-modes", f"The order is {names}.", _OURS)
    return [rising(words, found, what=ap_in(summed, FIGURE_2))]


def popular_profile(summed: SummedUp) -> list[Draft]:
    """Ask whether one profile for all brings most of the gain."""
    found = sides(summed, FIGURE_2, ("average", "none", "group"))
    if found is None:
        return []
    average, none, group = found
    half = Side("half way from no personalization to the group", (none.people + group.people) / 2)
    text = (
        "More than half of what groups gain over no personalization comes from any popular profile."
    )
    words = Wording("popular-profile", text, _OURS)
    return [greater(words, average, half, what=ap_in(summed, FIGURE_2))]


def without_own_share(summed: SummedUp) -> list[Draft]:
    """Ask what the others of a group are worth to a person."""
    pairs = _by_p(summed, FIGURE_4, "left-out", "average")
    if not pairs:
        return []
    text = (
        "Even without the person's own share a group's row serves better than the global average, "
        "at each p: the others are of use."
    )
    words = Wording("without-own-share", text, _OURS)
    return [each_greater(words, pairs, what=ap_in(summed, FIGURE_4, p=False))]


def union_is_worse(summed: SummedUp) -> list[Draft]:
    """Compare the representatives at each p."""
    outcomes, pairs, pool = summed.outcomes, [], 0
    for variant in sensitivity(outcomes):
        if changes(outcomes, variant) == "representative=union":
            pool, p = main_pool(variant), complete(variant)["p"]
            paper = usual_like(outcomes, variant, "group", pool)
            union = side(summed, variant, "group", pool, f"the union at p = {p:g}")
            if paper and union:
                people = by_people(outcomes, paper, "group", pool)
                pairs.append((Side("the centroid", people), union))
    if not pairs:
        return []
    text = "The union of a group serves worse than its centroid, at each p."
    words = Wording("centroid-over-union", text, _OURS)
    return [each_greater(words, pairs, what=f"AP (pool {pool})")]


def improvement(summed: SummedUp) -> list[Draft]:
    """Hold the best setting under the paper's constraint against the paper's, over all p.

    It is chosen on the people of odd number and tested on the others: whoever chooses and tests on
    the same people finds more than there is.
    """
    return [draft for pool, least in _BARS for draft in _improved(summed, pool, least)]


class _Gain(NamedTuple):
    """A setting beside the paper's at one p, person by person."""

    p: float
    other: Variant
    paper: Variant
    high: Floats
    low: Floats


def _gains(outcomes: Outcomes, pool: int) -> dict[str, list[_Gain]]:
    """List by setting what was measured at each p."""
    gains: dict[str, list[_Gain]] = {}
    for variant in outcomes.experiment.named(IMPROVEMENTS):
        paper = usual_like(outcomes, variant, "group", pool)
        other = changes(outcomes, variant) != THE_PAPERS
        if paper is not None and other and measured(outcomes, variant, "group", pool):
            high, low = (by_people(outcomes, each, "group", pool) for each in (variant, paper))
            p = float(complete(variant)["p"])
            gains.setdefault(changes(outcomes, variant), []).append(
                _Gain(p, variant, paper, high, low)
            )
    return gains


def _improved(summed: SummedUp, pool: int, least: float) -> list[Draft]:
    outcomes = summed.outcomes
    gains = _gains(outcomes, pool)
    odd = np.unique(outcomes.person) % 2 == 1
    if not gains or odd.all():
        return []
    mean_gain = {
        name: float(np.nanmean([each.high[odd] - each.low[odd] for each in found]))
        for name, found in gains.items()
    }
    best = max(mean_gain, key=lambda name: mean_gain[name])
    high, low = (
        np.where(odd, np.nan, np.mean(each, axis=0))
        for each in zip(*[(gain.high, gain.low) for gain in gains[best]], strict=True)
    )
    text = (
        f"Better grouping under the same constraint adds at least {least:g} AP to the paper's at "
        f"pool {pool}, averaged over p."
    )
    more = (
        f" It was chosen of {len(gains)} settings on the other half of the people, those of odd "
        f"number.{_at_each_p(outcomes, gains[best], ~odd)}"
    )
    return [
        greater(
            Wording(f"better-grouping-pool-{pool}", text, _OURS),
            Side(best, high),
            Side(THE_PAPERS, low),
            least=least,
            what=f"AP (mean over p, pool {pool})",
            more=more,
        )
    ]


def _at_each_p(outcomes: Outcomes, gains: Sequence[_Gain], tested: NDArray[np.bool_]) -> str:
    """Tell the gain at each p, and what it comes with in what an attacker may believe."""
    told, dearer = [], False
    for gain in sorted(gains, key=lambda each: each.p):
        text = f"{signed(float(np.nanmean((gain.high - gain.low)[tested])))} at p = {gain.p:g}"
        after, before = (fact(outcomes, each, _BELIEF) for each in (gain.other, gain.paper))
        if before is not None and after is not None:
            text += f" (change of belief {before:.3f} to {after:.3f})"
            dearer |= after > before
        told.append(text)
    paid = "Where belief changes more, a part of the gain is bought with privacy."
    return f" By p: {', '.join(told)}.{f' {paid}' if dearer else ''}"


OURS = (
    better_than_random_groups,
    better_under_every_term,
    order_of_modes,
    popular_profile,
    without_own_share,
    union_is_worse,
    improvement,
)
