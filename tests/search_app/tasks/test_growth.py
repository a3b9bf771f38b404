"""What searches add to a profile: the same as if they had stood in the log."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import BadParameter
from anonymizer.model import QueryLog
from anonymizer.profiles.building import build_profiles
from search_app.settings import Settings
from search_app.tasks.growth import LEAST, Growth, newcomers
from search_app.workspace.profile_choices import ProfilingChoices, analysis_of

WORDS = st.sampled_from(["tea", "teas", "coffee", "of", "x1", "black", "jazz"])
QUERIES = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=8)


def growth_of(**choices: Any) -> Growth:
    return Growth(vars(ProfilingChoices(**{"terms": "letters", **choices})), Settings())


@given(QUERIES, st.sampled_from(["binary", "tf"]), st.sampled_from([None, 1, 2, 3]))
def test_a_grown_profile_is_the_one_that_a_log_of_its_searches_gives(
    queries: list[str], weights: str, size: int | None
) -> None:
    growth, grown = growth_of(weights=weights, size=size), Counter[str]()
    for query in queries:
        grown.update(growth.counts(query))
    choices = ProfilingChoices(weights=weights, size=size, terms="letters")
    log = QueryLog.from_events(("u1", query, at, 0) for at, query in enumerate(queries))
    try:
        profiles, _ = build_profiles(log, analysis_of(vars(choices), Settings()), choices)
    except BadParameter:  # fewer terms than the size
        assert len(grown) < (size or 1)
    except Exception as fault:
        assert not grown, fault
    else:
        assert growth.profile(grown) == profiles.row("u1")


@pytest.mark.parametrize(
    ("weights", "both"), [("binary", {"a": 1, "b": 1, "c": 1}), ("tf", {"a": 2, "b": 5, "c": 1})]
)
def test_what_grew_is_laid_over_the_profile(weights: str, both: dict[str, float]) -> None:
    growth, profile = growth_of(weights=weights), {"a": 1.0, "b": 4.0 if weights == "tf" else 1.0}
    assert growth.over(profile, {"a": 1, "b": 1, "c": 1}) == both
    assert growth.over(profile, {}) == profile
    assert growth.over({}, {"c": 3}) == {"c": 3 if weights == "tf" else 1}


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ({"weights": "tfidf"}, "how rare a term is among all people"),
        ({"weights": "recency"}, "by the age of each search"),
        ({"granularity": "session"}, "of sessions, not of people"),
    ],
)
def test_choices_that_mean_nothing_for_one_search_are_refused(
    choices: dict[str, Any], why: str
) -> None:
    growth = growth_of(**choices)
    assert why in growth.fault
    assert growth.over({"a": 1.0}, {"b": 1}) == {"a": 1.0}
    assert newcomers(growth, {"u1": dict.fromkeys("abcdefgh", 1)}, ()) == {}
    assert Growth({}, Settings()).fault == "it is not known how the profiles here were made"


def test_newcomers_have_enough_terms_and_no_past() -> None:
    few, enough = dict.fromkeys("abcd", 9), {"a": 1, "b": 2, "c": 2, "d": 1, "e": 3, "f": 1}
    grown = {"few": few, "known": enough, "new": enough}
    assert LEAST == 5
    assert newcomers(growth_of(), grown, {"known"}) == {"new": dict.fromkeys(enough, 1.0)}
    assert newcomers(growth_of(size=7), grown, ()) == {}
    # Of a size, the most frequent; of equal counts, the first met.
    kept = newcomers(growth_of(size=5, weights="tf"), grown, ())["new"]
    assert kept == {"e": 3, "b": 2, "c": 2, "a": 1, "d": 1}
