"""Search by reduced profiles beside search by groups, in the burghardt experiment."""

from __future__ import annotations

from collections.abc import Sequence

from . import zhu_xiong_cells as cells
from .burghardt_shares import BASELINES, GREEDY, INSERT, SEARCH, given
from .claims import Draft, Side, Wording, each_greater, steps_of
from .design import Variant
from .outcomes import Outcomes
from .report import Figure, Line, Point, Table
from .summaries import SummedUp, by_people, measured
from .zhu_xiong_variants import fact

KM, GROUPS = "km-anonymity", "p-linkability"
_MODES = {"none": "no personalization", "average": "global average", "own": "own profile"}
_OURS = "ours, not the paper's"


def name_of(variant: Variant) -> str:
    """Name what a release is of, its k apart."""
    if variant.method == KM:
        return f"reduced profiles, {given(variant, 'algorithm')}, m = {given(variant, 'm')}"
    p = given(variant, "p")
    return "groups" if p is None else f"groups, p = {p:g}"


def by_k(outcomes: Outcomes, pool: int) -> dict[str, dict[int, Variant]]:
    """Return the variants that were searched over a pool: by name, then by k."""
    found: dict[str, dict[int, Variant]] = {}
    for variant in outcomes.experiment.named(SEARCH):
        k = given(variant, "k")
        if isinstance(k, int) and measured(outcomes, variant, "group", pool):
            found.setdefault(name_of(variant), {})[k] = variant
    return {name: dict(sorted(some.items())) for name, some in found.items()}


def pools_of(outcomes: Outcomes) -> list[int]:
    """List the pools over which anything was searched."""
    tables = (*outcomes.experiment.named(SEARCH), *outcomes.experiment.named(BASELINES))
    return sorted({pool for variant in tables if variant.modes for pool in variant.pools})


def search_table(summed: SummedUp) -> Table:
    """List AP by method and k, with what sets each reduced profile apart from groups of k."""
    rows = [row for pool in pools_of(summed.outcomes) for row in _pool_rows(summed, pool)]
    about = (
        "AP by the row that serves the person; who has none gets Lucene's order. Of reduced "
        "profiles, k or more people share each pair of a row's terms, and each row is one "
        "person's; of groups, k people share a row. Belief is by how much it changes at most for "
        "who knows whose row it is. p is corrected by Holm within a pool."
    )
    head = ("release", "k", "pool", "AP", "95 %", "AP_c",
            "over groups of k", "p", "people served", "people a row", "belief")  # fmt: skip
    return Table("search", "Search by reduced profiles and by groups", about, head, tuple(rows))


def _pool_rows(summed: SummedUp, pool: int) -> list[tuple[str, ...]]:
    outcomes = summed.outcomes
    rows = []
    for variant in outcomes.experiment.named(BASELINES):
        for mode in variant.modes:
            if summed.find(variant, mode, pool):
                name = _MODES.get(mode, mode)
                rows.append(_row(summed, name, variant, mode, pool, cells.NONE, cells.NONE))
    pairs = {
        (name, str(k)): (_side(outcomes, variant, pool), _side(outcomes, group, pool))
        for name, k, variant, group in _beside_groups(outcomes, pool)
    }
    gaps = dict(zip(pairs, cells.corrected(steps_of(list(pairs.values()))), strict=True))
    for variant in outcomes.experiment.named(SEARCH):
        k = given(variant, "k")
        if summed.find(variant, "group", pool):
            gap = gaps.get((name_of(variant), str(k)), (cells.NONE, cells.NONE))
            rows.append(_row(summed, name_of(variant), variant, "group", pool, *gap))
    return rows


def _beside_groups(outcomes: Outcomes, pool: int) -> list[tuple[str, int, Variant, Variant]]:
    """Pair reduced profiles with groups of the same k."""
    found = by_k(outcomes, pool)
    groups = found.get("groups", {})
    return [
        (name, k, variant, groups[k])
        for name, some in found.items()
        for k, variant in some.items()
        if variant.method == KM and k in groups
    ]


def _row(
    summed: SummedUp, name: str, variant: Variant, mode: str, pool: int, gap: str, p: str
) -> tuple[str, ...]:
    ap = summed.find(variant, mode, pool)
    k = given(variant, "k") if variant.method else None
    served, size = (fact(summed.outcomes, variant, each) for each in ("kept_users", "mean_group"))
    return (
        name,
        cells.NONE if k is None else str(k),
        str(pool),
        cells.mean(ap),
        cells.ends(ap) if ap else cells.NONE,
        cells.mean(summed.find(variant, mode, pool, "AP_c")),
        gap,
        p,
        cells.NONE if served is None else f"{served:.1%}",
        cells.NONE if size is None else f"{size:.2f}",
        cells.number(fact(summed.outcomes, variant, "change_of_belief")),
    )


