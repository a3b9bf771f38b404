"""Our claims about rows that keep their promise, judged like the claims of papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product

from ..outcomes import Outcomes
from ..report.claims import (
    SLIGHT,
    Side,
    SidePairs,
    TestedClaim,
    UntestedClaim,
    Wording,
    as_good,
    at_most,
    drafts_of,
    each_greater,
    settle,
)
from ..report.report import Claim
from .series import (
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
    pools,
)

_OURS = "ours, not a paper's"
# Rows are smoothed only up to this p. Above it, ours are not compared with the paper's.
_LOW = 0.2


def claims(outcomes: Outcomes) -> tuple[Claim, ...]:
    """Return all claims on variants measured in `outcomes`, judged as one family of tests."""
    return settle(drafts_of(_table(pools(outcomes)), outcomes))


def _changes(series: Series, outcomes: Outcomes) -> list[tuple[float, float]]:
    """Return (largest change of belief, p) of each release of `series`."""
    return [(change, p) for change, _, p in series.releases(outcomes)]


def _papers(outcomes: Outcomes) -> Mapping[str, object] | None:
    releases = PAPER.releases(outcomes)
    if not releases:
        return None
    changes, shares, _ = zip(*releases, strict=True)
    return {
        "above": sum(change > p for change, _, p in releases),
        "of": len(releases),
        "changes": f"{min(changes):.3f} to {max(changes):.3f}",
        "shares": f"{min(shares):.2%} to {max(shares):.2%}",
    }


def _both(
    high: Series, low: Series, pool: int, outcomes: Outcomes, *, limit: float = _LOW
) -> SidePairs:
    """Return pairs of two series at each p up to `limit` at which both were searched."""
    pairs = []
    for p, _ in high.by_p(outcomes):
        upper, lower = (series.side(outcomes, p, pool) for series in (high, low))
        if p <= limit and upper is not None and lower is not None:
            pairs.append((upper, lower))
    return SidePairs(pairs, f"AP (pool {pool})")


def _over(series: Series, mode: str, pool: int, outcomes: Outcomes) -> SidePairs:
    """Return pairs of a series at each p and a baseline `mode`, which needs no release."""
    one = baseline(outcomes, mode, pool)
    if one is None:
        return SidePairs()
    low = Side(NAMED[mode], outcomes.by_people(one, mode, pool))
    sides = (series.side(outcomes, p, pool) for p, _ in series.by_p(outcomes))
    return SidePairs([(high, low) for high in sides if high is not None], f"AP (pool {pool})")


def _table(searched: list[int]) -> Iterator[TestedClaim[Outcomes] | UntestedClaim[Outcomes]]:
    """Yield the rows of the table of claims, for each pool in `searched`."""
    for series in (POOLED, COMPOSITION):
        text = (
            f"No row of {series.name} changes belief about any term by more than p, whether the "
            "row has the term or not."
        )
        words = Wording(f"{series.name}-keeps-its-promise", text, _OURS)
        yield at_most(words, "The largest change of belief", partial(_changes, series))
    yield UntestedClaim(
        "papers-rows-do-not",
        "The paper's rows change belief about some term by more than p, at each p.",
        _OURS,
        "Belief changes by more than p in {above} of {of} releases. The largest changes are "
        "{changes}, and {shares} of the cells are beyond p.",
        _papers,
        lambda above, of, **_: above == of,
    )
    for series in (POOLED, POOLED_SMOOTHED):
        for pool in searched:
            yield TestedClaim(
                f"{series.name.replace(', ', '-')}-as-good-pool-{pool}",
                f"At small p, {series.name} serves as well as the paper's rows (pool {pool}): "
                f"it is surely not {SLIGHT:.3f} AP worse, and not surely worse by less.",
                _OURS,
                as_good,
                partial(_both, series, PAPER, pool),
            )
    over_average = [
        (
            f"{series.name}-over-average",
            f"{series.name.capitalize()} beats the global average at each p",
            partial(_over, series, AVERAGE),
        )
        for series in (POOLED, COMPOSITION)
    ]
    smoothing = partial(_both, POOLED_SMOOTHED, POOLED)
    over_one = partial(_both, TWO_STAGES, POOLED, limit=1)
    over_bm25 = partial(_over, TWO_STAGES, PLAIN_STAGES)
    stages = "In two stages a pooled row"
    for together in (
        [("smoothing-helps", "Smoothing helps at small p", smoothing)],
        *([one] for one in over_average),
        [
            ("two-stages-over-one", f"{stages} serves better than alone, at each p", over_one),
            ("two-stages-over-bm25", f"{stages} picks better than BM25, at each p", over_bm25),
        ],
    ):
        for pool, (name, text, selector) in product(searched, together):
            words = Wording(f"{name}-pool-{pool}", f"{text} (pool {pool}).", _OURS)
            yield TestedClaim(*words, each_greater, partial(selector, pool))
