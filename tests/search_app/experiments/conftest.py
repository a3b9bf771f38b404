"""Outcomes whose means are simple: every value is a level plus a constant of the person."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search_app import cli
from search_app.experiments.design import Experiment, ExperimentInputs, Unit, Variant, units_of
from search_app.experiments.outcomes import Block, Outcomes
from search_app.experiments.results import plots

from ..conftest import Run
from .toy_world import Place, place_in

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
    """Return outcomes of 20 people with two queries each; person i adds (i - 10.5)/100."""
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
    by_unit = {unit.name: facts(unit) for unit in units}
    experiment = Experiment(name, "A title", ExperimentInputs(), tuple(variants))
    return Outcomes(experiment, units, by_unit, person, blocks)


@pytest.fixture(scope="session", autouse=True)
def drawn_once() -> Iterator[None]:
    """Draw each figure once, which takes half of a small run; test_plots draws again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "draw", cache(plots.draw))
        yield


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a workspace with the toy's index, made once for all tests."""
    made = place_in(tmp_path_factory.mktemp("toy experiment"))
    assert (
        cli.run(["--workspace", str(made.root), "index", str(made.log.with_name("corpus.jsonl"))])
        == 0
    )
    return made


@pytest.fixture
def run(toy: Place, capsys: pytest.CaptureFixture[str]) -> Run:
    capsys.readouterr()
    return Run(toy.root, capsys)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for a run, which the first test that needs it makes."""
    return tmp_path_factory.mktemp("whole") / "out"


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
    """Return a small version of every table of the experiment."""
    variants = [
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
    variants += [release("improvements", pools=(100, 1000), p=p, refine="swap") for p in PS]
    return variants


def level(unit: Unit, mode: str, pool: int) -> float:
    """Return the level of `mode`: p adds p / 2, a pool of 1,000 documents takes 0.1."""
    base = _LEVELS.get(mode, 0.0)
    if mode in ("group", "left-out"):
        given = unit.parameters
        base = 0.6 + float(given["p"]) / 2 - (0.05 if mode == "left-out" else 0.0)
        base += 0.03 if given["refine"] == "swap" else 0.0
        base -= 0.02 if given["representative"] == "union" else 0.0
        base += 0.01 if given["linkage"] == "centroid" else 0.0
    return base - (0.1 if pool == 1000 else 0.0)


def facts_of(unit: Unit) -> dict[str, float]:
    """Return the facts of the release of `unit`: groups of 1 + 1 / p people, certain links."""
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
