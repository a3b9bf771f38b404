"""Small releases of reduced profiles, made by naive code that shares nothing with the product's."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

from .small_release import Rows, SmallRelease

PARAMETERS: dict[str, Any] = {
    "k": 2,
    "m": 2,
    "algorithm": "greedy",
    "target": "logsize",
    "ties": "random",
    "reinsert": "none",
    "frequencies": "keep",
    "marketing": "none",
}
Kept = Mapping[str, Collection[str]]


def reduced(
    profiles: Rows,
    kept: Kept,
    parameters: Mapping[str, Any] = PARAMETERS,
    passes: Mapping[tuple[str, str], int] | None = None,
) -> SmallRelease:
    """Make the release of what is kept of each user's terms, whether or not it is anonymous."""
    given = {**PARAMETERS, **parameters}
    own = given["frequencies"] == "keep"
    rows = {
        user: {term: row[term] if own else 1.0 for term in sorted(row) if term in kept[user]}
        for user, row in profiles.items()
    }
    rows = {user: row for user, row in rows.items() if row}
    every = sorted({term for row in profiles.values() for term in row})
    order = sorted(rows, key=lambda user: content(rows[user], every))
    names = {user: f"g{number:04d}" for number, user in enumerate(order, 1)}
    deletions = [
        {"user": user, "terms": {t: float((passes or {}).get((user, t), 1)) for t in gone}}
        for user, row in profiles.items()
        if (gone := [term for term in sorted(row) if term not in kept[user]])
    ]
    return SmallRelease(
        profiles,
        [{"row": names[user], "users": 1, "terms": rows[user]} for user in order],
        [{"user": user, "row": names[user]} for user in profiles if user in rows],
        given,
        facts_of(profiles, rows),
        method="km-anonymity",
        deletions=deletions or None,
    )


def content(row: Mapping[str, float], every: list[str]) -> tuple[bytes, bytes]:
    """Return what rows are sorted by: their terms' numbers, then their weights, as bytes."""
    numbers = [every.index(term) for term in row]
    return struct.pack(f">{len(row)}i", *numbers), struct.pack(f">{len(row)}d", *row.values())


def facts_of(profiles: Rows, rows: Rows) -> dict[str, int | float]:
    """Return all facts: shares have two decimals, of the quotient of sums rounded once."""
    whole = sum((Fraction(w) for row in profiles.values() for w in row.values()), Fraction())
    left = sum((Fraction(profiles[user][term]) for user in rows for term in rows[user]), Fraction())
    terms, kept = ({term for row in of.values() for term in row} for of in (profiles, rows))
    return {
        "users": len(rows),
        "groups": len(rows),
        "terms_released": sum(map(len, rows.values())),
        "users_left_out": len(profiles) - len(rows),
        "users_kept": round(len(rows) / len(profiles), 2),
        "distinct_terms_kept": round(len(kept) / len(terms), 2),
        "log_size_kept": round(float(left) / float(whole), 2),
    }


def supports(rows: Collection[Collection[str]], size: int) -> dict[tuple[str, ...], int]:
    """Count the rows that each combination of so many terms stands in."""
    found: dict[tuple[str, ...], int] = {}
    for row in rows:
        for some in combinations(sorted(row), size):
            found[some] = found.get(some, 0) + 1
    return found


# Two pairs with the same terms; what is one user's own is deleted, and lena has nothing else.
PROFILES: Rows = {
    "anna": {"apple": 1.0, "banana": 2.0, "own1": 4.0},
    "berta": {"apple": 3.0, "banana": 1.0, "own2": 1.0},
    "carla": {"cherry": 1.0, "date": 1.0, "elder": 5.0},
    "dora": {"cherry": 1.0, "date": 1.0, "elder": 1.0},
    "lena": {"own3": 7.0},
}
KEPT = {
    "anna": ["apple", "banana"],
    "berta": ["apple", "banana"],
    "carla": ["cherry", "date", "elder"],
    "dora": ["cherry", "date", "elder"],
    "lena": [],
}
PASSES = {("anna", "own1"): 1, ("berta", "own2"): 2, ("lena", "own3"): 3}


def small(**parameters: Any) -> SmallRelease:
    """Make a release of four of these five users, who are two and two alike."""
    return reduced(PROFILES, KEPT, parameters, PASSES)
