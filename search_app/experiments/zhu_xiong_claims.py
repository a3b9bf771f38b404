"""The claims of Zhu and Xiong, each with its place, and ours beside them, marked as ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..significance import Interval
from .claims import (
    Draft,
    Side,
    Step,
    at_most,
    each_greater,
    greater,
    listed,
    rising,
    settle,
    stated,
)
from .outcomes import Floats
from .report import FAILS, HOLDS, UNDECIDED, Claim
from .summaries import Judged, by_people, measured
from .zhu_xiong_variants import (
    EVERY_TERM,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    IMPROVEMENTS,
    NAMES,
    POOLS,
    THE_PAPERS,
    changes,
    complete,
    fact,
    first,
    main_pool,
    ordered,
    papers_facts,
    sensitivity,
    side,
    usual_like,
)

_PAPER = "Zhu & Xiong, section 4"
_OURS = "ours, not the paper's"
_AP_AT_10 = 0.7886
_CLOSE = 0.9  # of the bound; the paper's "close to" has no number
_BARS = ((100, 0.02), (1000, 0.04))  # least gain by pool


def claims(judged: Judged) -> tuple[Claim, ...]:
    """Judge all claims whose variants were measured, as one family of tests."""
    found = [draft for make in _ALL for draft in make(judged)]
    return settle(found)


def level_of_precision(judged: Judged) -> list[Draft]:
    """Hold the only number in the paper's text against each pool."""
    variant = first(judged.outcomes, POOLS) or first(judged.outcomes, FIGURE_2)
    if variant is None:
        return []
    found = [(pool, judged.find(variant, "group", pool, "AP@10")) for pool in sorted(variant.pools)]
    means = {
        pool: Interval(each.mean, each.low, each.high) for pool, each in found if each is not None
    }
    if not means:
        return []
    verdict, where = _against(means)
    told = [
        f"{ends.mean:.3f} ({ends.low:.3f} to {ends.high:.3f}) at pool {pool}"
        for pool, ends in means.items()
    ]
    text = f"AP@10 is 78.86 % by the groups' rows at p = {complete(variant)['p']:g}."
    finding = f"AP@10 is {listed(told)}; {where}."
    return [stated(text, f"{_PAPER} and figure 2", finding, verdict)]


def _against(means: dict[int, Interval]) -> tuple[str, str]:
    """Tell at which pool the paper's number is met, or between which."""
    met = [pool for pool, ends in means.items() if ends.low <= _AP_AT_10 <= ends.high]
    if met:
        pools = listed([str(pool) for pool in met])
        return HOLDS, f"0.789 is within the interval at pool {pools}"
    above = [pool for pool, ends in means.items() if ends.low > _AP_AT_10]
    below = [pool for pool, ends in means.items() if ends.high < _AP_AT_10]
    if above and below:
        between = f"0.789 lies between pools {max(above)} and {min(below)}"
        return UNDECIDED, f"{between}, and the paper doesn't give its pool"
    return FAILS, f"all are {'above' if above else 'below'} 0.789"


def better_than_nothing(judged: Judged) -> list[Draft]:
    """Compare the groups' rows with no personalization."""
    found = _sides(judged, FIGURE_2, ("group", "none"))
    if found is None:
        return []
    text = "Search by the groups' rows is significantly better than non-personalized search."
    return [greater(text, f"{_PAPER} and figure 2", found[0], found[1])]


def augmentation(judged: Judged) -> list[Draft]:
    """Follow precision over the steps of hypernyms."""
    found = _by(judged, FIGURE_3, "a")
    if len(found) < 2:
        return []
    source = f"{_PAPER} and figure 3"
    text = "The more steps of hypernyms, the better the search: each step helps."
    ends = f"The most steps of hypernyms are better than the fewest: {found[-1].name}."
    drafts = [rising(text, source, found)]
    return [*drafts, greater(ends, source, found[-1], found[0])] if len(found) > 2 else drafts


def privacy_costs(judged: Judged) -> list[Draft]:
    """Follow precision over p."""
    found = _by(judged, FIGURE_4, "p")
    if len(found) < 2:
        return []
    text = "A lower p, which protects more, costs precision: each step does."
    return [rising(text, f"{_PAPER} and figure 4", found)]


def sizes_fall(judged: Judged) -> list[Draft]:
    """Follow the size of groups over p: a fact of each seed's releases, not a test."""
    outcomes = judged.outcomes
    found = ordered(outcomes, FIGURE_4, "p")
    sizes = [
        [facts["mean_group"] for facts in outcomes.facts_of(variant) if "mean_group" in facts]
        for _, variant in found
    ]
    if len(found) < 2 or not all(sizes) or len({len(each) for each in sizes}) > 1:
        return []
    table = np.array(sizes)
    verdict = HOLDS if bool((np.diff(table, axis=0) < 0).all()) else FAILS
    pairs = zip(found, table, strict=True)
    told = [f"{each.mean():.2f} people at p = {p:g}" for (p, _), each in pairs]
    finding = f"A group has on average {listed(told)}; seeds tried: {table.shape[1]}."
    text = "Groups become smaller as p rises."
    return [stated(text, f"{_PAPER} and figure 5", finding, verdict)]


