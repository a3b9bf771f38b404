"""Search by reduced profiles compared with search by groups, in the burghardt experiment."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..design import Variant
from ..outcomes import Outcomes
from ..report import cells
from ..report.claims import Draft, Side, SidePairs, TestedClaim, drafts_of, each_greater
from ..report.making import BASELINES, NAMES
from ..report.planes import by_belief
from ..report.report import Figure, Table
from ..report.summaries import SummedUp
from .shares import GREEDY, INSERT, OURS, SEARCH

KM = "km-anonymity"


def name_of(variant: Variant) -> str:
    """Return what the release of `variant` is made of, without its k."""
    given = variant.given
    if variant.method == KM:
        return f"reduced profiles, {given.get('algorithm')}, m = {given.get('m')}"
    p = variant.number("p")
    return "groups" if p is None else f"groups, p = {p:g}"


def by_k(outcomes: Outcomes, pool: int) -> dict[str, dict[int, Variant]]:
    """Return the variants of `outcomes` searched over `pool`, by name and then by k."""
    variants: dict[str, dict[int, Variant]] = {}
    for variant in outcomes.experiment.named(SEARCH):
        k = variant.number("k")
        if k is not None and outcomes.measured(variant, "group", pool):
            variants.setdefault(name_of(variant), {})[int(k)] = variant
    return {name: dict(sorted(some.items())) for name, some in variants.items()}


def pools_of(outcomes: Outcomes) -> list[int]:
    """Return the pools over which anything in `outcomes` was searched."""
    tables = outcomes.experiment.named(SEARCH, BASELINES)
    return sorted({pool for variant in tables if variant.modes for pool in variant.pools})


def search_table(summed: SummedUp) -> Table:
    """Return AP in `summed` by method and k, and the difference of reduced profiles and groups."""
    rows = [row for pool in pools_of(summed.outcomes) for row in _pool_rows(summed, pool)]
    about = (
        "AP by the row that serves the person. People without a row get Lucene's order. A reduced "
        "profile is one person's row; k or more people have each pair of its terms. In groups, k "
        "people share a row. Belief is its largest change for an attacker who can tell whose row "
        "it is. P is corrected by Holm within a pool."
    )
    head = ("release", "k", "pool", "AP", "95 %", "AP_c",
            "over groups of k", "P", "people served", "people a row", "belief")  # fmt: skip
    return Table("search", "Search by reduced profiles and by groups", about, head, tuple(rows))


def _pool_rows(summed: SummedUp, pool: int) -> Iterator[tuple[str, ...]]:
    outcomes = summed.outcomes
    for variant in outcomes.experiment.named(BASELINES):
        for mode in variant.modes:
            if summed.find(variant, mode, pool):
                name = NAMES.get(mode, mode)
                yield _row(summed, name, variant, (mode, pool), cells.NO_DIFFERENCE)
    variants = by_k(outcomes, pool)
    groups = variants.get("groups", {})
    gaps = cells.corrected(
        {
            (name, k): (_side(outcomes, variant, pool), _side(outcomes, groups[k], pool))
            for name, some in variants.items()
            for k, variant in some.items()
            if variant.method == KM and k in groups
        }
    )
    for variant in outcomes.experiment.named(SEARCH):
        if summed.find(variant, "group", pool):
            name = name_of(variant)
            gap = gaps.get((name, int(variant.number("k") or 0)), cells.NO_DIFFERENCE)
            yield _row(summed, name, variant, ("group", pool), gap)


def _row(
    summed: SummedUp, name: str, variant: Variant, place: tuple[str, int], gap: tuple[str, str]
) -> tuple[str, ...]:
    ap, k, fact = summed.find(variant, *place), variant.number("k"), summed.outcomes.fact
    served, size = (fact(variant, known) for known in ("kept_users", "mean_group"))
    return (
        name,
        cells.NONE if k is None else f"{k:.0f}",
        str(place[1]),
        cells.mean(ap),
        cells.ends(ap),
        cells.mean(summed.find(variant, *place, "AP_c")),
        *gap,
        cells.NONE if served is None else f"{served:.1%}",
        cells.NONE if size is None else f"{size:.2f}",
        cells.number(fact(variant, "change_of_belief")),
    )


def _side(outcomes: Outcomes, variant: Variant, pool: int, name: str = "") -> Side:
    return Side(name or name_of(variant), outcomes.by_people(variant, "group", pool))


def tradeoff(summed: SummedUp) -> Figure | None:
    """Return the plane of AP in `summed` against the change of belief by what is released."""
    pool = next(iter(pools_of(summed.outcomes)), 0)
    rows = [
        (name, f"{name}, k = {k}", variant, "group")
        for name, some in by_k(summed.outcomes, pool).items()
        for k, variant in some.items()
    ]
    about = "The attacker can tell whose row a reduced profile is. Along a line, k rises."
    return by_belief(summed, pool, about, rows)


def search_claims(outcomes: Outcomes) -> list[Draft]:
    """Return the claims on `outcomes` that compare reduced profiles, groups and no release."""
    rows = [row for pool in pools_of(outcomes) for row in _table(pool)]
    return drafts_of(rows, outcomes)


def _table(pool: int) -> Iterator[TestedClaim[Outcomes]]:
    for name, text, selector in (
        (
            "reduced-over-none",
            "A reduced profile serves its person better than no personalization",
            partial(_over_none, pool),
        ),
        (
            "reduced-over-groups",
            "A reduced profile serves its person better than a group's row",
            partial(_over, pool, (INSERT, "reduced at k = {k}"), ("", "groups of {k}")),
        ),
        (
            "insertion-over-greedy",
            "What insertion keeps serves better than what greedy deletion leaves",
            partial(_over, pool, (INSERT, "insertion at k = {k}"), (GREEDY, "greedy at k = {k}")),
        ),
    ):
        sentence = f"{text}, at each k (pool {pool})."
        yield TestedClaim(f"{name}-{pool}", sentence, OURS, each_greater, selector)


def _over_none(pool: int, outcomes: Outcomes) -> SidePairs:
    for plain in outcomes.searched("none", pool, BASELINES):
        low = Side(NAMES["none"], outcomes.by_people(plain, "none", pool))
        some = _searched(outcomes, pool, INSERT).items()
        pairs = [(_side(outcomes, one, pool, f"k = {k}"), low) for k, one in some]
        return SidePairs(pairs, f"AP (pool {pool})")
    return SidePairs()


def _over(pool: int, high: tuple[str, str], low: tuple[str, str], outcomes: Outcomes) -> SidePairs:
    """Return pairs of releases at each k; `high` and `low` are (algorithm, name), "" for groups."""
    upper, lower = (_searched(outcomes, pool, algorithm) for algorithm, _ in (high, low))
    pairs = [
        (
            _side(outcomes, upper[k], pool, high[1].format(k=k)),
            _side(outcomes, lower[k], pool, low[1].format(k=k)),
        )
        for k in upper
        if k in lower
    ]
    return SidePairs(pairs, f"AP (pool {pool})")


def _searched(outcomes: Outcomes, pool: int, algorithm: str) -> dict[int, Variant]:
    """Return the reduced profiles of `algorithm` by k (the last of several m), or groups for ""."""
    variants = by_k(outcomes, pool)
    if not algorithm:
        return variants.get("groups", {})
    return {
        k: variant
        for some in variants.values()
        for k, variant in some.items()
        if variant.method == KM and variant.given.get("algorithm") == algorithm
    }
