"""What a column tells, against all ways in which the owners of a term can be spread over users."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest

from anonymizer.errors import BadInput
from anonymizer.measures.assignments import Kind, expected_shares
from anonymizer.measures.belief import infer
from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release

from ..small_shares import pooled_column

Groups = list[list[int]]
Column = tuple[Fraction, ...]
Publish = Callable[[list[int], list[int]], Column]  # counts and sizes of groups -> what rows say
HALF = Fraction(1, 2)


def dealt(sizes: Sequence[int]) -> Groups:
    users = iter(range(sum(sizes)))
    return [[next(users) for _ in range(size)] for size in sizes]


def counts_in(groups: Groups, owners: Sequence[int]) -> list[int]:
    return [sum(user in owners for user in group) for group in groups]


def enumerated(groups: Groups, users: int, publish: Publish, column: Column, owners: int
               ) -> list[Fraction]:  # fmt: skip
    """Return each group's mean share over all sets of owners that would publish the column."""
    sizes = [len(group) for group in groups]
    fitting = [
        counts
        for some in combinations(range(users), owners)
        if publish(counts := counts_in(groups, some), sizes) == column
    ]
    return [
        sum((Fraction(counts[g], sizes[g]) for counts in fitting), Fraction()) / len(fitting)
        for g in range(len(groups))
    ]


def centroid(counts: list[int], sizes: list[int]) -> Column:
    return tuple(Fraction(c, m) for c, m in zip(counts, sizes, strict=True))


def union(counts: list[int], _sizes: list[int]) -> Column:
    return tuple(Fraction(c > 0) for c in counts)


def bounded_centroid(counts: list[int], sizes: list[int]) -> Column:
    return tuple(Fraction(c, m) * (c <= HALF * m) for c, m in zip(counts, sizes, strict=True))


def bounded_union(counts: list[int], sizes: list[int]) -> Column:
    return tuple(Fraction(0 < c <= HALF * m) for c, m in zip(counts, sizes, strict=True))


RULES: dict[str, tuple[Publish, str, str]] = {
    "centroid": (centroid, "centroid", "average"),
    "union": (union, "union", "average"),
    "bounded centroid": (bounded_centroid, "centroid", "every-term"),
    "bounded union": (bounded_union, "union", "every-term"),
}


def release_of(groups: Groups, users: int, columns: dict[str, Column], owners: dict[str, list[int]],
               method: str, parameters: dict[str, object]) -> tuple[Profiles, Release]:  # fmt: skip
    """Make profiles of terms and owners, and of a term of each user's own; release columns."""
    own = {t: {f"u{n}" for n in some} for t, some in owners.items()}
    profiles = Profiles.from_rows(
        {f"u{n}": {f"y{n}": 1.0} | {t: 1.0 for t in own if f"u{n}" in own[t]} for n in range(users)}
    )
    rows = Profiles.from_rows({
        f"g{at}": {f"y{n}": 1 / len(group) for n in group}
        | {t: float(said[at]) for t, said in columns.items() if said[at]}
        for at, group in enumerate(groups)
    })  # fmt: skip
    row_of = np.array([at for user in range(users) for at, g in enumerate(groups) if user in g])
    return profiles, Release(
        rows, profiles.users, row_of, method, parameters, promise=promise_of(method, parameters)
    )


def posteriors(profiles: Profiles, release: Release, term: str) -> list[float]:
    """Return what is inferred of each row about a term."""
    columns, found = infer(profiles, release)
    number = profiles.terms.index(term)
    said = [float(found.lacking[number, kind]) for kind in columns.class_of.tolist()]
    for row, at, value in zip(columns.row, columns.term, found.standing, strict=True):
        if at == number:
            said[row] = float(value)
    return said


def worlds(seed: int, cases: int, least: int) -> Iterator[tuple[Groups, int, list[int]]]:
    """Yield groups of up to eight users, and who has a term."""
    rng = random.Random(seed)  # noqa: S311
    for _ in range(cases):
        sizes = [rng.randint(least, 4)]
        while sum(sizes) <= 8 - least and rng.random() < 0.8:
            sizes.append(rng.randint(least, min(4, 8 - sum(sizes))))
        users = sum(sizes)
        yield dealt(sizes), users, sorted(rng.sample(range(users), rng.randint(1, users)))


@pytest.mark.parametrize("name", RULES)
def test_rules_equal_enumeration(name: str) -> None:
    publish, representative, guarantee = RULES[name]
    given = {"representative": representative, "guarantee": guarantee, "p": 0.5}
    least = 2 if guarantee == "every-term" else 1  # a user's own term is one of half of them
    told = set()
    for groups, users, owners in worlds(3, 250, least):
        column = publish(counts_in(groups, owners), [len(group) for group in groups])
        made = release_of(groups, users, {"t": column}, {"t": owners}, "p-linkability", given)
        exact = enumerated(groups, users, publish, column, len(owners))
        assert posteriors(*made, "t") == pytest.approx([float(share) for share in exact], abs=1e-12)
        told |= {*exact}
    assert len(told) >= 7


