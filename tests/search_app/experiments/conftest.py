"""Outcomes whose means are arithmetic: every value is a level plus what the person adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from search_app.experiments.design import Experiment, Inputs, Variant
from search_app.experiments.outcomes import Block, Outcomes, Unit

PEOPLE = 20
Level = Callable[[Unit, str, int], float]
MakeOutcomes = Callable[..., Outcomes]


def outcomes_of(
    variants: Sequence[Variant],
    level: Level,
    facts: Callable[[Unit], Mapping[str, float]] = lambda _unit: {},
    measures: Sequence[str] = ("AP",),
    name: str = "zhu-xiong",
) -> Outcomes:
    """Let 20 people ask twice each: person i adds (i - 9.5)/100, which adds up to nothing."""
    person = np.repeat(np.arange(1, PEOPLE + 1), 2)
    adds = (person - 10.5) / 100
    units = units_of(variants)
    blocks = {
        (unit.name, mode, pool): Block(
            unit.name,
            mode,
            pool,
            np.full(person.size, pool),
            {measure: level(unit, mode, pool) + adds for measure in measures},
        )
        for unit in units
        for mode, pool in unit.asked
    }
    told = {unit.name: facts(unit) for unit in units}
    experiment = Experiment(name, "A title", Inputs(), tuple(variants))
    return Outcomes(experiment, tuple(units), told, person, blocks)


def units_of(variants: Sequence[Variant]) -> list[Unit]:
    """Make one unit of each release and seed, asked for all that any variant asks of it."""
    found: dict[Any, tuple[Variant, int, dict[tuple[str, int], None]]] = {}
    for variant in variants:
        for seed in variant.seeds:
            complete = variant.complete or variant.parameters
            release = (variant.method, variant.weights, variant.vectors)
            key = (*release, seed, tuple(sorted(complete.items())))
            asked = found.setdefault(key, (variant, seed, {}))[2]
            asked.update({(mode, pool): None for mode in variant.modes for pool in variant.pools})
    return [
        Unit(
            f"u{number:03}",
            variant.label,
            variant.method,
            dict(variant.complete or variant.parameters),
            variant.weights,
            variant.vectors,
            seed,
            tuple(asked),
        )
        for number, (variant, seed, asked) in enumerate(found.values(), 1)
    ]


@pytest.fixture
def make_outcomes() -> MakeOutcomes:
    return outcomes_of


_USUAL: dict[str, Any] = {
    "p": 0.4,
    "a": 1,
    "linkage": "seed",
    "representative": "centroid",
    "refine": "none",
    "similarity": "profiles",
    "guarantee": "average",
    "documents": 1000,
}
_LEVELS = {"none": 0.3, "random": 0.32, "union": 0.5, "average": 0.6, "random-groups": 0.65}


def release(
    table: str,
    modes: Sequence[str] = ("group",),
    pools: Sequence[int] = (100,),
    seeds: Sequence[int] = (0,),
    *,
    vectors: str = "tfidf",
    **given: Any,
) -> Variant:
    complete = {**_USUAL, **given}
    return Variant(
        table,
        "p-linkability",
        given,
        vectors=vectors,
        modes=tuple(modes),
        pools=tuple(pools),
        seeds=tuple(seeds),
        complete=complete,
    )


ALL_MODES = ("group", "random-groups", "left-out")
PS = (0.1, 0.2, 0.3, 0.4)


def all_variants() -> list[Variant]:
    """Return every table of the experiment, in small."""
    found = [
        Variant("baselines", modes=("none", "random", "average", "union"), pools=(100, 1000)),
        release("figure-2", ALL_MODES, seeds=range(2), p=0.4, a=1),
        *[release("figure-3", p=0.4, a=a) for a in range(4)],
        *[release("figure-4", ALL_MODES, p=p, a=1) for p in PS],
        release("pools", ALL_MODES, (100, 1000), p=0.4, a=1),
        release("sensitivity-linkage", p=0.4, linkage="centroid"),
        release("sensitivity-vectors", ("none", "random-groups", "group"), vectors="tf", p=0.4),
        release("sensitivity-guarantee", ("group", "random-groups"), p=0.4, guarantee="every-term"),
        *[release("sensitivity-representative", p=p, representative="union") for p in PS],
    ]
    found += [release("improvements", pools=(100, 1000), p=p, refine="swap") for p in PS]
    return found


def level(unit: Unit, mode: str, pool: int) -> float:
    """Say how high each mode stands: p adds half of itself, 1,000 documents take 0.1."""
    base = _LEVELS.get(mode, 0.0)
    if mode in ("group", "left-out"):
        given = unit.parameters
        base = 0.6 + float(given["p"]) / 2 - (0.05 if mode == "left-out" else 0.0)
        base += 0.03 if given["refine"] == "swap" else 0.0
        base -= 0.02 if given["representative"] == "union" else 0.0
        base += 0.01 if given["linkage"] == "centroid" else 0.0
    return base - (0.1 if pool == 1000 else 0.0)


def facts_of(unit: Unit) -> dict[str, float]:
    """Say what a release is like: 1 / p people more than one a group, worst terms surely linked."""
    if not unit.method:
        return {}
    p = float(unit.parameters["p"])
    return {
        "users": 24,
        "mean_group": 1 + 1 / p,
        "average_linkability": p,
        "mean_average_linkability": 0.95 * p,
        "worst_linkability": 1.0,
        "mean_worst_linkability": 0.9,
        "released_linkability": 1.0,
        "change_of_belief": 0.5 + p,
        "terms_in_groups": 200,
        "terms_suppressed": 50 if unit.parameters["guarantee"] == "every-term" else 0,
    }


@pytest.fixture(scope="session")
def zhu_xiong_outcomes() -> Outcomes:
    measures = ("AP", "AP@10", "AP@20", "AP_c")
    return outcomes_of(all_variants(), level, facts_of, measures)
