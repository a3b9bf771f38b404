"""Whatever is chosen: what the method makes and writes down, the judge finds true."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer.errors import Unsatisfiable
from anonymizer.marketing.table import VALUES, MarketingTable
from anonymizer.measures.belief import belief
from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.similarity.cooccurrence import Network
from anonymizer.similarity.documents import Documents
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import write_release
from anonymizer.terms.wordnet import WordNet
from anonymizer.verification.judge import verify

TERMS = ("cat", "coffee", "dog", "java", "kitten", "mocha", "pup", "tea", "object lens", '"ü\\')
DOCUMENTS = Documents(
    csr_matrix(np.array([[0.6, 0.8, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0.28, 0, 0, 0.96]])), TERMS[:5]
)
LINKS = Network(("cat", "tea"), csr_matrix(np.array([[0.0, 1.0], [0.5, 0.0]])))
TABLE = MarketingTable(
    TERMS[:6],
    bid=np.array([0.1, 2.0, 0.0, 1 / 3, 5.0, 1.0]),
    impressions=np.array([10.0, 0.0, 3.0, 1.0, 7.0, 2.0]),
    clicks=np.array([1.0, 4.0, 0.0, 2.5, 1.0, 9.0]),
    synthetic=True,
)
WEIGHTS = st.one_of(st.just(1.0), st.sampled_from([0.1, 0.5, 1 / 3]), st.floats(1e-3, 1e3))
ROWS = st.lists(
    st.dictionaries(st.sampled_from(TERMS), WEIGHTS, min_size=1, max_size=6),
    min_size=1,
    max_size=24,
)
NAMES = st.sampled_from(["u{}", "g{:04d}", "anna#{}", "ü \\{}"])


def or_off(values: list[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from([None, None, *values])


CHOSEN = st.fixed_dictionaries(
    {
        "p": or_off([0.25, 0.4, 0.5, 0.7, 1]),
        "k": or_off([1, 2, 3, 5]),
        "l": or_off([1, 1.7, 2, 4]),
        "t": or_off([0.3, 0.5, 0.7, 1]),
        "a": st.integers(0, 3),
        "guarantee": st.sampled_from(["average", "every-term"]),
        "linkage": st.sampled_from(["seed", "centroid"]),
        "similarity": st.sampled_from(["profiles", "profiles", "documents"]),
        "representative": st.sampled_from(["centroid", "union"]),
        "augment": st.sampled_from(["none", "wordnet", "cooccurrence"]),
        "network": st.sampled_from(["profiles", "log"]),
        "combine": st.sampled_from(["max", "sum"]),
        "sense": st.sampled_from(["profile", "first"]),
        "neighbours": st.integers(1, 4),
        "refine": st.sampled_from(["none", "swap"]),
        "min_users": st.sampled_from([1, 1, 2, 3]),
    }
)


def promising(chosen: dict[str, Any]) -> dict[str, Any]:
    """Return choices that promise something, as the method refuses others."""
    needed = "p" if chosen["guarantee"] == "every-term" else "pklt"
    return chosen if any(chosen[name] is not None for name in needed) else {**chosen, "p": 0.5}


def released(profiles: Profiles, chosen: dict[str, Any], wordnet: WordNet, seed: int) -> Release:
    """Run the method; where these users can't be given what is chosen, with what all can be."""

    def run(**instead: Any) -> Release:
        parameters = {**chosen, **instead}
        handed_in: dict[str, Any] = {"wordnet": wordnet, "sample": DOCUMENTS, "links": LINKS}
        return anonymize("p-linkability", Inputs(profiles, seed=seed, **handed_in), parameters)

    try:
        return run()
    except Unsatisfiable:
        return run(p=1, k=None, l=None, t=None, guarantee="average", min_users=1)


@settings(max_examples=60)
@given(ROWS, NAMES, CHOSEN.map(promising), st.booleans(), st.integers(0, 3))
def test_every_release_verifies(
    tmp_path_factory: pytest.TempPathFactory,
    wordnet: WordNet,
    rows: list[dict[str, float]],
    name: str,
    chosen: dict[str, Any],
    given_: bool,
    seed: int,
) -> None:
    profiles = Profiles.from_rows({name.format(n): row for n, row in enumerate(rows, 1)})
    if given_:
        chosen = {**chosen, "first_seed": profiles.users[-1]}
    release = released(profiles, chosen, wordnet, seed)
    assert_verified(tmp_path_factory.mktemp("release"), profiles, release, seed)


def assert_verified(folder: Path, profiles: Profiles, release: Release, seed: int) -> None:
    stated = replace(release, facts=facts(profiles, release))
    write_release(stated, folder / "r", seed=seed, input_hash=fingerprint(profiles))
    write_profiles(profiles, folder / "p.jsonl")
    verdict = verify(folder / "r", folder / "p.jsonl")
    assert verdict.holds, verdict.breaches
    least = release.parameters.get("min_users", 1)
    for term in release.rows.terms:
        owners = {user.split("#")[0] for user in profiles.users if term in profiles.row(user)}
        assert len(owners) >= least  # type: ignore[operator]


