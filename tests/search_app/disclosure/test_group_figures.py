"""Counts of a release's groups, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.model import Profiles, Release
from anonymizer.promise import AVERAGE, UNKNOWN
from search_app.disclosure.groups import Groups
from search_app.disclosure.histograms import SHARES, Bar, exact, quantile, share_counts, whole_bars

PROFILES = Profiles.from_rows(
    {
        "1001": {"coffee": 1.0},
        "1002": {"code": 1.0},
        "1003": {"code": 1.0},
        "1004": {"code": 1.0},  # in no group
    }
)
RELEASE = Release(
    rows=Profiles.from_rows({"g1": {"coffee": 0.5, "code": 0.5}, "g2": {"code": 1.0}}),
    users=("1001", "1002", "1003"),
    row_of_user=np.array([0, 0, 1], dtype=np.int64),
    method="p-linkability",
    parameters={},
    promise=AVERAGE,
)


def test_groups_are_measured_over_those_who_have_a_row() -> None:
    """Of three people one has coffee and two have code; a profile has one term on average."""
    found = Groups(RELEASE, PROFILES).figures
    assert found.people.tolist() == [2, 1]
    assert found.terms.tolist() == [2, 1]
    readings = {name: values.tolist() for name, values in found.readings.items()}
    assert readings["average"] == pytest.approx([1 / 2, 1 / 1])
    assert readings["share"] == pytest.approx([(1 / 2 + 1 / 2) / 2, 1])
    assert readings["worst"] == pytest.approx([1 / 2, 1])
    # g1: coffee |1/2 - 1/3|; g2: it lacks coffee, which 1/3 have, and all of it has code
    assert readings["belief"] == pytest.approx([1 / 6, 1 / 3])
    assert {at: n for at, n in enumerate(found.shares.tolist()) if n} == {10: 2, 19: 1}
    assert found.certain == 1
    assert found.support.tolist() == [0, 3]


def test_what_is_not_told_has_no_place_of_its_own_in_an_order() -> None:
    """g1 and g3 are one person each, with 1 and 3 terms; g2 has two people and 2 terms."""
    release = Release(
        rows=Profiles.from_rows(
            {
                "g1": {"coffee": 1.0},
                "g2": {"coffee": 1.0, "code": 1.0},
                "g3": {"coffee": 1.0, "code": 1.0, "tea": 1.0},
            }
        ),
        users=("1", "2", "3", "4"),
        row_of_user=np.array([0, 1, 1, 2], dtype=np.int64),
        method="none",
        parameters={},
        promise=UNKNOWN,
    )
    assert Groups(release).figures.orders["terms"].tolist() == [2, 1, 0]
    assert Groups(release, singles=False).figures.orders["terms"].tolist() == [1, 0, 2]
    assert Groups(release).figures.orders["people"].tolist() == [1, 0, 2]


@pytest.mark.parametrize("rows", [None, {"1001": {"coffee": 1.0}}])
def test_without_everybodys_profile_only_what_is_released_is_known(rows: dict | None) -> None:
    found = Groups(RELEASE, Profiles.from_rows(rows) if rows else None).figures
    assert not found.measured
    assert found.terms.tolist() == [2, 1]


def test_shares_at_an_edge_stand_in_the_upper_bar() -> None:
    for bar in range(SHARES):
        assert share_counts(np.array([bar / SHARES])).argmax() == bar
    assert share_counts(np.array([1.0])).argmax() == SHARES - 1
    assert share_counts(np.array([11 / 20, 0.55, 0.1 * 5.5])).max() == 3  # however it was rounded


def test_whole_numbers_have_a_bar_each_while_they_are_few_but_for_a_long_tail() -> None:
    assert whole_bars(np.array([0, 0, 0, 7, 2])) == [Bar(3, 3, 7), Bar(4, 4, 2)]
    assert whole_bars(np.array([0, 0])) == []
    counts = np.bincount([3] * 990 + [4] * 8 + [500, 600])
    assert whole_bars(counts) == [Bar(3, 3, 990), Bar(4, 600, 10)]
    assert exact(counts)[-1] == Bar(600, 600, 1)


def test_many_numbers_share_bars_and_none_is_lost() -> None:
    counts = np.bincount(np.arange(1, 101))
    bars = whole_bars(counts)
    assert len(bars) <= 25
    assert sum(bar.number for bar in bars) == 100
    assert (bars[0], bars[-1].high) == (Bar(1, 5, 5), 100)


def test_quantiles_of_counts() -> None:
    counts = np.bincount([1, 1, 2, 9])
    assert [quantile(counts, share) for share in (1e-12, 0.5, 0.75, 1)] == [1, 1, 2, 9]
