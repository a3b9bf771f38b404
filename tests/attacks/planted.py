"""Sound releases of all methods, and what is weakened in a copy of them.

Every copy states true facts and fits its hashes: only its promise, or what its rows are made of, is
broken. Rows are remade by naive code here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anonymizer.errors import Unsatisfiable
from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import write_release
from anonymizer.terms.taxonomy import taxonomy_of

from ..anonymizer.methods.test_query_k import made as made_of_log
from ..anonymizer.methods.test_query_k import write_log
from ..anonymizer.small_shares import pooled_rows
from ..anonymizer.small_world import KEY, TERMS, drawn_documents, drawn_people

OTHER_KEY = bytes(range(1, 33))
TREE = [(term, f"n{at % 6}") for at, term in enumerate(TERMS)]
TREE += [(f"n{at}", "all") for at in range(6)]
TAXONOMY = taxonomy_of(iter(TREE))
PARAMETERS: dict[str, dict[str, list[Any]]] = {
    "p-linkability": {
        "p": [0.4, 0.5, 0.7],
        "k": [2, 3, 4],
        "augment": ["none"],
        "guarantee": ["average"],
    },
    "composition": {"p": [0.3, 0.4, 0.5], "steps": [2000]},
    "pooled": {"p": [0.3, 0.4, 0.5], "steps": [2000]},
    "km-anonymity": {"k": [2, 3, 5], "m": [1, 2], "frequencies": ["keep", "drop"]},
    "vocabulary-k": {"k": [2, 3], "eps": [2.0, 4.0]},
    "generalization": {"k": [2, 3], "bag": ["true", "false"]},
    "query-k": {"k": [2, 3, 5]},
    "dp-rows": {"epsilon": [1.0, 4.0], "rows": [1, 3]},
}
Rows = list[dict[str, float]]
Members = list[list[str]]


class Planted(NamedTuple):
    """A release, the profiles that it was made of, and the file that it is judged by."""

    made: Release
    profiles: Profiles
    against: Path

    def own(self, user: str) -> dict[str, float]:
        return self.profiles.row(user)

    @property
    def members(self) -> Members:
        groups: Members = [[] for _ in range(len(self.made.rows))]
        for user, row in zip(self.made.users, self.made.row_of_user.tolist(), strict=True):
            groups[row].append(user)
        return groups

    @property
    def rows(self) -> Rows:
        return [dict(self.made.rows.row(name)) for name in self.made.rows.users]

    def stating(self, **parameters: Any) -> Planted:
        return self._replace(
            made=replace(self.made, parameters={**self.made.parameters, **parameters})
        )

    def having(self, rows: Rows, members: Members | None = None) -> Planted:
        """Return this release with other rows, and with other people in them."""
        made = self.made
        named = Profiles.from_rows(dict(zip(made.rows.users, rows, strict=True)))
        if members is not None:
            row_of = {user: row for row, group in enumerate(members) for user in group}
            made = replace(made, row_of_user=np.array([row_of[user] for user in made.users]))
        return self._replace(made=replace(made, rows=named))

    def write(self, folder: Path) -> Path:
        """Write the release with true facts and hashes."""
        choices = {"terms": "letters-digits", "weights": "tf"} if self.made.log is not None else {}
        stated = replace(self.made, facts=facts(self.profiles, self.made))
        hashed = fingerprint(self.profiles)
        write_release(stated, folder, seed=0, input_hash=hashed, profiles=choices)
        return folder


def sound(method: str, people: int, chance: random.Random, place: Path) -> Planted:
    """Return a release of `method` of these many people, of what can be given to all of them."""
    for seed in range(100):
        chosen = {name: chance.choice(values) for name, values in PARAMETERS[method].items()}
        try:
            return _made(method, people, chosen, 100 * chance.randrange(10**6) + seed, place)
        except Unsatisfiable:
            continue
    raise AssertionError(f"no release of {method} for {people} people")


def _made(method: str, people: int, chosen: dict[str, Any], seed: int, place: Path) -> Planted:
    profiles = drawn_people(people, seed)
    if method == "query-k":
        lines = [
            (user, term)
            for user in profiles.users
            for term, times in profiles.row(user).items()
            for _ in range(int(times))
        ]
        log = write_log(place / "log.tsv", lines)
        counted, made = made_of_log(log, chosen["k"])
        return Planted(made, counted, log)
    handed_in: dict[str, Any] = {"sample": drawn_documents(), "key": KEY, "taxonomy": TAXONOMY}
    made = anonymize(method, Inputs(profiles, seed=seed, **handed_in), chosen)
    write_profiles(profiles, place / "p.jsonl")
    planted = Planted(made, profiles, place / "p.jsonl")
    return planted.having(planted.rows)  # through the same code as weakened copies


# -- what is weakened ------------------------------------------------------------------------------

Weaken = Callable[[Planted, random.Random], Planted | None]  # None: it can't be weakened like this


def less_p(one: Planted, _chance: random.Random) -> Planted | None:
    """State less than the p that holds."""
    value = average(one) if one.made.method == "p-linkability" else belief(one)
    stated = int(value * 100_000 - 1) / 100_000
    return one.stating(p=stated) if 0 < stated < value else None


def less_epsilon(one: Planted, _chance: random.Random) -> Planted | None:
    """State half of the epsilon that the noise keeps."""
    return one.stating(epsilon=float(str(one.made.parameters["epsilon"])) / 2)


def average(one: Planted) -> Fraction:
    terms = sum(len(one.own(user)) for user in one.profiles.users)
    distinct = min(len({t for user in group for t in one.own(user)}) for group in one.members)
    return Fraction(terms, len(one.profiles) * distinct)


def belief(one: Planted) -> float:
    """Return the largest change of belief among those who are in groups."""
    rows = one.rows[: one.made.groups]
    usual = {term: prior(one, term) for term in TERMS}
    return max(abs(row.get(t, 0.0) - usual[t]) for row in rows for t in TERMS)


def prior(one: Planted, term: str) -> float:
    people = [user for group in one.members[: one.made.groups] for user in group]
    return sum(term in one.own(user) for user in people) / len(people)


def more_k(one: Planted, _chance: random.Random) -> Planted | None:
    """State one more than the k that holds."""
    smallest = min(map(len, one.members))
    if one.made.promise.single_person:
        rows = one.rows
        if one.made.log is not None:
            rows = [dict(one.made.log.row(name)) for name in one.made.log.users]
        owned = {term for row in rows for term in row}
        smallest = min(sum(term in row for row in rows) for term in owned)
    return one.stating(k=smallest + 1)


def k_less_one(one: Planted, chance: random.Random) -> Planted | None:
    """Move somebody out of a group of k, and remake both rows."""
    members = one.members
    small = min(range(len(members)), key=lambda row: len(members[row]))
    others = [row for row in range(len(members)) if row != small]
    if not others or len(members[small]) < 3:
        return None
    one = one.stating(k=len(members[small]))
    return remade(one, small, chance.choice(others))


def unequal(one: Planted, chance: random.Random) -> Planted | None:
    """Move somebody to another group of the same size, and remake both rows."""
    members = one.members
    rows = [row for row, group in enumerate(members) if len(group) == len(members[0]) > 1]
    return remade(one, *chance.sample(rows, 2)) if len(rows) > 1 else None


def remade(one: Planted, source: int, target: int) -> Planted:
    members = one.members
    members[target].append(members[source].pop())
    rows = one.rows
    for row in (source, target):
        group = members[row]
        terms = sorted({term for user in group for term in one.own(user)})
        rows[row] = {term: _share(one, group, term) for term in terms}
    return one.having(rows, members)


def _share(one: Planted, group: list[str], term: str) -> float:
    weights = [one.own(user).get(term, 0.0) for user in group]
    if one.made.method == "p-linkability":
        return sum(weights) / len(group)
    return sum(weight > 0 for weight in weights) / len(group)


def cell_over_p(one: Planted, chance: random.Random) -> Planted | None:
    """Publish of a term more than p above how common it is."""
    rows, p = one.rows, float(one.made.parameters["p"])  # type: ignore[arg-type]
    row, term = _cell(rows, chance)
    weight = prior(one, term) + p + 0.001
    if weight > 1:
        return None
    rows[row][term] = weight
    return one.having(rows)


def a_weight(one: Planted, chance: random.Random) -> Planted | None:
    """Publish another weight."""
    rows = one.rows
    row, term = _cell(rows, chance)
    rows[row][term] *= chance.choice((0.5, 0.999, 1.001, 2.0))
    return one.having(rows)


def a_cell_less(one: Planted, chance: random.Random) -> Planted | None:
    """Lose a term of a row that has another one."""
    rows = one.rows
    row, term = _cell(rows, chance)
    del rows[row][term]
    return one.having(rows) if rows[row] else None


def a_cell_more(one: Planted, chance: random.Random) -> Planted | None:
    """Publish a term of another row in a row whose members lack it."""
    rows, members = one.rows, one.members
    row, term = chance.randrange(len(rows)), _cell(rows, chance)[1]
    if term in rows[row] or any(term in one.own(user) for user in members[row]):
        return None
    rows[row][term] = 1.0
    return one.having([dict(sorted(each.items())) for each in rows])


def rows_swapped(one: Planted, chance: random.Random) -> Planted | None:
    """Give two rows each other's content."""
    rows = one.rows
    first, other = (chance.randrange(len(rows)) for _ in range(2))
    if rows[first] == rows[other] or len(one.members[first]) != len(one.members[other]):
        return None
    rows[first], rows[other] = rows[other], rows[first]
    return one.having(rows)


