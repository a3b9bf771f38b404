"""Every measure on a release that leaves a user out, against arithmetic by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anonymizer.errors import BadInput
from anonymizer.measures import MEASURES
from anonymizer.measures.linkability import facts as general_facts
from anonymizer.methods.km_anonymity import METHOD
from anonymizer.model import Profiles, Release
from anonymizer.rows.reduced import reduced_release

# Anna keeps a and berta does too; carla's b is deleted, which is all that she has.
PROFILES = Profiles.from_rows(
    {"anna": {"a": 3.0, "b": 4.0}, "carla": {"b": 1.0}, "berta": {"a": 1.0}}
)
KEPT = np.array([True, False, False, True])


@pytest.fixture
def release() -> Release:
    return reduced_release(
        PROFILES, KEPT, np.where(KEPT, 0, 1), {}, method="km-anonymity", promise=METHOD.promise
    )


def values(release: Release, measure: str) -> dict[tuple[str, str], float]:
    rows = MEASURES[measure](PROFILES, release)
    return {(row.name, row.user or row.group): row.value for row in rows}


# Berta's is the first row. Two of the three users have a, and two have b.
EXPECTED: dict[str, dict[tuple[str, str], Any]] = {
    "sizes": {("users", "g0001"): 1, ("users", "g0002"): 1},
    "linkability": {
        ("average", "g0001"): pytest.approx(4 / 3),  # |U|avg; she has one term
        ("average", "g0002"): pytest.approx(4 / 3 / 2),
        ("share", "g0001"): 1,
        ("worst", "g0002"): 1,
        ("belief", "g0001"): pytest.approx(2 / 3),  # b, which she has not
        ("belief", "g0002"): pytest.approx(1 - 2 / 3),
    },
    "distribution": {
        ("average, 0%", ""): pytest.approx(2 / 3),
        ("average, 100%", ""): pytest.approx(4 / 3),
        ("share of members, by term, 0%", ""): 1,
    },
    "kept-terms": {
        ("distinct terms in profiles", ""): 2,
        ("distinct terms released", ""): 1,
        ("terms of groups", ""): 3,
        ("terms of groups released", ""): 2,
        ("terms of groups suppressed", ""): 1,
        ("share of own terms kept", "anna"): 1 / 2,
        ("share of own terms kept", "berta"): 1,
        ("share of own terms kept", "carla"): 0,
    },
    "closeness": {
        ("cosine of user and row", "anna"): pytest.approx(3 * 3 / (5 * 3)),
        ("cosine of user and row", "berta"): 1,
        ("cosine of user and row", "carla"): 0,
    },
}


@pytest.mark.parametrize("measure", EXPECTED)
def test_measures_by_hand(release: Release, measure: str) -> None:
    found = values(release, measure)
    assert {key: found[key] for key in EXPECTED[measure]} == EXPECTED[measure]
    general = general_facts(PROFILES, release)
    assert (general["users"], general["mean_group"], general["terms_suppressed"]) == (2, 1, 1)


def test_who_is_left_out_must_be_told(release: Release) -> None:
    for measure in ("linkability", "kept-terms", "closeness"):
        with pytest.raises(BadInput, match="not made from these profiles: their users differ"):
            values(replace(release, facts={}), measure)
