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

from search_app.evaluation import (
    MEASURES,
    Agreement,
    agreement,
    average_precision,
    evaluate,
    inversions,
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


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([0, 1, 2], 1.0),  # a pool of three: all are relevant
        ([*range(30), 30], 1.0),
        ([30, *range(30)], sum(rank / (rank + 1) for rank in range(1, 31)) / 30),
        ([*range(15), 30, *range(15, 30)], (15 + sum(r / (r + 1) for r in range(16, 31))) / 30),
    ],
)
def test_average_precision_by_hand(order: list[int], expected: float) -> None:
    assert average_precision(np.array(order)) == pytest.approx(expected, abs=1e-15)


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


@pytest.mark.parametrize("pool", [50, 100, 200, 500, 1000])
def test_random_orders_have_a_mean_ap_c_of_0(pool: int) -> None:
    rng = np.random.default_rng(pool)
    orders = rng.permuted(np.tile(np.arange(pool), (1_000_000 // pool, 1)), axis=1)
    values = MEASURES["AP_c"](orders)
    assert abs(values.mean()) < 0.005
    assert 4 * values.std() / math.sqrt(values.size) < 0.006  # enough orders to tell
    assert np.mean(MEASURES["tau"](orders)) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(("pool", "relevant"), [(2, 1), (4, 2), (5, 3), (6, 1), (6, 5), (5, 5)])
def test_random_ap_is_the_mean_over_all_orders(pool: int, relevant: int) -> None:
    orders = set(itertools.permutations("R" * relevant + "-" * (pool - relevant)))
    mean = np.mean([naive_ap("".join(order)) for order in orders])
    assert random_average_precision(pool, relevant) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    ("pool", "level"), [(50, 0.63), (100, 0.33), (200, 0.17), (500, 0.07), (1000, 0.04)]
)
def test_a_random_order_scores_mostly_by_its_pool(pool: int, level: float) -> None:
    assert random_average_precision(pool, 30) == pytest.approx(level, abs=0.006)


def test_corrected_is_0_at_chance_and_1_at_gold() -> None:
    assert float(MEASURES["AP_c"](np.arange(100))) == 1
    order = np.array([*range(1, 31), 0])
    chance, ap = random_average_precision(31), float(average_precision(order))
    assert float(MEASURES["AP_c"](order)) == pytest.approx((ap - chance) / (1 - chance), abs=1e-15)
    assert math.isnan(MEASURES["AP_c"](np.arange(30)))


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


def orders(most: int) -> st.SearchStrategy[np.ndarray]:
    """Draw an order of the numbers below some size."""
    seeds = st.tuples(st.integers(1, most), st.integers(0, 2**32 - 1))
    return seeds.map(lambda drawn: np.random.default_rng(drawn[1]).permutation(drawn[0]))


@pytest.mark.parametrize(
    ("order", "wrong"),
    [([0], 0), ([1, 0], 1), ([2, 0, 1], 2), ([2, 1, 0], 3), ([1, 0, 3, 2], 2)],
)
def test_inversions_are_pairs_the_wrong_way_round(order: list[int], wrong: int) -> None:
    assert inversions(np.array(order)) == wrong


@given(orders(600))
def test_inversions_equal_a_count_of_all_pairs(order: np.ndarray) -> None:
    wrong = np.triu(order[:, None] > order[None, :], 1)
    assert inversions(order) == np.count_nonzero(wrong)


@pytest.mark.parametrize("size", [2, 31, 32, 33, 64, 65, 1000])
def test_a_reversed_order_has_every_pair_wrong_and_tau_minus_1(size: int) -> None:
    backwards = np.arange(size)[::-1]
    assert inversions(backwards) == size * (size - 1) // 2
    assert kendall_tau(backwards) == -1
    assert kendall_tau(np.arange(size)) == 1


@given(orders(300))
def test_tau_equals_scipy(order: np.ndarray) -> None:
    if order.size == 1:
        assert math.isnan(kendall_tau(order))
        return
    expected = kendalltau(np.arange(order.size), order).statistic
    assert kendall_tau(order) == pytest.approx(expected, abs=1e-12)


@given(orders(300))
def test_one_exchange_of_neighbours_is_one_inversion(order: np.ndarray) -> None:
    at = int(order[0]) % max(order.size - 1, 1)
    other = order.copy()
    other[at : at + 2] = other[at : at + 2][::-1]
    assert abs(inversions(other) - inversions(order)) == min(order.size - 1, 1)


def naive_rbo(order: list[int], p: float) -> float:
    """Take Webber, Moffat and Zobel's equation 30 word for word; the other order is 0, 1, ..."""
    size = len(order)
    met = [len(set(order[:depth]) & set(range(depth))) for depth in range(1, size + 1)]
    total = sum(shared / depth * p**depth for depth, shared in enumerate(met, 1))
    return met[-1] / size * p**size + (1 - p) / p * total


@given(orders(120), st.sampled_from([0.5, 0.9, 0.98]))
def test_rbo_equals_its_formula(order: np.ndarray, p: float) -> None:
    assert rank_biased_overlap(order, p) == pytest.approx(naive_rbo(order.tolist(), p), abs=1e-12)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([0, 1, 2], 1.0),
        ([1, 0], 0.9**2 + 0.1 / 0.9 * 0.9**2),  # nothing shared at depth 1, all at depth 2
        ([1, 0, 2], 0.9**3 + 0.1 / 0.9 * (0.9**2 + 0.9**3)),
        ([2, 1, 0], 0.9**3 + 0.1 / 0.9 * (1 / 2 * 0.9**2 + 0.9**3)),
    ],
)
def test_rbo_by_hand(order: list[int], expected: float) -> None:
    assert rank_biased_overlap(np.array(order)) == pytest.approx(expected, abs=1e-12)


