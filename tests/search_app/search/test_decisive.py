"""The smallest set of terms without which a document would not have moved, against all subsets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from search_app.search import rerank
from search_app.search.decisive import Decisive, decisive

Floats = NDArray[np.float64]


def rank_of(shares: Floats, weights: Floats, base: Floats, at: int, out: Sequence[int]) -> int:
    """Rank again, naively. Cosines have the length of the rest; a base makes it plain sums."""
    keep = [term for term in range(len(weights)) if term not in out]
    length = np.linalg.norm(weights[keep])
    values = base + shares[:, keep].sum(axis=1)
    if not base.any():
        values = values * np.linalg.norm(weights) / (length or 1)
    return int(rerank.order(np.round(values, 12)).tolist().index(at)) + 1


def found_in(
    shares: Floats, weights: Floats, base: Floats, at: int, **more: int
) -> Decisive | None:
    def again(out: Sequence[int]) -> int:
        return rank_of(shares, weights, base, at, out)

    if base.any():
        return decisive(shares, np.zeros(len(weights)), base, at, None, **more)
    return decisive(shares, weights, base, at, again, **more)


def holds(rank: int, before: int, plain: int) -> bool:
    return rank >= plain if before < plain else rank <= plain


def smallest_of_all(shares: Floats, weights: Floats, base: Floats, at: int) -> int | None:
    """Try every subset; return the size of the smallest that does."""
    before = rank_of(shares, weights, base, at, ())
    if before == at + 1:
        return None
    sizes = (
        size
        for size in range(len(weights) + 1)
        for out in combinations(range(len(weights)), size)
        if holds(rank_of(shares, weights, base, at, out), before, at + 1)
    )
    return next(sizes, None)


PLAIN = np.array([1.0, 0.5, 0.0])


def pool_of(
    rng: np.random.Generator, documents: int, terms: int, density: float, based: bool
) -> tuple[Floats, Floats, Floats]:
    """Draw a pool: few different counts and weights, so that there are ties."""
    counts = rng.integers(1, 4, (documents, terms)) * (rng.random((documents, terms)) < density)
    lengths = np.sqrt((counts**2).sum(axis=1) + rng.integers(1, 3, documents))
    weights = rng.choice([0.25, 0.5, 1.0], terms)
    shares = counts * weights / (lengths[:, None] * (np.linalg.norm(weights) or 1))
    base = np.zeros(documents)
    if based:
        base = np.sort(rng.choice(np.linspace(-0.5, 1, 8), documents))[::-1] + 1
        shares *= rng.choice([1, 1, -0.5], shares.shape)
    return shares, weights, base


@given(
    st.integers(0, 2**32),
    st.integers(2, 14),
    st.integers(1, 9),
    st.sampled_from([0.2, 0.5, 0.9]),
    st.booleans(),
)
def test_equals_the_search_of_all_subsets(
    seed: int, documents: int, terms: int, density: float, based: bool
) -> None:
    rng = np.random.default_rng(seed)
    shares, weights, base = pool_of(rng, documents, terms, density, based)
    at = int(rng.integers(documents))
    found = found_in(shares, weights, base, at)
    expected = smallest_of_all(shares, weights, base, at)
    if found is None or expected is None:
        assert found is expected
        return
    assert (len(found.terms), found.proven) == (expected, True)
    before = rank_of(shares, weights, base, at, ())
    assert found.rank == rank_of(shares, weights, base, at, found.terms)
    assert holds(found.rank, before, at + 1)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("based", [False, True])
def test_stopped_early_it_is_true_and_none_can_be_left_out(seed: int, based: bool) -> None:
    rng = np.random.default_rng(seed)
    shares, weights, base = pool_of(rng, 60, 24, 0.4, based)
    for at in (0, 20, 59):
        whole = found_in(shares, weights, base, at)
        found = found_in(shares, weights, base, at, work=0)
        before = rank_of(shares, weights, base, at, ())
        if found is None or whole is None:
            assert found is whole is None
            continue
        assert found.proven == (len(found.terms) == 1)  # nothing is smaller than one
        assert len(whole.terms) <= len(found.terms)
        assert holds(found.rank, before, at + 1)
        for term in found.terms:
            fewer = [other for other in found.terms if other != term]
            assert not holds(rank_of(shares, weights, base, at, fewer), before, at + 1)


def test_weights_too_far_apart_or_none_prove_nothing() -> None:
    assert found_in(np.zeros((3, 0)), np.zeros(0), np.zeros(3), 1) is None
    assert found_in(np.zeros((3, 2)), np.ones(2), PLAIN, 1) is None
    shares = np.array([[0.0, 0.0], [0.6, 1e-9], [0.0, 0.0]])
    found = found_in(shares, np.array([1.0, 1e-9]), np.zeros(3), 1)
    assert found == Decisive((0, 1), 2, False)


# Pools in which terms of the largest gains are more than are needed: the search must find fewer.
TRAPS = [(1, 0), (62, 0), (63, 10)]


@pytest.mark.parametrize(("seed", "at"), TRAPS)
def test_greed_is_not_enough(seed: int, at: int) -> None:
    shares, weights, base = pool_of(np.random.default_rng(seed), 30, 9, 0.5, False)
    greedy = found_in(shares, weights, base, at, work=0)
    found = found_in(shares, weights, base, at)
    assert greedy
    assert found
    assert len(found.terms) < len(greedy.terms)
    assert len(found.terms) == smallest_of_all(shares, weights, base, at)
