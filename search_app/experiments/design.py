"""What an experiment is: inputs and variants. Each variant becomes units, one release each.

A list of values in a variant's parameters, weights or vectors gives one variant per value.
Variants that need the same release share one unit, which is made and searched once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from anonymizer.methods.method import Options, option

WEIGHTS = ("binary", "tf", "tfidf", "recency")
SESSIONS = "sessions"  # in place of weights: sessions instead of people, with counts of terms
VECTORS = ("tfidf", "tf")
# The gold standard calls 30 documents relevant. In a smaller pool every order would have AP 1.
LEAST_POOL, MOST_POOL = 31, 10_000
MARKETING = "marketing"  # a parameter of methods; an experiment gives its own table instead
GENERAL = "general"  # the report of experiments that follow no paper
Parameters = Mapping[str, str | int | float | None]  # a method's parameters by name


@dataclass(frozen=True)
class ExperimentInputs(Options):
    """How people and queries are taken from a log."""

    size: int | None = option(
        150, "terms of a profile; people with fewer are skipped (off: all)", least=1, most=100_000
    )
    users: int | None = option(
        720, "at most these people, the first with such a profile (off: all)", least=2, most=10**7
    )
    test_share: float = option(
        0.2, "share of each person's queries, the last by time, that is held out for tests"
    )
    terms: str = option(
        "wordnet",
        "which words are terms: those of wordnet, all, or letters-digits",
        choices=("wordnet", "all", "letters-digits"),
    )
    robots: int | None = option(
        None,
        "skip people with more queries than this in a session (gap: 30 minutes)",
        least=1,
        most=10**6,
    )
    queries_per_user: int = option(
        5, "test queries of each person, drawn from these", least=1, most=1000
    )
    least_hits: int = option(
        100, "documents that a test query must find", least=LEAST_POOL, most=MOST_POOL
    )
    # The paper's people have more than 44.
    least_queries: int = option(
        45, "people with fewer queries are not in the log that is released", least=1, most=10**6
    )
    victims: int | None = option(
        None, "people of each release who are attacked (off: no attacks)", least=1, most=10**6
    )
    seed: int = option(0, "seed of drawing the test queries", least=0, most=2**32 - 1)

    def range_faults(self) -> list[str]:
        """Return which values are out of range."""
        share = f"test_share={self.test_share:g} must be above 0 and below 1"
        return [*super().range_faults(), *[share] * (not 0 < self.test_share < 1)]


@dataclass(frozen=True)
class Variant:
    """A release to make with each seed, and the modes and pools in which to search by it."""

    name: str  # of its [[variant]] table, such as figure-4
    method: str = ""  # empty: no release, for modes that need none
    parameters: Parameters = field(default_factory=dict)  # those that differ from the defaults
    weights: str = "binary"  # of the profiles
    vectors: str = "tfidf"  # of the documents
    modes: tuple[str, ...] = ("group",)  # none: the release is made but not searched by
    pools: tuple[int, ...] = (100,)
    seeds: tuple[int, ...] = (0,)
    complete: Parameters = field(default_factory=dict)  # parameters with their defaults

    @property
    def given(self) -> Parameters:
        """Return all parameters, with defaults where they are known."""
        return self.complete or self.parameters

    @property
    def release(self) -> Hashable:
        """Return what tells the release from those of other variants, whatever its seed."""
        return self.method, frozenset(self.given.items()), self.weights, self.vectors

    def number(self, name: str) -> float | None:
        """Return the parameter `name` if it is a number, else None."""
        value = self.given.get(name)
        return float(value) if isinstance(value, int | float) else None

    @property
    def p(self) -> float:
        """Return the bound p of a variant that has one."""
        return float(self.given["p"] or 0)

    @property
    def unusual(self) -> list[str]:
        """Return the weights and vectors that differ from the usual ones, as texts."""
        pairs = (("weights", self.weights, WEIGHTS[0]), ("vectors", self.vectors, VECTORS[0]))
        return [f"{name}={value}" for name, value, usual in pairs if value != usual]

    @property
    def label(self) -> str:
        """Return a readable name of this variant's release, different for each release."""
        given = [
            f"{name}={'off' if value is None else value}"
            for name, value in sorted(self.parameters.items())
        ]
        return " ".join([self.method or "no release", *given, *self.unusual])


@dataclass(frozen=True)
class Unit:
    """One release, made with one seed, and all modes and pools in which it is searched."""

    name: str  # u001, u002, ... in the order of the experiment
    label: str
    method: str  # empty: no release
    parameters: Parameters  # all of them, defaults included
    weights: str
    vectors: str
    seed: int
    asked: tuple[tuple[str, int], ...]  # (mode, pool)

    @property
    def release(self) -> Hashable:
        """Return what tells the release from others, as a variant's does."""
        return self.method, frozenset(self.parameters.items()), self.weights, self.vectors

    def serves(self, variant: Variant) -> bool:
        """Return whether this unit is the release of `variant` by one of its seeds."""
        return self.release == variant.release and self.seed in variant.seeds


@dataclass(frozen=True)
class Experiment:
    """A named set of variants over the same inputs."""

    name: str
    title: str
    inputs: ExperimentInputs
    variants: tuple[Variant, ...]
    report: str = GENERAL  # the report that makes figures, tables and claims from its rows

    def named(self, *names: str) -> tuple[Variant, ...]:
        """Return the variants from the tables called `names`, table by table."""
        return tuple(variant for name in names for variant in self.variants if variant.name == name)

    def ordered(self, table: str, name: str) -> list[tuple[float, Variant]]:
        """Return the variants of `table` that have the parameter `name`, by ascending value."""
        values = ((variant.number(name), variant) for variant in self.named(table))
        known = [(value, variant) for value, variant in values if value is not None]
        return sorted(known, key=lambda pair: pair[0])


def units_of(variants: Sequence[Variant]) -> tuple[Unit, ...]:
    """Return one unit per release that `variants` need, with all modes and pools they ask for."""
    needed: dict[tuple[object, ...], tuple[Variant, int, dict[str, set[int]]]] = {}
    for variant in variants:
        given = tuple(sorted((name, repr(value)) for name, value in variant.given.items()))
        for seed in variant.seeds:
            key = (variant.method, given, variant.weights, variant.vectors, seed)
            pools_by_mode = needed.setdefault(key, (variant, seed, {}))[2]
            for mode in variant.modes:
                pools_by_mode.setdefault(mode, set()).update(variant.pools)
    return tuple(
        Unit(
            name=f"u{number:03d}",
            label=first.label,
            method=first.method,
            parameters=first.given,
            weights=first.weights,
            vectors=first.vectors,
            seed=seed,
            asked=tuple((mode, pool) for mode, some in pools.items() for pool in sorted(some)),
        )
        for number, (first, seed, pools) in enumerate(needed.values(), 1)
    )
