from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from search_app.measures.significance import (
    EXACT,
    Interval,
    by_person,
    holm,
    interval,
    intervals,
    randomization,
    randomizations,
    worst_decile,
)

NAN = float("nan")


def people(seed: int, count: int, shift: float = 0.0) -> np.ndarray:
    """Draw values as AP has them: between 0 and 1, skewed."""
    return np.random.default_rng(seed).beta(2, 4, count) + shift


def test_queries_without_a_value_are_left_out_and_people_without_any_have_none() -> None:
    values = np.array([[NAN, 0.4, 0.2], [NAN, NAN, 0.6]])
    found = by_person(values, np.array([5, 5, 3]))
    assert np.array_equal(found, [[0.2, 0.4], [0.6, NAN]], equal_nan=True)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1)), min_size=1, max_size=40))
def test_by_person_equals_a_loop(drawn: list[tuple[int, float]]) -> None:
    person = np.array([who for who, _ in drawn])
    values = np.array([value for _, value in drawn])
    expected = [values[person == who].mean() for who in sorted(set(person.tolist()))]
    assert by_person(values, person).tolist() == pytest.approx(expected, abs=1e-12)
    cube = np.broadcast_to(values, (2, 3, values.size))
    assert by_person(cube, person).shape == (2, 3, len(expected))


def test_nobody_has_no_values() -> None:
    assert by_person(np.empty((2, 0)), np.empty(0, dtype=int)).shape == (2, 0)
    assert all(map(math.isnan, interval(np.empty(0))))


@pytest.mark.parametrize(("seed", "count"), [(1, 20), (2, 100), (3, 700)])
def test_the_interval_is_scipys(seed: int, count: int) -> None:
    values = people(seed, count)
    ours = interval(values)
    theirs = stats.bootstrap(
        (values,), np.mean, method="percentile", rng=seed, n_resamples=10_000
    ).confidence_interval
    wide = theirs.high - theirs.low
    assert ours.mean == pytest.approx(values.mean(), abs=1e-12)
    assert ours.low == pytest.approx(theirs.low, abs=0.05 * wide)
    assert ours.high == pytest.approx(theirs.high, abs=0.05 * wide)


def test_rows_are_resampled_alike_and_like_each_alone() -> None:
    values = np.stack([people(1, 50), people(1, 50, 0.25), people(2, 50)])
    first, shifted, other = intervals(values)
    assert [end + 0.25 for end in first] == pytest.approx(list(shifted), abs=1e-12)
    for row, found in zip(values, (first, shifted, other), strict=True):
        assert interval(row) == found  # to the last bit: sums are exact, however they are added


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    values = people(4, 60)
    assert interval(values, seed=5) == interval(values.copy(), seed=5)
    assert interval(values, seed=5) != interval(values, seed=6)
    assert randomization(values - 0.3, seed=5) == randomization(values - 0.3, seed=5)


def test_people_without_a_value_are_left_out_of_intervals() -> None:
    values = people(3, 40)
    with_gaps = np.concatenate([values, np.full(40, NAN)])
    alone, found = interval(values), interval(with_gaps)
    assert found.mean == pytest.approx(alone.mean, abs=1e-12)
    wide = alone.high - alone.low
    assert found.high - found.low == pytest.approx(wide, rel=0.1)


def test_one_person_has_a_mean_and_no_interval() -> None:
    found = interval(np.array([NAN, 0.25]))
    assert found.mean == 0.25
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_equal_people_leave_no_doubt() -> None:
    assert interval(np.ones(30)) == Interval(1.0, 1.0, 1.0)


def naive_p(differences: list[float]) -> float:
    """Try all signs."""
    observed = abs(sum(differences))
    ways = list(itertools.product((1, -1), repeat=len(differences)))
    sums = [abs(sum(s * d for s, d in zip(way, differences, strict=True))) for way in ways]
    return sum(each >= observed - 1e-9 for each in sums) / len(ways)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=9))
def test_few_people_are_tested_exactly(differences: list[int]) -> None:
    values = np.array(differences) / 10
    assert randomization(values) == naive_p([float(value) for value in values])


@pytest.mark.parametrize("shift", [0.0, 0.03, 0.06])
def test_p_equals_scipys(shift: float) -> None:
    differences = np.random.default_rng(9).normal(shift, 0.2, 60)
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1
    ).pvalue
    assert randomization(differences) == pytest.approx(theirs, abs=0.02)


def test_a_clear_difference_has_the_least_p_there_can_be() -> None:
    assert randomization(np.full(100, 0.2)) == 1 / 10_001
    assert randomization(np.full(EXACT, 0.5)) == 2 / 2**EXACT  # all plus, or all minus


def test_nobody_is_no_test_and_gaps_are_left_out() -> None:
    assert math.isnan(randomization(np.array([NAN])))
    assert randomization(np.array([NAN, 0.1, 0.2, 0.3])) == 2 / 8


def test_rows_tested_together_have_the_p_of_each_alone() -> None:
    rows = np.random.default_rng(4).normal(0.02, 0.2, (3, 60))
    together = randomizations(rows, seed=2, trials=5000)
    assert together == [randomization(row, seed=2, trials=5000) for row in rows]


def test_rows_tested_together_leave_gaps_out() -> None:
    gaps = np.full((4, 40), NAN)
    gaps[1, :3] = [0.1, 0.2, 0.3]
    gaps[2, :20] = 1.0
    gaps[3] = np.tile([0.1, -0.1], 20)
    nobody, few, half, even = randomizations(gaps, trials=999)
    assert math.isnan(nobody)
    assert (few, half, even) == (2 / 8, 1 / 1000, 1.0)
    assert randomizations(gaps[:2])[1] == 2 / 8


def test_holm_by_hand() -> None:
    # four tests: 4 · .005, 3 · .01, 2 · .03, and 1 · .04, which is not below the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02], abs=1e-12)


def test_holm_leaves_out_what_is_no_test_and_stays_below_1() -> None:
    found = holm([0.4, NAN, 0.9])
    assert found[0] == 0.8
    assert math.isnan(found[1])
    assert found[2] == 0.9
    assert holm([0.7, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.2], 0.2),  # one person at least
        ([*[0.9] * 17, 0.1, 0.3, NAN, 0.2], (0.1 + 0.2) / 2),  # the lowest 2 of 20 with a value
        ([*[0.9] * 18, 0.1, 0.2], (0.1 + 0.2) / 2),
        ([NAN], NAN),
    ],
)
def test_the_worst_decile_is_the_mean_of_the_lowest_tenth(
    values: list[float], expected: float
) -> None:
    assert worst_decile(np.array(values)) == pytest.approx(expected, abs=1e-12, nan_ok=True)
