from __future__ import annotations

import itertools
import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, Qrel, ScoredDoc, nDCG
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score

from search_app.measures.precision import (
    MEASURES,
    agreement,
    average_precision,
    evaluate,
    kendall_tau,
    random_average_precision,
    rank_biased_overlap,
)


def order_of(text: str) -> np.ndarray:
    """Return an order of 60 places in which exactly those marked R are relevant, 30 in all."""
    assert len(text) == 60
    relevant, others = iter(range(30)), iter(range(30, 60))
    return np.array([next(relevant if letter == "R" else others) for letter in text])


def naive_ap(hits: str, first: int | None = None) -> float:
    """Take the definition word for word: mean precision at the ranks of the relevant."""
    ranks = [rank for rank, letter in enumerate(hits, 1) if letter == "R"][:first]
    return sum(hits[:rank].count("R") / rank for rank in ranks) / len(ranks)


@given(st.permutations("R" * 30 + "-" * 30), st.sampled_from([1, 2, 10, 20, 30]))
def test_ap_at_r_looks_at_the_first_r_relevant(letters: list[str], first: int) -> None:
    text = "".join(letters)
    expected = naive_ap(text, first)
    assert average_precision(order_of(text), first) == pytest.approx(expected, abs=1e-12)


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


@given(st.permutations(range(50)))
def test_ndcg_equals_ir_measures_and_its_formula(order: list[int]) -> None:
    # of the 50 in the pool 30 are relevant: 30 the first of the gold order, 1 its thirtieth
    qrels = [Qrel("q", str(place), 30 - place) for place in range(30)]
    run = [ScoredDoc("q", str(place), 100.0 - rank) for rank, place in enumerate(order)]
    value = float(MEASURES["nDCG"](np.array(order)))
    assert value == pytest.approx(ir_measures.calc_aggregate([nDCG], qrels, run)[nDCG], abs=1e-9)
    gains = [max(30 - place, 0) / math.log2(rank + 1) for rank, place in enumerate(order, 1)]
    ideal = [(30 - place) / math.log2(place + 2) for place in range(30)]
    assert value == pytest.approx(sum(gains) / sum(ideal), abs=1e-12)


@pytest.mark.parametrize("size", [1, 2, 9, 10, 11, 30, 31, 100, 129])
def test_the_gold_order_itself_has_the_best_of_each_measure(size: int) -> None:
    gold = np.arange(size)
    for name, measure in MEASURES.items():
        undefined = (name == "AP_c" and size <= 30) or (name == "tau" and size < 2)
        value = float(measure(gold))
        assert math.isnan(value) if undefined else value == pytest.approx(1, abs=1e-12), name


def test_an_empty_pool_has_no_value_of_any_measure() -> None:
    for measure in MEASURES.values():
        assert np.isnan(measure(np.empty((3, 0), dtype=np.int64))).all()
        assert measure(np.empty((0, 40), dtype=np.int64)).shape == (0,)
    nothing = np.array([], dtype=int)
    assert evaluate(nothing, nothing) is agreement(nothing, nothing) is None


@pytest.mark.parametrize("size", [1, 2, 5, 29, 30, 31, 64, 127, 128, 129, 300, 1000])
def test_many_orders_at_once_are_measured_like_each_alone(size: int) -> None:
    rng = np.random.default_rng(size)
    many = rng.permuted(np.tile(np.arange(size), (2, 70, 1)), axis=-1)
    for name, measure in MEASURES.items():
        together = measure(many)
        assert together.shape == (2, 70)
        assert together.dtype == np.float64
        alone = [[float(measure(order)) for order in orders] for orders in many]
        assert np.array_equal(together, alone, equal_nan=True), name


@pytest.mark.parametrize("size", [2, 40, 200])
def test_pages_show_the_measures_of_experiments(size: int) -> None:
    rng = np.random.default_rng(size)
    gold, ranking = rng.permutation(size) + 1, rng.permutation(size) + 1
    order = np.array([gold.tolist().index(place) for place in ranking])
    values = {name: float(measure(order)) for name, measure in MEASURES.items()}
    shown, agreed = evaluate(ranking, gold), agreement(ranking, gold)
    assert shown is not None
    assert agreed is not None
    ap_c = None if math.isnan(values["AP_c"]) else values["AP_c"]
    assert vars(shown) == {
        "ap": values["AP"],
        "ap_at_10": values["AP@10"],
        "ap_at_20": values["AP@20"],
        "ap_c": ap_c,
        "pool": size,
    }
    assert (agreed.tau, agreed.rbo) == (values["tau"], values["RBO"])
    assert agreed.overlap / agreed.first == values["overlap@10"]


@pytest.mark.parametrize(("pool", "relevant"), [(2, 1), (4, 2), (5, 3), (6, 1), (6, 5), (5, 5)])
def test_random_ap_is_the_mean_over_all_orders(pool: int, relevant: int) -> None:
    orders = set(itertools.permutations("R" * relevant + "-" * (pool - relevant)))
    mean = np.mean([naive_ap("".join(order)) for order in orders])
    assert random_average_precision(pool, relevant) == pytest.approx(mean, abs=1e-12)


def test_corrected_is_0_at_chance_and_1_at_gold() -> None:
    assert float(MEASURES["AP_c"](np.arange(100))) == 1
    order = np.array([*range(1, 31), 0])
    chance, ap = random_average_precision(31), float(average_precision(order))
    assert float(MEASURES["AP_c"](order)) == pytest.approx((ap - chance) / (1 - chance), abs=1e-15)
    assert math.isnan(MEASURES["AP_c"](np.arange(30)))


def orders(most: int) -> st.SearchStrategy[np.ndarray]:
    """Draw an order of the numbers below some size."""
    seeds = st.tuples(st.integers(1, most), st.integers(0, 2**32 - 1))
    return seeds.map(lambda drawn: np.random.default_rng(drawn[1]).permutation(drawn[0]))


@given(orders(600))
def test_tau_equals_scipy(order: np.ndarray) -> None:
    if order.size == 1:
        assert math.isnan(kendall_tau(order))
        return
    expected = kendalltau(np.arange(order.size), order).statistic
    assert kendall_tau(order) == pytest.approx(expected, abs=1e-12)


def naive_rbo(order: list[int], p: float) -> float:
    """Take Webber, Moffat and Zobel's equation 30 word for word; the other order is 0, 1, ..."""
    size = len(order)
    met = [len(set(order[:depth]) & set(range(depth))) for depth in range(1, size + 1)]
    total = sum(shared / depth * p**depth for depth, shared in enumerate(met, 1))
    return met[-1] / size * p**size + (1 - p) / p * total


@given(orders(120), st.sampled_from([0.5, 0.9, 0.98]))
def test_rbo_equals_its_formula(order: np.ndarray, p: float) -> None:
    assert rank_biased_overlap(order, p) == pytest.approx(naive_rbo(order.tolist(), p), abs=1e-12)


def test_overlap_counts_the_documents_among_the_first_ten_of_both() -> None:
    # the first three have fallen behind the others: 4 to 10 are still among the first ten
    found = agreement(np.array([*range(4, 41), 1, 2, 3]), np.arange(1, 41))
    assert found is not None
    assert (found.overlap, found.first) == (7, 10)
