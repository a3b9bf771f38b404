"""Refinement: closed forms, a naive twin, and what must hold after it whatever went in."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer import compiled
from anonymizer.arrays import Floats
from anonymizer.grouping.bounds import Bounds, overall
from anonymizer.grouping.nearest_groups import CLOSEST, closest_groups
from anonymizer.grouping.swapping import refine
from anonymizer.model import Grouping, Profiles
from anonymizer.similarity.wordnet import unit_rows

from ..small_world import fits

LEAST = 1e-6


def profiles_of(*rows: str) -> Profiles:
    """Build binary profiles, a letter a term."""
    return Profiles.from_rows({f"u{i}": dict.fromkeys(row, 1.0) for i, row in enumerate(rows)})


def refined(profiles: Profiles, group_of: list[int], bounds: Bounds, passes: int = 5) -> list[int]:
    vectors = unit_rows(profiles.weights)
    grouping = Grouping(np.array(group_of))
    after = refine(profiles, vectors, grouping, bounds, overall(profiles), passes=passes)
    return after.group_of.tolist()


def coherence(vectors: csr_matrix | Floats, group_of: list[int]) -> float:
    """Sum the lengths of the groups' sums, by brute force."""
    rows = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
    return sum(math.hypot(*rows[np.array(group_of) == g].sum(axis=0)) for g in set(group_of))


# Who is where


def test_a_move_is_taken_before_an_exchange_as_good() -> None:
    # The user in the third row is nowhere: to have them in return is as good as to have nobody.
    profiles, grouping = profiles_of("a", "b", "c", "a"), Grouping(np.array([0, 0, 1, 1]))
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    after = refine(profiles, vectors, grouping, Bounds(), overall(profiles))
    assert after.group_of.tolist() == [1, 0, 1, 1]
    returned = refine(profiles, vectors, grouping, Bounds(members=2), overall(profiles))
    assert returned.group_of.tolist() == [1, 0, 0, 1]


def test_progress_is_told_of_each_pass() -> None:
    profiles = profiles_of("ab", "cd", "ab", "cd")
    told: list[int] = []
    vectors, grouping = unit_rows(profiles.weights), Grouping(np.array([0, 0, 1, 1]))
    refine(profiles, vectors, grouping, Bounds(members=2), overall(profiles), progress=told.append)
    assert told == [4, 4]  # one pass that changes, one that doesn't


def test_users_who_are_close_to_nobody_do_no_harm() -> None:
    profiles = profiles_of("ab", "cd", "ab", "cd")
    vectors = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])
    after = refine(profiles, vectors, Grouping(np.array([0, 1, 0, 1])), Bounds(), np.full(4, 0.25))
    assert sorted(np.bincount(after.group_of).tolist()) in ([1, 3], [2, 2])
    assert after.group_of[1] != after.group_of[3]  # |x - x| = 0: they part


# What holds whatever goes in

letters = st.lists(
    st.dictionaries(st.sampled_from("abcdefghij"), st.integers(1, 4).map(float), min_size=1),
    min_size=2,
    max_size=14,
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Profiles, list[int], Bounds]:
    """Draw profiles, a grouping of them, and bounds that all its groups satisfy."""
    rows = draw(letters)
    profiles = Profiles.from_rows({f"u{i}": row for i, row in enumerate(rows)})
    labels = draw(st.lists(st.integers(0, 7), min_size=len(rows), max_size=len(rows)))
    group_of = np.unique(labels, return_inverse=True)[1].tolist()
    bounds = Bounds(
        terms=draw(st.integers(0, 8)),
        members=draw(st.integers(1, 3)),
        entropy=draw(st.sampled_from([-1.0, 0.3, 1.0])),
        distance=draw(st.sampled_from([2.0, 0.9, 0.6])),
    )
    return profiles, group_of, bounds


def groups_of(group_of: list[int]) -> list[list[int]]:
    return [[u for u, at in enumerate(group_of) if at == g] for g in range(max(group_of) + 1)]


@settings(max_examples=100)
@given(cases(), st.integers(0, 2**32 - 1))
def test_dense_vectors_keep_bounds_and_raise_the_sum(
    case: tuple[Profiles, list[int], Bounds], seed: int
) -> None:
    profiles, before, bounds = case
    vectors = np.random.default_rng(seed).normal(size=(len(profiles), 3))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    grouping = Grouping(np.array(before))
    after = refine(profiles, vectors, grouping, bounds, overall(profiles)).group_of.tolist()
    people = [profiles.at(row) for row in range(len(profiles))]
    for old, new in zip(groups_of(before), groups_of(after), strict=True):
        assert old == new or fits(people, new, bounds)
    assert after == before or coherence(vectors, after) > coherence(vectors, before) + LEAST / 2
    assert after == twin(profiles, vectors, before, bounds)


