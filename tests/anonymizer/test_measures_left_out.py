"""Every measure on a release that leaves a user out, against arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anonymizer.measures import MEASURES
from anonymizer.measures.linkability import facts as general_facts
from anonymizer.measures.release_facts import facts
from anonymizer.model import BadInput, Profiles, Release
from anonymizer.reduced import reduced_release

# Anna keeps a and berta does too; carla's b is deleted, which is all that she has.
PROFILES = Profiles.from_rows(
    {"anna": {"a": 3.0, "b": 4.0}, "carla": {"b": 1.0}, "berta": {"a": 1.0}}
)
KEPT = np.array([True, False, False, True])


@pytest.fixture
def release() -> Release:
    return reduced_release(PROFILES, KEPT, np.where(KEPT, 0, 1), {}, method="km-anonymity")


def values(release: Release, measure: str) -> dict[tuple[str, str], float]:
    rows = MEASURES[measure](PROFILES, release)
    return {(row.name, row.user or row.group): row.value for row in rows}


def test_sizes(release: Release) -> None:
    assert values(release, "sizes") == {("users", "g0001"): 1, ("users", "g0002"): 1}


def test_linkability(release: Release) -> None:
    """Berta's is the first row. Two of the three users have a, and two have b."""
    found = values(release, "linkability")
    assert found["average", "g0001"] == pytest.approx(4 / 3)  # |U|avg; she has one term
    assert found["average", "g0002"] == pytest.approx(4 / 3 / 2)
    assert found["share", "g0001"] == found["worst", "g0002"] == 1
    assert found["belief", "g0001"] == pytest.approx(2 / 3)  # b, which she has not
    assert found["belief", "g0002"] == pytest.approx(1 - 2 / 3)


def test_distribution(release: Release) -> None:
    found = values(release, "distribution")
    assert found["average, 0%", ""] == pytest.approx(2 / 3)
    assert found["average, 100%", ""] == pytest.approx(4 / 3)
    assert found["share of members, by term, 0%", ""] == 1


def test_kept_terms(release: Release) -> None:
    assert values(release, "kept-terms") == {
        ("distinct terms in profiles", ""): 2,
        ("distinct terms released", ""): 1,
        ("terms of groups", ""): 3,
        ("terms of groups released", ""): 2,
        ("terms of groups suppressed", ""): 1,
        ("share of own terms kept", "anna"): 1 / 2,
        ("share of own terms kept", "berta"): 1,
        ("share of own terms kept", "carla"): 0,
    }


def test_closeness(release: Release) -> None:
    assert values(release, "closeness") == {
        ("cosine of user and row", "anna"): pytest.approx(3 * 3 / (5 * 3)),
        ("cosine of user and row", "berta"): 1,
        ("cosine of user and row", "carla"): 0,
    }


def test_facts(release: Release) -> None:
    found = facts(PROFILES, release)
    assert (found["users"], found["groups"], found["terms_released"]) == (2, 2, 2)
    assert (found["users_left_out"], found["users_kept"]) == (1, 0.67)
    assert (found["distinct_terms_kept"], found["log_size_kept"]) == (0.5, 0.44)
    measured = general_facts(PROFILES, release)
    assert (measured["users"], measured["single_person_rows"]) == (2, 2)
    assert measured["mean_group"] == 1
    assert (measured["terms_in_groups"], measured["terms_suppressed"]) == (3, 1)


def test_who_is_left_out_must_be_told(release: Release) -> None:
    for measure in ("linkability", "kept-terms", "closeness"):
        with pytest.raises(BadInput, match="not made from these profiles: their users differ"):
            values(replace(release, facts={}), measure)
