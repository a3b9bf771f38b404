"""The closest row for a person in no release: by hand, by a naive twin, and at its edges."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer.errors import BadInput
from anonymizer.model import Profiles
from anonymizer.rows.closest import Choice, closest_row, nearest

Row = Mapping[str, float]
ROWS = {
    "g0001": {"tea": 1.0, "milk": 1.0},
    "g0002": {"jazz": 3.0, "drum": 4.0},
    "g0003": {"tea": 2.0, "jazz": 2.0, "cup": 1.0},
}


def weights(least: int) -> st.SearchStrategy[dict[str, float]]:
    """Whole numbers: every sum of products is exact, in whatever order it is added up."""
    whole = st.integers(1, 9).map(float)
    return st.dictionaries(st.sampled_from("abcdefgh"), whole, min_size=least, max_size=6)


def naive(profile: Row, rows: Mapping[str, Row]) -> tuple[list[float], list[dict[str, float]]]:
    """Return each row's cosine and what each term gives to it, word for word."""
    cosines, shares = [], []
    for row in rows.values():
        length = math.sqrt(sum(w * w for w in row.values()))
        length *= math.sqrt(sum(w * w for w in profile.values()))
        products = {term: w * row[term] for term, w in profile.items() if term in row}
        cosines.append(round(sum(products.values()) / length, 12))
        shares.append({term: product / length for term, product in products.items()})
    return cosines, shares


@given(weights(1), st.lists(weights(1), min_size=1, max_size=8))
def test_it_is_what_the_naive_twin_says(profile: Row, rows: list[Row]) -> None:
    named = {f"g{number:04d}": row for number, row in enumerate(rows, 1)}
    choice = closest_row(profile, Profiles.from_rows(named))
    cosines, shares = naive(profile, named)
    best = max(range(len(rows)), key=lambda row: (cosines[row], -row))
    assert choice.row == (best if cosines[best] else None)
    assert choice.cosine == cosines[best]
    assert choice.runner_up == max(cosines[:best] + cosines[best + 1 :], default=None)
    found = sorted(shares[best].items(), key=lambda item: (-item[1], item[0]))
    assert [tuple(each) for each in choice.contributions] == found
    assert sum(each.share for each in choice.contributions) == pytest.approx(cosines[best])
    assert choice.unknown == sum(not any(term in row for row in rows) for term in profile)


@given(weights(1), st.lists(st.lists(weights(1), min_size=1, max_size=3), min_size=1, max_size=4))
def test_of_shards_it_is_the_choice_among_all_rows(profile: Row, shards: list[list[Row]]) -> None:
    begins = [sum(map(len, shards[:at])) for at in range(len(shards))]
    named = [
        {f"g{begin + at:04d}": row for at, row in enumerate(rows)}
        for begin, rows in zip(begins, shards, strict=True)
    ]
    choices = [closest_row(profile, Profiles.from_rows(rows)) for rows in named]
    every = {name: row for rows in named for name, row in rows.items()}
    whole = closest_row(profile, Profiles.from_rows(every))
    shard, choice = nearest(choices, whole.unknown)
    assert replace(choice, row=whole.row) == whole
    if whole.row is not None:
        assert choice.row is not None
        assert begins[shard] + choice.row == whole.row


@given(st.integers(0, 2**32 - 1))
def test_any_weights_give_the_twins_cosine(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.lognormal(0, 4, (9, 40)) * (rng.random((9, 40)) < 0.4)
    dense[:, 0] += 0.1  # no row is empty
    terms = [f"t{number:02d}" for number in range(40)]
    sparse = [{t: float(w) for t, w in zip(terms, row, strict=True) if w} for row in dense]
    rows = {f"g{number:04d}": row for number, row in enumerate(sparse[1:], 1)}
    choice = closest_row(sparse[0], Profiles.from_rows(rows))
    cosines, _ = naive(sparse[0], rows)
    assert choice.row is not None
    assert choice.cosine == pytest.approx(max(cosines), abs=2e-12)
    assert cosines[choice.row] == pytest.approx(max(cosines), abs=2e-12)


def test_of_rows_as_close_the_lowest_is_chosen() -> None:
    rows = {"g0001": {"jazz": 1.0}, "g0002": {"tea": 2.0}, "g0003": {"tea": 5.0}}
    choice = closest_row({"tea": 1.0}, Profiles.from_rows(rows))
    assert (choice.row, choice.cosine, choice.runner_up) == (1, 1.0, 1.0)
    # 1/3 of each, added up in another order, may differ in the 16th digit: still a tie
    thirds = {"tea": 1 / 3, "milk": 0.1, "cup": 0.7}
    twice = {"g0001": thirds, "g0002": {term: 3 * weight for term, weight in thirds.items()}}
    choice = closest_row(thirds, Profiles.from_rows(twice))
    assert (choice.row, choice.cosine, choice.runner_up) == (0, 1.0, 1.0)


def test_a_cosine_too_small_to_be_one_chooses_no_row() -> None:
    rows = Profiles.from_rows({"g0001": {"jazz": 1.0}, "g0002": {"tea": 1e-13, "milk": 1.0}})
    choice = closest_row({"tea": 1.0}, rows)  # 1e-13 is 0 to 12 decimals
    assert choice == Choice(None, 0.0, 0.0, 2, 1, 0, ())


def test_a_term_that_stands_in_no_row_is_unknown_though_the_table_has_it() -> None:
    rows = Profiles(("g0001",), ("milk", "tea"), csr_matrix(([1.0], ([0], [0])), shape=(1, 2)))
    assert closest_row({"milk": 1.0, "tea": 1.0}, rows).unknown == 1


@pytest.mark.parametrize("large", [sys.float_info.max, 1e-300, 1.0])
def test_weights_of_any_size_neither_overflow_nor_vanish(large: float) -> None:
    rows = Profiles.from_rows({"g0001": {"jazz": 1.0}, "g0002": {"tea": large, "milk": large}})
    choice = closest_row({"tea": large}, rows)
    assert (choice.row, choice.cosine) == (1, round(math.sqrt(0.5), 12))


def test_no_term_and_broken_weights_are_refused_in_a_line() -> None:
    rows = Profiles.from_rows(ROWS)
    with pytest.raises(BadInput, match=r"^the profile has no term; give it at least one$"):
        closest_row({}, rows)
    for weight in (math.nan, math.inf, -1.0, 0.0):
        with pytest.raises(BadInput, match=r"^every weight of the profile must be a finite numb"):
            closest_row({"tea": 1.0, "milk": weight}, rows)
    with pytest.raises(BadInput, match="no row to choose from"):
        closest_row({"tea": 1.0}, Profiles.from_rows({}))


def test_the_order_of_the_profile_does_not_matter() -> None:
    rng = np.random.default_rng(4)
    profile = [
        (f"t{number}", float(weight)) for number, weight in enumerate(rng.lognormal(size=20))
    ]
    rows = Profiles.from_rows({"g0001": dict(profile[5:]), "g0002": {"t7": 1.0, "t1": 1.0}})
    orders = [rng.permutation(len(profile)).tolist() for _ in range(50)]
    choices = {
        closest_row({profile[at][0]: profile[at][1] for at in order}, rows) for order in orders
    }
    assert len(choices) == 1


def test_equal_contributions_are_told_by_name() -> None:
    rows = Profiles(("g0001",), ("tea", "cup", "milk"), csr_matrix([[1.0, 1.0, 2.0]]))
    choice = closest_row({"tea": 1.0, "cup": 1.0, "milk": 1.0}, rows)
    assert [each.term for each in choice.contributions] == ["milk", "cup", "tea"]
