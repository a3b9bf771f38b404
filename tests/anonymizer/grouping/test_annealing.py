"""Annealing: what it finds, what it keeps, and a naive twin that plays the same draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.grouping import annealing
from anonymizer.grouping.annealing import BLOCKS, Annealed, Limits, anneal, steps_for
from anonymizer.similarity.documents import UNIT, Likeness

Floats = np.ndarray


def of_vectors(vectors: Floats, near: int = 3) -> Likeness:
    whole = np.rint(UNIT * vectors).astype(np.int16)
    closest = np.argsort(-(vectors @ vectors.T) + 9 * np.eye(len(vectors)), axis=1, kind="stable")
    return Likeness(whole, closest[:, :near].astype(np.int32))


def drawn_vectors(users: int, seed: int = 0) -> Floats:
    vectors = np.random.default_rng(seed).standard_normal((users, 5))
    scaled: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def equal_sizes(users: int, size: int) -> np.ndarray:
    return np.full(users // size, size, dtype=np.int64)


def objective(vectors: Floats, group_of: np.ndarray) -> float:
    whole = np.rint(UNIT * vectors).astype(np.int64)
    inside = 0.0
    for group in range(int(group_of.max()) + 1):
        alike = whole[group_of == group] @ whole[group_of == group].T
        own = np.diagonal(alike)
        inside += np.sqrt(alike.sum() + np.where(own > 0, np.maximum(0, UNIT**2 - own), 0).sum())
    return float(inside) / UNIT


def at_most(has: np.ndarray, most: int, least: int = 0) -> Limits:
    row = np.full((2, has.shape[1]), most, dtype=np.int32)
    return Limits(csr_matrix(has.astype(np.int32)), np.full_like(row, least), row)


def excess(limits: Limits, group_of: np.ndarray) -> int:
    counts = np.zeros((int(group_of.max()) + 1, limits.has.shape[1]), dtype=np.int64)
    np.add.at(counts, group_of, limits.has.toarray())
    over, under = counts - limits.most[0], limits.least[0] - counts
    return int(np.maximum(0, np.maximum(over, under)).sum())


def twin(likeness: Likeness, sizes: np.ndarray, seed: int, steps: int, limits: Limits) -> Annealed:
    """Anneal with the same draws, computing everything anew at each step."""
    rng = np.random.default_rng(seed)
    vectors, near = likeness.vectors / UNIT, likeness.nearest.shape[1]
    order = rng.permutation(len(vectors)).tolist()
    members = [order[end - size : end] for size, end in zip(sizes, np.cumsum(sizes), strict=True)]

    def dealt() -> np.ndarray:
        return np.array([[user in some for some in members].index(True) for user in sorted(order)])

    best = Annealed(dealt(), objective(vectors, dealt()), excess(limits, dealt()))
    for number in range(BLOCKS + annealing._REPAIRS):
        if number >= BLOCKS and not excess(limits, dealt()):
            break
        done = min(1.0, number / (BLOCKS - 1))
        heat, weight = 0.01 * 0.1**done, 0.02 * 25**done
        weight *= 2 ** (max(0, number - BLOCKS + 1) / 8)
        block = max(1, steps // BLOCKS)
        users, kinds = rng.integers(len(order), size=block), rng.integers(5 * near, size=block)
        shares, bars = rng.integers(2**31, size=block), heat * np.log1p(-rng.random(block))
        for user, kind, share, bar in zip(users, kinds, shares / 2**31, bars, strict=True):
            before = dealt()
            # Four in five: somebody of the group of one of the nearest; else anybody at all.
            close = kind < 4 * near
            group = before[likeness.nearest[user, kind // 4]] if close else -1
            row = members[group] if close else [one for some in members for one in some]
            other = row[int(share * len(row))]
            after = before.copy()
            after[[user, other]] = before[[other, user]]
            gain = objective(vectors, after) - objective(vectors, before)
            gain -= weight * (excess(limits, after) - excess(limits, before))
            if before[user] != before[other] and gain > bar:
                here, there = members[before[user]], members[before[other]]
                here[here.index(user)], there[there.index(other)] = other, user
        state = Annealed(dealt(), objective(vectors, dealt()), excess(limits, dealt()))
        if (-state.excess, state.objective) > (-best.excess, best.objective):
            best = state
    return best


@pytest.mark.parametrize("near", [1, 3, 10])
@pytest.mark.parametrize("limited", [False, True])
def test_it_equals_its_naive_twin(near: int, limited: bool) -> None:
    likeness = of_vectors(drawn_vectors(11), near)
    sizes = np.array([4, 4, 3])
    has = np.random.default_rng(1).random((11, 6)) < 0.5
    limits = at_most(has, 2, 1) if limited else at_most(has[:, :0], 0)
    made = anneal(likeness, sizes, np.random.default_rng(3), steps=1200, limits=limits)
    expected = twin(likeness, sizes, 3, 1200, limits)
    assert made.group_of.tolist() == expected.group_of.tolist()
    assert made.objective == pytest.approx(expected.objective, rel=1e-12)
    assert made.excess == expected.excess


@pytest.mark.parametrize("steps", [1, 600, 20_000])
@pytest.mark.parametrize("limited", [False, True])
def test_the_objective_never_falls_and_limits_are_counted_right(steps: int, limited: bool) -> None:
    vectors = drawn_vectors(60, 4)
    has = np.random.default_rng(1).random((60, 9)) < 0.5
    limits = at_most(has, 4, 2) if limited else at_most(has[:, :0], 0)
    for seed in range(5):
        start = np.empty(60, dtype=np.int64)
        start[np.random.default_rng(seed).permutation(60)] = np.repeat(np.arange(10), 6)
        rng = np.random.default_rng(seed)
        made = anneal(of_vectors(vectors), equal_sizes(60, 6), rng, steps=steps, limits=limits)
        assert made.excess == excess(limits, made.group_of)
        assert made.objective == pytest.approx(objective(vectors, made.group_of), rel=1e-12)
        before = -excess(limits, start), objective(vectors, start)
        assert (-made.excess, made.objective) >= (before[0], before[1] * (1 - 1e-12))
        assert np.bincount(made.group_of).tolist() == [6] * 10


def test_everybody_is_wholly_alike_to_oneself_whatever_short_vectors_leave_out() -> None:
    vectors = np.diag([1.0, 0.6, 0.0, 0.0])  # the last two: alike to nobody, and not to themselves
    found = anneal(of_vectors(vectors), equal_sizes(4, 1), np.random.default_rng(0), steps=9)
    assert found.objective == pytest.approx(2.0)


def test_alike_users_find_each_other() -> None:
    vectors = np.repeat(np.eye(6), 4, axis=0)  # 6 kinds of 4 users each
    found = anneal(of_vectors(vectors), equal_sizes(24, 4), np.random.default_rng(0), steps=60_000)
    assert len({*map(tuple, found.group_of.reshape(6, 4).tolist())}) == 6
    assert all(len(set(kind)) == 1 for kind in found.group_of.reshape(6, 4).tolist())
    assert found.objective == pytest.approx(24.0)  # 6 sums of length 4


def test_what_no_partition_can_keep_is_told() -> None:
    limits = at_most(np.ones((6, 1), dtype=np.int64), 2)
    found = anneal(
        of_vectors(np.eye(6)), equal_sizes(6, 3), np.random.default_rng(0), steps=600, limits=limits
    )
    assert found.excess == 2


def test_the_best_partition_is_kept_and_not_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annealing, "HOT", 9.0)  # any exchange is taken, to the end
    monkeypatch.setattr(annealing, "COLD", 9.0)
    met, real = [], annealing._partition
    monkeypatch.setattr(annealing, "_partition", lambda state: met.append(real(state)) or met[-1])
    likeness, rng = of_vectors(drawn_vectors(60)), np.random.default_rng(0)
    made = anneal(likeness, equal_sizes(60, 6), rng, steps=BLOCKS)
    assert len(met) == BLOCKS + 1
    assert made.objective == max(one.objective for one in met) > met[-1].objective


def test_in_repairs_the_penalty_grows_until_limits_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LIGHT", "HEAVY"):
        monkeypatch.setattr(annealing, name, 0.001)
    kinds = np.repeat(np.eye(6), 4, axis=0)  # as groups they are closest, and each is to be parted
    limits, rng = at_most(kinds.astype(np.int64), 1), np.random.default_rng(0)
    likeness = of_vectors(kinds)
    found = anneal(likeness, equal_sizes(24, 4), rng, steps=60_000, limits=limits)
    assert found.excess == 0


def test_users_who_are_all_alike_are_dealt_out_all_the_same() -> None:
    found = anneal(
        of_vectors(np.zeros((6, 4))), equal_sizes(6, 2), np.random.default_rng(0), steps=600
    )
    assert np.bincount(found.group_of).tolist() == [2, 2, 2]


def test_progress_goes_up_to_the_users() -> None:
    told: list[int] = []
    anneal(
        of_vectors(np.eye(6)), equal_sizes(6, 2), np.random.default_rng(0), steps=9,
        progress=told.append,
    )  # fmt: skip
    assert told == sorted(told)
    assert told[-1] == 6


def test_steps_grow_with_the_users() -> None:
    steps = [steps_for(users) for users in (10, 700, 10_000, 20_000, 100_000)]
    assert steps == [4_000_000, 4_000_000, 4_000_000, 4_000_000, 20_000_000]


def test_sums_of_large_groups_are_exact() -> None:
    """The sum of a group times a user's vector is beyond 32 bits here."""
    vectors = np.repeat(drawn_vectors(3), 1000, axis=0)
    made = anneal(
        of_vectors(vectors), equal_sizes(3000, 1500), np.random.default_rng(2), steps=9000
    )
    assert made.objective == pytest.approx(objective(vectors, made.group_of), rel=1e-12)


def test_four_in_five_exchanges_are_with_somebodys_group_who_is_near() -> None:
    user, near, share = annealing._draws(60_000, 30, 7, np.random.default_rng(0)).T
    assert np.bincount(user).min() > 1800
    assert np.bincount(near + 1).tolist() == pytest.approx([12_000, *[48_000 / 7] * 7], rel=0.05)
    assert np.bincount(share >> 28).tolist() == pytest.approx([7500] * 8, rel=0.05)


@pytest.mark.parametrize("steps", [1, 599, 1199, 6000])
def test_as_many_exchanges_are_tried_as_is_said(
    monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    tried = []

    def counted(_state: Any, draws: Any, *_more: Any) -> None:
        tried.append(len(draws))

    monkeypatch.setattr(annealing, "_exchange", counted)
    anneal(of_vectors(np.eye(6)), equal_sizes(6, 3), np.random.default_rng(0), steps=steps)
    assert sum(tried) == steps
