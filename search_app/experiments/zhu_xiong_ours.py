"""What we claim beside the paper's claims, marked as ours: what earns how much, what helps."""

from __future__ import annotations

import numpy as np

from .claims import Draft, Side, each_greater, greater, rising
from .outcomes import Floats
from .summaries import Judged, by_people, measured
from .zhu_xiong_variants import (
    EVERY_TERM,
    FIGURE_2,
    IMPROVEMENTS,
    NAMES,
    THE_PAPERS,
    changes,
    complete,
    main_pool,
    ordered,
    sensitivity,
    side,
    sides,
    usual_like,
)

_OURS = "ours, not the paper's"
_BARS = ((100, 0.02), (1000, 0.04))  # least gain by pool


def better_than_random_groups(judged: Judged) -> list[Draft]:
    """Ask what grouping by similarity earns by itself."""
    found = sides(judged, FIGURE_2, ("group", "random-groups"))
    if found is None:
        return []
    text = "Grouping by similarity earns something: groups beat random groups of the same sizes."
    return [greater(text, f"{_OURS}; at p < 0.01", found[0], found[1], level=0.01)]


def better_under_every_term(judged: Judged) -> list[Draft]:
    """Ask it again where no row shows a term that more than p of the members have."""
    pairs = []
    for p, variant in ordered(judged.outcomes, EVERY_TERM, "p"):
        pool = main_pool(variant)
        found = [
            side(judged, variant, mode, pool, f"{NAMES[mode]} at p = {p:g}")
            for mode in ("group", "random-groups")
        ]
        if found[0] and found[1]:
            pairs.append((found[0], found[1]))
    if not pairs:
        return []
    text = (
        "Grouping by similarity still beats random groups, at each p, where the guarantee is "
        "every-term, which leaves out of a row what its members share."
    )
    return [each_greater(text, _OURS, pairs)]


def order_of_modes(judged: Judged) -> list[Draft]:
    """Rank the baselines."""
    found = sides(judged, FIGURE_2, ("none", "union", "average", "random-groups", "group"))
    if found is None:
        return []
    names = " < ".join(each.name for each in found)
    return [rising(f"The order is {names}.", _OURS, found)]


def popular_profile(judged: Judged) -> list[Draft]:
    """Ask whether one profile for all brings most of the gain."""
    found = sides(judged, FIGURE_2, ("average", "none", "group"))
    if found is None:
        return []
    average, none, group = found
    half = Side("half way from no personalization to the group", (none.people + group.people) / 2)
    text = (
        "More than half of what groups gain over no personalization comes from any popular profile."
    )
    return [greater(text, _OURS, average, half)]


def without_own_share(judged: Judged) -> list[Draft]:
    """Ask what the others of a group are worth to a person."""
    found = sides(judged, FIGURE_2, ("left-out", "average"))
    if found is None:
        return []
    text = (
        "Even without the person's own share a group's row serves better than the global average: "
        "the others are of use."
    )
    return [greater(text, _OURS, found[0], found[1])]


def union_is_worse(judged: Judged) -> list[Draft]:
    """Compare the representatives at each p."""
    outcomes, pairs = judged.outcomes, []
    for variant in sensitivity(outcomes):
        if changes(outcomes, variant) == "representative=union":
            pool, p = main_pool(variant), complete(variant)["p"]
            paper = usual_like(outcomes, variant, "group", pool)
            union = side(judged, variant, "group", pool, f"the union at p = {p:g}")
            if paper and union:
                people = by_people(outcomes, paper, "group", pool)
                pairs.append((Side("the centroid", people), union))
    if not pairs:
        return []
    text = "The union of a group serves worse than its centroid, at each p."
    return [each_greater(text, _OURS, pairs)]


def improvement(judged: Judged) -> list[Draft]:
    """Hold the best setting under the paper's constraint against the paper's, over all p."""
    return [draft for pool, least in _BARS for draft in _improved(judged, pool, least)]


def _improved(judged: Judged, pool: int, least: float) -> list[Draft]:
    outcomes = judged.outcomes
    gains: dict[str, list[tuple[Floats, Floats]]] = {}
    for variant in outcomes.experiment.named(IMPROVEMENTS):
        paper = usual_like(outcomes, variant, "group", pool)
        other = changes(outcomes, variant) != THE_PAPERS
        if paper is not None and other and measured(outcomes, variant, "group", pool):
            pair = [by_people(outcomes, each, "group", pool) for each in (variant, paper)]
            gains.setdefault(changes(outcomes, variant), []).append((pair[0], pair[1]))
    if not gains:
        return []
    means = {
        name: [np.mean(each, axis=0) for each in zip(*pairs, strict=True)]
        for name, pairs in gains.items()
    }
    best = max(means, key=lambda name: float(np.nanmean(means[name][0] - means[name][1])))
    text = (
        f"Better grouping under the same constraint adds at least {least:g} AP to the paper's at "
        f"pool {pool}, averaged over p: {best}, the best of the settings tried ({len(means)})."
    )
    high, low = means[best]
    return [greater(text, _OURS, Side(best, high), Side(THE_PAPERS, low), least=least)]


OURS = (
    better_than_random_groups,
    better_under_every_term,
    order_of_modes,
    popular_profile,
    without_own_share,
    union_is_worse,
    improvement,
)
