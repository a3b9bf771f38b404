"""The judge of reduced profiles against one that says the promise word for word, by itertools."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from anonymizer.measures.verification import verify

from .small_logs import is_anonymous
from .small_reduced import PARAMETERS, content, facts_of, reduced
from .small_release import Rows, SmallRelease

CASES = 10_000
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


# -- ten thousand small releases, made by deleting at random ---------------------------------------


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


Fault = Callable[[SmallRelease, random.Random], None]


def change_weight(release: SmallRelease, rng: random.Random) -> None:
    terms = rng.choice(release.rows)["terms"]
    terms[rng.choice(list(terms))] *= rng.choice((2.0, 1 + 2**-50, 0.5))


def drop_term(release: SmallRelease, rng: random.Random) -> None:
    terms = rng.choice(release.rows)["terms"]
    del terms[rng.choice(list(terms))]


def invent_term(release: SmallRelease, rng: random.Random) -> None:
    row = rng.choice(release.rows)
    row["terms"] = dict(sorted({**row["terms"], rng.choice("abcdefgz"): 1.0}.items()))


def swap_rows(release: SmallRelease, rng: random.Random) -> None:
    one, other = rng.choice(release.rows), rng.choice(release.rows)
    one["terms"], other["terms"] = other["terms"], one["terms"]


def swap_places(release: SmallRelease, rng: random.Random) -> None:
    """Two users' rows change places with all that is theirs."""
    one, other = rng.choice(release.rows), rng.choice(release.rows)
    one["terms"], other["terms"] = other["terms"], one["terms"]
    new = {one["row"]: other["row"], other["row"]: one["row"]}
    for member in release.members:
        member["row"] = new.get(member["row"], member["row"])


def move_member(release: SmallRelease, rng: random.Random) -> None:
    rng.choice(release.members)["row"] = rng.choice(release.rows)["row"]


def drop_member(release: SmallRelease, rng: random.Random) -> None:
    release.members.remove(rng.choice(release.members))


def repeat_member(release: SmallRelease, rng: random.Random) -> None:
    release.members.append(dict(rng.choice(release.members)))


def recount(release: SmallRelease, rng: random.Random) -> None:
    rng.choice(release.rows)["users"] += rng.choice((-1, 1))


def change_fact(release: SmallRelease, rng: random.Random) -> None:
    name = rng.choice(list(release.facts))
    release.facts[name] *= rng.choice((2, 1 + 1e-11, 1 + 1e-14))


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
    change_weight,
    drop_term,
    invent_term,
    swap_rows,
    swap_places,
    move_member,
    drop_member,
    repeat_member,
    recount,
    change_fact,
    change_parameter,
    change_pass,
    change_deletion,
    drop_deletions,
]


def test_the_judge_and_the_oracle_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(7)  # noqa: S311
    found: Counter[tuple[bool, bool]] = Counter()
    for number in range(CASES):
        release = small(rng)
        if rng.random() < 0.3:  # rows and deletions are read, not foreseen
            monkeypatch.setattr("anonymizer.measures.verification.foresee", lambda *_: None)
            monkeypatch.setattr("anonymizer.measures.judging_deletions._foreseen", lambda *_: None)
        if rng.random() < 0.3:  # combinations fit into no block
            monkeypatch.setattr("anonymizer.measures.combinations.BLOCK", rng.randint(0, 5))
        broken = rng.random() < 0.4
        if broken:
            rng.choice(FAULTS)(release, rng)
        profiles = release.write_profiles(tmp_path / "p.jsonl")
        verdict = verify(release.write(tmp_path / "r"), profiles)
        monkeypatch.undo()
        assert verdict.holds == holds(release), f"case {number}: {release} {verdict}"
        found[broken, verdict.holds] += 1
    assert min(found.values()) > CASES / 50, found
    assert len(found) == 4
