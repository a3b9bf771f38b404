"""The smallest set of terms without which a document would not have moved, against all subsets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from search_app.search import rerank
from search_app.search.decisive import Decisive, decisive

Floats = NDArray[np.float64]


def rank_of(
    shares: Floats, weights: Floats, bm25: Floats, mix: float, at: int, out: Sequence[int]
) -> int:
    """Rank again, naively: the terms left out are set to 0 and the length is that of the rest."""
    keep = [term for term in range(len(weights)) if term not in out]
    length = np.linalg.norm(weights[keep])
    cosines = np.zeros(len(bm25))
    if length:
        cosines = shares[:, keep].sum(axis=1) * np.linalg.norm(weights) / length
    values = np.round(mix * np.round(cosines, 12) + (1 - mix) * bm25, 12)
    return int(rerank.order(values).tolist().index(at)) + 1


def found_in(
    shares: Floats, weights: Floats, bm25: Floats, mix: float, at: int, **more: int
) -> Decisive | None:
    def again(out: Sequence[int]) -> int:
        return rank_of(shares, weights, bm25, mix, at, out)

    return decisive(shares, weights, bm25, mix, at, again, **more)


def holds(rank: int, before: int, plain: int) -> bool:
    return rank >= plain if before < plain else rank <= plain


def smallest_of_all(
    shares: Floats, weights: Floats, bm25: Floats, mix: float, at: int
) -> int | None:
    """Try every subset; return the size of the smallest that does."""
    before = rank_of(shares, weights, bm25, mix, at, ())
    if before == at + 1:
        return None
    return next(
        size
        for size in range(len(weights) + 1)
        for out in combinations(range(len(weights)), size)
        if holds(rank_of(shares, weights, bm25, mix, at, out), before, at + 1)
    )


PLAIN = np.array([1.0, 0.5, 0.0])


def pool_of(
    rng: np.random.Generator, documents: int, terms: int, density: float
) -> tuple[Floats, Floats, Floats]:
    """Draw a pool: few different counts and weights, so that there are ties."""
    counts = rng.integers(1, 4, (documents, terms)) * (rng.random((documents, terms)) < density)
    lengths = np.sqrt((counts**2).sum(axis=1) + rng.integers(1, 3, documents))
    weights = rng.choice([0.25, 0.5, 1.0], terms)
    shares = counts * weights / (lengths[:, None] * (np.linalg.norm(weights) or 1))
    bm25 = np.sort(rng.choice(np.linspace(0, 1, 8), documents))[::-1].copy()
    return shares, weights, bm25


@settings(max_examples=300)
@given(
    st.integers(0, 2**32),
    st.integers(2, 14),
    st.integers(1, 9),
    st.sampled_from([0.2, 0.5, 0.9]),
    st.sampled_from([1.0, 1.0, 0.8, 0.4]),
)
def test_equals_the_search_of_all_subsets(
    seed: int, documents: int, terms: int, density: float, mix: float
) -> None:
    rng = np.random.default_rng(seed)
    shares, weights, bm25 = pool_of(rng, documents, terms, density)
    at = int(rng.integers(documents))
    found = found_in(shares, weights, bm25, mix, at)
    expected = smallest_of_all(shares, weights, bm25, mix, at)
    if found is None or expected is None:
        assert found is expected
        return
    assert (len(found.terms), found.proven) == (expected, True)
    before = rank_of(shares, weights, bm25, mix, at, ())
    assert found.rank == rank_of(shares, weights, bm25, mix, at, found.terms)
    assert holds(found.rank, before, at + 1)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("mix", [1.0, 0.6])
def test_stopped_early_it_is_true_and_none_can_be_left_out(seed: int, mix: float) -> None:
    rng = np.random.default_rng(seed)
    shares, weights, bm25 = pool_of(rng, 60, 24, 0.4)
    for at in (0, 20, 59):
        whole = found_in(shares, weights, bm25, mix, at)
        found = found_in(shares, weights, bm25, mix, at, work=0)
        before = rank_of(shares, weights, bm25, mix, at, ())
        if found is None or whole is None:
            assert found is whole is None
            continue
        assert found.proven == (len(found.terms) == 1)  # nothing is smaller than one
        assert len(whole.terms) <= len(found.terms)
        assert holds(found.rank, before, at + 1)
        for term in found.terms:
            fewer = [other for other in found.terms if other != term]
            assert not holds(rank_of(shares, weights, bm25, mix, at, fewer), before, at + 1)


def test_weights_too_far_apart_or_none_prove_nothing() -> None:
    assert found_in(np.zeros((3, 0)), np.zeros(0), PLAIN, 1.0, 1) is None
    assert found_in(np.zeros((3, 2)), np.ones(2), PLAIN, 0.0, 1) is None
    shares = np.array([[0.0, 0.0], [0.6, 1e-9], [0.0, 0.0]])
    found = found_in(shares, np.array([1.0, 1e-9]), PLAIN, 1.0, 1)
    assert found == Decisive((0, 1), 2, False)


# Pools in which terms of the largest gains are more than are needed: the search must find fewer.
TRAPS = [(1, 0, 1.0), (62, 0, 1.0), (63, 10, 1.0), (10, 29, 0.6), (21, 0, 0.6), (117, 10, 0.6)]


@pytest.mark.parametrize(("seed", "at", "mix"), TRAPS)
def test_greed_is_not_enough(seed: int, at: int, mix: float) -> None:
    shares, weights, bm25 = pool_of(np.random.default_rng(seed), 30, 9, 0.5)
    greedy = found_in(shares, weights, bm25, mix, at, work=0)
    found = found_in(shares, weights, bm25, mix, at)
    assert greedy
    assert found
    assert len(found.terms) < len(greedy.terms)
    assert len(found.terms) == smallest_of_all(shares, weights, bm25, mix, at)
