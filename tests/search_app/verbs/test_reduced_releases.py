"""Releases that delete terms and leave users out, as a person verifies and publishes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anonymizer.measures.facts import facts
from anonymizer.methods import parameters_of
from anonymizer.methods.km_anonymity import METHOD
from anonymizer.model import Profiles
from anonymizer.rows.reduced import reduced_release

from ..conftest import Run, serve_release

PEOPLE = Profiles.from_rows(
    {"anna": {"coffee": 3.0, "yoga": 4.0}, "berta": {"coffee": 1.0}, "carla": {"java": 2.0}}
)
KEPT = np.array([True, False, True, False])
PARAMETERS = {**parameters_of("km-anonymity"), "k": 2, "frequencies": "keep"}


@pytest.fixture
def ready(run: Run) -> Run:
    """Return a workspace whose release keeps coffee, which anna and berta have."""
    passes = np.where(KEPT, 0, 1)
    named = {"method": "km-anonymity", "promise": METHOD.promise}
    release = reduced_release(PEOPLE, KEPT, passes, PARAMETERS, **named)
    serve_release(run.workspace, PEOPLE, replace(release, facts=facts(PEOPLE, release)))
    return run


def test_verify_says_who_is_left_out_and_what_is_not_promised(ready: Run) -> None:
    text = ready("verify")
    assert "release holds: 2 users (1 without a row) in 2 rows, 2 weights, each" in text
    fewest = "fewest rows by number of terms: 2 for 1"
    assert f"any m=2 terms of a row, or fewer, stand in k=2 rows; {fewest}" in text
    assert "it does not cover the weights, which are the user's own" in text
    assert ready.json("verify")["checked"]["users_left_out"] == 1


def test_measure_counts_those_left_out_as_nothing_kept(ready: Run) -> None:
    measures = {m["name"]: m for m in ready.json("measure")["measures"]}
    assert measures["share of own terms kept"]["mean"] == (1 / 2 + 1 + 0) / 3
    assert measures["cosine of user and row"]["mean"] == pytest.approx((3 / 5 + 1 + 0) / 3)
