"""p-linkability groups: greedy constrained clustering.

Zhu & Xiong, Anonymizing User Profiles for Personalized Web Search (TR-2010-007 and WWW 2010),
definition 1 and algorithm 1. A group satisfies the constraint if the distinct original terms of
its members number at least |U|avg / p, where |U|avg is the mean number of terms of a profile: a
bound on the average probability of linking a member to one of the group's terms, not on each.

Ties the paper leaves open: among equally close profiles the lowest row joins; among equally far
ones the lowest row is the next seed; a leftover member goes to the oldest of the closest groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_matrix

from ..augment import augment_profiles, similarity_to, unit_rows
from ..model import (
    BadParameter,
    Floats,
    Grouping,
    Ints,
    Profiles,
    Progress,
    Release,
    Unsatisfiable,
    silent,
)
from ..representative import represent
from ..wordnet import WordNet


def anonymize(
    profiles: Profiles,
    *,
    p: float = 0.4,
    a: int = 1,
    guarantee: str = "average",
    linkage: str = "seed",
    representative: str = "centroid",
    augment: str = "wordnet",
    combine: str = "max",
    sense: str = "profile",
    first_seed: str = "",
    wordnet: WordNet,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Release:
    """Group similar profiles until each group satisfies p-linkability; release one row a group."""
    parameters = {k: v for k, v in locals().items() if k not in _HANDED_IN}
    _allow("guarantee", guarantee, ("average",))
    _allow("linkage", linkage, ("seed",))
    _allow("augment", augment, ("none", "wordnet"))
    need = terms_needed(profiles, p)
    _refuse_too_few(profiles, need, p)
    first = profiles.number(first_seed) if first_seed else int(rng.integers(len(profiles)))
    parameters["first_seed"] = "given" if first_seed else "drawn"  # publish no user's name
    augmented = profiles.weights
    if augment == "wordnet":
        augmented = augment_profiles(
            profiles, wordnet, a=a, combine=combine, sense=sense, progress=progress
        )
    grouping = cluster(profiles, unit_rows(augmented), need, first)
    rows = represent(profiles, grouping, representative)
    return Release(rows, profiles.users, grouping.group_of, "p-linkability", parameters)


_HANDED_IN = ("profiles", "wordnet", "rng", "progress")


def _allow(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadParameter(f"{name}={value} must be one of {', '.join(allowed)}")


def terms_needed(profiles: Profiles, p: float) -> int:
    """Return ceil(|U|avg / p) in exact arithmetic."""
    if not (math.isfinite(p) and 0 < p <= 1):
        raise BadParameter(f"p={p} must be above 0 and at most 1")
    average = Fraction(int(profiles.sizes.sum()), len(profiles))
    return math.ceil(average / Fraction(str(p)))


def _refuse_too_few(profiles: Profiles, need: int, p: float) -> None:
    distinct = np.unique(profiles.weights.indices).size
    if distinct < need:
        raise Unsatisfiable(
            f"p={p} needs groups of {need} distinct terms, but all {len(profiles)} profiles "
            f"together have {distinct}; take a larger p or more users"
        )


@dataclass
class _Cluster:
    """A growing group: its members in order of joining, and the terms they cover."""

    members: list[int]
    covered: set[int]

    def add(self, row: int, terms: Ints) -> None:
        self.members.append(row)
        self.covered.update(terms.tolist())


def cluster(profiles: Profiles, unit: csr_matrix, need: int, first_seed: int) -> Grouping:
    """Run algorithm 1 with similarity to the seed (linkage=seed)."""
    unassigned = np.ones(len(profiles), dtype=bool)
    complete: list[_Cluster] = []
    leftover: list[int] = []
    seed = first_seed
    while True:
        similarity = similarity_to(unit, seed)
        group = _grow(profiles, seed, similarity, unassigned, need)
        if len(group.covered) < need:
            leftover = group.members
            break
        complete.append(group)
        if not unassigned.any():
            break
        rows = np.flatnonzero(unassigned)
        seed = int(rows[np.argmin(similarity[rows])])
    _assign(leftover, complete, unit)
    return Grouping.from_members([group.members for group in complete], len(profiles))


def _grow(
    profiles: Profiles, seed: int, similarity: Floats, unassigned: np.ndarray, need: int
) -> _Cluster:
    """Let the closest unassigned profiles join the seed until the terms suffice."""
    unassigned[seed] = False
    group = _Cluster([], set())
    group.add(seed, profiles.slice(seed)[0])
    rows = np.flatnonzero(unassigned)
    for row in rows[np.argsort(-similarity[rows], kind="stable")].tolist():
        if len(group.covered) >= need:
            break
        unassigned[row] = False
        group.add(row, profiles.slice(row)[0])
    return group


def _assign(leftover: list[int], complete: list[_Cluster], unit: csr_matrix) -> None:
    """Send each leftover to the complete group whose seed is closest, the oldest of equals."""
    seeds = np.array([group.members[0] for group in complete], dtype=np.int64)
    for row in leftover:
        closest = int(np.argmax(similarity_to(unit, row)[seeds]))
        complete[closest].members.append(row)
