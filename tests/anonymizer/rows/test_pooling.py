"""Pooling: pools that can be computed by hand, a naive twin, and the theorem by simulation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer.errors import Unsatisfiable
from anonymizer.rows.pooling import PooledShares, pooled_shares, refuse_beyond

from ..small_shares import pooled_column

Column = list[Fraction]
HALF, TENTH = Fraction(1, 2), Fraction(1, 10)


def published(counts: list[int], m: int, p: Fraction, order: list[int] | None = None) -> Column:
    """Return what groups publish of a term; equal ones stand in the given order."""
    numbers = np.array(order or range(len(counts)), dtype=np.uint64)
    column = csr_matrix(np.array(counts, dtype=np.int32)[:, None])
    shares = pooled_shares(column, m, p, lambda _term: numbers)
    found = [Fraction(0)] * len(counts)
    cells = (shares.groups.tolist(), shares.numerators.tolist(), shares.denominators.tolist())
    for group, over, under in zip(*cells, strict=True):
        found[group] = Fraction(over, under)
    return found


def test_decimals_beyond_64_bits_are_compared_exactly() -> None:
    # (3 + 0) / 6 is 1/2, the bound 3/24 + p: a hair decides whether two groups are enough
    enough, hair = Fraction(3, 8), Fraction(1, 10**18)
    few, many = [HALF] * 2 + [0] * 6, [Fraction(1, 3)] * 3 + [0] * 5
    assert published([3] + [0] * 7, 3, enough) == few
    assert published([3] + [0] * 7, 3, enough - hair) == many


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[int], int, Fraction, list[int]]:
    m = draw(st.integers(1, 6))
    counts = draw(st.lists(st.integers(0, m), min_size=1, max_size=9))
    p = draw(st.fractions(Fraction(1, 50), 1, max_denominator=50))
    order = draw(st.permutations(range(len(counts))))
    return counts, m, p, order


@given(columns())
def test_pools_equal_their_naive_twin(
    column: tuple[list[int], int, Fraction, list[int]],
) -> None:
    counts, m, p, order = column
    found = published(counts, m, p, order)
    prior = Fraction(sum(counts), m * len(counts))
    assert found == pooled_column([Fraction(count, m) for count in counts], prior, p, order)
    assert all(abs(share - prior) <= p for share in found)
    assert sum(found) == Fraction(sum(counts), m)
    ordered = sorted(range(len(counts)), key=lambda g: (-counts[g], order[g]))
    falling = [found[g] for g in ordered]
    assert falling == sorted(falling, reverse=True)


def test_a_share_beyond_p_is_refused() -> None:
    def cells(*numerators: int) -> PooledShares:
        of = np.arange(len(numerators))
        return PooledShares(of, np.zeros_like(of), np.array(numerators), np.full(of.size, 4))

    one = np.array([6])  # of 12
    refuse_beyond(cells(3, 1, 2), 3, one, 12, Fraction(1, 4))
    with pytest.raises(Unsatisfiable, match="1 shares would be more than 1/4 off"):
        refuse_beyond(cells(3, 4, 2), 3, one, 12, Fraction(1, 4))
    with pytest.raises(Unsatisfiable, match="2 shares"):  # absent: 0 of 4, in two more groups
        refuse_beyond(cells(3, 1, 2), 5, one, 12, Fraction(1, 4))


SAMPLES = 20_000


def largest_error(
    users: int, m: int, groups: int, p: Fraction, *, secret: bool, seed: int = 5
) -> tuple[float, int]:
    """Return how far, in standard errors, true shares are from what a whole column tells of them.

    Columns are drawn as uniform partitions make them. Those published alike, group by group, are
    what an attacker can't tell apart; among them a group's mean true share is the posterior.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.multivariate_hypergeometric([m] * groups, users, SAMPLES).T
    numbers = rng.integers(2**63, size=(SAMPLES, groups), dtype=np.uint64)
    known = np.arange(groups, dtype=np.uint64)
    shares = pooled_shares(
        csr_matrix(drawn.astype(np.int32)), m, p, lambda term: numbers[term] if secret else known
    )
    told = np.zeros((SAMPLES, groups))
    told[shares.terms, shares.groups] = shares.numerators / shares.denominators
    _, kind = np.unique(np.round(told, 9), axis=0, return_inverse=True)
    kind = kind.ravel()
    times = np.bincount(kind)
    worst, silent = 0.0, 0
    for group in range(groups):
        truth, said = drawn[group] / m, told[:, group]
        off = np.bincount(kind, truth - said) / times
        spread = np.bincount(kind, (truth - said) ** 2) / times
        often = times >= 50
        error = np.sqrt(spread[often] / times[often])
        worst = max(worst, float(np.max(np.abs(off[often]) / np.maximum(error, 1e-9))))
        silent += int(np.count_nonzero(said == 0))
    return worst, silent


CASES = [  # users having it, m, groups, p
    (2, 3, 5, Fraction(2, 5)),
    (3, 3, 5, Fraction(2, 5)),
    (9, 3, 4, Fraction(1, 3)),
    (10, 4, 4, Fraction(1, 5)),
]


@pytest.mark.parametrize("case", CASES)
def test_belief_after_a_column_is_the_published_share(
    case: tuple[int, int, int, Fraction],
) -> None:
    worst, silent = largest_error(*case, secret=True)
    assert worst < 5  # of some hundred comparisons, each off by chance alone
    if case[0] < 9:
        assert silent > SAMPLES  # groups that publish nothing of the term are among them


def test_a_known_order_of_equal_shares_breaks_it() -> None:
    worst, _ = largest_error(*CASES[0], secret=False)
    assert worst > 20
