"""What each release of the burghardt experiment keeps: by algorithm, target, m and k."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .design import Variant
from .outcomes import Outcomes
from .unit_facts import KEPT, MARKET

TABLES, REINSERT = "tables", "reinsert"
BASELINES, SEARCH = "baselines", "search"
GREEDY, INSERT, RANDOM, FIS = "greedy", "insert", "random", "fis"
MEASURES = {  # as facts name them: as tables do
    "distinct_terms": "dist. terms",
    "log_size": "log size",
    "users": "users",
    "bid": "bid",
    "clicks": "clicks",
    "impressions": "impressions",
    "revenue": "revenue",
}
GENERIC = ("distinct_terms", "log_size", "users")
OWN = {"log_size": "logsize", "users": "users", **{what: what for what in MARKET}}  # targets
ROUNDING = 1e-12
PAPER = "Burghardt et al., section"
NEAR = 0.05  # of the original, where the paper gives a number and not how near is near


class Cell(NamedTuple):
    """A level of privacy."""

    m: int
    k: int

    def __str__(self) -> str:
        return f"(k={self.k}, m={self.m})"


class Best(NamedTuple):
    """The most that any target keeps of a measure, and which does."""

    target: str
    share: float


class Shares:
    """The shares that the releases of a table keep, averaged over seeds."""

    def __init__(self, outcomes: Outcomes, table: str = TABLES) -> None:
        self._facts: dict[tuple[str, Cell, str], Mapping[str, float]] = {}
        for variant in outcomes.experiment.named(table):
            found = outcomes.facts_of(variant)
            given = variant.complete or variant.parameters
            if found and {"algorithm", "target", "m", "k"} <= given.keys():
                place = str(given["algorithm"]), Cell(int(given["m"]), int(given["k"]))
                self._facts[*place, str(given["target"])] = _means(found)

    def grid(self, algorithm: str) -> list[Cell]:
        """List the levels of privacy at which an algorithm was run."""
        return sorted({cell for name, cell, _ in self._facts if name == algorithm})

    def with_choice(self, algorithm: str) -> list[Cell]:
        """List the levels at which it matters what is deleted: at m = 1 all keep the same."""
        return [cell for cell in self.grid(algorithm) if cell.m > 1]

    def targets(self, algorithm: str, cell: Cell) -> list[str]:
        """List the targets of an algorithm at a level of privacy."""
        return [target for name, at, target in self._facts if (name, at) == (algorithm, cell)]

    def fact(self, algorithm: str, cell: Cell, target: str, name: str) -> float | None:
        """Return any fact of a release; None if there is none."""
        return self._facts.get((algorithm, cell, target), {}).get(name)

    def of(self, algorithm: str, cell: Cell, target: str, measure: str) -> float | None:
        """Return the share of a measure that a release keeps."""
        return self.fact(algorithm, cell, target, f"{KEPT}{measure}")

    def all_of(self, algorithm: str, cell: Cell, measure: str) -> dict[str, float]:
        """Return the share of a measure that each target keeps."""
        found = {
            target: self.of(algorithm, cell, target, measure)
            for target in self.targets(algorithm, cell)
        }
        return {target: share for target, share in found.items() if share is not None}

    def best(self, algorithm: str, cell: Cell, measure: str) -> Best | None:
        """Return which target keeps most of a measure; of equal ones, the measure's own."""
        found = self.all_of(algorithm, cell, measure)
        if not found:
            return None
        most, own = max(found.values()), OWN.get(measure, "")
        if own in found and found[own] >= most - ROUNDING:
            return Best(own, found[own])
        return Best(max(found, key=lambda target: found[target]), most)


def _means(facts: list[Mapping[str, float]]) -> dict[str, float]:
    names = set.intersection(*(set(each) for each in facts))
    return {name: float(np.mean([each[name] for each in facts])) for name in sorted(names)}


def input_facts(outcomes: Outcomes) -> Mapping[str, float]:
    """Return what was measured of the input; nothing if each unit has a release."""
    told = (outcomes.facts[unit.name] for unit in outcomes.units if not unit.method)
    return next((facts for facts in told if "profiles" in facts), {})


def is_synthetic(outcomes: Outcomes) -> bool:
    """Tell whether the marketing table was drawn, not given."""
    return any(facts.get("table_synthetic") for facts in outcomes.facts.values())


def called(outcomes: Outcomes, measure: str) -> str:
    """Name a measure; what rests on a synthetic table says so."""
    mark = " (synthetic)" if measure in MARKET and is_synthetic(outcomes) else ""
    return f"{MEASURES[measure]}{mark}"


def warning(outcomes: Outcomes, *measures: str) -> str:
    """Return the sentence that goes with numbers of a synthetic table; else nothing."""
    if is_synthetic(outcomes) and set(measures) & set(MARKET):
        return " The marketing table is synthetic."
    return ""


def percent(share: float | None, measure: str = "") -> str:
    """Write a share in percent; of the few distinct terms, two decimals."""
    if share is None:
        return "–"
    return f"{100 * share:z.2f}" if measure == "distinct_terms" else f"{100 * share:z.1f}"


def given(variant: Variant, name: str) -> object:
    """Return a variant's parameter, its default included; None if it has none such."""
    return (variant.complete or variant.parameters).get(name)
