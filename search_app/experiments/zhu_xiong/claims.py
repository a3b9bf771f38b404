"""The claims of Zhu and Xiong, each with its source, and some of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats, Marks

from ...measures.significance import Interval
from ..design import Variant
from ..outcomes import Outcomes
from ..report.claims import (
    Draft,
    Side,
    SidePairs,
    Step,
    TestedClaim,
    UntestedClaim,
    Wording,
    at_most,
    chain,
    drafts_of,
    each_greater,
    figure_verdict,
    greater,
    listed,
    rising,
    settle,
    signed,
)
from ..report.making import NAMES
from ..report.report import Claim
from ..report.summaries import SummedUp
from .variants import (
    EVERY_TERM,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    IMPROVEMENTS,
    PAPERS,
    POOLS,
    THE_PAPERS,
    ap_in,
    changes,
    first,
    main_pool,
    sensitivity,
    side,
    usual_like,
)

_PAPER = "Zhu & Xiong, section 4"
_OURS = "ours, not the paper's"
_AP_AT_10 = 0.7886
# The paper says "close to" without a number: at least this share of the bound counts as close.
_CLOSE = 0.9
_RANKED = ("none", "union", "average", "random-groups", "group")
Values = Mapping[str, object]


def claims(summed: SummedUp) -> tuple[Claim, ...]:
    """Return all claims on variants measured in `summed`, judged as one family of tests."""
    return settle(drafts_of(_TABLE, summed))


def _ap_at_10(summed: SummedUp) -> Values | None:
    """Compare the only number in the paper's text with each pool."""
    variant = first(summed.outcomes, POOLS, FIGURE_2)
    pools = sorted(variant.pools) if variant else []
    by_pool = {pool: summed.find(variant, "group", pool, "AP@10") for pool in pools}
    means = {pool: Interval(*line[5:8]) for pool, line in by_pool.items() if line is not None}
    if variant is None or not means:
        return None
    right, margin = figure_verdict(_AP_AT_10, list(means.values()))
    texts = [
        f"{ends.mean:.3f} ({ends.low:.3f} to {ends.high:.3f}) at pool {pool}"
        for pool, ends in means.items()
    ]
    met = [str(at) for at, ends in means.items() if ends.low <= _AP_AT_10 <= ends.high]
    where = f"within the interval at pool {listed(met)}" if met else "in no interval"
    return {
        "p": variant.p,
        "means": listed(texts),
        "where": where,
        "right": right,
        "margin": margin,
    }


def _modes(modes: Sequence[str], summed: SummedUp) -> SidePairs:
    """Return pairs of figure 2's `modes`: each is claimed to be above the one before it."""
    sides = _in_figure_2(summed, modes)
    return chain(sides, ap_in(summed.outcomes, FIGURE_2))


def _in_figure_2(summed: SummedUp, modes: Sequence[str]) -> list[Side | None]:
    variant = first(summed.outcomes, FIGURE_2)
    if variant is None:
        return []
    return [side(summed.outcomes, variant, mode, main_pool(variant)) for mode in modes]


def _popular(summed: SummedUp) -> SidePairs:
    """Return the pair of the average and the mid-point of no personalization and the group."""
    match _in_figure_2(summed, ("average", "none", "group")):
        case [Side() as average, Side() as none, Side() as group]:
            people = (none.people + group.people) / 2
            half = Side("half way from no personalization to the group", people)
            return chain([half, average], ap_in(summed.outcomes, FIGURE_2))
    return SidePairs()


def _groups_by(table: str, name: str, summed: SummedUp, *, ends: bool = False) -> SidePairs:
    """Return pairs of a table's groups by a parameter; with `ends`, only the last and first."""
    outcomes = summed.outcomes
    sides = [
        side(outcomes, variant, "group", main_pool(variant), f"{name} = {value:g}")
        for value, variant in outcomes.experiment.ordered(table, name)
    ]
    there = [one for one in sides if one is not None]
    # Of two sides, the last and the first are the one step that the other claim tests already.
    picked = there if not ends else [there[0], there[-1]] if len(there) > 2 else []
    return chain(picked, ap_in(outcomes, table, p=name != "p"))


