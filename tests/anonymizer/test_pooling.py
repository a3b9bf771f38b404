"""Pooling: pools that can be computed by hand, a naive twin, and the theorem by simulation."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer.model import Unsatisfiable
from anonymizer.pooling import Shares, pooled_shares, refuse_beyond

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


def naive(counts: list[int], m: int, p: Fraction, order: list[int]) -> Column:
    """Do as section E says, share by share; in all groups together nobody is left over."""
    groups, prior = range(len(counts)), Fraction(sum(counts), m * len(counts))
    share = [Fraction(count, m) for count in counts]
    ordered = sorted(groups, key=lambda g: (-share[g], order[g]))
    up = {g for g in groups if share[g] - prior > p}
    down = {g for g in groups if prior - share[g] > p}

    def shortest(ordered: list[int], far: set[int]) -> list[int] | None:
        if not far:
            return []
        for length in range(1, len(ordered) + 1):
            pool = ordered[:length]
            mean = sum((share[g] for g in pool), Fraction(0)) / length
            if far <= set(pool) and abs(mean - prior) <= p:
                return pool
        return None

    first, last = shortest(ordered, up), shortest(ordered[::-1], down)
    pools = [first, last]
    if first is None or last is None or set(first) & set(last):
        pools = [ordered]
    result = list(share)
    for pool in pools:
        for g in pool or []:
            result[g] = sum((share[g] for g in pool or []), Fraction(0)) / len(pool or [])
    return result


def test_shares_within_p_are_published_as_they_are() -> None:
    assert published([2, 1, 1, 0], 4, HALF) == [HALF, Fraction(1, 4), Fraction(1, 4), 0]


def test_a_share_that_tells_too_much_is_pooled_with_the_next() -> None:
    # 3/3 is more than 4/12 + 0.4; with 1/3 the mean is 2/3, the bound 11/15: enough
    found = published([0, 3, 1, 0], 3, Fraction(2, 5), [3, 2, 1, 0])
    assert found == [0, Fraction(2, 3), Fraction(2, 3), 0]


def test_of_equal_shares_the_first_in_the_secret_order_join() -> None:
    # 3/3 against a bound of 1/4 + 2/5 = 0.65: (3 + 0) / 6 = 1/2 will do
    order = [9, 9, 5, 1]
    assert published([3, 0, 0, 0], 3, Fraction(2, 5), order) == [HALF, 0, 0, HALF]


def test_a_pool_takes_as_many_groups_as_its_mean_needs() -> None:
    # bound 8/40 + 1/4 = 9/20; 4/4 and 3/4 are up; 4, 3, 1, 0 have 8/16, and one more makes 8/20
    found = published([4, 3, 1] + [0] * 7, 4, Fraction(1, 4))
    assert found == [Fraction(2, 5)] * 5 + [0] * 5


def test_who_lacks_what_most_have_is_pooled_from_the_other_end() -> None:
    # 9/12 - 2/5 = 0.35 at least; 0/3 and 3/3 make 1/2
    order = [1, 2, 3, 4]
    found = published([3, 3, 3, 0], 3, Fraction(2, 5), order)
    assert found == [1, 1, HALF, HALF]  # the last in the order comes first from this end


def test_ends_that_meet_make_one_pool() -> None:
    # at most 1/2 + 1/10: 4, 2, 2 have 2/3, only all four 1/2; from the other end it is the same
    assert published([4, 2, 2, 0], 4, TENTH) == [HALF] * 4


def test_ends_that_share_no_group_stay_two_pools() -> None:
    # p = 1/4 of 1/2: 4 and 2 give 3/4, 0 and 2 give 1/4
    three, one = Fraction(3, 4), Fraction(1, 4)
    assert published([4, 2, 2, 0], 4, Fraction(1, 4)) == [three, three, one, one]


def test_a_term_of_all_is_published_as_it_is() -> None:
    assert published([3, 3], 3, Fraction(2, 5)) == [1, 1]


def test_a_term_of_one_user_may_need_no_pool() -> None:
    assert published([1, 0, 0], 3, Fraction(1, 3)) == [Fraction(1, 3), 0, 0]
    assert published([1, 0, 0], 3, Fraction(1, 5)) == [Fraction(1, 6), Fraction(1, 6), 0]


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


@settings(max_examples=300, deadline=None)
@given(columns())
def test_pools_equal_their_naive_twin(
    column: tuple[list[int], int, Fraction, list[int]],
) -> None:
    counts, m, p, order = column
    found = published(counts, m, p, order)
    assert found == naive(counts, m, p, order)
    assert all(abs(share - Fraction(sum(counts), m * len(counts))) <= p for share in found)
    assert sum(found) == Fraction(sum(counts), m)
    ordered = sorted(range(len(counts)), key=lambda g: (-counts[g], order[g]))
    falling = [found[g] for g in ordered]
    assert falling == sorted(falling, reverse=True)


def test_a_share_beyond_p_is_refused() -> None:
    def cells(*numerators: int) -> Shares:
        of = np.arange(len(numerators))
        return Shares(of, np.zeros_like(of), np.array(numerators), np.full(of.size, 4))

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


def test_means_of_pools_fall_from_one_end_to_the_other() -> None:
    counts = [5, 5, 4, 3, 1, 1, 0, 0]
    found = published(counts, 5, Fraction(1, 4))
    assert all(now >= then for now, then in pairwise(found))
    assert sum(found) == Fraction(sum(counts), 5)
