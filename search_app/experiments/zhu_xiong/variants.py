"""Find the variants of the zhu-xiong experiment: by table, by parameter, by what they change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..design import Variant
from ..outcomes import Outcomes
from ..report.claims import Side
from ..report.making import BASELINES, NAMES

FIGURE_2, FIGURE_3, FIGURE_4 = "figure-2", "figure-3", "figure-4"
POOLS, SENSITIVITY, IMPROVEMENTS = "pools", "sensitivity-", "improvements"
EVERY_TERM = f"{SENSITIVITY}guarantee"
PAPERS = (FIGURE_2, FIGURE_3, FIGURE_4)  # tables in the paper's own setting
ORDER = ("none", "random", "union", "average", "random-groups", "left-out", "group")
THE_PAPERS = "the paper's"  # name of the setting with the paper's choices
# The default of search, as the paper names no pool.
MAIN_POOL = 100


def first(outcomes: Outcomes, *tables: str) -> Variant | None:
    """Return the first variant that `outcomes` have in any of `tables`, in this order."""
    return next(iter(outcomes.experiment.named(*tables)), None)


def main_pool(variant: Variant) -> int:
    """Return the pool that stands for `variant` where a figure has only one pool."""
    return MAIN_POOL if MAIN_POOL in variant.pools else variant.pools[0]


def in_mode(outcomes: Outcomes, variant: Variant, mode: str, pool: int) -> Variant | None:
    """Return the variant that was searched in `mode`: `variant` itself or a baseline like it."""
    if mode in variant.modes and outcomes.measured(variant, mode, pool):
        return variant
    for other in outcomes.searched(mode, pool, BASELINES):
        # Other weights or vectors have another gold standard.
        if (other.weights, other.vectors) == (variant.weights, variant.vectors):
            return other
    return None


def side(outcomes: Outcomes, variant: Variant, mode: str, pool: int, name: str = "") -> Side | None:
    """Return AP in `mode` of `variant` or its baseline, person by person, if measured."""
    searched = in_mode(outcomes, variant, mode, pool)
    if searched is None:
        return None
    return Side(name or NAMES[mode], outcomes.by_people(searched, mode, pool))


def ap_of(variant: Variant, *, p: bool = True) -> str:
    """Return the name of AP for `variant` with its pool, and with its p unless `p` is False."""
    bound = [f"p = {variant.p:g}"] if p and variant.given.get("p") is not None else []
    return f"AP ({', '.join([*bound, f'pool {main_pool(variant)}'])})"


def ap_in(outcomes: Outcomes, table: str, *, p: bool = True) -> str:
    """Return the name of AP for the first variant of `table`, as `ap_of` does."""
    variant = first(outcomes, table)
    return ap_of(variant, p=p) if variant else "AP"


def usual(outcomes: Outcomes) -> Variant | None:
    """Return the paper's default setting in `outcomes`: figure 2's, or else one like it."""
    return first(outcomes, FIGURE_2, POOLS, FIGURE_4, FIGURE_3)


def usual_like(outcomes: Outcomes, variant: Variant, mode: str, pool: int) -> Variant | None:
    """Return the paper's default with the p of `variant`, by the same seeds if measured."""
    paper = usual(outcomes)
    if paper is None or "p" not in variant.given:
        return None
    given = {**paper.given, "p": variant.given["p"]}
    like = replace(paper, parameters=given, complete=given, modes=(mode,), pools=(pool,))
    # The same seeds make the fairest pair. If they were not measured, others must do.
    tried = (replace(like, seeds=seeds) for seeds in (variant.seeds, paper.seeds, (0,)))
    return next((one for one in tried if outcomes.measured(one, mode, pool)), None)


def changes(outcomes: Outcomes, variant: Variant) -> str:
    """Return what `variant` changes in the paper's setting, apart from p, as a name."""
    paper = usual(outcomes)
    known = paper.given if paper else {}
    changed = [
        f"{name}={value}"
        for name, value in sorted(variant.given.items())
        if name != "p" and (name not in known or known[name] != value)
    ]
    return " ".join([*changed, *variant.unusual]) or THE_PAPERS


def pair(outcomes: Outcomes, variant: Variant, paper: Variant, pool: int) -> tuple[Side, Side]:
    """Return the sides of the groups of `variant` and of `paper`, to compare them."""
    return (
        Side(changes(outcomes, variant), outcomes.by_people(variant, "group", pool)),
        Side(THE_PAPERS, outcomes.by_people(paper, "group", pool)),
    )


def sensitivity(outcomes: Outcomes) -> Iterator[Variant]:
    """Yield the variants of `outcomes` that change one choice, table by table."""
    return (one for one in outcomes.experiment.variants if one.name.startswith(SENSITIVITY))
