"""The judge against a judge that says each promise word for word, in exact fractions."""

from __future__ import annotations

import math
import os
import random
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..small_release import PARAMETERS, Rows, SmallRelease, digits, made, true_facts
from .faults import ANYWHERE, Fault, compared

CASES = int(os.environ.get("VEILSEARCH_CASES") or 1_500)
EDGE = Decimal("1e-9")
WORDS = {
    "guarantee": ("average", "every-term"),
    "representative": ("centroid", "union"),
    "linkage": ("seed", "centroid"),
    "first_seed": ("given", "drawn"),
}


def holds(release: SmallRelease) -> bool:
    """Tell, word for word, whether a release keeps all that it says."""
    return (
        parameters_hold(release.parameters)
        and partition_holds(release)
        and not release.compact
        and all(promise(release) for promise in (groups_hold, rows_hold, facts_hold))
    )


def parameters_hold(given: dict[str, Any]) -> bool:
    if given.keys() != PARAMETERS.keys():
        return False
    p, k, l, t = (given[name] for name in "pklt")  # noqa: E741
    return (
        (p is None or 0 < p <= 1)
        and (k is None or k >= 1)
        and (l is None or l >= 1)
        and (t is None or 0 < t <= 1)
        and all(x is None or (type(x) is float and len(str(x)) < 9) for x in (p, l, t))
        and {p, k, l, t} != {None}
        and not (given["guarantee"] == "every-term" and p is None)
        and all(given[name] in words for name, words in WORDS.items())
    )


def partition_holds(release: SmallRelease) -> bool:
    names = [row["row"] for row in release.rows]
    count = Counter(member["row"] for member in release.members)
    return (
        names == [f"g{number:04d}" for number in range(1, len(names) + 1)]
        and not set(names) & set(release.profiles)
        and sorted(member["user"] for member in release.members) == sorted(release.profiles)
        and set(count) == set(names)
        and all(row["users"] == count[row["row"]] for row in release.rows)
    )


def groups_of(release: SmallRelease) -> list[list[str]]:
    return [
        [member["user"] for member in release.members if member["row"] == row["row"]]
        for row in release.rows
    ]


def groups_hold(release: SmallRelease) -> bool:
    profiles, given = release.profiles, release.parameters
    everybody = summed(profiles, list(profiles))
    size = Fraction(sum(len(row) for row in profiles.values()), len(profiles))
    for group in groups_of(release):
        weights = summed(profiles, group)
        if given["p"] is not None:
            p = Fraction(str(given["p"]))
            if size / len(weights) > p:
                return False
            if given["guarantee"] == "every-term" and len(group) < 1 / p:
                return False
        if given["k"] is not None and len(group) < given["k"]:
            return False
        if given["l"] is not None and entropy(weights) < Decimal(given["l"]).ln() - EDGE:
            return False
        if given["t"] is not None and distance(weights, everybody) > Decimal(given["t"]) + EDGE:
            return False
    return True


def summed(profiles: Rows, users: list[str]) -> dict[str, Fraction]:
    weights: dict[str, Fraction] = {}
    for user in users:
        for term, weight in profiles[user].items():
            weights[term] = weights.get(term, Fraction()) + Fraction(weight)
    return weights


def shares(weights: dict[str, Fraction]) -> dict[str, Decimal]:
    total = sum(weights.values())
    found = {term: weight / total for term, weight in weights.items()}
    return {term: Decimal(x.numerator) / Decimal(x.denominator) for term, x in found.items()}


def entropy(weights: dict[str, Fraction]) -> Decimal:
    return -sum((x * x.ln() for x in shares(weights).values()), Decimal())


def distance(weights: dict[str, Fraction], everybody: dict[str, Fraction]) -> Decimal:
    mine, all_ = shares(weights), shares(everybody)
    found = Decimal()
    for term, a in all_.items():
        m = mine.get(term, Decimal())
        for x in (m, a):
            if x:
                found += x * (2 * x / (m + a)).ln() / Decimal(2).ln()
    return max(found / 2, Decimal()).sqrt()


def rows_hold(release: SmallRelease) -> bool:
    profiles, given = release.profiles, release.parameters
    binary = all(weight == 1 for row in profiles.values() for weight in row.values())
    for row, group in zip(release.rows, groups_of(release), strict=True):
        if list(row["terms"]) != sorted(row["terms"]) or not row["terms"]:
            return False
        may = {}
        for term in summed(profiles, group):
            weights = [Fraction(profiles[u][term]) for u in group if term in profiles[u]]
            share = Fraction(len(weights), len(group))
            if given["guarantee"] == "average" or share <= Fraction(str(given["p"])):
                may[term] = weights
        if may.keys() != row["terms"].keys():
            return False
        for term, weights in may.items():
            if not right(row["terms"][term], weights, len(group), given, binary):
                return False
    return True


