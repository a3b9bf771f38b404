"""Facts of units by hand: what a release keeps, pass by pass, and what the input is like."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anonymizer.marketing.table import MarketingTable
from anonymizer.model import Profiles, Release
from search_app.experiments.facts import facts_of_input, facts_of_release, frequencies

from ..toy_index import released
from .test_modes import forward

PROFILES = Profiles.from_rows(
    {
        "ann": {"tea": 3.0, "milk": 1.0},
        "bob": {"tea": 2.0, "saw": 1.0},
        "cid": {"drill": 2.0, "golf": 1.0},
    }
)
# clicks of golf are not estimated, and milk is unknown
TABLE = MarketingTable(
    ("drill", "golf", "saw", "tea"),
    np.array([1.0, 2.0, 4.0, 8.0]),
    np.array([10.0, 20.0, 30.0, 40.0]),
    np.array([6.0, 0.0, 4.0, 2.0]),
    synthetic=True,
)


def reduced() -> Release:
    """Return what is left after two passes: cid has no row."""
    rows = Profiles.from_rows({"g0001": {"tea": 2.0}, "g0002": {"tea": 3.0}})
    gone = {"ann": {"milk": 2.0}, "bob": {"saw": 1.0}, "cid": {"drill": 1.0, "golf": 1.0}}
    told = {"facts": {"users_left_out": 1}, "deletions": Profiles.from_rows(gone)}
    return released(rows, {"ann": 1, "bob": 0}, "km-anonymity", **told)


def test_a_release_tells_what_it_keeps_and_how_often_was_deleted() -> None:
    found = facts_of_release(PROFILES, reduced(), TABLE)
    assert found["kept_distinct_terms"] == 1 / 5
    assert found["kept_log_size"] == 5 / 10
    assert found["kept_users"] == 2 / 3
    # tea 5 * 8 of 5 * 8 + saw 1 * 4 + drill 2 * 1 + golf 1 * 2
    assert found["kept_bid"] == pytest.approx(40 / 48)
    assert found["kept_clicks"] == pytest.approx(10 / (10 + 4 + 12))
    assert found["kept_impressions"] == pytest.approx(200 / (200 + 30 + 20 + 20))
    assert found["kept_revenue"] == pytest.approx(80 / (80 + 16 + 12))
    assert [found[f"deletions_pass_{number}"] for number in (1, 2)] == [3, 1]
    assert (found["passes"], found["deletions"], found["table_synthetic"]) == (2, 4, 1)
    assert (found["users"], found["users_left_out"]) == (2, 1)  # the method's own, too
    assert found["change_of_belief"] == pytest.approx(2 / 3)  # milk: 1 - 1 / 3


def test_passes_of_which_all_was_given_back_lost_nothing() -> None:
    gone = {"ann": {"milk": 4.0}, "bob": {"saw": 2.0}, "cid": {"drill": 2.0, "golf": 2.0}}
    found = facts_of_release(PROFILES, replace(reduced(), deletions=Profiles.from_rows(gone)), None)
    assert [found[f"deletions_pass_{number}"] for number in (1, 2, 3, 4)] == [0, 3, 0, 1]
    assert (found["passes"], found["deletions"]) == (4, 4)


def test_without_deletions_and_a_table_there_is_less_to_tell() -> None:
    rows = Profiles(("g1", "g2", "g3"), PROFILES.terms, PROFILES.weights)
    whole = released(rows, {"ann": 0, "bob": 1, "cid": 2}, "p-linkability")
    found = facts_of_release(PROFILES, whole, None)
    kept = {name: value for name, value in found.items() if name.startswith("kept_")}
    assert kept == {"kept_distinct_terms": 1, "kept_log_size": 1, "kept_users": 1}
    assert not {"passes", "deletions", "table_synthetic"} & found.keys()


def test_frequencies_are_of_terms_and_of_their_users() -> None:
    by_weight, by_user = frequencies(PROFILES)
    found = {t: (w, u) for t, w, u in zip(PROFILES.terms, by_weight, by_user, strict=True)}
    assert found == {"drill": (2, 1), "golf": (1, 1), "milk": (1, 1), "saw": (1, 1), "tea": (5, 2)}


def test_the_input_tells_its_size_and_how_far_search_knows_it() -> None:
    found = facts_of_input(PROFILES, TABLE, forward(), 4)  # the index knows tea and saw
    assert (found["profiles"], found["terms"], found["log_size"]) == (3, 5, 10)
    assert (found["longest_history"], found["robots_dropped"]) == (2, 4)
    assert found["weights_in_index"] == 6 / 10
    assert found["users_not_in_index"] == 1  # cid


def test_correlations_are_over_the_terms_that_have_both() -> None:
    found = facts_of_input(PROFILES, TABLE, forward(), 0)
    # five terms have a frequency, four a bid, three clicks; milk has no estimate at all
    assert found["n_term_frequency_user_frequency"] == found["n_term_frequency_bid"] == 4
    assert found["n_user_frequency_clicks"] == found["n_term_frequency_revenue"] == 3
    # drill, golf, saw, tea: 2, 1, 1, 5 occurrences by 1, 1, 1, 2 users
    # deviations -1/4, -5/4, -5/4, 11/4 and -1/4, -1/4, -1/4, 3/4
    assert found["r_term_frequency_user_frequency"] == pytest.approx(2.75 / (10.75 * 0.75) ** 0.5)
    assert found["n_bid_impressions"] == 4
    assert found["n_bid_clicks"] == found["n_clicks_revenue"] == 3
    # drill, saw, tea: bids 1, 4, 8 and clicks 6, 4, 2; by hand
    # deviations -10/3, -1/3, 11/3 and 2, 0, -2: -14 / sqrt(222 / 9 * 8)
    assert found["r_bid_clicks"] == pytest.approx(-14 / (222 / 9 * 8) ** 0.5)
    bare = facts_of_input(PROFILES, None, forward(), 0)
    assert bare["n_term_frequency_user_frequency"] == 5  # without a table: all terms
    assert [name for name in bare if name.startswith("r_")] == ["r_term_frequency_user_frequency"]
    # what never varies has none
    alike = MarketingTable(TABLE.terms, np.ones(4), np.zeros(4), np.zeros(4), synthetic=False)
    found = facts_of_input(PROFILES, alike, forward(), 0)
    assert [name for name in found if name.startswith("r_")] == ["r_term_frequency_user_frequency"]