def put_back(one: Planted, chance: random.Random) -> Planted | None:
    """Put a deleted term of somebody back, though fewer than k rows have it then."""
    rows = one.rows
    having = {term: sum(term in row for row in rows) for term in TERMS}
    k = int(one.made.parameters["k"])  # type: ignore[call-overload]
    lost = [
        (row, term)
        for row, group in enumerate(one.members)
        for term in one.own(group[0])
        if term not in rows[row] and having[term] < k - 1
    ]
    if not lost:
        return None
    row, term = chance.choice(lost)
    rows[row][term] = 1.0
    return one.having([dict(sorted(each.items())) for each in rows])


def known_ties(one: Planted, _chance: random.Random) -> Planted | None:
    """Break ties by an order that is not the secret one."""
    groups, p = one.members[: one.made.groups], Fraction(str(one.made.parameters["p"]))
    people = {user: one.own(user) for group in groups for user in group}
    rows = one.rows
    for row, shares in enumerate(pooled_rows(people, groups, p, OTHER_KEY)):
        rows[row] = {term: float(share) for term, share in shares.items() if share}
    return one.having(rows) if rows != one.rows else None


def _cell(rows: Rows, chance: random.Random) -> tuple[int, str]:
    row = chance.choice([row for row, terms in enumerate(rows) if terms])
    return row, chance.choice(sorted(rows[row]))


ROWS: dict[str, Weaken] = {
    "another weight": a_weight,
    "a term less": a_cell_less,
    "a term of others": a_cell_more,
    "two rows swapped": rows_swapped,
}
WEAKENED: dict[str, dict[str, Weaken]] = {
    "p-linkability": {
        "p stated too small": less_p,
        "k stated too large": more_k,
        "k - 1 people": k_less_one,
    },
    "composition": {
        "p stated too small": less_p,
        "a cell over p": cell_over_p,
        "unequal groups": unequal,
    },
    "pooled": {
        "p stated too small": less_p,
        "a cell over p": cell_over_p,
        "unequal groups": unequal,
        "known tie order": known_ties,
    },
    "km-anonymity": {"k stated too large": more_k, "a deleted term put back": put_back},
    "vocabulary-k": {"k stated too large": more_k},
    "generalization": {"k stated too large": more_k},
    "query-k": {"k stated too large": more_k},
    "dp-rows": {"epsilon stated too small": less_epsilon},
}


def weakenings(method: str) -> Iterator[tuple[str, Weaken]]:
    """Yield all names of weakenings of `method`, and what makes them."""
    yield from {**WEAKENED[method], **ROWS}.items()
