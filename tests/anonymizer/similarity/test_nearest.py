"""Who is nearest: a naive twin, ties, and cells that miss few."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.similarity import nearest as module
from anonymizer.similarity.nearest import NEAREST, nearest_of

Vectors = np.ndarray


def drawn(users: int, kinds: int = 20, seed: int = 0) -> Vectors:
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((kinds, 16))
    vectors = centres[rng.integers(kinds, size=users)] + 0.5 * rng.standard_normal((users, 16))
    whole: Vectors = np.rint(2048 * vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return whole.astype(np.int16)


def twin(vectors: Vectors) -> list[list[int]]:
    lists = []
    for user, vector in enumerate(vectors.astype(np.int64)):
        closeness = (vectors.astype(np.int64) @ vector).tolist()
        others = [other for other in range(len(vectors)) if other != user]
        lists.append(sorted(others, key=lambda other: (-closeness[other], other))[:NEAREST])
    return lists


@pytest.mark.parametrize("users", [2, 3, 21, 22, 700])
def test_lists_equal_their_naive_twin(users: int) -> None:
    vectors = drawn(users)
    assert nearest_of(vectors, np.random.default_rng(0)).tolist() == twin(vectors)


def test_of_equally_close_users_the_first_count() -> None:
    vectors = np.repeat(drawn(3), 30, axis=0)
    lists = nearest_of(vectors, np.random.default_rng(0))
    assert lists[0].tolist() == [*range(1, 21)]
    assert lists[5].tolist() == [*range(5), *range(6, 21)]
    assert lists[89].tolist() == [*range(60, 80)]


@pytest.mark.parametrize("alike", [False, True])
def test_cells_miss_few(monkeypatch: pytest.MonkeyPatch, alike: bool) -> None:
    vectors = np.repeat(drawn(2), 600, axis=0) if alike else drawn(1200, 40)
    for name, value in {"MOST": 1000, "_LOOKED_AT": 300, "_MEMBERS": 30}.items():
        monkeypatch.setattr(module, name, value)
    lists = nearest_of(vectors, np.random.default_rng(1))
    assert all(user not in others for user, others in enumerate(lists.tolist()))
    assert all(len(set(others)) == NEAREST for others in lists.tolist())
    whole = vectors.astype(np.int64)
    products = whole @ whole.T - 2**40 * np.eye(1200, dtype=np.int64)
    exact = np.sort(products, axis=1)[:, -NEAREST:]
    missed = np.take_along_axis(products, lists.astype(np.int64), axis=1) < exact[:, :1]
    assert missed.mean() < (0.001 if alike else 0.2)
    compared = [
        (members.size, others.size)
        for members, others in module._regions(vectors.astype(np.float32), np.random.default_rng(1))
    ]
    assert sum(members for members, _ in compared) == 1200
    assert max(others for _, others in compared) <= 600
