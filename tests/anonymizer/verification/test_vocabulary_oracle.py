"""The judge of vocabularies against one that says the promises word for word."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

from ..small_release import SmallRelease
from ..small_vocabulary import (
    GENERAL,
    MATCHED,
    common,
    distance,
    facts_of,
    is_sorted,
    path,
    person_of,
    vocabulary,
)
from .faults import ANYWHERE, Fault, compared

CASES = int(os.environ.get("VEILSEARCH_CASES") or 1_200)
WORDS = {
    "model": (1, 2),
    "order": ("size", "input"),
    "anneal": ("true", "false"),
    "senses": ("first", "closest"),
}
NODES = "abcdefgh"
Tree = Mapping[str, str]


def holds(release: SmallRelease) -> bool:
    """Tell, word for word, whether a release keeps all that it says."""
    if not (parameters_hold(release) and partition_holds(release)):
        return False
    if not all(common(release).values()):
        return False
    tree = dict(release.taxonomy)
    row_of = {member["user"]: member["row"] for member in release.members}
    rows = {row["row"]: row["terms"] for row in release.rows}
    people = {name: [user for user in row_of if row_of[user] == name] for name in rows}
    names = [*rows]
    slots = [(slot["row"], slot["term"], slot["occurrences"]) for slot in release.slots]
    if not all(slot[0] in rows and slot[2] for slot in slots):
        return False
    times = Counter((row, term) for row, term, _ in slots)
    stated = {(row, term): weight for row, terms in rows.items() for term, weight in terms.items()}
    used = Counter((user, term) for _, _, pairs in slots for user, term in pairs)
    profiles, own = common(release), holds_of(release)
    return (
        all(enough(release, members) for members in people.values())
        and is_sorted([(names.index(row), term, pairs) for row, term, pairs in slots])
        and times == stated
        and is_sorted([sorted(terms.items()) for terms in rows.values()])
        and all(count <= profiles.get(u, {}).get(term, 0) for (u, term), count in used.items())
        and all(complete(release, {u for u, _ in pairs}, people[row]) for row, _, pairs in slots)
        and all(any(user == u for _, _, pairs in slots for u, _ in pairs) for user in row_of)
        and own(release, slots, people, tree)
        and {n: repr(f) for n, f in facts_of(release).items()}
        == {n: repr(f) for n, f in release.facts.items()}
    )


def enough(release: SmallRelease, members: list[str]) -> bool:
    persons = {person_of(release, user) for user in members}
    if release.parameters["count"] == "vocabularies":
        return len(members) >= release.parameters["k"]
    once = release.method == "generalization" or len(persons) == len(members)
    return once and len(persons) >= release.parameters["k"]


def complete(release: SmallRelease, users: set[str], members: list[str]) -> bool:
    if release.parameters.get("members"):
        return users <= {*members} and len(users) >= release.parameters["k"]
    return users == {*members}


def holds_of(release: SmallRelease) -> Any:
    return matched if release.method == "vocabulary-k" else generalized


def matched(release: SmallRelease, slots: Any, people: Any, tree: Tree) -> bool:
    eps = release.parameters["eps"]
    if not all(
        ordered([pairs for r, _, pairs in slots if r == row], people[row]) for row in people
    ):
        return False
    for _, term, pairs in slots:
        users, terms = [user for user, _ in pairs], [own for _, own in pairs]
        if len({*users}) != len(users):
            return False
        if any(far(one, other, tree, eps) > eps for one in terms for other in terms):
            return False
        if term != typical(release.parameters["typical"], terms, tree):
            return False
    return True


def ordered(slots: Sequence[Any], members: list[str]) -> bool:
    """Return whether some order of members fits all slots."""
    return any(
        all(
            [one for one in order if one in dict(pairs)] == [u for u, _ in pairs] for pairs in slots
        )
        for order in permutations(members)
    )


def far(one: str, other: str, tree: Tree, eps: float) -> float:
    return float("inf") if not eps and one != other else distance(one, other, tree)


def typical(how: str, terms: list[str], tree: Tree) -> str:
    if how == "bags":
        return "|".join(sorted({*terms}))
    if how == "generalize" and len({*terms}) > 1:
        ways = [path(term, tree) for term in terms]
        return next(node for node in ways[0] if all(node in way for way in ways))
    sums = [sum(distance(one, other, tree) for other in terms) for one in terms]
    return terms[sums.index(min(sums))]


def generalized(release: SmallRelease, slots: Any, people: Any, tree: Tree) -> bool:
    rows = {row["row"]: row["terms"] for row in release.rows}
    profiles, whole = release.profiles, release.parameters["bag"] == "false"
    for row, members in people.items():
        for term in {term for user in members for term in profiles[user]}:
            if len({*path(term, tree)} & rows[row].keys()) > 1:
                return False
    for row, term, pairs in slots:
        if not all(term in path(own, tree) for _, own in pairs):
            return False
        below = {
            user: sum(n for own, n in profiles[user].items() if term in path(own, tree))
            for user in people[row]
        }
        published = sum((r, t) == (row, term) for r, t, _ in slots)
        if whole and (published != 1 or len(pairs) != sum(below.values())):
            return False
        if not whole and (published != min(below.values()) or len(pairs) != len(below)):
            return False
    return True


def parameters_hold(release: SmallRelease) -> bool:
    given = release.parameters
    if given["k"] < 1 or given["count"] not in ("people", "vocabularies"):
        return False
    if release.method == "generalization":
        return given.keys() == GENERAL.keys() and given["bag"] in ("true", "false")
    return (
        given.keys() == MATCHED.keys()
        and given["eps"] >= 0
        and (given["omega"] is None or given["omega"] > 0)
        and (given["members"] is None or given["members"] > given["k"])
        and given["typical"] in ("majority", "bags", "generalize")
        and all(given[name] in words for name, words in WORDS.items())
    )


def partition_holds(release: SmallRelease) -> bool:
    users = [member["user"] for member in release.members]
    rows = Counter(member["row"] for member in release.members)
    names = [row["row"] for row in release.rows]
    return (
        names == [f"g{number:04d}" for number in range(1, len(names) + 1)] == sorted(rows)
        and len({*users}) == len(users) > 0
        and {*users} <= release.profiles.keys()
        and all(row["users"] == rows[row["row"]] and row["terms"] for row in release.rows)
        and all(is_sorted([*row["terms"]]) for row in release.rows)
    )


# -- small releases, made at random ----------------------------------------------------------------


def small(rng: random.Random) -> SmallRelease:
    """Put people together at random, and match what they have as it comes."""
    nodes = NODES[: rng.randint(3, 8)]
    tree = [(node, rng.choice(nodes[:at])) for at, node in enumerate(nodes) if at > rng.random()]
    tree = [pair for pair in tree if rng.random() < 0.95]
    tree = tree or [("b", "a")]
    number, sessions = rng.randint(2, 7), rng.random() < 0.25
    users = [f"p{at // 2}#{at % 2 + 1}" if sessions else f"u{at}" for at in range(number)]
    profiles = {
        user: {
            term: float(rng.choice((1, 1, 2, 3)))
            for term in rng.sample(f"{nodes}xy", rng.randint(1, 4))
        }
        for user in users
    }
    count = rng.choice(("people", "vocabularies"))
    bag = rng.random() < 0.3
    given = {**(GENERAL if bag else MATCHED), "k": rng.choice((1, 2, 2, 3)), "count": count}
    if bag:
        given["bag"] = rng.choice(("true", "false"))
    else:
        given |= {
            "eps": rng.choice((0.0, 1.0, 2.0, 4.0)),
            "omega": rng.choice((None, 1.5)),
            "typical": rng.choice(("majority", "bags", "generalize")),
            "min_users": rng.choice((1, 1, 1, 2)),
            "members": rng.choice((None, None, given["k"] + 1, given["k"] + 2)),
        }
    choices = {"granularity": "session"} if sessions else {}
    method = "generalization" if bag else "vocabulary-k"
    release = SmallRelease(profiles, [], [], given, {}, method=method, choices=choices)
    clusters = clustered(release, rng)
    fill = below if bag else together
    filled = [sorted(fill(release, members, dict(tree), rng)) for members in clusters]
    rows = sorted((found for found in filled if found), key=content)
    if not rows:  # it would be no release
        return small(rng)
    slots = [(f"g{at:04d}", *slot) for at, found in enumerate(rows, 1) for slot in found]
    made = vocabulary(profiles, slots, given, tree, method)
    made.choices = choices
    made.facts = facts_of(made)
    return made


def content(found: Sequence[tuple[str, Any]]) -> list[tuple[str, int]]:
    return sorted(Counter(term for term, _ in found).items())


def clustered(release: SmallRelease, rng: random.Random) -> list[list[str]]:
    """Return clusters of k people or more, with now and then too few of them."""
    users = rng.sample([*release.profiles], len(release.profiles))
    size = release.parameters.get("members") or release.parameters["k"]
    size = max(1, size - (rng.random() < 0.1))
    clusters = list[list[str]]()
    for user in users:
        last = clusters[-1] if clusters else []
        persons = {person_of(release, member) for member in last}
        if (
            last
            and len(last) < size
            and (
                release.parameters["count"] == "vocabularies"
                or person_of(release, user) not in persons
            )
        ):
            last.append(user)
        elif len(clusters) < len(users) // size:
            clusters.append([user])
    return [members for members in clusters if len(members) >= size]


def together(
    release: SmallRelease, members: list[str], tree: Tree, rng: random.Random
) -> list[tuple[str, list[list[str]]]]:
    """Return slots of terms that are close, one of each member or of k."""
    profiles, eps = common(release), release.parameters["eps"]
    least = release.parameters["k"] if release.parameters["members"] else len(members)
    left = {user: [t for t, n in profiles[user].items() for _ in range(int(n))] for user in members}
    slots = []
    for at, first in enumerate(members[: len(members) - least + 1]):
        for term in rng.sample(left[first], len(left[first])):
            pairs = [[first, term]]
            for user in members[at + 1 :]:
                near = [
                    own
                    for own in left[user]
                    if all(far(own, other, tree, eps) <= eps for _, other in pairs)
                ]
                if near:
                    pairs.append([user, rng.choice(near)])
            if len(pairs) >= least:
                for user, own in pairs:
                    left[user].remove(own)
                chosen = [own for _, own in pairs]
                slots.append((typical(release.parameters["typical"], chosen, tree), pairs))
    return slots


def below(
    release: SmallRelease, members: list[str], tree: Tree, rng: random.Random
) -> list[tuple[str, list[list[str]]]]:
    """Return slots of nodes, none above another, that each member has something below."""
    nodes = sorted({*tree, *tree.values()})
    cut = list[str]()
    for node in rng.sample(nodes, len(nodes)):
        if not any(node in path(other, tree) or other in path(node, tree) for other in cut):
            cut.append(node)
    slots = []
    for node in cut:
        own = {
            user: [[user, t] for t, n in sorted(release.profiles[user].items())
                   for _ in range(int(n)) if node in path(t, tree)]
            for user in members
        }  # fmt: skip
        if all(own.values()) and release.parameters["bag"] == "false":
            slots.append((node, [pair for pairs in own.values() for pair in pairs]))
        elif all(own.values()):
            lines = zip(*own.values(), strict=False)  # as many as the member with the fewest has
            slots += [(node, list(line)) for line in lines]
    return slots


def some(release: SmallRelease, rng: random.Random) -> dict[str, Any]:
    slot: dict[str, Any] = rng.choice(release.slots)
    return slot


def change_term(release: SmallRelease, rng: random.Random) -> None:
    some(release, rng)["term"] = rng.choice([*NODES, "x", "a|b"])


def change_row(release: SmallRelease, rng: random.Random) -> None:
    some(release, rng)["row"] = rng.choice(release.rows)["row"]


def change_user(release: SmallRelease, rng: random.Random) -> None:
    rng.choice(some(release, rng)["occurrences"])[0] = rng.choice([*release.profiles])


def change_own(release: SmallRelease, rng: random.Random) -> None:
    pair = rng.choice(some(release, rng)["occurrences"])
    pair[1] = rng.choice([*release.profiles.get(pair[0], "z"), *NODES])


def drop_occurrence(release: SmallRelease, rng: random.Random) -> None:
    pairs = some(release, rng)["occurrences"]
    pairs.remove(rng.choice(pairs))


def add_occurrence(release: SmallRelease, rng: random.Random) -> None:
    pairs = some(release, rng)["occurrences"]
    pairs.append([*rng.choice(pairs)])


def turn_round(release: SmallRelease, rng: random.Random) -> None:
    some(release, rng)["occurrences"].reverse()


def drop_slot(release: SmallRelease, rng: random.Random) -> None:
    if len(release.slots) > 1:
        release.slots.remove(some(release, rng))


def repeat_slot(release: SmallRelease, rng: random.Random) -> None:
    """Publish once more what a slot stands for, with a weight and facts that fit."""
    at = rng.randrange(len(release.slots))
    slot = release.slots[at]
    copy = {**slot, "occurrences": [[*pair] for pair in slot["occurrences"]]}
    release.slots.insert(at, copy)
    (row,) = (row for row in release.rows if row["row"] == slot["row"])
    row["terms"][slot["term"]] += 1
    release.facts = facts_of(release)


def shuffle_slots(release: SmallRelease, rng: random.Random) -> None:
    rng.shuffle(release.slots)


def change_weight(release: SmallRelease, rng: random.Random) -> None:
    terms = rng.choice(release.rows)["terms"]
    terms[rng.choice([*terms])] += rng.choice((-0.5, 1.0, 2.0))


def change_profile(release: SmallRelease, rng: random.Random) -> None:
    row = rng.choice([*release.profiles.values()])
    row[rng.choice([*row])] += 1.0


def change_parameter(release: SmallRelease, rng: random.Random) -> None:
    values = {
        "k": (0, 1, 2, 3),
        "count": ("people", "vocabularies", "u0"),
        "bag": ("true", "false"),
    }
    values |= {"eps": (0.0, 1.0, 2.0, 4.0), "typical": ("majority", "bags", "generalize")}
    values |= {"omega": (0.0, 2.0, None), "min_users": (1, 2), "model": (1, 2, 3)}
    values |= {"anneal": ("true", "false", "maybe"), "members": (None, 1, 2, 3, 4)}
    name = rng.choice([name for name in values if name in release.parameters])
    release.parameters[name] = rng.choice(values[name])


def cut_branch(release: SmallRelease, rng: random.Random) -> None:
    if len(release.taxonomy) > 1:
        release.taxonomy.remove(rng.choice(release.taxonomy))


FAULTS: list[Fault] = [
    *ANYWHERE,
    change_term,
    change_row,
    change_user,
    change_own,
    drop_occurrence,
    add_occurrence,
    turn_round,
    drop_slot,
    repeat_slot,
    shuffle_slots,
    change_weight,
    change_profile,
    change_parameter,
    cut_branch,
]


def test_the_judge_and_the_oracle_agree(tmp_path: Path) -> None:
    found = compared(tmp_path, 7, CASES, small, FAULTS, holds)
    assert len(found) == 8, found  # too few cases meet not all of them
    assert min(found.values()) > CASES / 200, found
