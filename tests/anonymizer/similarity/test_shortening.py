"""Axes and short vectors: nearly the best directions, and the same on every machine."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.similarity.shortening import axes_of, shortened

Floats = np.ndarray


def vectors_over(users: int, documents: int, seed: int = 0) -> Floats:
    """Return unit vectors that differ most in a few directions."""
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((users, documents)) / (1 + np.arange(documents)) ** 0.8
    turned = np.linalg.qr(rng.standard_normal((documents, documents)))[0]
    vectors: Floats = drawn @ turned
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def axes_for(vectors: Floats, most: int) -> Floats:
    return axes_of(vectors.astype(np.float32), most, np.random.default_rng(5))


@pytest.mark.parametrize(("users", "documents"), [(300, 80), (60, 200), (60, 60)])
def test_axes_are_orthonormal_and_keep_nearly_what_the_best_keep(
    users: int, documents: int
) -> None:
    vectors = vectors_over(users, documents)
    axes = axes_for(vectors, 12)
    assert axes.T @ axes == pytest.approx(np.eye(12), abs=1e-6)
    best = np.linalg.eigvalsh(vectors.T @ vectors)[-12:].sum()
    assert 0.99 * best <= ((vectors @ axes) ** 2).sum() <= best * (1 + 1e-6)


@pytest.mark.parametrize(("users", "documents", "rank"), [(40, 9, 9), (5, 30, 5), (40, 30, 3)])
def test_all_is_kept_where_the_axes_suffice(users: int, documents: int, rank: int) -> None:
    vectors = vectors_over(users, documents)
    if rank < min(users, documents):
        vectors = vectors[np.arange(users) % rank]
    short = vectors @ axes_for(vectors, 12)
    assert short @ short.T == pytest.approx(vectors @ vectors.T, abs=1e-5)


def test_no_order_of_adding_up_changes_the_axes() -> None:
    """The sums over users are the same to the last bit in any order and in any parts."""
    vectors = vectors_over(500, 40)
    assert np.array_equal(axes_for(vectors, 12), axes_for(vectors[::-1], 12))
    fine = np.round(2.0**19 * vectors)
    parts = sum(fine[first::7].T @ fine[first::7] for first in range(7))
    assert np.array_equal(parts, fine.T @ fine)


def test_users_who_like_nothing_have_axes_too() -> None:
    assert not axes_for(np.zeros((4, 6)), 3).any()


def test_short_vectors_equal_their_naive_twin() -> None:
    rng = np.random.default_rng(2)
    interests = (rng.random((30, 8)) < 0.4).astype(np.float64)
    sampled = rng.random((8, 50)) * (rng.random((8, 50)) < 0.3)
    axes = axes_for(vectors_over(30, 50), 6)
    made = shortened(csr_matrix(interests), csr_matrix(sampled), axes, 2048)
    assert made.dtype == np.int16
    for row, vector in zip(interests, made, strict=True):
        scores = row @ sampled
        centred = scores - scores.mean()
        length = np.linalg.norm(centred)
        expected = 2048 * centred @ axes / length if length else np.zeros(6)
        assert vector.tolist() == pytest.approx(expected.tolist(), abs=0.51)
