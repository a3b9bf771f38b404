"""Annealing: what it finds, what it keeps, and a naive twin that plays the same draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.grouping import annealing
from anonymizer.grouping.annealing import BLOCKS, Annealed, Limits, anneal, steps_for
from anonymizer.similarity.documents import Likeness

Floats = np.ndarray


def of_pairs(vectors: Floats) -> Likeness:
    single = vectors.astype(np.float32)
    return Likeness(single @ single.T, np.zeros((len(single), 0), dtype=np.float32))


def of_vectors(vectors: Floats) -> Likeness:
    return Likeness(np.zeros((0, 0), dtype=np.float32), vectors.astype(np.float32))


def drawn_vectors(users: int, seed: int = 0) -> Floats:
    vectors = np.random.default_rng(seed).standard_normal((users, 5))
    scaled: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def equal_sizes(users: int, size: int) -> np.ndarray:
    return np.full(users // size, size, dtype=np.int64)


def objective(vectors: Floats, group_of: np.ndarray) -> float:
    groups = range(int(group_of.max()) + 1)
    return float(sum(np.linalg.norm(vectors[group_of == group].sum(axis=0)) for group in groups))


def at_most(has: np.ndarray, most: int, least: int = 0) -> Limits:
    row = np.full((2, has.shape[1]), most, dtype=np.int32)
    return Limits(csr_matrix(has.astype(np.int32)), np.full_like(row, least), row)


def excess(limits: Limits, group_of: np.ndarray) -> int:
    counts = np.zeros((int(group_of.max()) + 1, limits.has.shape[1]), dtype=np.int64)
    np.add.at(counts, group_of, limits.has.toarray())
    over, under = counts - limits.most[0], limits.least[0] - counts
    return int(np.maximum(0, np.maximum(over, under)).sum())


def twin(vectors: Floats, sizes: np.ndarray, seed: int, steps: int, limits: Limits) -> Annealed:
    """Anneal with the same draws, computing everything anew at each step."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(len(vectors))
    group_at = np.repeat(np.arange(sizes.size), sizes)
    best: Any = None
    for number in range(BLOCKS + annealing._REPAIRS):
        group_of = np.empty(place.size, dtype=np.int64)
        group_of[place] = group_at
        if number >= BLOCKS and not excess(limits, group_of):
            break
        done = min(1.0, number / (BLOCKS - 1))
        heat, weight = 0.02 * 0.025**done, 0.002 * 250**done
        weight *= 2 ** (max(0, number - BLOCKS + 1) / 8)
        block = max(1, steps // BLOCKS)
        places = rng.integers(place.size, size=(block, 2), dtype=np.int32)
        for (a, b), bar in zip(places, heat * np.log1p(-rng.random(block)), strict=True):
            after = group_of.copy()
            after[[place[a], place[b]]] = after[[place[b], place[a]]]
            gain = objective(vectors, after) - objective(vectors, group_of)
            gain -= weight * (excess(limits, after) - excess(limits, group_of))
            if group_at[a] != group_at[b] and gain > bar:
                place[[a, b]], group_of = place[[b, a]], after
        found = -excess(limits, group_of), objective(vectors, group_of)
        if best is None or found > (best[0], best[1]):
            best = *found, group_of.copy()
    return Annealed(best[2], best[1], -best[0])


@pytest.mark.parametrize("made", [of_pairs, of_vectors])
@pytest.mark.parametrize("limited", [False, True])
def test_it_equals_its_naive_twin(made: Any, limited: bool) -> None:
    vectors = drawn_vectors(11)
    sizes = np.array([4, 4, 3])
    has = np.random.default_rng(1).random((11, 6)) < 0.5
    limits = at_most(has, 2, 1) if limited else at_most(has[:, :0], 0)
    rng = np.random.default_rng(3)
    found = anneal(made(vectors), sizes, rng, steps=1200, limits=limits)
    expected = twin(vectors, sizes, 3, 1200, limits)
    assert found.group_of.tolist() == expected.group_of.tolist()
    assert found.objective == pytest.approx(expected.objective, rel=1e-5)
    assert found.excess == expected.excess


def test_alike_users_find_each_other() -> None:
    vectors = np.repeat(np.eye(6), 4, axis=0)  # 6 kinds of 4 users each
    found = anneal(of_pairs(vectors), equal_sizes(24, 4), np.random.default_rng(0), steps=60_000)
    assert len({*map(tuple, found.group_of.reshape(6, 4).tolist())}) == 6
    assert all(len(set(kind)) == 1 for kind in found.group_of.reshape(6, 4).tolist())
    assert found.objective == pytest.approx(24.0)  # 6 sums of length 4


def test_what_no_partition_can_keep_is_told() -> None:
    limits = at_most(np.ones((6, 1), dtype=np.int64), 2)
    found = anneal(
        of_pairs(np.eye(6)), equal_sizes(6, 3), np.random.default_rng(0), steps=600, limits=limits
    )
    assert found.excess == 2


def test_users_who_are_all_alike_are_dealt_out_all_the_same() -> None:
    likeness = Likeness(np.zeros((6, 6), dtype=np.float32), np.zeros((6, 0), dtype=np.float32))
    found = anneal(likeness, equal_sizes(6, 2), np.random.default_rng(0), steps=600)
    assert np.bincount(found.group_of).tolist() == [2, 2, 2]


def test_progress_goes_up_to_the_users() -> None:
    told: list[int] = []
    anneal(
        of_pairs(np.eye(6)), equal_sizes(6, 2), np.random.default_rng(0), steps=9,
        progress=told.append,
    )  # fmt: skip
    assert told == sorted(told)
    assert told[-1] == 6


def test_steps_grow_with_the_users() -> None:
    steps = [steps_for(users) for users in (10, 700, 10_000, 20_000, 100_000)]
    assert steps == [1_000_000, 5_600_000, 80_000_000, 90_000_000, 170_000_000]


def test_large_groups_are_the_same_by_sums_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of each user's likenesses to each group, kept up to date, play the same draws."""
    vectors = drawn_vectors(96, 3)
    exact = np.round(vectors @ vectors.T, 6).astype(np.float32)
    likeness = Likeness(exact, np.zeros((96, 0), dtype=np.float32))
    limits = at_most((vectors[:, :2] > 0).astype(np.int64), 11, 3)
    found = []
    for large in (16, 1000):
        monkeypatch.setattr(annealing, "_LARGE", large)
        rng = np.random.default_rng(2)
        found.append(anneal(likeness, equal_sizes(96, 16), rng, steps=30_000, limits=limits))
    assert found[0].group_of.tolist() == found[1].group_of.tolist()
    assert found[0].excess == found[1].excess == excess(limits, found[0].group_of)
    assert found[0].objective == pytest.approx(found[1].objective)
    assert found[0].objective == pytest.approx(objective(vectors, found[0].group_of), rel=1e-4)


@pytest.mark.parametrize("steps", [1, 599, 1199, 6000])
def test_as_many_exchanges_are_tried_as_is_said(
    monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    tried = []

    def counted(_state: Any, places: Any, *_more: Any) -> None:
        tried.append(len(places))

    monkeypatch.setattr(annealing, "_exchange", counted)
    anneal(of_pairs(np.eye(6)), equal_sizes(6, 3), np.random.default_rng(0), steps=steps)
    assert sum(tried) == steps
