"""What rows of one person each promise, in words and counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anonymizer.model import Profiles, Release
from search_app.lone_figures import row_figures
from search_app.lone_rows import (
    LoneRows,
    known_in_words,
    lone_rows,
    not_promised_in_words,
    promise_in_words,
    promised,
    rarest,
    rows_having,
)

from .lone_release import lone_release

PEOPLE = Profiles.from_rows(
    {
        "1": {"a": 3.0, "b": 2.0, "c": 1.0, "d": 1.0},
        "2": {"a": 1.0, "b": 1.0},
        "3": {"a": 1.0, "c": 5.0},
        "4": {"e": 1.0},
    }
)


def rows(k: int = 5, m: int = 2) -> LoneRows:
    return LoneRows(k, m, True, 0)


@pytest.mark.parametrize(
    ("k", "m", "told"),
    [
        (5, 1, "Each term of a row stands in at least 5 rows"),
        (1, 1, "Each term of a row stands in at least 1 row"),
        (
            1200,
            2,
            "Any two terms of a row stand together in at least 1,200 rows, and so does each alone",
        ),
        (5, 3, "Any three terms of a row stand together in at least 5 rows, and so do fewer"),
        (5, 4, "Any four terms of a row stand together in at least 5 rows, and so do fewer"),
    ],
)
def test_the_promise_in_words(k: int, m: int, told: str) -> None:
    assert promise_in_words(rows(k, m)) == told


@pytest.mark.parametrize(
    ("k", "m", "told"),
    [
        (2, 1, "Who knows one term of somebody’s row can’t tell it from 1 other or more"),
        (
            5,
            3,
            "Who knows no more than three terms of somebody’s row can’t tell it from 4 others or "
            "more",
        ),
        (1, 1, "With k = 1 this hides nothing: one term may be enough to find a row"),
        (
            1,
            2,
            "With k = 1 this hides nothing: no more than two terms may be enough to find a row",
        ),
    ],
)
def test_what_it_means_for_who_knows_some_terms(k: int, m: int, told: str) -> None:
    assert known_in_words(rows(k, m)) == told


@pytest.mark.parametrize(("m", "terms"), [(1, "two"), (2, "three"), (3, "four"), (4, "5")])
def test_what_is_not_promised(m: int, terms: str) -> None:
    told = f"Nothing is promised of {terms} terms or more together, of weights, or of times"
    assert not_promised_in_words(rows(m=m)) == told


def test_only_a_release_by_deletion_has_rows_of_one_person_each() -> None:
    release = lone_release(PEOPLE)
    assert lone_rows(release) == LoneRows(k=2, m=1, weighed=True, left_out=1)
    assert lone_rows(lone_release(PEOPLE, frequencies="drop")) == LoneRows(2, 1, False, 1)
    assert lone_rows(replace(release, method="p-linkability")) is None
    assert lone_rows(None) is None


def test_the_promise_is_read_from_the_facts_that_are_handed_on() -> None:
    assert promised({"p": 0.4, "k": 3}) is None
    told = {"k": 5, "m": 2, "frequencies": "drop", "users_left_out": 7}
    assert promised(told) == LoneRows(5, 2, False, 7)


def named(release: Release) -> dict[str, int]:
    return dict(zip(release.rows.terms, rows_having(release).tolist(), strict=True))


def test_rows_are_counted_by_hand() -> None:
    """Left are a b c of 1, a b of 2, a c of 3; nothing of 4."""
    release = lone_release(PEOPLE)
    assert named(release) == {"a": 3, "b": 2, "c": 2}
    by_user = dict(zip(release.users, rarest(release)[release.row_of_user].tolist(), strict=True))
    assert by_user == {"1": 2, "2": 2, "3": 2}
    everything = lone_release(PEOPLE, k=1)
    assert min(rarest(everything)) == 1


def test_what_is_left_of_each_person_counts_who_has_no_row() -> None:
    found = row_figures(lone_release(PEOPLE), PEOPLE)
    assert found.kept.tolist() == [3 / 4, 1.0, 1.0, 0.0]
    assert found.rowless == 1
    assert sorted(found.having.tolist()) == [2, 2, 3]


def test_what_is_left_is_not_known_without_all_profiles() -> None:
    release = lone_release(PEOPLE)
    others = Profiles.from_rows({"1": {"a": 1.0}})
    for profiles in (None, others):
        found = row_figures(release, profiles)
        assert found.kept.size == 0
        assert np.array_equal(found.rarest, [2, 2, 2])