KM = st.fixed_dictionaries(
    {
        "k": st.sampled_from([1, 2, 2, 3]),
        "m": st.integers(1, 3),
        "algorithm": st.sampled_from(["greedy", "insert"]),
        "target": st.sampled_from(["logsize", "users", "fis", "random", *VALUES]),
        "ties": st.sampled_from(["first", "random"]),
        "reinsert": st.sampled_from(["groups", "none"]),
        "frequencies": st.sampled_from(["keep", "drop"]),
    }
)
# All that the second pass deletes of these is given back to groups.
EIGHT = ["1234", "1234", "0356", "01346", "012345", "234", "5", "0123456"]
GAP = {"k": 2, "m": 2, "algorithm": "greedy", "target": "random", "ties": "first"}


@settings(max_examples=60)
@given(ROWS, NAMES, KM, st.booleans(), st.integers(0, 3))
@example([{f"t{t}": 1.0 for t in row} for row in EIGHT], "u{}",
         {**GAP, "reinsert": "groups", "frequencies": "keep"}, True, 577)  # fmt: skip
def test_every_reduced_release_verifies(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, float]],
    name: str,
    chosen: dict[str, Any],
    synthetic: bool,
    seed: int,
) -> None:
    profiles = Profiles.from_rows({name.format(n): row for n, row in enumerate(rows, 1)})
    handed_in: dict[str, Any] = {"wordnet": None, "table": replace(TABLE, synthetic=synthetic)}
    try:
        release = anonymize("km-anonymity", Inputs(profiles, seed=seed, **handed_in), chosen)
    except Unsatisfiable:
        return
    folder = tmp_path_factory.mktemp("release")
    assert_verified(folder, profiles, release, seed)
    for less in ("k", "m"):  # what is promised with more of either is promised with less
        if chosen[less] > 1:
            parameters = {**release.parameters, less: chosen[less] - 1}
            weaker = replace(release, parameters=parameters)
            (folder / less).mkdir()
            assert_verified(folder / less, profiles, weaker, seed)


def test_parameters_without_effect_are_written_alike_whatever_was_given() -> None:
    """What nobody can check must not be able to tell anything."""
    profiles = Profiles.from_rows({user: {"tea": 1.0} for user in ("u1", "u2")})
    chosen = {"k": 2, "ties": "first", "reinsert": "groups"}
    inputs = Inputs(profiles, table=TABLE)
    found = anonymize("km-anonymity", inputs, chosen).parameters
    assert (found["ties"], found["reinsert"], found["marketing"]) == ("random", "none", "none")
    chosen["algorithm"] = "greedy"
    found = anonymize("km-anonymity", inputs, chosen).parameters
    assert (found["ties"], found["reinsert"]) == ("first", "groups")


SHARES = st.fixed_dictionaries(
    {
        "p": st.sampled_from([0.2, 0.25, 0.4, 0.5, 0.7, 0.333334, 1]),
        "steps": st.sampled_from([1, 50, 400, None]),
        "min_users": st.sampled_from([1, 1, 2, 3]),
    }
)
MANY = st.lists(
    st.dictionaries(st.sampled_from(TERMS), WEIGHTS, min_size=1, max_size=6),
    min_size=4,
    max_size=32,
)
KINDS = st.sampled_from(["composition", "true", "false"])  # or pooled, by meet_paper


@settings(max_examples=60)
@given(MANY, NAMES, SHARES, KINDS, st.binary(min_size=32, max_size=32), st.integers(0, 3))
def test_every_release_that_bounds_belief_verifies(
    tmp_path_factory: pytest.TempPathFactory,
    wordnet: WordNet,
    rows: list[dict[str, float]],
    name: str,
    chosen: dict[str, Any],
    kind: str,
    key: bytes,
    seed: int,
) -> None:
    profiles = Profiles.from_rows({name.format(n): row for n, row in enumerate(rows, 1)})
    handed_in: dict[str, Any] = {"wordnet": wordnet, "sample": DOCUMENTS, "key": key}
    method = "composition"
    if kind != "composition":
        method, chosen = "pooled", {**chosen, "meet_paper": kind}
    try:
        release = anonymize(method, Inputs(profiles, seed=seed, **handed_in), chosen)
    except Unsatisfiable:
        return
    assert_verified(tmp_path_factory.mktemp("release"), profiles, release, seed)
    groups = len(profiles) // int(release.grouping.sizes[0])
    inside = {*release.rows.users[:groups]} if method == "pooled" else {*release.rows.users}
    found = {row.group: row.value for row in belief(profiles, release) if row.group in inside}
    assert max(found.values()) <= chosen["p"] + 1e-12
