"""Our claims on personalization: what it helps and harms, by relevance of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from ...measures.relevance import AP, GAIN, HARM
from ...measures.significance import worst_decile
from ..outcomes import Outcomes
from ..report.claims import (
    Draft,
    Side,
    SidePairs,
    Step,
    TestedClaim,
    UntestedClaim,
    Wording,
    difference_text,
    drafts_of,
    each_greater,
    greater,
    settle,
    within,
)
from ..report.report import Claim
from .series import BY_EVIDENCE, CAREFUL, COSINE, mean_over, pools, released, single

OURS = "ours, not a paper's"
COST = 0.01  # of AP, that a stranger's row may cost
LIMITS = {BY_EVIDENCE: 0.12, CAREFUL: 0.05}  # shares of queries that may be harmed
WORST = -0.15  # least mean gain of the worst tenth of people
_OWN, _STRANGER, _PLAIN, _AVERAGE = (
    *("own profile", "a stranger's row"),
    *("plain order", "global average"),
)


def claims(outcomes: Outcomes) -> tuple[Claim, ...]:
    """Return all claims on what was measured in `outcomes`, judged as one family of tests."""
    drafts = (drafts_of(_table(pool), outcomes) for pool in pools(outcomes))
    return settle([draft for some in drafts for draft in some])


def _pair(high: tuple[str, str], low: tuple[str, str], pool: int, outcomes: Outcomes) -> SidePairs:
    """Return the pair of two single ways, each by whose interests and which rule."""
    ways = single(outcomes, *high, pool), single(outcomes, *low, pool)
    sides = [way.side(outcomes, pool) for way in ways if way is not None]
    pairs = [(sides[0], sides[1])] if len(sides) == len(ways) else []
    return SidePairs(pairs, f"AP by relevance (pool {pool})")


def _cheap(words: Wording, picked: SidePairs) -> Draft:
    """Return the claim that the first of the pair is at most COST worse."""

    def finding(steps: Sequence[Step]) -> str:
        (step,) = steps
        return (
            f"The difference in {picked.what} is {difference_text(step.difference)} for "
            f"{step.high} against {step.low}."
        )

    return Draft(*words, finding, picked.pairs, -COST, slight=0.0)


def _harmed(rule: str, pool: int, outcomes: Outcomes) -> SidePairs:
    """Return the pair of the limit of `rule` and what it harms, as the mean over all releases."""
    ways = released(outcomes, rule, pool)
    side = mean_over(outcomes, ways, pool, HARM, f"the rows of {len(ways)} releases, {rule}")
    if side is None:
        return SidePairs()
    limit = Side("the limit", np.full(side.people.size, LIMITS[rule]))
    return SidePairs([(limit, side)], f"The share of queries harmed (pool {pool})")


def _worst(pool: int, outcomes: Outcomes) -> Mapping[str, object] | None:
    """Return the mean gain of the worst tenth of people by the rows of each release."""
    ways = [way for rule in LIMITS for way in released(outcomes, rule, pool)]
    if not ways:
        return None
    worst = {way.name: worst_decile(way.people(outcomes, pool, GAIN)) for way in ways}
    name = min(worst, key=lambda one: worst[one])
    low = min(worst.values())
    return {"of": len(worst), "name": name, "low": f"{low:+.3f}", "right": low > WORST}


def _orders(pool: int, outcomes: Outcomes) -> SidePairs:
    """Return two pairs: the average above the plain order by the papers' AP, below by relevance."""
    plain = single(outcomes, _PLAIN, "", pool)
    average = single(outcomes, _AVERAGE, COSINE, pool)
    if plain is None or average is None:
        return SidePairs()
    by = {"AP": " by the papers' AP", AP: " by relevance"}

    def side(name: str, people_of: str) -> Side:
        way = plain if name == _PLAIN else average
        return Side(f"{name}{by[people_of]}", way.people(outcomes, pool, people_of))

    pairs = [(side(_AVERAGE, "AP"), side(_PLAIN, "AP")), (side(_PLAIN, AP), side(_AVERAGE, AP))]
    return SidePairs(pairs, f"AP (pool {pool})")


def _table(pool: int) -> Iterator[TestedClaim[Outcomes] | UntestedClaim[Outcomes]]:
    """Yield the rows of the table of claims over `pool`."""
    own, stranger = (_OWN, BY_EVIDENCE), (_STRANGER, BY_EVIDENCE)
    plain, average = (_PLAIN, ""), (_AVERAGE, COSINE)
    where = f"by the rule evidence (pool {pool})"
    tested = (
        ("own-over-plain", "The own profile beats the plain order", greater, own, plain, where),
        ("own-over-stranger", "The own profile beats a stranger's row", greater, own, stranger,
         where),
        ("stranger-costs-little", f"A stranger's row costs at most {COST:g} AP", _cheap, stranger,
         plain, where),
        ("average-helps-nobody", "The plain order beats the global average", greater, plain,
         average, f"by cosine (pool {pool}); by the rule evidence both are the same order"),
    )  # fmt: skip
    for name, text, predicate, high, low, how in tested:
        words = Wording(f"{name}-pool-{pool}", f"{text} {how}.", OURS)
        yield TestedClaim(*words, predicate, partial(_pair, high, low, pool))
    for rule, limit in LIMITS.items():
        yield TestedClaim(
            f"harmed-{rule}-pool-{pool}",
            f"By the rows of all releases and the rule {rule}, at most {limit:.0%} of the queries "
            f"are harmed (pool {pool}).",
            OURS,
            within,
            partial(_harmed, rule, pool),
        )
    yield UntestedClaim(
        f"worst-tenth-pool-{pool}",
        f"The worst tenth of people gains more than {WORST:g} AP on average by the rows of each "
        f"release and the rules evidence and careful (pool {pool}).",
        OURS,
        "The worst of {of} is {low}, for {name}.",
        partial(_worst, pool),
    )
    yield TestedClaim(
        f"papers-order-otherwise-pool-{pool}",
        "The papers' measure orders modes otherwise than relevance does: the global average by "
        f"cosine beats the plain order by the papers' AP, and loses by relevance (pool {pool}).",
        OURS,
        each_greater,
        partial(_orders, pool),
    )