def _by_p(table: str, high: str, low: str, summed: SummedUp) -> SidePairs:
    """Return pairs of two modes of a table at each p at which both were searched."""
    outcomes, pairs = summed.outcomes, []
    for p, variant in outcomes.experiment.ordered(table, "p"):
        pool = main_pool(variant)
        upper = side(outcomes, variant, high, pool, f"{NAMES[high]} at p = {p:g}")
        lower = side(outcomes, variant, low, pool)
        if upper and lower:
            pairs.append((upper, lower))
    return SidePairs(pairs, ap_in(outcomes, table, p=False))


def _sizes(summed: SummedUp) -> Values | None:
    """Return group sizes by p, and whether they fall in the releases of every seed."""
    outcomes = summed.outcomes
    variants = outcomes.experiment.ordered(FIGURE_4, "p")
    sizes = [
        [facts["mean_group"] for facts in outcomes.facts_of(variant, "mean_group")]
        for _, variant in variants
    ]
    # Each seed is compared with itself, so each p needs the same number of seeds.
    if len(variants) < 2 or not all(sizes) or len({len(by_seed) for by_seed in sizes}) > 1:
        return None
    table = np.array(sizes)
    pairs = zip(variants, table, strict=True)
    texts = [f"{by_seed.mean():.2f} people at p = {p:g}" for (p, _), by_seed in pairs]
    right = (np.diff(table, axis=0) < 0).all()
    return {"sizes": listed(texts), "seeds": table.shape[1], "right": right}


def _doubled(summed: SummedUp) -> SidePairs:
    """Return what AP each person loses when groups double, and the correlation over releases."""
    from scipy.stats import spearmanr

    outcomes = summed.outcomes
    sizes, people, pool = [], [], 0
    for _, variant in outcomes.experiment.ordered(FIGURE_4, "p"):
        for single in (replace(variant, seeds=(seed,)) for seed in variant.seeds):
            size = outcomes.fact(single, "mean_group")
            if size is not None and outcomes.measured(single, "group", main_pool(single)):
                pool = main_pool(single)
                sizes.append(size)
                people.append(outcomes.by_people(single, "group", pool))
    if len(set(sizes)) < 2:
        return SidePairs()
    doublings, table = np.log2(sizes), np.array(people)
    centred = doublings - doublings.mean()
    # The slope by least squares for each person, so that the test is over people.
    lost = -(centred @ table) / (centred @ centred)
    means = np.nanmean(table, axis=1)
    # A rank correlation is undefined if all means are equal.
    rho = spearmanr(sizes, means).statistic if np.ptp(means) else float("nan")
    more = (
        f"pool {pool}). The rank correlation of group size and AP over {len(sizes)} releases is "
        f"{rho:+.2f}."
    )
    return SidePairs([(Side("lost", lost), Side("none", np.zeros_like(lost)))], more=more)


def _cost(words: Wording, picked: SidePairs) -> Draft:
    """Return the claim that doubling the size of groups costs AP."""

    def finding(steps: Sequence[Step]) -> str:
        cost = steps[0].difference
        return (
            f"Each doubling of group size costs {cost.mean:.3f} AP on average "
            f"({cost.low:.3f} to {cost.high:.3f}; {picked.more}"
        )

    return Draft(*words, finding, picked.pairs)


def _facts(name: str, summed: SummedUp) -> list[tuple[float, float]]:
    """Return (value of the fact `name`, p) of every release in the paper's own setting."""
    outcomes = summed.outcomes
    # By unit, as several tables may share a release.
    pairs = {
        unit.name: (float(outcomes.facts[unit.name][name]), variant.p)
        for variant in outcomes.experiment.named(*PAPERS)
        for unit in outcomes.units_of(variant)
        if "p" in variant.given and name in outcomes.facts.get(unit.name, {})
    }
    return list(pairs.values())


def _close(summed: SummedUp) -> Values | None:
    shares = [value / p for value, p in _facts("mean_average_linkability", summed)]
    if not shares:
        return None
    return {"least": min(shares), "most": max(shares), "of": len(shares), "close": _CLOSE}