def test_rbo_looks_at_the_top_and_tau_everywhere() -> None:
    top, bottom = np.arange(100), np.arange(100)
    top[:2], bottom[98:] = [1, 0], [99, 98]
    assert kendall_tau(top) == kendall_tau(bottom) == 1 - 4 / (100 * 99)
    assert rank_biased_overlap(top) == pytest.approx(1 - 0.1, abs=1e-12)  # nothing at depth 1
    assert rank_biased_overlap(bottom) == pytest.approx(1 - 0.1 * 0.9**98 / 99, abs=1e-12)


def test_agreement_compares_two_orders_of_places() -> None:
    gold = np.array([3, 1, 2, 4])
    found = agreement(np.array([1, 3, 2, 4]), gold)
    rbo = 0.9**4 + 0.1 / 0.9 * (0.9**2 + 0.9**3 + 0.9**4)
    assert found == Agreement(tau=1 - 4 / 12, rbo=pytest.approx(rbo), overlap=4, first=4)


def test_overlap_counts_the_documents_among_the_first_ten_of_both() -> None:
    # the first three have fallen behind the others: 4 to 10 are still among the first ten
    found = agreement(np.array([*range(4, 41), 1, 2, 3]), np.arange(1, 41))
    assert found is not None
    assert (found.overlap, found.first) == (7, 10)


@given(orders(60), orders(60))
def test_agreement_is_the_same_either_way_round(one: np.ndarray, other: np.ndarray) -> None:
    size = min(one.size, other.size)
    one, other = one[one < size] + 1, other[other < size] + 1
    there, back = agreement(one, other), agreement(other, one)
    assert there is not None
    assert back is not None
    assert there.tau == back.tau
    assert there.rbo == pytest.approx(back.rbo, abs=1e-12)
    assert (there.overlap, there.first) == (back.overlap, back.first)


def test_an_empty_pool_has_no_agreement() -> None:
    assert agreement(np.array([], dtype=int), np.array([], dtype=int)) is None
