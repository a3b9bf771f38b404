"""Small releases of vocabularies, made from slots by naive code that shares nothing with ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .small_release import Rows, SmallRelease, digits, true_facts

Slot = tuple[str, str, list[list[str]]]  # row, term, occurrences

MATCHED: dict[str, Any] = {
    "k": 2,
    "eps": 4.0,
    "omega": None,
    "model": 2,
    "typical": "majority",
    "order": "size",
    "taxonomy": "given",
    "senses": "first",
    "count": "people",
    "matchings": None,
    "members": None,
    "anneal": "false",
    "min_users": 1,
}
GENERAL: dict[str, Any] = {
    "k": 2,
    "bag": "true",
    "taxonomy": "given",
    "senses": "first",
    "count": "people",
}
GOODS = (
    "Groceries Goods|Alcohol Groceries|Wine Alcohol|Vino Alcohol|Milk Groceries|Raw-milk Milk|"
    "Pure-milk Milk|Wear Goods|Clothes Wear|Jackets Clothes|Pants Clothes|Footwear Wear|"
    "Boots Footwear|Shoes Footwear"
)
TAXONOMY = [(child, parent) for child, parent in (line.split() for line in GOODS.split("|"))]
EXAMPLE: Rows = {
    user: {term: float(count) for term, count in Counter(terms.split()).items()}
    for user, terms in {
        "t1": "Wine Wine Jackets Boots",
        "t2": "Vino Vino Jackets Shoes",
        "t3": "Wine Vino Raw-milk Jackets Shoes",
        "t4": "Vino Raw-milk Raw-milk Pure-milk",
        "t5": "Raw-milk Pure-milk Pure-milk Jackets Pants",
    }.items()
}
# The paper's running example, where Groceries are Edibles and Pure-milk is Homo-milk, so that rows
# stand in the order of the paper: members by row in the order in which they joined, and slots.
CLUSTERS = {"g0001": ["t1", "t2", "t3"], "g0002": ["t4", "t5"]}
SLOTS = {
    "g0001": {
        "Jackets": ["Jackets Jackets Jackets"],
        "Shoes": ["Boots Shoes Shoes"],
        "Vino": ["Wine Vino Vino"],
        "Wine": ["Wine Vino Wine"],
    },
    "g0002": {
        "Pure-milk": ["Pure-milk Pure-milk"],
        "Raw-milk": ["Raw-milk Raw-milk", "Raw-milk Pure-milk"],
    },
}


def slots_of(clusters: Mapping[str, Sequence[str]], terms: Mapping[str, Any]) -> list[Slot]:
    """Return slots from words, a line for each: one term of each member, in their order."""
    return sorted(
        (row, term, [list(pair) for pair in zip(clusters[row], line.split(), strict=True)])
        for row, lines in terms.items()
        for term, some in lines.items()
        for line in some
    )


def vocabulary(
    profiles: Rows,
    slots: Sequence[Slot],
    parameters: Mapping[str, Any],
    taxonomy: Sequence[tuple[str, str]] | None,
    method: str = "vocabulary-k",
) -> SmallRelease:
    """Return the release that these slots make, whether or not they keep what is promised."""
    names = sorted({row for row, _, _ in slots})
    of = {user: row for row, _, pairs in slots for user, _ in pairs}
    groups = [[user for user in profiles if of.get(user) == name] for name in names]
    times = Counter((row, term) for row, term, _ in slots)
    rows = [
        {
            "row": name,
            "users": len(group),
            "terms": {t: float(times[r, t]) for r, t in sorted(times) if r == name},
        }
        for name, group in zip(names, groups, strict=True)
    ]
    members = [{"user": user, "row": of[user]} for user in profiles if user in of]
    records = [{"row": row, "term": t, "occurrences": pairs} for row, t, pairs in slots]
    given = None if taxonomy is None else [*taxonomy]
    release = SmallRelease(profiles, rows, members, dict(parameters), {}, method=method)
    release.slots, release.taxonomy = records, given
    release.facts = facts_of(release)
    return release


def facts_of(release: SmallRelease) -> dict[str, Any]:
    """Return the facts that the release must state, word for word."""
    names = [row["row"] for row in release.rows]
    row_of = {member["user"]: member["row"] for member in release.members}
    groups = [[u for u in release.profiles if row_of.get(u) == name] for name in names]
    bags = release.parameters.get("typical") == "bags"
    kept = replaced = 0
    for slot in release.slots:
        stands = slot["term"].split("|") if bags else [slot["term"]]
        for user in {user for user, _ in slot["occurrences"]}:
            kept += 1
            replaced += min(t for u, t in slot["occurrences"] if u == user) not in stands
    every = int(sum(sum(row.values()) for row in release.profiles.values()))
    terms = [row["terms"] for row in release.rows]
    facts = {
        name: digits(value) if isinstance(value, Fraction) else value
        for name, value in true_facts(common(release), groups, terms).items()
    }
    if release.parameters.get("members"):
        facts["own_share"] = digits(own_share(release))
    return facts | {
        "users_left_out": len(release.profiles) - len(release.members),
        "kept_occurrences": kept,
        "replaced_occurrences": replaced,
        "suppressed_occurrences": every - kept,
    }


def own_share(release: SmallRelease) -> Fraction:
    """Return the mean over members of the share of their row's slots that they stand in."""
    shares = []
    for member in release.members:
        slots = [slot for slot in release.slots if slot["row"] == member["row"]]
        own = [slot for slot in slots if member["user"] in {u for u, _ in slot["occurrences"]}]
        shares.append(Fraction(len(own), max(len(slots), 1)))
    return sum(shares, Fraction()) / len(shares)


def person_of(release: SmallRelease, user: str) -> str:
    sessions = release.choices.get("granularity") == "session"
    return user.rpartition("#")[0] if sessions else user


def common(release: SmallRelease) -> Rows:
    """Return the profiles without the terms of fewer people than min_users."""
    who: dict[str, set[str]] = {}
    for user, row in release.profiles.items():
        for term in row:
            who.setdefault(term, set()).add(person_of(release, user))
    least = release.parameters.get("min_users", 1)
    return {
        user: {term: count for term, count in row.items() if len(who[term]) >= least}
        for user, row in release.profiles.items()
    }


def path(term: str, taxonomy: Mapping[str, str]) -> list[str]:
    """Return the nodes from a term up; none if the taxonomy lacks it."""
    if term not in taxonomy and term not in taxonomy.values():
        return []
    nodes = [term]
    while nodes[-1] in taxonomy:
        nodes.append(taxonomy[nodes[-1]])
    return nodes


def distance(one: str, other: str, taxonomy: Mapping[str, str]) -> float:
    """Return the steps between two terms of a tree; infinite if there is no way."""
    if one == other:
        return 0
    mine, theirs = path(one, taxonomy), path(other, taxonomy)
    shared = [node for node in mine if node in theirs]
    return mine.index(shared[0]) + theirs.index(shared[0]) if shared else float("inf")


def is_sorted(values: Sequence[Any]) -> bool:
    return all(one <= other for one, other in pairwise(values))