def _unions(summed: SummedUp) -> SidePairs:
    """Return pairs of the centroid and the union at each p."""
    outcomes, pairs, pool = summed.outcomes, [], 0
    for variant in sensitivity(outcomes):
        if changes(outcomes, variant) == "representative=union":
            pool = main_pool(variant)
            paper = usual_like(outcomes, variant, "group", pool)
            union = side(outcomes, variant, "group", pool, f"the union at p = {variant.p:g}")
            if paper and union:
                people = outcomes.by_people(paper, "group", pool)
                pairs.append((Side("the centroid", people), union))
    return SidePairs(pairs, f"AP (pool {pool})")


class _Gain(NamedTuple):
    """A setting and the paper's at one p, person by person."""

    p: float
    other: Variant
    paper: Variant
    high: Floats
    low: Floats


def _better(pool: int, summed: SummedUp) -> SidePairs:
    """Return the pair of the best setting under the paper's constraint and the paper's own."""
    # Values are means over all p. People with odd numbers choose the setting, the others test it:
    # on the same people, the best of many settings looks better than it is.
    outcomes = summed.outcomes
    gains: dict[str, list[_Gain]] = {}  # setting -> its values at each p
    for variant in outcomes.experiment.named(IMPROVEMENTS):
        paper, name = usual_like(outcomes, variant, "group", pool), changes(outcomes, variant)
        if paper and name != THE_PAPERS and outcomes.measured(variant, "group", pool):
            people = [outcomes.by_people(one, "group", pool) for one in (variant, paper)]
            gains.setdefault(name, []).append(_Gain(variant.p, variant, paper, *people))
    odd = np.unique(outcomes.person) % 2 == 1
    # A single person chooses, and nobody is left to test.
    if not gains or odd.all():
        return SidePairs()
    mean_gain = {
        name: float(np.nanmean([gain.high[odd] - gain.low[odd] for gain in by_p]))
        for name, by_p in gains.items()
    }
    best = max(mean_gain, key=lambda name: mean_gain[name])
    high, low = (
        np.where(odd, np.nan, np.mean(by_p, axis=0))
        for by_p in zip(*[(gain.high, gain.low) for gain in gains[best]], strict=True)
    )
    more = (
        f" It was chosen from {len(gains)} settings on the other half of the people, those with "
        f"odd numbers.{_at_each_p(outcomes, gains[best], ~odd)}"
    )
    pairs = [(Side(best, high), Side(THE_PAPERS, low))]
    return SidePairs(pairs, f"AP (mean over p, pool {pool})", more)


def _at_each_p(outcomes: Outcomes, gains: Sequence[_Gain], tested: Marks) -> str:
    """Return sentences on the gain at each p, and on the change of belief that goes with it."""
    texts, dearer = [], False
    for gain in sorted(gains, key=lambda gain: gain.p):
        text = f"{signed(float(np.nanmean((gain.high - gain.low)[tested])))} at p = {gain.p:g}"
        pair = (gain.other, gain.paper)
        after, before = (outcomes.fact(variant, "change_of_belief") for variant in pair)
        if before is not None and after is not None:
            text += f" (change of belief {before:.3f} to {after:.3f})"
            dearer |= after > before
        texts.append(text)
    paid = "Where belief changes more, some of the gain costs privacy."
    return f" By p: {', '.join(texts)}.{f' {paid}' if dearer else ''}"


# -- the claims ------------------------------------------------------------------------------------