def right(
    weight: float, weights: list[Fraction], members: int, given: dict[str, Any], binary: bool
) -> bool:
    if not (math.isfinite(weight) and weight > 0):
        return False
    if given["representative"] == "union":
        return Fraction(weight) == max(weights)
    mean = sum(weights) / members
    if binary:
        return weight == float(mean)
    return abs(Fraction(weight) - mean) <= mean * Fraction(1, 10**12)


def facts_hold(release: SmallRelease) -> bool:
    released = [row["terms"] for row in release.rows]
    true = true_facts(release.profiles, groups_of(release), released)
    if true.keys() != release.facts.keys():
        return False
    for name, value in true.items():
        stated = release.facts[name]
        if repr(stated) != repr(digits(value) if isinstance(value, Fraction) else value):
            return False
    return True


# -- small releases, most of them spoilt -----------------------------------------------------------


def small(rng: random.Random) -> SmallRelease:
    """Make a small release that may or may not keep its promise."""
    terms = rng.sample("abcdefgh", rng.randint(2, 8))
    binary = rng.random() < 0.5
    weights = rng.choice([(0.1, 0.3, 1.0, 2.5, 7.0)] * 3 + [(1e300, 1.0, 1e-300)])
    users = [f"u{number}" for number in range(rng.randint(1, 7))]
    profiles = {
        user: {
            term: 1.0 if binary else rng.choice(weights)
            for term in rng.sample(terms, rng.randint(1, min(4, len(terms))))
        }
        for user in users
    }
    shuffled = rng.sample(users, len(users))
    count = rng.randint(1, max(1, len(users) // 2))
    given = {
        **PARAMETERS,
        "p": rng.choice((0.2, 0.4, 0.5, 0.6, 0.666667, 0.8, 0.9, 1.0, 1.0)),
        "k": rng.choice((None, None, 1, 2, 3)),
        "l": rng.choice((None, None, None, 1.0, 1.5, 2.0, 3.0)),
        "t": rng.choice((None, None, None, 0.2, 0.5, 1.0)),
        "representative": rng.choice(("centroid", "union")),
    }
    if rng.random() < 0.2 and given["k"]:
        given["p"] = None
    elif rng.random() < 0.3:
        given["guarantee"] = "every-term"
    return made(profiles, [shuffled[at::count] for at in range(count)], given)


def change_weight(release: SmallRelease, rng: random.Random) -> None:
    terms = rng.choice(release.rows)["terms"]
    if terms:
        by = rng.choice((2.0, 1 + 1e-11, 1 - 1e-11, 1 + 1e-13, 0.0, -1.0, math.nan, math.inf))
        terms[rng.choice(list(terms))] *= by


def turn_terms(release: SmallRelease, rng: random.Random) -> None:
    row = rng.choice(release.rows)
    row["terms"] = dict(reversed(row["terms"].items()))


def strange_member(release: SmallRelease, rng: random.Random) -> None:
    rng.choice(release.members)["user"] = "nobody"


def rename_row(release: SmallRelease, rng: random.Random) -> None:
    rng.choice(release.rows)["row"] = rng.choice(("u0", "g0001", "g1", "x"))


def drop_fact(release: SmallRelease, rng: random.Random) -> None:
    del release.facts[rng.choice(list(release.facts))]


def change_parameter(release: SmallRelease, rng: random.Random) -> None:
    given = release.parameters
    name, values = rng.choice(
        [
            ("p", (0.0, 1.5, 0.1, 0.3, 1.0, 1, 0.4000001, None)),
            ("k", (0, 1, 2, 3, None)),
            ("l", (0.5, 1.0, 2.0, 4.0, 2, None)),
            ("t", (0.0, 0.1, 0.3, 2.0, 1, None)),
            ("guarantee", ("average", "every-term", "none")),
            ("representative", ("centroid", "union", "u0")),
            ("linkage", ("seed", "centroid", "u1")),
            ("first_seed", ("given", "u0")),
        ]
    )
    given[name] = rng.choice(values)


def drop_parameter(release: SmallRelease, rng: random.Random) -> None:
    del release.parameters[rng.choice(list(release.parameters))]


def write_without_blanks(release: SmallRelease, _rng: random.Random) -> None:
    release.compact = True


FAULTS: list[Fault] = [
    *ANYWHERE,
    change_weight,
    change_weight,
    turn_terms,
    strange_member,
    rename_row,
    drop_fact,
    change_parameter,
    change_parameter,
    drop_parameter,
    write_without_blanks,
]


def test_the_judge_and_the_oracle_agree(tmp_path: Path) -> None:
    with localcontext(prec=30):
        found = compared(tmp_path, 4, CASES, small, FAULTS, holds)
    kept = sum(count for (_, _, held), count in found.items() if held)
    assert CASES / 10 < kept < CASES * 9 / 10, found
