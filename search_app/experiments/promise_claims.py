"""What we claim of rows that keep their promise; all of it is ours, and held like the papers'."""

from __future__ import annotations

from collections.abc import Callable

from .claims import SLIGHT, Draft, Side, Wording, as_good, at_most, each_greater, settle, stated
from .promise_series import (
    AVERAGE,
    COMPOSITION,
    NAMED,
    PAPER,
    PLAIN_STAGES,
    POOLED,
    POOLED_SMOOTHED,
    TWO_STAGES,
    Series,
    baseline,
    by_p,
    pools,
    releases,
    side,
)
from .report import FAILS, HOLDS, Claim
from .summaries import SummedUp, by_people

_OURS = "ours, not a paper's"
_LOW = 0.2  # p up to which rows are smoothed, and ours are held against the paper's


def claims(summed: SummedUp) -> tuple[Claim, ...]:
    """Judge all claims whose variants were measured, as one family of tests."""
    return settle([draft for make in _ALL for draft in make(summed)])


def keeps(summed: SummedUp) -> list[Draft]:
    """Hold each release of ours against its p: facts, not tests."""
    drafts = []
    for series in (POOLED, COMPOSITION):
        found = releases(summed.outcomes, series)
        if found:
            text = (
                f"No row of {series.name} changes what is believed about any term, present or "
                "absent, by more than p."
            )
            words = Wording(f"{series.name}-keeps-its-promise", text, _OURS)
            what = "The largest change of belief"
            cases = [(change, p) for change, _, p in found]
            drafts.append(at_most(words, what, cases, releases="releases"))
    return drafts


def papers_do_not(summed: SummedUp) -> list[Draft]:
    """Hold the paper's releases against p: facts, not tests."""
    found = releases(summed.outcomes, PAPER)
    if not found:
        return []
    above = [each for each in found if each[0] > each[2]]
    changes, shares = [each[0] for each in found], [each[1] for each in found]
    text = "The paper's rows change what is believed about some term by more than p, at each p."
    finding = (
        f"Belief changes by more than p in {len(above)} of {len(found)} releases; their largest "
        f"changes are {min(changes):.3f} to {max(changes):.3f}, and {min(shares):.2%} to "
        f"{max(shares):.2%} of the cells are beyond p."
    )
    verdict = HOLDS if len(above) == len(found) else FAILS
    return [stated(Wording("papers-rows-do-not", text, _OURS), finding, verdict)]


def as_good_as_the_papers(summed: SummedUp) -> list[Draft]:
    """Ask whether the promise costs anything where groups are large."""
    drafts = []
    for series in (POOLED, POOLED_SMOOTHED):
        for pool in pools(summed.outcomes):
            pairs = _pairs(summed, series, PAPER, pool)
            if pairs:
                text = (
                    f"At small p, {series.name} serves as well as the paper's rows (pool {pool}): "
                    f"it is surely not {SLIGHT:.3f} AP worse, and not surely worse by less."
                )
                words = Wording(f"{_plain(series)}-as-good-pool-{pool}", text, _OURS)
                drafts.append(as_good(words, pairs, what=f"AP (pool {pool})"))
    return drafts


def smoothing_helps(summed: SummedUp) -> list[Draft]:
    """Ask what public data add to a pooled row."""
    drafts = []
    for pool in pools(summed.outcomes):
        pairs = _pairs(summed, POOLED_SMOOTHED, POOLED, pool)
        if pairs:
            text = f"Smoothing helps at small p (pool {pool})."
            words = Wording(f"smoothing-helps-pool-{pool}", text, _OURS)
            drafts.append(each_greater(words, pairs, what=f"AP (pool {pool})"))
    return drafts


def better_than_average(summed: SummedUp) -> list[Draft]:
    """Ask at each p whether groups that keep the promise are of any use."""
    outcomes, drafts = summed.outcomes, []
    for series in (POOLED, COMPOSITION):
        for pool in pools(outcomes):
            one = baseline(outcomes, AVERAGE, pool)
            found = [side(summed, series, p, pool) for p, _ in by_p(outcomes, series)]
            there = [each for each in found if each is not None]
            if one is not None and there:
                low = Side(NAMED[AVERAGE], by_people(outcomes, one, AVERAGE, pool))
                text = f"{_begun(series)} beats the global average at each p (pool {pool})."
                words = Wording(f"{series.name}-over-average-pool-{pool}", text, _OURS)
                pairs = [(high, low) for high in there]
                drafts.append(each_greater(words, pairs, what=f"AP (pool {pool})"))
    return drafts


def two_stages(summed: SummedUp) -> list[Draft]:
    """Ask what a row is worth that only picks what the own device orders."""
    outcomes, drafts = summed.outcomes, []
    for pool in pools(outcomes):
        one, what = baseline(outcomes, PLAIN_STAGES, pool), f"AP (pool {pool})"
        found = [side(summed, TWO_STAGES, p, pool) for p, _ in by_p(outcomes, TWO_STAGES)]
        high = [each for each in found if each is not None]
        pairs = _pairs(summed, TWO_STAGES, POOLED, pool, most=1)
        if pairs:
            text = f"In two stages a pooled row serves better than alone, at each p (pool {pool})."
            words = Wording(f"two-stages-over-one-pool-{pool}", text, _OURS)
            drafts.append(each_greater(words, pairs, what=what))
        if high and one is not None:
            text = f"In two stages a pooled row picks better than BM25, at each p (pool {pool})."
            words = Wording(f"two-stages-over-bm25-pool-{pool}", text, _OURS)
            low = Side(NAMED[PLAIN_STAGES], by_people(outcomes, one, PLAIN_STAGES, pool))
            drafts.append(each_greater(words, [(each, low) for each in high], what=what))
    return drafts


def _pairs(
    summed: SummedUp, high: Series, low: Series, pool: int, most: float = _LOW
) -> list[tuple[Side, Side]]:
    """Pair two series at each p, up to the most, at which both were searched."""
    pairs = []
    for p, _ in by_p(summed.outcomes, high):
        upper, lower = (side(summed, each, p, pool) for each in (high, low))
        if p <= most and upper is not None and lower is not None:
            pairs.append((upper, lower))
    return pairs


def _plain(series: Series) -> str:
    return series.name.replace(", ", "-")


def _begun(series: Series) -> str:
    return series.name[0].upper() + series.name[1:]


_ALL: tuple[Callable[[SummedUp], list[Draft]], ...] = (
    keeps,
    papers_do_not,
    as_good_as_the_papers,
    smoothing_helps,
    better_than_average,
    two_stages,
)
