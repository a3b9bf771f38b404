"""The judge of composition and pooled against one that says the promise in fractions."""

from __future__ import annotations

import os
import random
from fractions import Fraction
from pathlib import Path

from ..small_release import Rows, SmallRelease
from ..small_shares import composition, drawn_groups, holds, pooled
from .faults import ANYWHERE, Fault, compared

CASES = int(os.environ.get("VEILSEARCH_CASES") or 600)
KEYS = [bytes([number]) * 32 for number in range(8)]


def people(rng: random.Random) -> Rows:
    """Draw people, some terms of whom most have."""
    terms = "abcdefgh"[: rng.randint(2, 8)]
    weights = rng.choice([(1.0,), (1.0, 2.5, 1e-3)])
    chances = {term: rng.choice((0.1, 0.3, 0.6, 0.9)) for term in terms}
    found = {}
    for number in range(rng.randint(4, 20)):
        row = {t: rng.choice(weights) for t in terms if rng.random() < chances[t]}
        found[f"u{number}"] = row or {rng.choice(terms): 1.0}
    return found


def small(rng: random.Random) -> SmallRelease:
    """Make a release of either method, of users dealt out without a look at them."""
    profiles = people(rng)
    users = list(profiles)
    if rng.random() < 0.5:
        size = rng.randint(2, max(2, len(users) // 2))
        count = len(users) // size
        groups = [users[first::count] for first in range(count)]
        p = rng.choice((0.3, 0.5, 0.5, 0.75, 0.9, 1.0, 0.333333))
        given = {"size": rng.choice((None, size))}
        return composition(profiles, groups, p=p, **given)
    p = rng.choice((0.5, 0.5, 0.4, 0.3, 0.25, 1.0, 0.618034))
    meet = rng.choice(("false", "false", "true"))
    m = max(2, -(-1 // Fraction(str(p))))
    m += (meet == "true") * rng.randint(0, 2)
    key = rng.choice(KEYS)
    if m > len(users):
        return small(rng)
    groups, left = drawn_groups(profiles, m, key)
    return pooled(profiles, groups, left, key, p=p, meet_paper=meet)


def change_share(made: SmallRelease, rng: random.Random) -> None:
    terms = rng.choice(made.rows)["terms"]
    terms[rng.choice(list(terms))] *= rng.choice((2.0, 1 + 2**-52, 0.5))


def swap_members(made: SmallRelease, rng: random.Random) -> None:
    one, other = rng.choice(made.members), rng.choice(made.members)
    one["row"], other["row"] = other["row"], one["row"]


def move_member_with_count(made: SmallRelease, rng: random.Random) -> None:
    member, row = rng.choice(made.members), rng.choice(made.rows)
    for each in made.rows:
        each["users"] += (each is row) - (each["row"] == member["row"])
    member["row"] = row["row"]


def change_parameter(made: SmallRelease, rng: random.Random) -> None:
    values = {
        "p": (0.0, 0.2, 0.4, 0.5, 1, 1.0, 1.5, 1e-30, 0.5000001),
        "documents": (1, 2, 5001),
        "steps": (0, 1, 10**11, 1234567, 10**12),
        "size": (None, 1, 2, 3),
        "meet_paper": ("true", "false", "u1"),
    }
    name = rng.choice(sorted(made.parameters.keys() & values.keys()))
    made.parameters[name] = rng.choice(values[name])


def change_key(made: SmallRelease, rng: random.Random) -> None:
    made.key = rng.choice((None, {}, {"key": "00"}, {"key": 1}, {"key": rng.choice(KEYS).hex()}))


FAULTS: list[Fault] = [
    *ANYWHERE,
    change_share,
    swap_members,
    move_member_with_count,
    change_parameter,
    change_key,
]


def test_the_judge_and_the_oracle_agree(tmp_path: Path) -> None:
    found = compared(tmp_path, 11, CASES, small, FAULTS, holds)
    assert min(found.values()) > CASES / 100, found
    assert len(found) == 8
