"""Small releases by composition and pooled, made share by share in fractions; and their oracle."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from .small_release import Rows, SmallRelease, digits, true_facts

KEY = bytes(range(32))
COMPOSITION = {"p": 0.4, "size": None, "documents": 2000, "steps": None, "min_users": 1}
POOLED = {"p": 0.4, "meet_paper": "false", "documents": 2000, "steps": None, "min_users": 1}
Row = dict[str, Fraction]


def numbers_of(key: bytes, what: str, count: int) -> tuple[int, ...]:
    """Return the number that the key gives each of so many items."""
    return struct.unpack(f"<{count}Q", hashlib.shake_256(key + what.encode()).digest(8 * count))


def order_of(key: bytes, what: str, count: int) -> list[int]:
    numbers = numbers_of(key, what, count)
    return sorted(range(count), key=lambda item: numbers[item])


def left_over(key: bytes, users: Sequence[str], m: int) -> list[str]:
    """Return who is in no group of m."""
    by_number = sorted(users, key=lambda user: numbers_of(key, f"left over {user}", 1))
    return [user for user in users if user in by_number[: len(users) % m]]


def terms_of(profiles: Rows) -> list[str]:
    return sorted({term for row in profiles.values() for term in row})


def priors(profiles: Rows) -> Row:
    n = len(profiles)
    return {t: Fraction(sum(t in r for r in profiles.values()), n) for t in terms_of(profiles)}


def shares(profiles: Rows, group: Sequence[str]) -> Row:
    return {t: Fraction(sum(t in profiles[u] for u in group), len(group)) for t in priors(profiles)}


def pooled_column(share: list[Fraction], prior: Fraction, p: Fraction, number: Sequence[int]
                  ) -> list[Fraction]:  # fmt: skip
    """Do as section E says with a term's column of shares."""
    every = range(len(share))
    order = sorted(every, key=lambda g: (-share[g], number[g]))
    ends = [(order, {g for g in every if share[g] - prior > p}),
            (order[::-1], {g for g in every if prior - share[g] > p})]  # fmt: skip
    pools = []
    for ordered, far in ends:
        lengths = range(len(far), len(share) + 1) if far else [0]
        means = {j: sum((share[g] for g in ordered[:j]), Fraction()) / max(j, 1) for j in lengths}
        fit = [j for j in lengths if not j or abs(means[j] - prior) <= p]
        pools.append(ordered[: fit[0]])
    if {*pools[0]} & {*pools[1]}:
        return [prior] * len(share)
    found = list(share)
    for pool in pools:
        for g in pool:
            found[g] = sum((share[h] for h in pool), Fraction()) / len(pool)
    return found


def pooled_rows(profiles: Rows, groups: Sequence[Sequence[str]], p: Fraction, key: bytes
                ) -> list[Row]:  # fmt: skip
    """Return what groups of equal size publish."""
    own, prior = [shares(profiles, group) for group in groups], priors(profiles)
    columns = {
        t: pooled_column([row[t] for row in own], prior[t], p,
                         numbers_of(key, f"ties of {t}", len(groups)))
        for t in prior
    }  # fmt: skip
    return [{t: column[g] for t, column in columns.items()} for g in range(len(groups))]


def released(profiles: Rows, groups: Sequence[Sequence[str]], rows: list[Row], **more: Any
             ) -> SmallRelease:  # fmt: skip
    """Make a release of rows that are given as fractions."""
    names = [f"g{number:04d}" for number in range(1, len(groups) + 1)]
    of = {user: name for name, group in zip(names, groups, strict=True) for user in group}
    terms = [{t: float(s) for t, s in sorted(row.items()) if s} for row in rows]
    return SmallRelease(
        profiles,
        [{"row": name, "users": len(group), "terms": row}
         for name, group, row in zip(names, groups, terms, strict=True)],
        [{"user": user, "row": of[user]} for user in profiles],
        facts={}, **more,
    )  # fmt: skip


def composition(profiles: Rows, groups: Sequence[Sequence[str]], **parameters: Any) -> SmallRelease:
    """Make a release of these groups, whether or not it keeps what it promises."""
    rows = [shares(profiles, group) for group in groups]
    made = released(profiles, groups, rows, parameters={**COMPOSITION, **parameters},
                    method="composition")  # fmt: skip
    made.facts = plain(true_facts(profiles, groups, [row["terms"] for row in made.rows]))
    return made


def pooled(profiles: Rows, groups: Sequence[Sequence[str]], left: Sequence[str] = (),
           key: bytes = KEY, **parameters: Any) -> SmallRelease:  # fmt: skip
    """Make a release of these groups, and of who is left over."""
    given, dealt = {**POOLED, **parameters}, only(profiles, groups)
    rows = pooled_rows(dealt, groups, Fraction(str(given["p"])), key)
    rows += [priors(dealt)] if left else []
    groups = [*groups, left] if left else groups
    made = released(profiles, groups, rows, parameters=given, method="pooled",
                    key={"key": key.hex()})  # fmt: skip
    made.facts = facts_of_rows(made, groups[: len(groups) - bool(left)])
    return made


def only(profiles: Rows, groups: Sequence[Sequence[str]]) -> Rows:
    """Return the profiles of who is in a group: nothing else is published."""
    inside = {user for group in groups for user in group}
    return {user: row for user, row in profiles.items() if user in inside}


def drawn_groups(profiles: Rows, m: int, key: bytes = KEY) -> tuple[list[list[str]], list[str]]:
    """Deal users out one by one; who is left over, and the groups' numbers, the key draws."""
    users = list(profiles)
    left = left_over(key, users, m)
    dealt = [user for user in users if user not in left]
    count = len(dealt) // m
    groups = [dealt[first::count] for first in range(count)]
    number = order_of(key, "groups", count)
    placed = sorted(range(count), key=lambda g: number[g])
    return [groups[g] for g in placed], left


