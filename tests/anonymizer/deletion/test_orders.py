"""What each target counts, in which orders it is tried, and that the best is kept."""

from __future__ import annotations

from math import comb, sqrt

import numpy as np
import pytest

from anonymizer import compiled
from anonymizer.deletion import orders as km_orders
from anonymizer.deletion.insertion import insert
from anonymizer.deletion.orders import Worth, frequent_partners, most_kept, orders, score_of

from ..small_logs import crowd, draw_rows, histories_from, is_anonymous, rows_of

A, B, C, D, E = range(5)
TARGETS = ["logsize", "users", "fis", "random", "bid", "clicks", "impressions", "revenue"]
VALUED = TARGETS[4:]


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_frequent_partners_are_counted(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    monkeypatch.setattr(km_orders, "cores", lambda: cores)
    monkeypatch.setattr(compiled, "cores", lambda: cores)
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows, k = draw_rows(rng), int(rng.integers(1, 5))
        expected = [
            sum(sum({term, other} <= row for row in rows) >= k for other in range(8))
            for term in range(8)
        ]
        assert frequent_partners(histories_from(rows, 8), k).tolist() == expected


def test_the_orders_for_log_size() -> None:
    """Of 3 users, A has 3, B and C 2, and E one; with k = 2 only A goes with B and with C."""
    histories = histories_from([{A, B}, {A, B, C}, {A, C, E}], 5)
    weights = np.array([1.0, 4.0, 1.0, 4.0, 2.0, 1.0, 2.0, 9.0])  # A 3, B 8, C 4, E 9
    partners = [3, 2, 2, 0, 0]
    each = [1, 4, 2, 0, 9]
    found = orders(histories, Worth("logsize", weights, None), k=2, rng=np.random.default_rng(0))
    firsts = [
        [3 * sqrt(1), 2 * sqrt(4), 2 * sqrt(2), 0, 0],
        [sqrt(3 * 3), sqrt(2 * 8), sqrt(2 * 4), 0, 0],
        partners,
        [first * second for first, second in zip(partners, each, strict=True)],
    ]
    expected = [sorted(range(5), key=lambda term: (-first[term], term)) for first in firsts]
    assert [order.tolist() for order in found] == expected
    assert expected == [[B, A, C, D, E], [B, A, C, D, E], [A, B, C, D, E], [B, C, A, D, E]]


def test_the_orders_for_a_value_begin_with_the_most_valuable() -> None:
    histories = histories_from([{A, B}, {A, B}, {A, C}], 3)
    worth = Worth("bid", np.ones(6), np.array([0.0, 1.0, 3.0]))
    found = orders(histories, worth, k=2, rng=np.random.default_rng(0))
    assert found[0].tolist() == [C, B, A]  # 3 x 1, 2 x 1 and 3 x 0
    assert [order[-1] for order in found[:3]] == [A, A, A]
    assert found[3].tolist() == [B, A, C]  # B alone has partners and a value, A partners


@pytest.mark.parametrize("target", TARGETS)
def test_every_order_holds_every_term_once(target: str) -> None:
    histories, rng = crowd(60, 40, 1), np.random.default_rng(1)
    weights = rng.random(histories.terms.size)
    worth = Worth(target, weights, rng.random(40) if target in VALUED else None)
    found = orders(histories, worth, k=3, rng=rng)
    assert all(sorted(order) == list(range(40)) for order in found)
    assert len(found) == (1 if target == "random" else len(found))


@pytest.mark.parametrize(
    ("target", "m", "expected"),
    [
        ("logsize", 2, (2 + 3 + 7, 2)),
        ("users", 2, (2, 2 + 3 + 7)),
        ("fis", 1, (3, 12)),
        ("fis", 2, (comb(2, 2) + comb(1, 2), 12)),
        ("bid", 2, (2 * 0.5 + 3 * 0 + 7 * 10, 12)),
    ],
)
def test_what_a_target_counts(target: str, m: int, expected: tuple[float, float]) -> None:
    histories = histories_from([{A, B}, {A, C}, {B}], 3)
    weights = np.array([2.0, 3.0, 5.0, 7.0, 11.0])
    kept = np.array([True, True, False, True, False])
    values = np.array([0.5, 0.0, 10.0]) if target == "bid" else None
    score = score_of(histories, Worth(target, weights, values), m)
    assert score(kept) == expected


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_no_order_that_was_tried_keeps_more(target: str, m: int) -> None:
    rng = np.random.default_rng(7)
    histories = crowd(60, 40, m)
    weights, values = rng.geometric(0.4, histories.terms.size).astype(float), rng.random(40)
    worth = Worth(target, weights, values if target in VALUED else None)
    score = score_of(histories, worth, m)
    tried = orders(histories, worth, k=5, rng=np.random.default_rng(3))
    told = list[int]()
    kept = most_kept(
        histories,
        worth,
        k=5,
        m=m,
        rng=np.random.default_rng(3),
        progress=told.append,
    )
    assert is_anonymous(rows_of(histories, kept), 5, m)
    best = max(score(insert(histories, k=5, m=m, order=order)) for order in tried)
    assert score(kept) >= best
    assert score(kept) == best or target == "users"
    assert told[-1] == len(tried)
