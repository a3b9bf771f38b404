"""Insertion against sets and combinations: the groups, the promise, and that nothing fits in."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from anonymizer import compiled
from anonymizer.arrays import Ints
from anonymizer.deletion import insertion as km_insertion
from anonymizer.deletion.histories import Histories
from anonymizer.deletion.insertion import best_of, insert

from ..small_logs import (
    Log,
    can_be_put_back,
    cells_in,
    crowd,
    draw_rows,
    histories_from,
    is_anonymous,
    rows_of,
)

A, B, C, D, E = range(5)


def order_of(*terms: int) -> Ints:
    return np.array(terms, dtype=np.int64)


def naive(
    rows: Log, k: int, m: int, order: list[int], start: Log | None, once: bool = False
) -> list[set[int]]:
    """Give each term to its largest group, word for word, over sets."""
    released = [set(row) for row in start] if start else [set[int]() for _ in rows]
    given = True
    while given:
        given = False
        for term in order:
            group = largest_group(term, rows, released, k, m)
            for user in group if len(group) >= k else ():
                given |= term not in released[user]
                released[user].add(term)
        if start is None or once:
            break
    return released


def largest_group(term: int, rows: Log, released: Log, k: int, m: int) -> set[int]:
    group = {user for user, row in enumerate(rows) if term in row}
    while True:
        thrown = {
            user
            for user in group
            if term not in released[user]
            for size in range(m)
            for others in combinations(released[user], size)
            if sum(set(others) <= released[member] for member in group) < k
        }
        if not thrown:
            return group
        group -= thrown


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_groups_equal_the_naive_twin(m: int, seed: int) -> None:
    rng = np.random.default_rng([m, seed])
    for _ in range(250):
        rows, k = draw_rows(rng), int(rng.integers(1, 5))
        order, other = rng.permutation(8), rng.permutation(8)
        histories = histories_from(rows, 8)
        kept = insert(histories, k=k, m=m, order=order)
        assert rows_of(histories, kept) == naive(rows, k, m, order.tolist(), None)
        start = insert(histories, k=k, m=m, order=order[: int(rng.integers(0, 5))])
        kept = insert(histories, k=k, m=m, order=other, start=start)
        begun = rows_of(histories, start)
        assert rows_of(histories, kept) == naive(rows, k, m, other.tolist(), begun)
        kept = insert(histories, k=k, m=m, order=other, start=start, once=True)
        assert rows_of(histories, kept) == naive(rows, k, m, other.tolist(), begun, once=True)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_groups_of_longer_histories_equal_the_naive_twin(m: int) -> None:
    """With 14 terms many rounds of throwing out are needed, and limits are reached."""
    rng = np.random.default_rng(m)
    for _ in range(30):
        rows, k = draw_rows(rng, users=25, span=14), int(rng.integers(2, 7))
        histories, order = histories_from(rows, 14), rng.permutation(14)
        kept = insert(histories, k=k, m=m, order=order)
        assert rows_of(histories, kept) == naive(rows, k, m, order.tolist(), None)


def any_anonymous(rng: np.random.Generator, rows: Log, k: int, m: int) -> list[set[int]]:
    """Delete at random what breaks the promise: a start that no insertion made."""
    left = [set(row) for row in rows]
    while not is_anonymous(left, k, m):
        user = int(rng.integers(len(left)))
        for size in range(1, m + 1):
            for combination in combinations(sorted(left[user]), size):
                if sum(set(combination) <= other for other in left) < k:
                    left[user].discard(int(rng.choice(combination)))
    return left


@pytest.mark.parametrize("m", [2, 3, 4])
def test_from_any_anonymous_start(m: int) -> None:
    rng = np.random.default_rng(m)
    more = 0
    for _ in range(200):
        rows, k = draw_rows(rng), int(rng.integers(2, 5))
        start, order = any_anonymous(rng, rows, k, m), rng.permutation(8)
        histories = histories_from(rows, 8)
        kept = insert(histories, k=k, m=m, order=order, start=cells_in(histories, start))
        found = rows_of(histories, kept)
        assert found == naive(rows, k, m, order.tolist(), start)
        assert is_anonymous(found, k, m)
        assert all(before <= after for before, after in zip(start, found, strict=True))
        assert not can_be_put_back(rows, found, k, m)
        more += found != start
    assert more > 0


def test_example_7_has_both_logs_of_the_paper() -> None:
    histories = histories_from([{A, B, C}, {A, B, D}, {B, C, D}], 4)
    kept = insert(histories, k=2, m=2, order=order_of(B, A, C, D))
    assert rows_of(histories, kept) == [{A, B}, {A, B}, {B}]
    kept = insert(histories, k=2, m=2, order=order_of(B, C, A, D))
    assert rows_of(histories, kept) == [{B, C}, {B}, {B, C}]


def test_example_8_by_frequency_is_the_optimum() -> None:
    """9.9, where the paper's greedy reaches 7.2, and the most valuable term first 9.2."""
    histories = histories_from([{A, B, C}, {A, B, D}, {B, C, D}, {A, C, E}], 5)
    utility = np.array([1.0, 1.1, 1.2, 1.3, 1.4])
    kept = insert(histories, k=2, m=2, order=order_of(A, B, C, D, E))
    assert rows_of(histories, kept) == [{A, B, C}, {A, B}, {B, C}, {A, C}]
    assert utility[histories.terms[kept]].sum() == pytest.approx(3 * 1.0 + 3 * 1.1 + 3 * 1.2)
    kept = insert(histories, k=2, m=2, order=order_of(E, D, C, B, A))
    assert rows_of(histories, kept) == [{A, C}, {B, D}, {B, D}, {A, C}]
    assert utility[histories.terms[kept]].sum() == pytest.approx(2 * (1.0 + 1.1 + 1.2 + 1.3))


