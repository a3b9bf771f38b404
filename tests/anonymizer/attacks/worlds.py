"""Releases that attacks are tried on, made by naive code from dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anonymizer.attacks import ATTACKS, Attacked, AttackResult
from anonymizer.model import Profiles, Release
from anonymizer.promise import Promise

Rows = dict[str, dict[str, float]]

BELIEF = Promise("group", "belief", once=True)
HIDING = Promise("group", "belief", once=True, hides_members=True)
AVERAGE = Promise("group", "average")
EVERY_TERM = Promise("group", "every-term")
VOCABULARY = Promise("group", "vocabulary")
COMBINATIONS = Promise("person", "combinations")

# Two groups of two; each term has two owners.
FOUR: Rows = {
    "u1": {"a": 1, "b": 1},
    "u2": {"a": 1, "c": 1},
    "u3": {"b": 1, "d": 1},
    "u4": {"c": 1, "d": 1},
}
PAIRS = (("u1", "u2"), ("u3", "u4"))


def drawn(users: int, seed: int, most: int = 6) -> Rows:
    """Draw people with 2 to `most` of 12 terms, some more often than others."""
    rng = np.random.default_rng(seed)
    terms, chances = [f"t{at:02d}" for at in range(12)], 1 / np.arange(1, 13)
    return {
        f"u{user}": {
            str(term): 1.0
            for term in sorted(
                rng.choice(
                    terms, rng.integers(2, most + 1), replace=False, p=chances / chances.sum()
                )
            )
        }
        for user in range(users)
    }


def dealt(users: Sequence[str], groups: int, seed: int = 0) -> list[list[str]]:
    """Deal users out at random to so many groups."""
    order = np.random.default_rng(seed).permutation(len(users))
    return [[users[at] for at in order[group::groups]] for group in range(groups)]


def centroids(people: Rows, groups: Sequence[Sequence[str]]) -> list[dict[str, float]]:
    return [
        {
            term: sum(term in people[user] for user in group) / len(group)
            for term in sorted({term for user in group for term in people[user]})
        }
        for group in groups
    ]


def release(
    people: Rows,
    groups: Sequence[Sequence[str]],
    promise: Promise = BELIEF,
    rows: Sequence[Mapping[str, float]] = (),
    **parameters: Any,
) -> Release:
    """Return the release of these groups; its rows are centroids if none are given."""
    made = rows or centroids(people, groups)
    named = Profiles.from_rows({f"g{at:04d}": row for at, row in enumerate(made, 1)})
    row_of = {user: at for at, group in enumerate(groups) for user in group}
    users = tuple(user for user in people if user in row_of)
    return Release(
        named,
        users,
        np.array([row_of[user] for user in users]),
        "by hand",
        parameters,
        promise=promise,
    )


def attacked(people: Rows, made: Release, **how: Any) -> Attacked:
    return Attacked(Profiles.from_rows(people), made, **{"known": (1,), **how})


def figures(
    name: str, people: Rows, made: Release, **how: Any
) -> dict[tuple[int | None, str], AttackResult]:
    """Return the results of an attack by known terms and measure."""
    results = ATTACKS[name](attacked(people, made, **how))
    assert all(one.attack == name for one in results)
    assert all(one.low - 1e-12 <= one.value <= one.high + 1e-12 for one in results)
    return {(one.known, one.measure): one for one in results}
