"""Whatever is chosen: what km-anonymity makes and writes down, the judge finds true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.marketing import MarketingTable
from anonymizer.measures.release_facts import facts
from anonymizer.measures.verification import verify
from anonymizer.methods.km_anonymity import TARGETS, anonymize
from anonymizer.model import Profiles, Unsatisfiable
from anonymizer.profile_file import fingerprint, write_profiles
from anonymizer.release import write_release

TERMS = ("cat", "coffee", "dog", "java", "tea")
ONES = np.arange(1.0, 6.0)
WEIGHTS = st.one_of(st.just(1.0), st.sampled_from([0.1, 0.5, 1 / 3]), st.floats(1e-3, 1e3))
ROWS = st.lists(
    st.dictionaries(st.sampled_from(TERMS), WEIGHTS, min_size=1), min_size=3, max_size=16
)
CHOSEN = st.fixed_dictionaries(
    {
        "k": st.integers(1, 3),
        "m": st.integers(1, 3),
        "algorithm": st.sampled_from(["insert", "greedy"]),
        "target": st.sampled_from(TARGETS),
        "ties": st.sampled_from(["random", "first"]),
        "reinsert": st.sampled_from(["none", "groups"]),
        "frequencies": st.sampled_from(["keep", "drop"]),
    }
)


@settings(max_examples=150, deadline=None)
@given(ROWS, CHOSEN, st.booleans(), st.integers(0, 3))
def test_every_reduced_release_verifies(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, float]],
    chosen: dict[str, Any],
    synthetic: bool,
    seed: int,
) -> None:
    profiles = Profiles.from_rows({f"u{number}": row for number, row in enumerate(rows)})
    table = MarketingTable(TERMS, ONES, ONES, ONES, synthetic=synthetic)
    try:
        made = anonymize(profiles, **chosen, table=table, rng=np.random.default_rng(seed))
    except Unsatisfiable:
        return
    release = replace(made, facts=facts(profiles, made))
    place = tmp_path_factory.mktemp("made")
    write_release(release, place / "r", seed=seed, input_hash=fingerprint(profiles))
    write_profiles(profiles, place / "p.jsonl")
    assert verify(place / "r", place / "p.jsonl").breaches == []


def test_parameters_without_effect_are_written_alike_whatever_was_given() -> None:
    """What nobody can check must not be able to tell anything."""
    profiles = Profiles.from_rows({user: {"tea": 1.0} for user in ("u1", "u2")})
    table = MarketingTable(TERMS, ONES, ONES, ONES, synthetic=False)
    idle: dict[str, Any] = {"ties": "first", "reinsert": "groups", "table": table}
    found = anonymize(profiles, k=2, **idle, rng=np.random.default_rng(0)).parameters
    assert (found["ties"], found["reinsert"], found["marketing"]) == ("random", "none", "none")
    greedy = anonymize(profiles, k=2, algorithm="greedy", **idle, rng=np.random.default_rng(0))
    assert (greedy.parameters["ties"], greedy.parameters["reinsert"]) == ("first", "groups")
