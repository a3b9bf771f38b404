"""The claims of Zhu and Xiong, each with the place where it is made; ours stand beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..significance import Interval
from .claims import (
    Draft,
    Side,
    Step,
    Wording,
    at_most,
    greater,
    listed,
    rising,
    settle,
    stated,
)
from .outcomes import Floats
from .report import FAILS, HOLDS, UNDECIDED, Claim
from .summaries import SummedUp, by_people, measured
from .zhu_xiong_ours import OURS
from .zhu_xiong_variants import (
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    POOLS,
    ap_in,
    complete,
    fact,
    first,
    main_pool,
    ordered,
    papers_facts,
    side,
    sides,
)

_PAPER = "Zhu & Xiong, section 4"
_AP_AT_10 = 0.7886
_WIDEST = 0.06  # of an interval that can tell a number: a wide one holds any
_CLOSE = 0.9  # of the bound; the paper's "close to" has no number


def claims(summed: SummedUp) -> tuple[Claim, ...]:
    """Judge all claims whose variants were measured, as one family of tests."""
    found = [draft for make in (*_PAPERS, *OURS) for draft in make(summed)]
    return settle(found)


def level_of_precision(summed: SummedUp) -> list[Draft]:
    """Hold the only number in the paper's text against each pool."""
    variant = first(summed.outcomes, POOLS) or first(summed.outcomes, FIGURE_2)
    if variant is None:
        return []
    found = [(pool, summed.find(variant, "group", pool, "AP@10")) for pool in sorted(variant.pools)]
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
    finding = f"AP@10 (p = {complete(variant)['p']:g}) is {listed(told)}; {where}."
    text = "AP@10 is 78.86 % by the groups' rows."
    return [stated(Wording("ap-at-10", text, f"{_PAPER} and figure 2"), finding, verdict)]


def _against(means: dict[int, Interval]) -> tuple[str, str]:
    """Tell at which pool the paper's number is met, or between which."""
    met = [pool for pool, ends in means.items() if ends.low <= _AP_AT_10 <= ends.high]
    if any(means[pool].high - means[pool].low > _WIDEST for pool in met):
        return UNDECIDED, "an interval that holds 0.789 is too wide to tell"
    if met:
        pools = listed([str(pool) for pool in met])
        return HOLDS, f"0.789 is within the interval at pool {pools}"
    above = [pool for pool, ends in means.items() if ends.low > _AP_AT_10]
    below = [pool for pool, ends in means.items() if ends.high < _AP_AT_10]
    if above and below:
        between = f"0.789 lies between pools {max(above)} and {min(below)}"
        return UNDECIDED, f"{between}, and the paper doesn't give its pool"
    side = "above" if above else "below"  # by another pool it would be met: any number would
    return UNDECIDED, f"by no pool tried, always {side} 0.789, and the paper doesn't give its pool"


def better_than_nothing(summed: SummedUp) -> list[Draft]:
    """Compare the groups' rows with no personalization."""
    found = sides(summed, FIGURE_2, ("group", "none"))
    if found is None:
        return []
    text = "Search by the groups' rows is significantly better than non-personalized search."
    words = Wording("group-over-none", text, f"{_PAPER} and figure 2")
    return [greater(words, found[0], found[1], what=ap_in(summed, FIGURE_2))]


def augmentation(summed: SummedUp) -> list[Draft]:
    """Follow precision over the steps of hypernyms."""
    found = _by(summed, FIGURE_3, "a")
    if len(found) < 2:
        return []
    source = f"{_PAPER} and figure 3"
    text = "The more steps of hypernyms, the better the search: each step helps."
    what = ap_in(summed, FIGURE_3)
    drafts = [rising(Wording("each-step-of-hypernyms", text, source), found, what=what)]
    if len(found) > 2:
        text = "The most steps of hypernyms are better than the fewest."
        words = Wording("most-steps-of-hypernyms", text, source)
        drafts.append(greater(words, found[-1], found[0], what=what))
    return drafts


def privacy_costs(summed: SummedUp) -> list[Draft]:
    """Follow precision over p."""
    found = _by(summed, FIGURE_4, "p")
    if len(found) < 2:
        return []
    text = "A lower p, which protects more, costs precision: each step does."
    words = Wording("lower-p-costs", text, f"{_PAPER} and figure 4")
    return [rising(words, found, what=ap_in(summed, FIGURE_4, p=False))]


def sizes_fall(summed: SummedUp) -> list[Draft]:
    """Follow the size of groups over p: a fact of each seed's releases, not a test."""
    outcomes = summed.outcomes
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
    words = Wording("groups-shrink", text, f"{_PAPER} and figure 5")
    return [stated(words, finding, verdict)]


def larger_groups_cost(summed: SummedUp) -> list[Draft]:
    """Set precision against the size of groups: within each person, and over releases."""
    outcomes = summed.outcomes
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
            f"Doubling the groups costs each person on average {cost.mean:.3f} AP "
            f"({cost.low:.3f} to {cost.high:.3f}; pool {pool}); the rank correlation of group size "
            f"and AP over {len(sizes)} releases is {rho:+.2f}."
        )

    text = "The more people in a group, the lower the precision."
    pair = (Side("lost", lost), Side("none", np.zeros_like(lost)))
    words = Wording("larger-groups-cost", text, f"{_PAPER} and figures 4 and 5")
    return [Draft(*words, finding, (pair,))]


def linkability(summed: SummedUp) -> list[Draft]:
    """Hold the readings of the promise against p in every release: facts, not tests."""
    outcomes, source = summed.outcomes, f"{_PAPER} and figure 6"
    drafts = []
    for words, what, name in _READINGS:
        if cases := papers_facts(outcomes, name):
            drafts.append(at_most(words, what, cases, releases="releases"))
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
        drafts.insert(1, stated(Wording("linkability-close-to-p", text, source), finding, verdict))
    return drafts


_READINGS = (
    (
        Wording(
            "average-linkability",
            "The actual linkability is below p: a member has on average at most p of the group's "
            "terms.",
            f"{_PAPER} and figure 6",
        ),
        "The average linkability of the worst group",
        "average_linkability",
    ),
    (
        Wording(
            "worst-term",
            "No single term of a group is linked to a member with a probability above p: "
            "definition 1 read literally.",
            "Zhu & Xiong, definition 1",
        ),
        "The worst term's linkability",
        "worst_linkability",
    ),
    (
        Wording(
            "change-of-belief",
            "What an attacker believes about a term changes by at most p: equation 1, for who "
            "knows how many people have each term.",
            "Zhu & Xiong, section 3.1, equations 1 to 3",
        ),
        "The largest change of belief",
        "change_of_belief",
    ),
)


_PAPERS = (
    level_of_precision,
    better_than_nothing,
    augmentation,
    privacy_costs,
    sizes_fall,
    larger_groups_cost,
    linkability,
)


def _by(summed: SummedUp, table: str, name: str) -> list[Side]:
    """Return a table's groups by a parameter, ascending."""
    found = [
        side(summed, variant, "group", main_pool(variant), f"{name} = {value:g}")
        for value, variant in ordered(summed.outcomes, table, name)
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