def twin(
    profiles: Profiles, vectors: csr_matrix | Floats, before: list[int], bounds: Bounds
) -> list[int]:
    """Refine naively: five passes of trying all steps out."""
    rows = vectors if isinstance(vectors, np.ndarray) else vectors.toarray()
    now, people = list(before), [profiles.at(row) for row in range(len(profiles))]
    for _ in range(5):
        start = list(now)
        closest = naive_closest(rows, start)
        for user in range(len(now)):
            steps = naive_steps(rows, now, user, closest[user])
            for _, tried in sorted(steps, key=lambda step: -step[0]):
                touched = {tried[user], now[user]}
                groups = [[u for u in range(len(now)) if tried[u] == g] for g in touched]
                if all(fits(people, group, bounds) for group in groups):
                    now = tried
                    break
        if now == start:
            break
    return now


def naive_steps(
    rows: Floats, now: list[int], user: int, others: list[int]
) -> list[tuple[float, list[int]]]:
    """Return all steps that gain anything, with the gain, those to the lowest group first."""
    found = []
    for group in others:
        partners = [u for u in range(len(now)) if now[u] == group]
        for partner in [-1, *partners] if group != now[user] else []:
            tried = list(now)
            tried[user] = group
            if partner >= 0:
                tried[partner] = now[user]
            gain = round(coherence(rows, tried) - coherence(rows, now), 9)
            if gain >= LEAST:
                found.append((gain, tried))
    return found


def naive_closest(rows: Floats, group_of: list[int]) -> list[list[int]]:
    """Return each user's closest foreign groups by sorting all of them."""
    sums = [rows[np.array(group_of) == g].sum(axis=0) for g in range(max(group_of) + 1)]
    unit = [s / math.hypot(*s) if math.hypot(*s) > 0 else s for s in sums]
    found = []
    for user, own in enumerate(group_of):
        order = sorted((-round(float(rows[user] @ s), 12), g) for g, s in enumerate(unit))
        found.append(sorted([g for _, g in order if g != own][:CLOSEST]))
    return found


@given(cases())
def test_refinement_equals_its_naive_twin(case: tuple[Profiles, list[int], Bounds]) -> None:
    profiles, before, bounds = case
    vectors = unit_rows(profiles.weights)
    assert refined(profiles, before, bounds) == twin(profiles, vectors, before, bounds)


# The search for candidates


def found_for(vectors: csr_matrix | Floats, group_of: list[int]) -> list[list[int]]:
    found = closest_groups(vectors, Grouping(np.array(group_of)))
    return [row[row >= 0].tolist() for row in found]


@pytest.mark.parametrize("dense", [False, True])
def test_the_closest_of_many_groups(dense: bool) -> None:
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 3, size=(1500, 30)) * (rng.random((1500, 30)) < 0.3) + np.eye(1500, 30)
    rows[rows.sum(axis=1) == 0, 0] = 1
    vectors = unit_rows(csr_matrix(rows))
    group_of = np.arange(1500) % 500
    rng.shuffle(group_of)
    given_ = vectors.toarray() if dense else vectors
    assert found_for(given_, group_of.tolist()) == naive_closest(
        vectors.toarray(), group_of.tolist()
    )


@pytest.mark.parametrize("dense", [False, True])
def test_the_number_of_cores_changes_nothing(dense: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    rows = {f"u{i}": dict.fromkeys(rng.choice(60, 8).tolist(), 1.0) for i in range(2500)}
    named = {u: {f"t{t}": w for t, w in row.items()} for u, row in rows.items()}
    profiles = Profiles.from_rows(named)
    vectors = unit_rows(profiles.weights)
    given_ = vectors.toarray() if dense else vectors
    grouping = Grouping(np.arange(2500) % 625)
    results = []
    for cores in (1, 2):
        monkeypatch.setattr(compiled, "cores", lambda cores=cores: cores)
        after = refine(profiles, given_, grouping, Bounds(terms=20), overall(profiles), passes=2)
        results.append(after.group_of.tobytes())
    assert results[0] == results[1]