_TABLE: tuple[TestedClaim[SummedUp] | UntestedClaim[SummedUp], ...] = (
    UntestedClaim(
        "ap-at-10",
        "AP@10 is 78.86 % by the groups' rows.",
        f"{_PAPER} and figure 2",
        "AP@10 (p = {p:g}) is {means}. 0.789 is {where}. The paper doesn't give its pool, and some "
        "pool would meet any number, so all must.",
        _ap_at_10,
    ),
    TestedClaim(
        "group-over-none",
        "Search by the groups' rows is significantly better than non-personalized search.",
        f"{_PAPER} and figure 2",
        greater,
        partial(_modes, ("none", "group")),
    ),
    TestedClaim(
        "each-step-of-hypernyms",
        "The more steps of hypernyms, the better the search: each step helps.",
        f"{_PAPER} and figure 3",
        rising,
        partial(_groups_by, FIGURE_3, "a"),
    ),
    TestedClaim(
        "most-steps-of-hypernyms",
        "The most steps of hypernyms are better than the fewest.",
        f"{_PAPER} and figure 3",
        greater,
        partial(_groups_by, FIGURE_3, "a", ends=True),
    ),
    TestedClaim(
        "lower-p-costs",
        "A lower p, which protects more, costs precision at each step.",
        f"{_PAPER} and figure 4",
        rising,
        partial(_groups_by, FIGURE_4, "p"),
    ),
    UntestedClaim(
        "groups-shrink",
        "Groups become smaller as p rises.",
        f"{_PAPER} and figure 5",
        "A group has {sizes} on average, over {seeds} seeds.",
        _sizes,
    ),
    TestedClaim(
        "larger-groups-cost",
        "The more people in a group, the lower the precision.",
        f"{_PAPER} and figures 4 and 5",
        _cost,
        _doubled,
    ),
    at_most(
        Wording(
            "average-linkability",
            "The actual linkability is below p: a member has on average at most a share p of the "
            "group's terms.",
            f"{_PAPER} and figure 6",
        ),
        "The average linkability of the worst group",
        partial(_facts, "average_linkability"),
    ),
    UntestedClaim(
        "linkability-close-to-p",
        "The actual linkability is close to p.",
        f"{_PAPER} and figure 6",
        "The mean over groups of the average linkability is {least:.1%} to {most:.1%} of p in {of} "
        "releases. Close is read as at least {close:.0%}.",
        _close,
        lambda least, close, **_: least >= close,
    ),
    at_most(
        Wording(
            "worst-term",
            "No single term of a group is linked to a member with a probability above p "
            "(definition 1 read literally).",
            "Zhu & Xiong, definition 1",
        ),
        "The worst term's linkability",
        partial(_facts, "worst_linkability"),
    ),
    at_most(
        Wording(
            "change-of-belief",
            "What an attacker believes about a term changes by at most p (equation 1), if the "
            "attacker knows how many people have each term.",
            "Zhu & Xiong, section 3.1, equations 1 to 3",
        ),
        "The largest change of belief",
        partial(_facts, "change_of_belief"),
    ),
    TestedClaim(
        "group-over-random-groups",
        "Grouping by similarity helps: groups beat random groups of the same sizes.",
        f"{_OURS}; at P < 0.01",
        partial(greater, level=0.01),
        partial(_modes, ("random-groups", "group")),
    ),
    TestedClaim(
        "group-over-random-groups-every-term",
        "Grouping by similarity still beats random groups at each p with guarantee=every-term, "
        "which suppresses terms of more than a share p of a group's members.",
        _OURS,
        each_greater,
        partial(_by_p, EVERY_TERM, "group", "random-groups"),
    ),
    TestedClaim(
        "order-of-modes",
        f"The order is {' < '.join(NAMES[mode] for mode in _RANKED)}.",
        _OURS,
        rising,
        partial(_modes, _RANKED),
    ),
    TestedClaim(
        "popular-profile",
        "More than half of what groups gain over no personalization comes from any popular "
        "profile.",
        _OURS,
        greater,
        _popular,
    ),
    TestedClaim(
        "without-own-share",
        "Even without the person's own share, a group's row serves better than the global average "
        "at each p: the other members help.",
        _OURS,
        each_greater,
        partial(_by_p, FIGURE_4, "left-out", "average"),
    ),
    TestedClaim(
        "centroid-over-union",
        "The union of a group serves worse than its centroid, at each p.",
        _OURS,
        each_greater,
        _unions,
    ),
    *(
        TestedClaim(
            f"better-grouping-pool-{pool}",
            f"Better grouping under the same constraint adds at least {least:g} AP to the paper's "
            f"at pool {pool}, averaged over p.",
            _OURS,
            partial(greater, least=least),
            partial(_better, pool),
        )
        for pool, least in ((100, 0.02), (1000, 0.04))
    ),
)
