from __future__ import annotations

import itertools

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, Qrel, ScoredDoc
from sklearn.metrics import average_precision_score

from search_app.evaluation import (
    average_precision,
    corrected,
    evaluate,
    random_average_precision,
)


def hits(text: str) -> np.ndarray:
    return np.array([letter == "R" for letter in text])


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("R-R", (1 + 2 / 3) / 2),
        ("RR-", 1.0),
        ("-RR", (1 / 2 + 2 / 3) / 2),
        ("--R", 1 / 3),
        ("---", 0.0),
    ],
)
def test_average_precision(order: str, expected: float) -> None:
    assert average_precision(hits(order)) == pytest.approx(expected, abs=1e-15)


def test_ap_at_r_looks_at_the_first_r_relevant() -> None:
    assert average_precision(hits("R-R-R"), 1) == 1
    assert average_precision(hits("R-R-R"), 2) == (1 + 2 / 3) / 2
    assert average_precision(hits("R-R-R"), 9) == average_precision(hits("R-R-R"))


@given(st.permutations(range(1, 61)))
def test_equals_ir_measures_and_scikit_learn(order: list[int]) -> None:
    gold = np.arange(1, 61)
    precision = evaluate(np.array(order), gold)
    assert precision is not None
    qrels = [Qrel("q", str(place), 1) for place in range(1, 31)]
    run = [ScoredDoc("q", str(place), 100.0 - rank) for rank, place in enumerate(order)]
    assert precision.ap == pytest.approx(ir_measures.calc_aggregate([AP], qrels, run)[AP], abs=1e-9)
    relevant = np.array(order) <= 30
    scores = -np.arange(60.0)
    assert precision.ap == pytest.approx(average_precision_score(relevant, scores), abs=1e-9)


@pytest.mark.parametrize(("pool", "relevant"), [(2, 1), (4, 2), (5, 3), (6, 1), (6, 5), (5, 5)])
def test_random_ap_is_the_mean_over_all_orders(pool: int, relevant: int) -> None:
    orders = set(itertools.permutations("R" * relevant + "-" * (pool - relevant)))
    mean = np.mean([average_precision(hits("".join(order))) for order in orders])
    assert random_average_precision(pool, relevant) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    ("pool", "level"), [(50, 0.63), (100, 0.33), (200, 0.17), (500, 0.07), (1000, 0.04)]
)
def test_a_random_order_scores_mostly_by_its_pool(pool: int, level: float) -> None:
    assert random_average_precision(pool, 30) == pytest.approx(level, abs=0.006)


def test_corrected_is_0_at_chance_and_1_at_gold() -> None:
    assert corrected(random_average_precision(100, 30), 100, 30) == 0
    assert corrected(1.0, 100, 30) == 1
    assert corrected(1.0, 30, 30) is None


def test_gold_itself_has_ap_1() -> None:
    gold = np.arange(1, 101)[::-1]
    precision = evaluate(gold, gold)
    assert precision is not None
    assert (precision.ap, precision.ap_at_10, precision.ap_c, precision.pool) == (1, 1, 1, 100)


def test_each_depth_looks_at_its_own_documents() -> None:
    # the first 10 relevant at ranks 1-10, the next ten at 21-30, the last ten at 91-100
    order = [*range(1, 11), *range(31, 41), *range(11, 21), *range(41, 101), *range(21, 31)]
    precision = evaluate(np.array(order), np.arange(1, 101))
    assert precision is not None
    second = [(10 + at) / (20 + at) for at in range(1, 11)]
    third = [(20 + at) / (90 + at) for at in range(1, 11)]
    assert precision.ap_at_10 == 1
    assert precision.ap_at_20 == pytest.approx((10 + sum(second)) / 20)
    assert precision.ap == pytest.approx((10 + sum(second) + sum(third)) / 30)


def test_small_pools_have_no_corrected_value() -> None:
    precision = evaluate(np.array([2, 1]), np.array([1, 2]))
    assert precision is not None
    assert (precision.ap, precision.ap_c) == (1.0, None)


def test_an_empty_pool_has_no_precision() -> None:
    assert evaluate(np.array([], dtype=int), np.array([], dtype=int)) is None