def facts_of_rows(made: SmallRelease, groups: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return each fact of the groups with the published shares in place of the members'."""
    dealt, published = only(made.profiles, groups), made.rows[: len(groups)]
    rows = [{t: Fraction(s) for t, s in row["terms"].items()} for row in published]
    m, n = [row["users"] for row in published], len(dealt)
    prior = {t: Fraction(float(share)) for t, share in priors(dealt).items()}  # a float as rows are
    size = Fraction(sum(map(len, dealt.values())), n)
    worst = [max(row.values()) for row in rows]
    return plain({
        "users": len(made.profiles),
        "groups": len(m),
        "single_person_rows": m.count(1),
        "smallest_group": min(m),
        "mean_group": Fraction(n, len(m)),
        "largest_group": max(m),
        "average_linkability": max(size / len(row) for row in rows),
        "mean_average_linkability": sum(size / len(row) for row in rows) / len(rows),
        "share_linkability": max(sum(row.values()) / len(row) for row in rows),
        "worst_linkability": max(worst),
        "mean_worst_linkability": sum(worst) / len(worst),
        "released_linkability": max(worst),
        "change_of_belief": max(abs(row.get(t, 0) - prior[t]) for row in rows for t in prior),
        "terms_in_groups": sum(map(len, rows)),
        "terms_released": sum(map(len, rows)),
        "terms_suppressed": 0,
    })  # fmt: skip


def plain(facts: dict[str, Any]) -> dict[str, Any]:
    whole = {"users", "groups", "single_person_rows", "smallest_group", "largest_group"}
    return {
        name: int(value) if name in whole or name.startswith("terms") else digits(value)
        for name, value in facts.items()
    }


# -- the oracle ------------------------------------------------------------------------------------


def holds(made: SmallRelease) -> bool:
    """Tell, word for word, whether a release keeps all that it says."""
    given, profiles = made.parameters, made.profiles
    groups = groups_of(made)
    if groups is None or not in_range(made) or not all(row["terms"] for row in made.rows):
        return False
    p, prior, n = Fraction(str(given["p"])), priors(profiles), len(profiles)
    sizes = [len(group) for group in groups]
    if made.method == "composition":
        must = [shares(profiles, group) for group in groups]
        fit = {*sizes} <= {n // len(sizes), n // len(sizes) + 1}
        fit &= given["size"] is None or len(sizes) == max(1, n // given["size"])
        facts = plain(true_facts(profiles, groups, [row["terms"] for row in made.rows]))
        if made.key is not None:
            return False
    else:
        if not isinstance(made.key, dict) or [*made.key] != ["key"]:
            return False
        text = made.key["key"]
        if not isinstance(text, str) or len(text) != 64 or {*text} - {*"0123456789abcdef"}:
            return False
        key, m = bytes.fromhex(text), sizes[0]
        whole = groups[: n // m]
        left = groups[n // m :]
        fit = sizes == [m] * (n // m) + [n % m] * (n % m > 0)
        least = max(2, ceil(1 / p))
        fit &= m == least or (m > least and given["meet_paper"] == "true")
        if not fit:
            return False
        users, dealt = list(profiles), only(profiles, whole)
        prior = {**dict.fromkeys(prior, Fraction()), **priors(dealt)}
        drawn = {*left_over(key, users, m)}
        fit &= drawn == {user for group in left for user in group}
        first = sorted(range(len(whole)), key=lambda g: min(map(users.index, whole[g])))
        fit &= first == order_of(key, "groups", len(whole))
        if given["meet_paper"] == "true":
            size = Fraction(sum(map(len, dealt.values())), len(dealt))
            distinct = [len({t for user in group for t in profiles[user]}) for group in whole]
            fit &= all(d >= size / p for d in distinct)
        must = pooled_rows(dealt, whole, p, key) + [priors(dealt)] * len(left)
        facts = facts_of_rows(made, whole)
    written = [{t: float(s) for t, s in sorted(row.items()) if s} for row in must]
    return (
        fit
        and [[*row["terms"].items()] for row in made.rows] == [[*row.items()] for row in written]
        and all(abs(row.get(t, 0) - prior[t]) <= p for row in must for t in prior)
        and facts.keys() == made.facts.keys()
        and all(repr(made.facts[name]) == repr(value) for name, value in facts.items())
    )


def groups_of(made: SmallRelease) -> list[list[str]] | None:
    """Return the members of each row, or nothing unless it is a partition of equal names."""
    users = [member["user"] for member in made.members]
    names = [row["row"] for row in made.rows]
    if sorted(users) != sorted(made.profiles) or {m["row"] for m in made.members} - {*names}:
        return None
    order = {user: at for at, user in enumerate(made.profiles)}
    found = [[m["user"] for m in made.members if m["row"] == name] for name in names]
    if not all(found) or [len(group) for group in found] != [row["users"] for row in made.rows]:
        return None
    return [sorted(group, key=lambda user: order[user]) for group in found]


def in_range(made: SmallRelease) -> bool:
    given = made.parameters
    expected = COMPOSITION if made.method == "composition" else POOLED
    return (
        given.keys() == expected.keys()
        and type(given["p"]) is float
        and len(str(given["p"])) < 9
        and 0 < given["p"] <= 1
        and 2 <= given["documents"] <= 5000
        and given["steps"] in (None, 1, 10**11)
        and (given.get("size") is None or given["size"] >= 2)
        and given.get("meet_paper", "true") in ("true", "false")
    )
