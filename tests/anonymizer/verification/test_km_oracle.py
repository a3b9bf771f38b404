"""The judge of reduced profiles against one that says the promise word for word, by itertools."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from ..small_logs import is_anonymous
from ..small_reduced import PARAMETERS, content, facts_of, reduced
from ..small_release import Rows, SmallRelease
from .faults import ANYWHERE, Fault, compared

CASES = int(os.environ.get("VEILSEARCH_CASES") or 600)
WORDS = {"frequencies": ("keep", "drop"), "marketing": ("none", "synthetic", "given")}
VALUES = ("bid", "clicks", "impressions", "revenue")


def holds(release: SmallRelease) -> bool:
    """Tell, word for word, whether a release keeps all that it says."""
    given, profiles = release.parameters, release.profiles
    if not parameters_hold(release) or not partition_holds(release):
        return False
    rows = {m["user"]: rows_by_name(release)[m["row"]] for m in release.members}
    every = sorted({term for row in profiles.values() for term in row})
    for user, row in rows.items():
        if list(row) != sorted(row) or not row.keys() <= profiles[user].keys():
            return False
        for term, weight in row.items():
            if weight != (profiles[user][term] if given["frequencies"] == "keep" else 1.0):
                return False
    inside = [content(row["terms"], every) for row in release.rows]
    return (
        is_anonymous(list(rows.values()), given["k"], given["m"])
        and inside == sorted(inside)
        and deletions_hold(release, rows)
        and facts_hold(release, rows)
    )


def parameters_hold(release: SmallRelease) -> bool:
    given = release.parameters
    if given.keys() != PARAMETERS.keys() or not all(given[n] in w for n, w in WORDS.items()):
        return False
    if (given["target"] in VALUES) is (given["marketing"] == "none"):
        return False
    if given["algorithm"] == "insert":
        passes = {at for of in release.deletions or () for at in of["terms"].values()}
        if (given["ties"], given["reinsert"]) != ("random", "none") or not passes <= {1.0}:
            return False
    return given["k"] >= 1 and 1 <= given["m"] <= 4


def rows_by_name(release: SmallRelease) -> Rows:
    return {row["row"]: row["terms"] for row in release.rows}


def partition_holds(release: SmallRelease) -> bool:
    users = [member["user"] for member in release.members]
    names = [row["row"] for row in release.rows]
    return (
        sorted(member["row"] for member in release.members) == names
        and names == [f"g{number:04d}" for number in range(1, len(names) + 1)]
        and len({*users}) == len(users) > 0
        and {*users} <= release.profiles.keys()
        and all(row["users"] == 1 and row["terms"] for row in release.rows)
    )


def deletions_hold(release: SmallRelease, rows: Rows) -> bool:
    records = release.deletions
    told = {
        (record["user"], term): at
        for record in records or ()
        for term, at in record["terms"].items()
    }
    gone = {
        (user, term)
        for user, row in release.profiles.items()
        for term in row
        if term not in rows.get(user, {})
    }
    once = len({record["user"] for record in records or ()}) == len(records or ())
    return (
        (records is None) == (not gone)
        and once
        and all(record["terms"] for record in records or ())
        and told.keys() == gone
        and all(at >= 1 and at == int(at) for at in told.values())
    )


def facts_hold(release: SmallRelease, rows: Rows) -> bool:
    true = facts_of(release.profiles, rows)
    return {name: repr(fact) for name, fact in true.items()} == {
        name: repr(fact) for name, fact in release.facts.items()
    }


# -- small releases, made by deleting at random ----------------------------------------------------


def small(rng: random.Random) -> SmallRelease:
    """Delete at random, or until the promise is kept; now and then all, now and then nothing."""
    terms = "abcdefg"[: rng.randint(2, 7)]
    weights = rng.choice([(1.0,), (1.0, 2.0, 3.0), (0.1, 1e300, 1e-300)])
    most = min(5, len(terms))
    profiles = {
        f"u{number}": {
            term: rng.choice(weights) for term in rng.sample(terms, rng.randint(1, most))
        }
        for number in range(rng.randint(1, 9))
    }
    k, m = rng.choice((1, 2, 2, 2, 3)), rng.randint(1, 4)
    share = rng.choice((0.0, 0.1, 0.3, 0.6))
    kept = {user: {t for t in row if rng.random() >= share} for user, row in profiles.items()}
    if rng.random() < 0.5:
        anonymize(kept, k, m, rng)
    if not any(kept.values()):  # it would be no release
        user = rng.choice(list(kept))
        kept[user] = {*profiles[user]}
    gone = [(u, t) for u, row in profiles.items() for t in sorted(row) if t not in kept[u]]
    passes = {cell: rng.choice((1, 2, 3, 7)) for cell in gone}
    chosen = {"k": k, "m": m, "frequencies": rng.choice(WORDS["frequencies"])}
    if rng.random() < 0.3:
        chosen |= {"target": "revenue", "marketing": rng.choice(("synthetic", "given"))}
    if rng.random() < 0.5:
        chosen["algorithm"], passes = "insert", dict.fromkeys(passes, 1)
    else:
        chosen |= {
            "ties": rng.choice(("random", "first")),
            "reinsert": rng.choice(("none", "groups")),
        }
    return reduced(profiles, kept, chosen, passes)


def anonymize(kept: dict[str, set[str]], k: int, m: int, rng: random.Random) -> None:
    """Delete terms of whoever has a combination that is too rare, until nobody has one."""
    while not is_anonymous(list(kept.values()), k, m):
        row = kept[rng.choice([user for user, some in kept.items() if some])]
        rest = [other for other in kept.values() if other is not row]
        if not is_anonymous([*rest, row], k, m):
            row.discard(rng.choice(sorted(row)))


def change_weight(release: SmallRelease, rng: random.Random) -> None:
    terms = rng.choice(release.rows)["terms"]
    terms[rng.choice(list(terms))] *= rng.choice((2.0, 1 + 2**-50, 0.5))


def change_parameter(release: SmallRelease, rng: random.Random) -> None:
    values = {"k": (0, 1, 2, 3), "m": (0, 1, 2, 3, 4, 5), "marketing": ("given", "u0", "a/b.csv")}
    values |= {"algorithm": ("insert", "greedy"), "ties": ("random", "first")}
    values |= {"reinsert": ("none", "groups"), "target": ("bid", "users")}
    name = rng.choice(list(values))
    release.parameters[name] = rng.choice(values[name])


def change_pass(release: SmallRelease, rng: random.Random) -> None:
    if release.deletions:
        terms = rng.choice(release.deletions)["terms"]
        terms[rng.choice(list(terms))] = rng.choice((1, 2.0, 3, 4, 1.5, 1e6))


def change_deletion(release: SmallRelease, rng: random.Random) -> None:
    if release.deletions:
        terms = rng.choice(release.deletions)["terms"]
        if rng.random() < 0.5:
            del terms[rng.choice(list(terms))]
        else:
            terms[rng.choice("abcdefgz")] = 1.0


def drop_deletions(release: SmallRelease, rng: random.Random) -> None:
    if release.deletions and rng.random() < 0.5:
        release.deletions.remove(rng.choice(release.deletions))
    else:
        release.deletions = rng.choice((None, []))


FAULTS: list[Fault] = [
    *ANYWHERE,
    change_weight,
    change_parameter,
    change_pass,
    change_deletion,
    drop_deletions,
]


def hide(patch: pytest.MonkeyPatch, rng: random.Random) -> None:
    """Let deletions be read, not foreseen; let combinations fit into no block."""
    if rng.random() < 0.3:
        patch.setattr("anonymizer.verification.deletions._foreseen", lambda *_: None)
    if rng.random() < 0.3:
        patch.setattr("anonymizer.verification.combinations.BLOCK", rng.randint(0, 5))


def test_the_judge_and_the_oracle_agree(tmp_path: Path) -> None:
    found = compared(tmp_path, 7, CASES, small, FAULTS, holds, hide)
    assert min(found.values()) > CASES / 50, found
    assert len(found) == 4
