"""Our claims about the frontier, judged like the claims of papers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from anonymizer.methods import promise_of

from ..outcomes import Outcomes
from ..report.claims import (
    Side,
    SidePairs,
    TestedClaim,
    UntestedClaim,
    Wording,
    at_most,
    drafts_of,
    each_greater,
    settle,
)
from ..report.report import Claim
from .attacked import CHANGE, ROW
from .series import MODE, entries, pools

_OURS = "ours, not a paper's"
_SURE = 0.9  # of the rows that attackers of raw profiles must name, or they are no attackers
_LOW = 0.1  # the p of the pooled rows that noisy rows are compared with


def claims(outcomes: Outcomes) -> tuple[Claim, ...]:
    """Return all claims on releases in `outcomes`, judged as one family of tests."""
    return settle(drafts_of(_table(outcomes), outcomes))


def _table(outcomes: Outcomes) -> Iterator[TestedClaim[Outcomes] | UntestedClaim[Outcomes]]:
    yield UntestedClaim(
        "attacks-work",
        f"Where nothing is hidden, 3 known terms name the row of {_SURE:.0%} of the people or "
        "more.",
        _OURS,
        "They name {share:.1%}.",
        _raw,
        lambda share: share >= _SURE,
    )
    words = Wording(
        "belief-is-bound",
        "No attacker who reads a column learns more than p from releases that promise so.",
        _OURS,
    )
    yield at_most(words, "The largest change of belief", _bound)
    for pool in pools(outcomes):
        yield TestedClaim(
            f"pooled-over-noise-pool-{pool}",
            f"At p = {_LOW:g} pooled rows serve better than noisy rows at each epsilon (pool "
            f"{pool}).",
            _OURS,
            each_greater,
            partial(_over_noise, pool=pool),
        )


def _raw(outcomes: Outcomes) -> dict[str, float] | None:
    """Return how often attackers name the row where each row is one person's own profile."""
    some = [one.variant for one in entries(outcomes) if one.variant.method == "own-rows"]
    shares = [share for one in some if (share := outcomes.fact(one, ROW)) is not None]
    return {"share": min(shares)} if shares else None


def _bound(outcomes: Outcomes) -> list[tuple[float, float]]:
    """Return (change of belief, p) of each release that promises a bound on belief."""
    return [
        (float(facts[CHANGE]), variant.p)
        for variant in (one.variant for one in entries(outcomes))
        if promise_of(variant.method, variant.given).bounds == "belief"
        for facts in outcomes.facts_of(variant, CHANGE)
    ]


def _over_noise(outcomes: Outcomes, pool: int) -> SidePairs:
    """Return the pairs of pooled rows and noisy rows at each epsilon over `pool`."""
    # All are of the same people, who ask the same queries: so each person is compared in pairs.
    sides: dict[str, list[Side]] = {"pooled": [], "dp-rows": []}
    for one in entries(outcomes):
        variant = one.variant
        right = variant.method != "pooled" or variant.number("p") == _LOW
        if variant.method in sides and right and outcomes.measured(variant, MODE, pool):
            people = outcomes.by_people(variant, MODE, pool)
            sides[variant.method].append(Side(one.name, people))
    return SidePairs([(high, low) for high in sides["pooled"][:1] for low in sides["dp-rows"]])
