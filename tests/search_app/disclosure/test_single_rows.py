"""What rows of one person each promise, in words and counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.model import Profiles
from search_app.disclosure.single_rows import Combinations, SingleRows

from ..single_rows import single_rows

PEOPLE = Profiles.from_rows(
    {
        "1": {"a": 3.0, "b": 2.0, "c": 1.0, "d": 1.0},
        "2": {"a": 1.0, "b": 1.0},
        "3": {"a": 1.0, "c": 5.0},
        "4": {"e": 1.0},
    }
)


@pytest.mark.parametrize(
    ("k", "m", "told"),
    [
        (5, 1, "Each interest of a row is in at least 5 rows"),
        (1, 1, "Each interest of a row is in at least 1 row"),
        (
            1200,
            2,
            "Any two interests of a row are together in at least 1,200 rows, and so is each alone",
        ),
        (5, 3, "Any three interests of a row are together in at least 5 rows, and so are fewer"),
        (5, 4, "Any four interests of a row are together in at least 5 rows, and so are fewer"),
    ],
)
def test_the_promise_in_words(k: int, m: int, told: str) -> None:
    assert Combinations(k, m).promise == told


@pytest.mark.parametrize(
    ("k", "m", "told"),
    [
        (
            2,
            1,
            "Someone who knows one interest of a person’s row can’t tell it from at least 1 other",
        ),
        (
            5,
            3,
            "Someone who knows at most three interests of a person’s row can’t tell it from at "
            "least 4 others",
        ),
        (1, 1, "With k = 1 this hides nothing: one interest may be enough to find a row"),
        (
            1,
            2,
            "With k = 1 this hides nothing: at most two interests may be enough to find a row",
        ),
    ],
)
def test_what_it_means_for_who_knows_some_terms(k: int, m: int, told: str) -> None:
    assert Combinations(k, m).known == told


@pytest.mark.parametrize(("m", "terms"), [(1, "two"), (2, "three"), (3, "four"), (4, "5")])
def test_what_is_not_promised(m: int, terms: str) -> None:
    told = f"Nothing is promised about {terms} or more interests together, weights, or times"
    assert Combinations(5, m).beyond == told


def test_rows_are_counted_by_hand() -> None:
    """Left are a b c of 1, a b of 2, a c of 3; nothing of 4."""
    release = single_rows(PEOPLE)
    found = SingleRows(release).figures
    having = dict(zip(release.rows.terms, found.having.tolist(), strict=True))
    assert having == {"a": 3, "b": 2, "c": 2}
    assert found.rarest.tolist() == [2, 2, 2]
    assert min(SingleRows(single_rows(PEOPLE, k=1)).figures.rarest) == 1


def test_what_is_left_of_each_person_counts_who_has_no_row() -> None:
    found = SingleRows(single_rows(PEOPLE), PEOPLE).figures
    assert found.kept.tolist() == [3 / 4, 1.0, 1.0, 0.0]
    assert found.rowless == 1
    assert sorted(found.having.tolist()) == [2, 2, 3]


def test_what_is_left_is_not_known_without_all_profiles() -> None:
    release = single_rows(PEOPLE)
    others = Profiles.from_rows({"1": {"a": 1.0}})
    for profiles in (None, others):
        found = SingleRows(release, profiles).figures
        assert found.kept.size == 0
        assert np.array_equal(found.rarest, [2, 2, 2])