def test_a_start_is_gone_through_until_nobody_gets_more() -> None:
    """C and A wait for B: only when both users have it can they have more beside it."""
    histories = histories_from([{A, B, C}, {A, B, C}, {B}, {B}], 3)
    start = cells_in(histories, [{B}, set(), {B}, {B}])
    order = order_of(C, A, B)
    assert insert(histories, k=2, m=2, order=order, start=start).all()
    kept = insert(histories, k=2, m=2, order=order, start=start, once=True)
    assert rows_of(histories, kept) == [{B}, {B}, {B}, {B}]


@pytest.mark.parametrize("rows", [[], [set(), set()]], ids=["nobody", "nothing"])
def test_a_log_without_terms(rows: Log) -> None:
    assert insert(histories_from(rows, 0), k=2, m=3, order=order_of()).size == 0


def test_histories_of_500_terms_at_m_of_3() -> None:
    histories = histories_from([set(range(500)), set(range(500)), set(range(250)), {0, 499}], 500)
    assert insert(histories, k=2, m=3, order=np.arange(500)).all()
    found = rows_of(histories, insert(histories, k=3, m=3, order=np.arange(500)))
    # The last user's 499 beside 0 is the first two's as well, which makes three.
    both = set(range(250)) | {499}
    assert found == [both - {499}, both - {499}, both - {499}, {0}]
    found = rows_of(histories, insert(histories, k=3, m=3, order=np.arange(500)[::-1]))
    # With 499 first, those who have it can't join the third user in 249 and below, but all share 0.
    assert found == [{0, 499}, {0, 499}, {0}, {0, 499}]


def test_the_log_given_is_left_as_it_is() -> None:
    histories = histories_from([{A, B}, {A, B}], 2)
    start = np.array([True, False, True, False])
    assert insert(histories, k=2, m=2, order=np.arange(2), start=start).all()
    assert start.tolist() == [True, False, True, False]


def test_progress_ends_with_all_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(km_insertion, "TERMS", 50)
    histories, told = crowd(50, 120, 0), list[int]()
    insert(histories, k=2, m=2, order=np.arange(120), progress=told.append)
    assert told == [50, 100, 120]


def two_orders() -> tuple[Histories, list[Ints]]:
    return histories_from([{A, B, C}, {A, B, D}, {B, C, D}, {A, C, E}], 5), [
        order_of(E, D, C, B, A),
        order_of(A, B, C, D, E),
    ]


def test_of_equals_the_first_is_kept() -> None:
    histories, orders = two_orders()
    for first in orders, orders[::-1]:
        found = best_of(histories, lambda _kept: (0.0, 0.0), first, k=2, m=2)
        assert np.array_equal(found, insert(histories, k=2, m=2, order=first[0]))


@pytest.mark.parametrize("cores", [1, 2, 3, 7])
def test_the_best_does_not_depend_on_the_number_of_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    histories, rng = crowd(300, 100, 4), np.random.default_rng(4)
    orders = [rng.permutation(100) for _ in range(5)]
    sizes = [int(insert(histories, k=4, m=2, order=order).sum()) for order in orders]
    expected = insert(histories, k=4, m=2, order=orders[int(np.argmax(sizes))])
    monkeypatch.setattr(km_insertion, "cores", lambda: cores)
    monkeypatch.setattr(compiled, "cores", lambda: cores)
    found = best_of(histories, lambda kept: (float(kept.sum()), 0.0), orders, k=4, m=2)
    assert np.array_equal(found, expected)
    assert len(set(sizes)) > 1
