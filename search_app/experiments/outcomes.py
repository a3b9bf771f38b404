"""What was measured: one block of values for each unit, mode and pool, over the same queries."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymizer.arrays import Floats, Ints

from ..measures.significance import by_person
from .design import Experiment, Unit, Variant

PassSeconds = Mapping[str, Sequence[float]]  # unit -> the seconds of each pass of its release


@dataclass(frozen=True)
class Block:
    """The values of one unit in one mode over one pool: for each measure, one value a query."""

    unit: str
    mode: str
    pool: int
    hits: Ints  # documents the pool really has, query by query
    values: Mapping[str, Floats]  # by measure; NaN where it is undefined


@dataclass(frozen=True)
class Outcomes:
    """All blocks of an experiment. Each lists the same queries in the same order."""

    experiment: Experiment
    units: tuple[Unit, ...]
    facts: Mapping[str, Mapping[str, float]]  # unit -> what is measured of its release
    person: Ints  # query -> number of the person who asked, from 1
    blocks: Mapping[tuple[str, str, int], Block]  # by unit, mode, pool

    @cached_property
    def _by_release(self) -> Mapping[Hashable, list[Unit]]:
        alike: dict[Hashable, list[Unit]] = {}
        for unit in self.units:
            alike.setdefault(unit.release, []).append(unit)
        return alike

    def units_of(self, variant: Variant) -> tuple[Unit, ...]:
        """Return the units of `variant`, one per seed."""
        alike = self._by_release.get(variant.release, [])
        return tuple(unit for unit in alike if unit.seed in variant.seeds)

    def blocks_of(self, variant: Variant, mode: str, pool: int) -> list[Block]:
        """Return the blocks of `variant` in `mode` over `pool`, one per seed."""
        return [self.blocks[unit.name, mode, pool] for unit in self.units_of(variant)]

    def measured(self, variant: Variant, mode: str, pool: int) -> bool:
        """Return whether `variant` was searched in `mode` over `pool` by each of its seeds."""
        seeds = {unit.seed for unit in self.units_of(variant) if (mode, pool) in unit.asked}
        return bool(variant.seeds) and seeds == set(variant.seeds)

    def searched(self, mode: str, pool: int, *tables: str) -> Iterator[Variant]:
        """Yield the variants of `tables` that ask for `mode` and were searched so over `pool`."""
        for variant in self.experiment.named(*tables):
            if mode in variant.modes and self.measured(variant, mode, pool):
                yield variant

    def by_people(self, variant: Variant, mode: str, pool: int, measure: str = "AP") -> Floats:
        """Return `measure` for each person, averaged over seeds."""
        values = [block.values[measure] for block in self.blocks_of(variant, mode, pool)]
        return by_person(np.mean(values, axis=0), self.person)

    def facts_of(self, variant: Variant, name: str = "") -> list[Mapping[str, float]]:
        """Return the facts of each release of `variant` that has the fact `name`."""
        every = (self.facts[unit.name] for unit in self.units_of(variant))
        return [facts for facts in every if not name or name in facts]

    def fact(self, variant: Variant, name: str) -> float | None:
        """Return the fact `name` of `variant`, averaged over seeds; None if it isn't known."""
        values = [facts[name] for facts in self.facts_of(variant, name)]
        return sum(values) / len(values) if values else None

    @cached_property
    def people(self) -> int:
        """Return how many people search."""
        return int(np.unique(self.person).size)
