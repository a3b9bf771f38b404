"""The facts of releases of groups, and what each of them means."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anonymizer.model import Profiles, Release
from anonymizer.promise import AVERAGE, Promise
from search_app.disclosure.groups import Groups

FACTS = {
    "groups": 1200,
    "smallest_group": 3,
    "average_linkability": 0.4,
    "worst_linkability": 1.0,
    "change_of_belief": 0.994,
    "p": 0.4,
}
SAID = (
    "smallest of the 1,200 groups has 3 people.",
    "at most p = 0.40",
    "some group has an interest that all its members share",
    "more than 99 percentage points, compared with how common the interest is among the people of "
    "the same cohort. From under 1\u00a0%",
)


def groups(facts: dict[str, Any]) -> Groups:
    """Show a release with such facts; one of them is its p."""
    rows, people = Profiles.from_rows({"g1": {"tea": 1.0}}), np.zeros(1, dtype=np.int64)
    parameters = {"p": facts.get("p")}
    release = Release(rows, ("ann",), people, "p-linkability", parameters, facts, promise=AVERAGE)
    return Groups(release)


def test_facts_say_what_they_mean() -> None:
    told = groups(FACTS).ranking_facts(4)
    assert [fact.value for fact in told] == ["4", "0.40", "1.00", "over 0.99"]
    for fact, said in zip(told, SAID, strict=True):
        assert said in fact.meaning


AVERAGE_OF = {"average_linkability": 0.4}


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"single_person_rows": 1}, "1 row is one person’s own profile: nothing is hidden there."),
        ({"single_person_rows": 9}, "9 rows are one person’s own profile: nothing is hidden"),
        ({"worst_linkability": 0.75}, "right up to 75 % of the time"),
        (AVERAGE_OF, "average size of all profiles, divided by the number of different interests"),
        (AVERAGE_OF, "If all profiles were equally long, a random member would"),
        ({**AVERAGE_OF, "share_linkability": 0.45, "p": 0.4}, "(measured: up to 0.45 in a group)"),
        (
            {**AVERAGE_OF, "share_linkability": 0.4},
            "On average, 40 % of the members of the worst group have any given interest",
        ),
    ],
)
def test_what_was_measured_is_explained(facts: dict[str, Any], said: str) -> None:
    (fact,) = groups(facts).facts()
    assert said in fact.meaning
    assert ("measured:" in fact.meaning) is ("p" in facts)


def test_facts_that_were_not_measured_are_left_out() -> None:
    assert groups({}).facts() == groups({"single_person_rows": 0}).facts() == []
    assert groups({"p": None, "average_linkability": 0.4}).facts()[0].meaning.count("p =") == 0
    assert [fact.value for fact in groups({}).ranking_facts(4)] == ["4"]


def test_a_bound_for_every_term_is_said_where_it_is_promised() -> None:
    release = replace(groups({"p": 0.4}).release, promise=Promise("group", "every-term"))
    for mode, said in (("", "Promised here for the interests that a row shows"), ("other", "Not")):
        points = dict(Groups(release).explained(mode).points)
        assert f"of its members. {said}" in points["For every interest."]


def test_a_promised_change_of_belief_is_compared_within_a_cohort() -> None:
    release = replace(groups({"p": 0.4}).release, promise=Promise("group", "belief"))
    said = dict(Groups(release).explained("").points)["As a change of belief."]
    assert "compared with how common the interest is among the people of the same cohort." in said
    assert "Someone who does not know who came when can learn more" in said
