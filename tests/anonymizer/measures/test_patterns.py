"""The closed-pattern miner against brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.measures.patterns import top_patterns


def by_brute_force(
    sets: np.ndarray, people: np.ndarray, least_length: int, count: int
) -> list[tuple[tuple[int, ...], int]]:
    """Return the patterns by looking at every set of columns."""
    supports = {
        some: int(people[sets[:, some].all(axis=1)].sum())
        for size in range(1, sets.shape[1] + 1)
        for some in combinations(range(sets.shape[1]), size)
    }
    closed = [
        (some, support)
        for some, support in supports.items()
        if support
        and not any(
            support == supports.get(tuple(sorted({*some, more})))
            for more in range(sets.shape[1])
            if more not in some
        )
    ]
    closed = [one for one in closed if len(one[0]) >= least_length]
    return sorted(closed, key=lambda one: (-one[1], -len(one[0]), one[0]))[:count]


@pytest.mark.parametrize("seed", range(12))
def test_equal_to_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(30):
        shape = rng.integers(1, 9), rng.integers(1, 8)
        sets = rng.random(shape) < rng.choice([0.2, 0.5, 0.8])
        people = rng.integers(1, 4, shape[0]) if seed % 2 else np.ones(shape[0], np.int64)
        for least_length in (1, 2):
            count = int(rng.choice([1, 3, 100]))
            patterns = top_patterns(csr_matrix(sets), people, least_length, count)
            assert patterns == by_brute_force(sets, people, least_length, count)


def test_no_pattern_without_people() -> None:
    assert top_patterns(csr_matrix((2, 3)), np.ones(2, np.int64)) == []
    assert top_patterns(csr_matrix(np.eye(2)), np.zeros(2, np.int64)) == []


def test_more_frequent_then_longer_then_alphabetical() -> None:
    """Sets abc, abc, ad, bd: a and b have 3, of 2 people abc is longer than d."""
    sets = csr_matrix([[1, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1]])
    assert top_patterns(sets, np.ones(4, np.int64)) == [
        *[((0,), 3), ((1,), 3), ((0, 1, 2), 2), ((3,), 2)],
        *[((0, 3), 1), ((1, 3), 1)],
    ]
