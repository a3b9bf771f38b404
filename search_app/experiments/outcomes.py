"""What was measured: one block of values for each unit, mode and pool, over the same queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .design import Experiment, Variant

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
PassSeconds = Mapping[str, Sequence[float]]  # unit -> what each pass of its release took


@dataclass(frozen=True)
class Unit:
    """One release, made by one seed, with all modes and pools in which it is searched."""

    name: str  # u001, u002, ... in the order of the experiment
    label: str
    method: str  # empty: no release
    parameters: Mapping[str, Any]  # all of them, defaults included
    weights: str
    vectors: str
    seed: int
    asked: tuple[tuple[str, int], ...]  # (mode, pool)

    def serves(self, variant: Variant) -> bool:
        """Tell whether this is the release of a variant by one of its seeds."""
        complete = variant.complete or variant.parameters
        ours = (self.method, dict(self.parameters), self.weights, self.vectors)
        wanted = (variant.method, dict(complete), variant.weights, variant.vectors)
        return ours == wanted and self.seed in variant.seeds


@dataclass(frozen=True)
class Block:
    """The values of one unit in one mode over one pool: one of each measure a query."""

    unit: str
    mode: str
    pool: int
    hits: Ints  # documents the pool really has, query by query
    values: Mapping[str, Floats]  # by measure; NaN where it is undefined


@dataclass(frozen=True)
class Outcomes:
    """All blocks of an experiment; each lists the same queries in the same order."""

    experiment: Experiment
    units: tuple[Unit, ...]
    facts: Mapping[str, Mapping[str, float]]  # unit -> what is measured of its release
    person: Ints  # query -> number of the person who asked, from 1
    blocks: Mapping[tuple[str, str, int], Block]  # by unit, mode, pool

    def units_of(self, variant: Variant) -> tuple[Unit, ...]:
        """Return a variant's units, one a seed."""
        return tuple(unit for unit in self.units if unit.serves(variant))

    def blocks_of(self, variant: Variant, mode: str, pool: int) -> list[Block]:
        """Return a variant's blocks in a mode over a pool, one a seed."""
        return [self.blocks[unit.name, mode, pool] for unit in self.units_of(variant)]

    def values(self, variant: Variant, mode: str, pool: int, measure: str) -> Floats:
        """Return a measure query by query, averaged over the seeds."""
        found = [block.values[measure] for block in self.blocks_of(variant, mode, pool)]
        mean: Floats = np.mean(found, axis=0)
        return mean

    def facts_of(self, variant: Variant) -> list[Mapping[str, float]]:
        """Return what is measured of a variant's releases, one a seed."""
        return [self.facts[unit.name] for unit in self.units_of(variant)]

    @cached_property
    def people(self) -> int:
        """Count the people who ask."""
        return int(np.unique(self.person).size)
