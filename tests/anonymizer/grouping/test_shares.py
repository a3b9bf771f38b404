"""Limits of counts: computed by hand, and against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import BadParameter
from anonymizer.grouping.shares import (
    cells_beyond,
    counts_of,
    fraction_of,
    least_counts,
    limits_of,
    most_counts,
)
from anonymizer.model import Grouping, Profiles

P = Fraction(2, 5)


def test_p_is_what_its_decimals_say() -> None:
    assert fraction_of(0.1) == Fraction(1, 10)
    assert fraction_of(1) == 1


@pytest.mark.parametrize("p", [0, -0.1, 1.5, float("nan"), float("inf")])
def test_p_must_be_a_share(p: float) -> None:
    with pytest.raises(BadParameter, match="must be above 0 and at most 1"):
        fraction_of(p)


def test_only_terms_that_could_be_beyond_are_limited() -> None:
    people = {f"u{i}": {"all": 1.0} for i in range(10)}
    people["u0"]["one"] = 1.0  # at most 2 of 5 may have it, and 1 does
    people["u1"]["three"] = people["u2"]["three"] = people["u3"]["three"] = (
        2.0  # at most 3, as many
    )
    for i in range(6, 10):
        people[f"u{i}"]["four"] = 1.0  # at most 5 (0.4 + 0.4) = 4 of 5, at least 0
    limits = limits_of(Profiles.from_rows(people), P, 5)
    assert limits.has.toarray().sum(axis=0).tolist() == [10]  # all: at least 3
    assert limits.least.tolist() == [[3], [4]]  # 6 (1 - 0.4) = 3.6
    assert limits.most.tolist() == [[5], [6]]


def test_counts_are_of_members_not_of_weights() -> None:
    profiles = Profiles.from_rows({"u": {"a": 3.0}, "v": {"a": 0.5, "b": 1.0}, "w": {"b": 7.0}})
    counts = counts_of(profiles, Grouping(np.array([0, 0, 1])))
    assert counts.toarray().tolist() == [[2, 1], [0, 1]]


ROWS = st.lists(
    st.sets(st.sampled_from("abcd"), min_size=1).map(lambda terms: dict.fromkeys(terms, 1.0)),
    min_size=2,
    max_size=12,
)


@given(ROWS, st.fractions(Fraction(1, 40), 1, max_denominator=40), st.integers(1, 4), st.data())
def test_cells_beyond_equal_their_naive_twin(
    rows: list[dict[str, float]], p: Fraction, groups: int, data: st.DataObject
) -> None:
    dealt = data.draw(st.permutations([user % groups for user in range(len(rows))]))
    grouping = Grouping(np.unique(dealt, return_inverse=True)[1])
    profiles = Profiles.from_rows({f"u{i}": row for i, row in enumerate(rows)})
    expected = 0
    for term in profiles.terms:
        prior = Fraction(sum(term in row for row in rows), len(rows))
        for group in range(grouping.count):
            members = [row for row, at in zip(rows, grouping.group_of, strict=True) if at == group]
            share = Fraction(sum(term in row for row in members), len(members))
            expected += abs(share - prior) > p
    assert cells_beyond(profiles, grouping, p) == expected


@given(st.integers(1, 30), st.integers(1, 12), st.fractions(Fraction(1, 99), 1), st.data())
def test_limits_are_the_outermost_counts_within_p(
    n: int, size: int, p: Fraction, data: st.DataObject
) -> None:
    users = data.draw(st.integers(0, n))
    within = [c for c in range(size + 1) if abs(Fraction(c, size) - Fraction(users, n)) <= p]
    least, most = (f(np.array([users]), n, p, size)[0] for f in (least_counts, most_counts))
    assert within == list(range(least, most + 1))
