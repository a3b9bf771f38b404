"""The shares that releases of the burghardt experiment keep, by algorithm, target, m and k."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..facts import KEPT, MARKET
from ..outcomes import Outcomes

TABLES, REINSERT, SEARCH = "tables", "reinsert", "search"
GREEDY, INSERT, RANDOM, FIS = "greedy", "insert", "random", "fis"
MEASURES = {  # name in facts: name in tables
    "distinct_terms": "dist. terms",
    "log_size": "log size",
    "users": "users",
    "bid": "bid",
    "clicks": "clicks",
    "impressions": "impressions",
    "revenue": "revenue",
}
GENERIC = ("distinct_terms", "log_size", "users")
OWN = {"log_size": "logsize", "users": "users", **{what: what for what in MARKET}}  # own targets
ROUNDING = 1e-12
OURS = "ours, not the paper's"
NONE = "–"


class Cell(NamedTuple):
    """A level of privacy, m and k."""

    m: int
    k: int

    def __str__(self) -> str:
        return f"(k={self.k}, m={self.m})"


class Best(NamedTuple):
    """The target that keeps most of a measure, and the share it keeps."""

    target: str
    share: float


class Gap(NamedTuple):
    """The distance between two shares of a measure; of equal ones, the last name is largest."""

    size: float
    measure: str
    target: str
    cell: Cell

    @property
    def points(self) -> str:
        """Return the distance in points of the original, as text."""
        return percent(self.size)

    @property
    def of(self) -> str:
        """Return the name of the measure in tables."""
        return MEASURES[self.measure]


class KeptShares:
    """The shares that the releases of a table keep, averaged over seeds."""

    def __init__(self, outcomes: Outcomes, table: str = TABLES) -> None:
        every = outcomes.facts.values()
        self.synthetic = any(facts.get("table_synthetic") for facts in every)
        self.with_table = any("table_synthetic" in facts for facts in every)
        unreleased = (outcomes.facts[unit.name] for unit in outcomes.units if not unit.method)
        self.input = next((facts for facts in unreleased if "profiles" in facts), {})
        self._facts: dict[tuple[str, Cell, str], Mapping[str, float]] = {}
        for variant in outcomes.experiment.named(table):
            releases, given = outcomes.facts_of(variant), variant.given
            m, k = variant.number("m"), variant.number("k")
            if releases and {"algorithm", "target"} <= given.keys() and m and k:
                # Only facts that all seeds have: other means would be of other releases.
                place = str(given["algorithm"]), Cell(int(m), int(k))
                self._facts[*place, str(given["target"])] = {
                    name: float(np.mean([facts[name] for facts in releases]))
                    for name in sorted(set.intersection(*map(set, releases)))
                }

    def grid(self, algorithm: str) -> list[Cell]:
        """Return the levels of privacy at which `algorithm` was run."""
        return sorted({cell for name, cell, _ in self._facts if name == algorithm})

    def with_choice(self, algorithm: str) -> list[Cell]:
        """Return the levels of `algorithm` at which targets can differ."""
        # At m = 1 exactly the terms of k or more people stay, whatever the target is.
        return [cell for cell in self.grid(algorithm) if cell.m > 1]

    def targets(self, algorithm: str, cell: Cell) -> list[str]:
        """Return the targets of `algorithm` at the level `cell`."""
        return [target for name, at, target in self._facts if (name, at) == (algorithm, cell)]

    def fact(self, algorithm: str, cell: Cell, target: str, name: str) -> float | None:
        """Return the fact `name` of a release, or None."""
        return self._facts.get((algorithm, cell, target), {}).get(name)

    def of(self, algorithm: str, cell: Cell, target: str, measure: str) -> float | None:
        """Return the share of `measure` that a release keeps, or None."""
        return self.fact(algorithm, cell, target, f"{KEPT}{measure}")

    def all_of(
        self, algorithm: str, cell: Cell, measure: str, *, random: bool = True
    ) -> dict[str, float]:
        """Return the share of `measure` that each target keeps, with or without `random`."""
        shares = {
            target: self.of(algorithm, cell, target, measure)
            for target in self.targets(algorithm, cell)
            if random or target != RANDOM
        }
        return {target: share for target, share in shares.items() if share is not None}

    def best(self, algorithm: str, cell: Cell, measure: str) -> Best | None:
        """Return the target that keeps most of `measure`; of equal ones, the measure's own."""
        shares = self.all_of(algorithm, cell, measure)
        if not shares:
            return None
        most, own = max(shares.values()), OWN.get(measure, "")
        if own in shares and shares[own] >= most - ROUNDING:
            return Best(own, shares[own])
        return Best(max(shares, key=lambda target: shares[target]), most)

    def gained(self, cell: Cell, measure: str) -> float | None:
        """Return how much more of `measure` insertion keeps than greedy deletion, at their best."""
        ours, papers = (self.best(name, cell, measure) for name in (INSERT, GREEDY))
        return None if ours is None or papers is None else ours.share - papers.share

    def spread(self, *measures: str) -> list[Gap]:
        """Return the distances, by `measures` and where m > 1, of the best target and the worst."""
        # This is the paper's column W, which leaves random aside as the worst.
        gaps = []
        for measure in measures:
            for cell in self.with_choice(GREEDY):
                others = self.all_of(GREEDY, cell, measure, random=False)
                if len(others) > 1:
                    most = max(self.all_of(GREEDY, cell, measure).values())
                    gaps.append(Gap(most - min(others.values()), measure, "", cell))
        return gaps

    def correlation(self, one: str, other: str) -> tuple[float, int] | None:
        """Return the correlation of the values `one` and `other`, and the number of terms."""
        for pair in (f"{one}_{other}", f"{other}_{one}"):
            if f"r_{pair}" in self.input:
                return float(self.input[f"r_{pair}"]), int(self.input[f"n_{pair}"])
        return None

    def called(self, measure: str) -> str:
        """Return the name of `measure`, marked if it is based on a synthetic table."""
        mark = " (synthetic)" if measure in MARKET and self.synthetic else ""
        return f"{MEASURES[measure]}{mark}"

    def warning(self, *measures: str) -> str:
        """Return a warning if any of `measures` is based on a synthetic table, else nothing."""
        shown = self.synthetic and set(measures) & set(MARKET)
        return " The marketing table is synthetic." if shown else ""


def percent(share: float | None, measure: str = "") -> str:
    """Return `share` in percent as text."""
    # Only few distinct terms are kept, so their share needs two decimals.
    if share is None:
        return NONE
    return f"{100 * share:z.2f}" if measure == "distinct_terms" else f"{100 * share:z.1f}"
