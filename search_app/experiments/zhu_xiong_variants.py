"""Find the variants of the zhu-xiong experiment: by table, by parameter, by what they change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from .claims import Side
from .design import VECTORS, WEIGHTS, Variant
from .outcomes import Outcomes
from .summaries import SummedUp, by_people, measured

BASELINES, FIGURE_2, FIGURE_3, FIGURE_4 = "baselines", "figure-2", "figure-3", "figure-4"
POOLS, SENSITIVITY, IMPROVEMENTS = "pools", "sensitivity-", "improvements"
EVERY_TERM = f"{SENSITIVITY}guarantee"
PAPERS = (FIGURE_2, FIGURE_3, FIGURE_4)  # tables in the paper's own setting
NAMES = {
    "none": "no personalization",
    "random": "random order",
    "own": "own profile",
    "union": "global union",
    "average": "global average",
    "random-groups": "random groups",
    "left-out": "group without the own share",
    "group": "group",
}
ORDER = ("none", "random", "union", "average", "random-groups", "left-out", "group")
THE_PAPERS = "the paper's"  # choices
MAIN_POOL = 100  # Lucene's default here; the paper names none


def complete(variant: Variant) -> Mapping[str, Any]:
    """Return all parameters of a variant."""
    return variant.complete or variant.parameters


def first(outcomes: Outcomes, table: str) -> Variant | None:
    """Return the first variant of a table, if there is one."""
    return next(iter(outcomes.experiment.named(table)), None)


def ordered(outcomes: Outcomes, table: str, name: str) -> list[tuple[float, Variant]]:
    """Return a table's variants by the value of a parameter, ascending."""
    found = [
        (float(complete(variant)[name]), variant)
        for variant in outcomes.experiment.named(table)
        if isinstance(complete(variant).get(name), int | float)
    ]
    return sorted(found, key=lambda each: each[0])


def main_pool(variant: Variant) -> int:
    """Return the pool a variant is shown by where a figure has only one."""
    return MAIN_POOL if MAIN_POOL in variant.pools else variant.pools[0]


def in_mode(outcomes: Outcomes, variant: Variant, mode: str, pool: int) -> Variant | None:
    """Return who was searched in a mode: the variant, or the baselines that need no release."""
    if mode in variant.modes and measured(outcomes, variant, mode, pool):
        return variant
    for other in outcomes.experiment.named(BASELINES):
        alike = (other.weights, other.vectors) == (variant.weights, variant.vectors)
        if alike and mode in other.modes and measured(outcomes, other, mode, pool):
            return other
    return None


def side(summed: SummedUp, variant: Variant, mode: str, pool: int, name: str = "") -> Side | None:
    """Return the average precision of a variant or its baseline, person by person."""
    who = in_mode(summed.outcomes, variant, mode, pool)
    if who is None:
        return None
    people = by_people(summed.outcomes, who, mode, pool)
    return Side(name or NAMES[mode], people)


def sides(summed: SummedUp, table: str, modes: tuple[str, ...]) -> list[Side] | None:
    """Return the modes of a table's first variant by its main pool; None unless all are there."""
    variant = first(summed.outcomes, table)
    if variant is None:
        return None
    found = [side(summed, variant, mode, main_pool(variant), NAMES[mode]) for mode in modes]
    there = [each for each in found if each is not None]
    return there if len(there) == len(modes) else None


def ap_of(variant: Variant, *, p: bool = True) -> str:
    """Name the average precision of a variant with its pool, and its p if it has one for all."""
    given = complete(variant).get("p") if p else None
    told = [] if given is None else [f"p = {given:g}"]
    return f"AP ({', '.join([*told, f'pool {main_pool(variant)}'])})"


def ap_in(summed: SummedUp, table: str, *, p: bool = True) -> str:
    """Name the average precision of a table's first variant."""
    variant = first(summed.outcomes, table)
    return ap_of(variant, p=p) if variant else "AP"


def usual(outcomes: Outcomes) -> Variant | None:
    """Return the paper's default: figure 2's variant, else one like it."""
    for table in (FIGURE_2, POOLS, FIGURE_4, FIGURE_3):
        if (found := first(outcomes, table)) is not None:
            return found
    return None


def usual_like(outcomes: Outcomes, variant: Variant, mode: str, pool: int) -> Variant | None:
    """Return the paper's default with the p of a variant, by the same seeds, over the same pool."""
    paper = usual(outcomes)
    if paper is None or "p" not in complete(variant):
        return None
    parameters = {**complete(paper), "p": complete(variant)["p"]}
    like = replace(paper, parameters=parameters, complete=parameters, modes=(mode,), pools=(pool,))
    for seeds in (variant.seeds, paper.seeds, (0,)):
        found = replace(like, seeds=seeds)
        if measured(outcomes, found, mode, pool):
            return found
    return None


def changes(outcomes: Outcomes, variant: Variant) -> str:
    """Name what a variant does otherwise than the paper, its p apart."""
    paper = usual(outcomes)
    known = complete(paper) if paper else {}
    told = [
        f"{name}={value}"
        for name, value in sorted(complete(variant).items())
        if name != "p" and (name not in known or known[name] != value)
    ]
    if variant.weights != WEIGHTS[0]:
        told.append(f"weights={variant.weights}")
    if variant.vectors != VECTORS[0]:
        told.append(f"vectors={variant.vectors}")
    return " ".join(told) or THE_PAPERS


def moves_gold(variant: Variant) -> bool:
    """Tell whether a variant changes the gold standard too."""
    return (variant.weights, variant.vectors) != (WEIGHTS[0], VECTORS[0])


def sensitivity(outcomes: Outcomes) -> Iterator[Variant]:
    """List the variants that change one choice, table by table."""
    for variant in outcomes.experiment.variants:
        if variant.name.startswith(SENSITIVITY):
            yield variant


def fact(outcomes: Outcomes, variant: Variant, name: str) -> float | None:
    """Return what is measured of a variant's releases, averaged over seeds; None if it isn't."""
    found = [facts[name] for facts in outcomes.facts_of(variant) if name in facts]
    return sum(found) / len(found) if found else None


def papers_facts(outcomes: Outcomes, name: str) -> list[tuple[float, float]]:
    """List (value, p) of every release in the paper's own setting."""
    found = {
        unit.name: (float(outcomes.facts[unit.name][name]), float(complete(variant)["p"]))
        for table in PAPERS
        for variant in outcomes.experiment.named(table)
        for unit in outcomes.units_of(variant)
        if "p" in complete(variant) and name in outcomes.facts.get(unit.name, {})
    }
    return list(found.values())
