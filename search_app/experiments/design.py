"""What an experiment is: inputs and variants; each variant becomes units, one release each.

A list in a variant's parameters, weights or vectors stands for one variant a value. Variants that
need the same release share one unit, which is made and searched once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WEIGHTS = ("binary", "tf", "tfidf", "recency")
VECTORS = ("tfidf", "tf")
LEAST_POOL, MOST_POOL = 31, 10_000  # of 30 documents all are relevant: nothing can be measured
MARKETING = "marketing"  # the parameter that the table takes the place of, when handed in
GENERAL = "general"  # the report of an experiment of one's own


@dataclass(frozen=True)
class Inputs:
    """How people and queries are taken from a log."""

    size: int | None = 150  # terms of a profile; who has fewer is left out; None: all terms
    users: int | None = 720  # at most, the first who have that many
    test_share: float = 0.2  # of each person's queries, the last by time
    terms: str = "wordnet"
    robots: int | None = None  # queries of a session: who has one with more is left out
    queries_per_user: int = 5  # held-out queries drawn of each person
    least_hits: int = 100  # documents a drawn query must find
    seed: int = 0  # of that draw


@dataclass(frozen=True)
class Variant:
    """One release to make, by each seed, and the modes and pools in which it is searched."""

    name: str  # of the table it comes from, such as figure-4
    method: str = ""  # empty: no release, for modes that need none
    parameters: Mapping[str, Any] = field(default_factory=dict)  # those that tell it from others
    weights: str = "binary"  # of the profiles
    vectors: str = "tfidf"  # of the documents
    modes: tuple[str, ...] = ("group",)  # none: a release is made, and nobody asks it
    pools: tuple[int, ...] = (100,)
    seeds: tuple[int, ...] = (0,)
    complete: Mapping[str, Any] = field(default_factory=dict)  # parameters with their defaults

    @property
    def label(self) -> str:
        """Return what tells this variant's release from others, for people to read."""
        given = [
            f"{name}={'off' if value is None else value}"
            for name, value in sorted(self.parameters.items())
        ]
        unusual = [
            f"{name}={value}"
            for name, value, usual in (
                ("weights", self.weights, WEIGHTS[0]),
                ("vectors", self.vectors, VECTORS[0]),
            )
            if value != usual
        ]
        return " ".join([self.method or "no release", *given, *unusual])


@dataclass(frozen=True)
class Experiment:
    """A named set of variants over the same inputs."""

    name: str
    title: str
    inputs: Inputs
    variants: tuple[Variant, ...]
    report: str = GENERAL  # what makes figures, tables and claims of its rows

    def named(self, name: str) -> tuple[Variant, ...]:
        """Return the variants that came from one table."""
        return tuple(variant for variant in self.variants if variant.name == name)