def test_reduced_rows_equal_enumeration() -> None:
    """Owners keep the term or lose it: any set of owners fits that holds all who kept it."""
    rng = random.Random(5)  # noqa: S311
    for users in (2, 4, 7) * 10:
        owners = sorted(rng.sample(range(users), rng.randint(1, users)))
        kept = [user for user in owners if rng.random() < 0.5]
        column = tuple(Fraction(user in kept) for user in range(users))
        groups = dealt([1] * users)
        made = release_of(groups, users, {"t": column}, {"t": owners}, "km-anonymity", {})
        fitting = [s for s in combinations(range(users), len(owners)) if {*kept} <= {*s}]
        exact = [sum(user in some for some in fitting) / len(fitting) for user in range(users)]
        assert posteriors(*made, "t") == pytest.approx(exact)


def test_a_user_without_a_row_counts_among_those_who_lost_a_term() -> None:
    profiles = Profiles.from_rows({f"u{n}": {"t": 1.0, f"x{n}": 1.0} for n in range(4)})
    rows = Profiles.from_rows({"g1": {"t": 1.0}, "g2": {"x1": 1.0}, "g3": {"t": 1.0}})
    facts = {"users_left_out": 1}
    release = Release(
        rows,
        ("u0", "u1", "u2"),
        np.arange(3),
        "km-anonymity",
        {},
        facts,
        promise=promise_of("km-anonymity", {}),
    )
    assert posteriors(profiles, release, "t") == [1, 1, 1]  # all four have it
    assert posteriors(profiles, release, "x2") == [1 / 4] * 3
    assert posteriors(profiles, release, "x1") == [0, 1, 0]


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 3), (2, 2, 2, 2), (4, 4)])
@pytest.mark.parametrize("p", [Fraction(1, 3), HALF, Fraction(3, 5)])
def test_pools_equal_enumeration(sizes: tuple[int, ...], p: Fraction) -> None:
    """All owners' places, and all orders of ties: who is in a group has it as often as is said."""
    groups, users = dealt(sizes), sum(sizes)
    for owners in range(1, users):
        prior, found = Fraction(owners, users), {}
        for some in combinations(range(users), owners):
            counts = counts_in(groups, some)
            share = [Fraction(c, m) for c, m in zip(counts, sizes, strict=False)]
            for order in permutations(range(len(sizes))):
                said = pooled_column(share, prior, p, order)
                found.setdefault(tuple(said), []).append((counts, some))
        for column, ways in found.items():
            exact = [
                float(sum(Fraction(c[g], len(groups[g])) for c, _ in ways) / len(ways))
                for g in range(len(groups))
            ]
            made = release_of(groups, users, {"t": column}, {"t": [*ways[0][1]]}, "pooled", {})
            assert posteriors(*made, "t") == pytest.approx(exact)
            assert exact == pytest.approx([float(share) for share in column])


def test_who_is_left_over_is_in_no_share() -> None:
    """Of the six in groups two have it, whatever the last one has: no more is published."""
    third = Fraction(1, 3)
    for owners in ([0, 3], [0, 3, 6]):
        made = release_of(dealt([3, 3, 1]), 7, {"t": (third,) * 3}, {"t": owners}, "pooled", {})
        assert posteriors(*made, "t") == [1 / 3] * 3
        columns, _ = infer(*made)
        assert (columns.users, columns.having[made[0].terms.index("t")]) == (6, 2)


def naive(owners: int, kinds: Sequence[Kind]) -> list[Fraction]:
    """Go through all counts of all groups."""
    groups = [(at, kind) for at, kind in enumerate(kinds) for _ in range(kind.groups)]
    total, sums = 0, [Fraction()] * len(kinds)
    for counts in product(*(kind.open.tolist() for _, kind in groups)):
        if sum(counts) == owners:
            ways = 1
            for (_, kind), count in zip(groups, counts, strict=True):
                ways *= comb(kind.size, count)
            total += ways
            for (at, kind), count in zip(groups, counts, strict=True):
                sums[at] += Fraction(ways * count, kind.size * kind.groups)
    return [share / total for share in sums]


def test_expected_shares_equal_their_naive_twin() -> None:
    rng = random.Random(1)  # noqa: S311
    for _ in range(300):
        kinds = []
        for _ in range(rng.randint(1, 3)):
            size = rng.randint(1, 7)
            some = sorted(rng.sample(range(size + 1), rng.randint(1, size + 1)))
            kinds.append(Kind(rng.randint(1, 2), size, np.array(some)))
        owners = sum(
            int(rng.choice(kind.open.tolist())) for kind in kinds for _ in range(kind.groups)
        )
        exact = [float(share) for share in naive(owners, kinds)]
        assert expected_shares(owners, kinds) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("owners", [1_200, 5_000, 12_000, 29_990])
def test_expected_shares_of_many_groups(owners: int) -> None:
    """All counts open: everybody is as likely; and shares always add up to the owners."""
    free = [Kind(5_000, 4, np.arange(5)), Kind(1_000, 10, np.arange(11))]
    assert expected_shares(owners, free) == pytest.approx([owners / 30_000] * 2, rel=1e-9)
    some = [Kind(5_000, 4, np.array([0, 2, 3, 4])), Kind(1_000, 10, np.array([0, *range(5, 11)]))]
    few, many = expected_shares(owners, some)
    assert few * 20_000 + many * 10_000 == pytest.approx(owners, rel=1e-9)


def test_what_no_assignment_fits_is_refused() -> None:
    with pytest.raises(BadInput, match="no assignment of terms fits both"):
        expected_shares(3, [Kind(1, 2, np.array([0, 1, 2]))])
    with pytest.raises(BadInput, match="no assignment of terms fits both"):
        expected_shares(3, [Kind(2, 2, np.array([0, 2]))])