def larger_groups_cost(judged: Judged) -> list[Draft]:
    """Set precision against the size of groups: within each person, and over releases."""
    outcomes = judged.outcomes
    sizes, people = [], []
    for _, variant in ordered(outcomes, FIGURE_4, "p"):
        for each in (replace(variant, seeds=(seed,)) for seed in variant.seeds):
            size, pool = fact(outcomes, each, "mean_group"), main_pool(each)
            if size is not None and measured(outcomes, each, "group", pool):
                sizes.append(size)
                people.append(by_people(outcomes, each, "group", pool))
    if len(set(sizes)) < 2:
        return []
    doublings, table = np.log2(sizes), np.array(people)
    centred = doublings - doublings.mean()
    lost = -(centred @ table) / (centred @ centred)  # least squares, person by person
    rho = _rank_correlation(np.array(sizes), np.nanmean(table, axis=1))

    def finding(steps: Sequence[Step]) -> str:
        cost = steps[0].difference
        return (
            f"Doubling the groups costs each person on average {cost.mean:.3f} AP ({cost.low:.3f} "
            f"to {cost.high:.3f}); the rank correlation of group size and AP over {len(sizes)} "
            f"releases is {rho:+.2f}."
        )

    text = "The more people in a group, the lower the precision."
    pair = (Side("lost", lost), Side("none", np.zeros_like(lost)))
    return [Draft(text, f"{_PAPER} and figures 4 and 5", finding, (pair,))]


def linkability(judged: Judged) -> list[Draft]:
    """Hold the readings of the promise against p in every release: facts, not tests."""
    outcomes, source = judged.outcomes, f"{_PAPER} and figure 6"
    drafts = []
    for text, place, what, name in _READINGS:
        if cases := papers_facts(outcomes, name):
            drafts.append(at_most(text, place, what, cases, releases="releases"))
    means = papers_facts(outcomes, "mean_average_linkability")
    if means:
        shares = [value / p for value, p in means]
        text = "The actual linkability is close to p."
        finding = (
            f"The average linkability, averaged over groups, is {min(shares):.1%} to "
            f"{max(shares):.1%} of p in {len(shares)} releases; close is read as at least "
            f"{_CLOSE:.0%}."
        )
        verdict = HOLDS if min(shares) >= _CLOSE else FAILS
        drafts.insert(1, stated(text, source, finding, verdict))
    return drafts


_READINGS = (
    (
        "The actual linkability is below p: a member has on average at most p of the group's "
        "terms.",
        f"{_PAPER} and figure 6",
        "The average linkability of the worst group",
        "average_linkability",
    ),
    (
        "No single term of a group is linked to a member with a probability above p: definition 1 "
        "read literally.",
        "Zhu & Xiong, definition 1",
        "The worst term's linkability",
        "worst_linkability",
    ),
    (
        "What an attacker believes about a term changes by at most p: equation 1, for who knows "
        "how many people have each term.",
        "Zhu & Xiong, section 3.1, equations 1 to 3",
        "The largest change of belief",
        "change_of_belief",
    ),
)


def better_than_random_groups(judged: Judged) -> list[Draft]:
    """Ask what grouping by similarity earns by itself."""
    found = _sides(judged, FIGURE_2, ("group", "random-groups"))
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
    found = _sides(judged, FIGURE_2, ("none", "union", "average", "random-groups", "group"))
    if found is None:
        return []
    names = " < ".join(each.name for each in found)
    return [rising(f"The order is {names}.", _OURS, found)]


def popular_profile(judged: Judged) -> list[Draft]:
    """Ask whether one profile for all brings most of the gain."""
    found = _sides(judged, FIGURE_2, ("average", "none", "group"))
    if found is None:
        return []
    average, none, group = found
    half = Side("half way from no personalization to the group", (none.people + group.people) / 2)
    text = (
        "More than half of what groups gain over no personalization comes from any popular profile."
    )
    return [greater(text, _OURS, average, half)]


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


_ALL = (
    level_of_precision,
    better_than_nothing,
    augmentation,
    privacy_costs,
    sizes_fall,
    larger_groups_cost,
    linkability,
    better_than_random_groups,
    better_under_every_term,
    order_of_modes,
    popular_profile,
    union_is_worse,
    improvement,
)


def _sides(judged: Judged, table: str, modes: tuple[str, ...]) -> list[Side] | None:
    """Return the modes of a table's first variant by its main pool; None unless all are there."""
    variant = first(judged.outcomes, table)
    if variant is None:
        return None
    found = [side(judged, variant, mode, main_pool(variant), NAMES[mode]) for mode in modes]
    sides = [each for each in found if each is not None]
    return sides if len(sides) == len(modes) else None


def _by(judged: Judged, table: str, name: str) -> list[Side]:
    """Return a table's groups by a parameter, ascending."""
    found = [
        side(judged, variant, "group", main_pool(variant), f"{name} = {value:g}")
        for value, variant in ordered(judged.outcomes, table, name)
    ]
    return [each for each in found if each is not None]


def _rank_correlation(x: Floats, y: Floats) -> float:
    """Return Spearman's rho; NaN where one of them doesn't vary."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(_ranks(x), _ranks(y))[0, 1])


def _ranks(values: Floats) -> Floats:
    """Return ranks, equal values by their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks
