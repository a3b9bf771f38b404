"""The claims of Burghardt et al. on m, the size of combinations: section 5.5."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from .burghardt_shares import (
    GENERIC,
    GREEDY,
    MEASURES,
    PAPER,
    ROUNDING,
    Cell,
    Shares,
    percent,
    warning,
)
from .burghardt_spread import spread
from .claims import Draft, Wording, as_verdict, listed, stated
from .outcomes import Outcomes

_BY_M, _GENERIC_BY_M, _REVENUE_BY_M = 0.04, 0.01, 0.07
_FROM_K = 10  # where m hardly matters
Drafts = list[Draft]


class Change(NamedTuple):
    """What m = 3 changes of what m = 2 keeps, or of how far targets lie apart then."""

    gap: float
    measure: str
    target: str
    k: int


def m_hardly_matters(outcomes: Outcomes, shares: Shares) -> Drafts:
    """Ask what m = 3 changes beside m = 2, for whom k is large."""
    large = [each for each in _kept(shares) if each.k >= _FROM_K]
    if not large:
        return []
    marked = warning(outcomes, *(each.measure for each in large))
    most = max(large)
    text = (
        f"For k of {_FROM_K} or more, m = 2 and m = 3 differ by less than {100 * _BY_M:g} points, "
        "whatever the target and the measure."
    )
    words = Wording("m-hardly-matters", text, f"{PAPER} 5.5")
    finding = (
        f"They differ by up to {percent(most.gap)} points, of {MEASURES[most.measure]} at k = "
        f"{most.k} by target {most.target}; in {sum(each.gap < _BY_M for each in large)} of "
        f"{len(large)} cases by less.{marked}"
    )
    return [
        stated(words, finding, as_verdict(most.gap < _BY_M)),
        _equal_at_the_end(large, marked),
    ]


def _kept(shares: Shares) -> list[Change]:
    """Return what m changes of all that is kept."""
    return [
        Change(abs(two - three), measure, target, cell.k)
        for cell in shares.grid(GREEDY)
        if cell.m == 2
        for target in shares.targets(GREEDY, cell)
        for measure in MEASURES
        if (two := shares.of(GREEDY, cell, target, measure)) is not None
        and (three := shares.of(GREEDY, Cell(3, cell.k), target, measure)) is not None
    ]


def _equal_at_the_end(by_m: Sequence[Change], marked: str) -> Draft:
    """Ask whether m still matters at the largest k there is."""
    most = max(each.k for each in by_m)
    last = [each.gap for each in by_m if each.k == most]
    same = sum(gap <= 0.01 + ROUNDING for gap in last)
    text = (
        "For k = 100, or the largest k there is, the values of m = 2 and m = 3 are mostly equal "
        "(read as within a point)."
    )
    words = Wording("m-equal-at-100", text, f"{PAPER} 5.5")
    finding = f"At k = {most}, {same} of {len(last)} values are within a point.{marked}"
    return stated(words, finding, as_verdict(2 * same > len(last)))


def targets_by_m(outcomes: Outcomes, shares: Shares) -> Drafts:
    """Ask whether m changes how far the targets lie apart.

    What the paper says here of all k can't be said of what is kept: in its own table 5, log size
    goes from 45 to 37 % at k = 2. It fits column W of its tables 6 and 7, where users go from 2 to
    3 and revenue from 5 to 12.
    """
    apart = _apart(shares)
    if not apart:
        return []
    drafts = []
    generic = [each for each in apart if each.measure in GENERIC]
    if generic:
        most = max(generic)
        kept = max(each for each in _kept(shares) if each.measure in GENERIC)
        text = (
            "By the generic measures m = 2 and m = 3 differ by less than a point in all cases "
            "(read of how far the best target and the worst other than random lie apart)."
        )
        finding = (
            f"They differ by up to {percent(most.gap)} points, of {MEASURES[most.measure]} at k = "
            f"{most.k}. What is kept differs by up to {percent(kept.gap)} points, of "
            f"{MEASURES[kept.measure]} at k = {kept.k}."
        )
        words = Wording("generic-by-m", text, f"{PAPER} 5.5")
        drafts.append(stated(words, finding, as_verdict(most.gap < _GENERIC_BY_M)))
    return [*drafts, *_revenues(outcomes, apart)]


def _apart(shares: Shares) -> list[Change]:
    """Return what m changes of how far the targets lie apart."""
    found = []
    for measure in MEASURES:
        gaps = dict(spread(shares, measure))
        for cell, two in gaps.items():
            if cell.m == 2 and (three := gaps.get(Cell(3, cell.k))) is not None:
                found.append(Change(abs(two - three), measure, "", cell.k))
    return found


def _revenues(outcomes: Outcomes, apart: Sequence[Change]) -> Drafts:
    """Ask whether it is revenue of which m changes most, and how much that is."""
    largest = {
        measure: max(each for each in apart if each.measure == measure)
        for measure in dict.fromkeys(each.measure for each in apart)
    }
    if "revenue" not in largest or len(largest) < 2:
        return []
    text = (
        "The largest difference between m = 2 and m = 3 is revenue's, at most 7 points (read of "
        "how far the best target and the worst other than random lie apart)."
    )
    told = [f"{percent(each.gap)} of {MEASURES[name]}" for name, each in largest.items()]
    words = Wording("revenue-by-m", text, f"{PAPER} 5.5")
    finding = (
        f"The most are, in points, {listed(told)}; of revenue it is at k = {largest['revenue'].k}."
        f"{warning(outcomes, *largest)}"
    )
    revenue = largest["revenue"].gap
    first = all(revenue >= each.gap - ROUNDING for each in largest.values())
    right = first and revenue <= _REVENUE_BY_M + ROUNDING
    return [stated(words, finding, as_verdict(right))]


def less_than_k(outcomes: Outcomes, shares: Shares) -> Drafts:
    """Hold what m changes against what k changes, of each measure by the best target."""
    ks = [cell.k for cell in shares.grid(GREEDY) if cell.m == 2]
    found = {}
    for measure in MEASURES:
        two, three = (
            {k: best.share for k in ks if (best := shares.best(GREEDY, Cell(m, k), measure))}
            for m in (2, 3)
        )
        if len(ks) > 1 and two.keys() == set(ks) and three:
            by_m = max(abs(two[k] - share) for k, share in three.items())
            found[measure] = (by_m, two[ks[0]] - two[ks[-1]])
    if not found:
        return []
    text = (
        "The effect of m is minimal beside that of k (read as: less than half of it, of each "
        "measure by its best target)."
    )
    words = Wording("m-less-than-k", text, f"{PAPER} 5.5")
    told = [
        f"{percent(m, name)} and {percent(k, name)} of {MEASURES[name]}"
        for name, (m, k) in found.items()
    ]
    finding = (
        f"In points, m = 3 instead of 2 changes up to, and k from {ks[0]} to {ks[-1]} costs: "
        f"{listed(told)}.{warning(outcomes, *found)}"
    )
    return [stated(words, finding, as_verdict(all(2 * m < k for m, k in found.values())))]


BY_M_CLAIMS: tuple[Callable[[Outcomes, Shares], Drafts], ...] = (
    m_hardly_matters,
    targets_by_m,
    less_than_k,
)