def _side(outcomes: Outcomes, variant: Variant, pool: int, name: str = "") -> Side:
    return Side(name or name_of(variant), by_people(outcomes, variant, "group", pool))


def ap_by_k(summed: SummedUp) -> Figure | None:
    """Follow AP over k, beside what needs no release."""
    outcomes = summed.outcomes
    pool = next(iter(pools_of(outcomes)), 0)
    found = by_k(outcomes, pool)
    ks = sorted({k for some in found.values() for k in some})
    lines = [
        _line(name, [summed.point(float(k), each, "group", pool) for k, each in some.items()])
        for name, some in found.items()
    ]
    for variant in outcomes.experiment.named(BASELINES):
        for mode in variant.modes:
            if mode != "own":  # 1 by definition
                points = [summed.point(float(k), variant, mode, pool) for k in ks]
                lines.append(_line(_MODES.get(mode, mode), points))
    full = tuple(line for line in lines if line.points)
    if not ks or not full:
        return None
    about = (
        "Of reduced profiles, k or more people share each pair of a row's terms; of groups, k "
        "people share a row."
    )
    return Figure("ap-by-k", f"Search by what is released (pool {pool})", about, "k", "AP", full)


def _line(name: str, points: Sequence[Point | None]) -> Line:
    return Line(name, tuple(point for point in points if point is not None))


def search_claims(summed: SummedUp) -> list[Draft]:
    """Hold reduced profiles against nothing, against groups, and against each other."""
    outcomes = summed.outcomes
    return [
        draft
        for pool in pools_of(outcomes)
        for make in (_over_nothing, _over_groups, _over_greedy)
        for draft in make(outcomes, pool)
    ]


def _over_nothing(outcomes: Outcomes, pool: int) -> list[Draft]:
    plain = next(
        (v for v in outcomes.experiment.named(BASELINES) if measured(outcomes, v, "none", pool)),
        None,
    )
    some = _reduced(outcomes, pool, INSERT)
    if plain is None or not some:
        return []
    low = Side(_MODES["none"], by_people(outcomes, plain, "none", pool))
    pairs = [(_side(outcomes, each, pool, f"k = {k}"), low) for k, each in some.items()]
    text = "A reduced profile serves its person better than no personalization, at each k"
    return [_draft(f"reduced-over-none-{pool}", text, pairs, pool)]


def _over_groups(outcomes: Outcomes, pool: int) -> list[Draft]:
    groups, some = by_k(outcomes, pool).get("groups", {}), _reduced(outcomes, pool, INSERT)
    pairs = [
        (
            _side(outcomes, each, pool, f"reduced at k = {k}"),
            _side(outcomes, groups[k], pool, f"groups of {k}"),
        )
        for k, each in some.items()
        if k in groups
    ]
    text = "A reduced profile serves its person better than a group's row, at each k"
    return [_draft(f"reduced-over-groups-{pool}", text, pairs, pool)] if pairs else []


def _over_greedy(outcomes: Outcomes, pool: int) -> list[Draft]:
    ours, papers = (_reduced(outcomes, pool, each) for each in (INSERT, GREEDY))
    pairs = [
        (
            _side(outcomes, ours[k], pool, f"insertion at k = {k}"),
            _side(outcomes, papers[k], pool, f"greedy at k = {k}"),
        )
        for k in ours
        if k in papers
    ]
    text = "What insertion keeps serves better than what greedy deletion leaves, at each k"
    return [_draft(f"insertion-over-greedy-{pool}", text, pairs, pool)] if pairs else []


def _draft(name: str, text: str, pairs: Sequence[tuple[Side, Side]], pool: int) -> Draft:
    words = Wording(name, f"{text} (pool {pool}).", _OURS)
    return each_greater(words, pairs, what=f"AP (pool {pool})")


def _reduced(outcomes: Outcomes, pool: int, algorithm: str) -> dict[int, Variant]:
    """Return the reduced profiles of an algorithm by k; of several m, the last that was asked."""
    return {
        k: variant
        for some in by_k(outcomes, pool).values()
        for k, variant in some.items()
        if variant.method == KM and given(variant, "algorithm") == algorithm
    }
