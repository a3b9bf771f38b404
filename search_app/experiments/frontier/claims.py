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
from .attacked import CHANGE
from .series import AXES, MODE, entries, pools

_OURS = "ours, not a paper's"
RAW = "own-rows"  # the method that hides nothing
_ROUNDING = 1e-9
_LOW = 0.1  # the p of the pooled rows that noisy rows are compared with


def claims(outcomes: Outcomes) -> tuple[Claim, ...]:
    """Return all claims on releases in `outcomes`, judged as one family of tests."""
    return settle(drafts_of(_table(outcomes), outcomes))


def _table(outcomes: Outcomes) -> Iterator[TestedClaim[Outcomes] | UntestedClaim[Outcomes]]:
    yield UntestedClaim(
        "attacks-work",
        "No release gives attackers more than raw profiles do, by any axis.",
        _OURS,
        "Raw profiles give {raw}; other releases at most {others}, by the same axes.",
        _raw,
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


def _raw(outcomes: Outcomes) -> dict[str, object] | None:
    """Return what attackers get by each axis from raw profiles, and at most from other releases."""
    raw, others = (
        [max((outcomes.fact(one, axis.fact) or 0.0 for one in some), default=0.0) for axis in AXES]
        for some in (
            [one.variant for one in entries(outcomes) if (one.variant.method == RAW) is own]
            for own in (True, False)
        )
    )
    if not any(one.variant.method == RAW for one in entries(outcomes)):
        return None
    right = all(most <= given + _ROUNDING for most, given in zip(others, raw, strict=True))
    return {"raw": _texts(raw), "others": _texts(others), "right": right}


def _texts(values: list[float]) -> str:
    return ", ".join(f"{value:.3f} ({axis.name})" for value, axis in zip(values, AXES, strict=True))


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
