"""dp-rows: numbers by hand, the sampler against its formula, neighbours, forgeries, bad input."""

from __future__ import annotations

import dataclasses
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.errors import BadParameter, Unsatisfiable
from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.baselines.accounting import (
    delta_of,
    rho_of,
    threshold_for,
    variance_for,
)
from anonymizer.methods.baselines.discrete_noise import Stream, gaussian
from anonymizer.methods.baselines.dp_rows import clipped_counts
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.publishing import publish, read_published
from anonymizer.similarity.documents import Documents
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import write_release
from anonymizer.verification.finding import Verdict
from anonymizer.verification.judge import verify
from anonymizer.verification.promises.baselines.repeated_noise import noise_of
from search_app.experiments.pipeline import measuring_key

from ...small_world import drawn_documents, drawn_people

KEY = bytes(range(32))
GIVEN: dict[str, Any] = {"epsilon": 8.0, "delta": 1e-6, "terms": 4}
PEOPLE = drawn_people(40)
# Half of the people have tea: common enough to stand out where the terms come from people.
DRINKERS = Profiles.from_rows({f"u{n}": {"tea": 1.0, f"t{n}": 1.0} for n in range(400)})
WORLDS: dict[str, tuple[Profiles, dict[str, Any]]] = {
    "one row": (PEOPLE, {}),
    "three rows": (PEOPLE, {"rows": 3}),
    "more noise": (PEOPLE, {"variance": 50}),
    "no base": (DRINKERS, {"base": "off"}),
}


def made(profiles: Profiles = PEOPLE, *, key: bytes = KEY, seed: int = 0, **more: Any) -> Release:
    inputs = Inputs(profiles, seed, sample=drawn_documents(), key=key)
    release = anonymize("dp-rows", inputs, {**GIVEN, **more})
    return dataclasses.replace(release, facts=facts(profiles, release))


def written(release: Release, place: Path, profiles: Profiles = PEOPLE) -> tuple[Path, Path]:
    write_profiles(profiles, place / "p.jsonl")
    write_release(release, place / "r", seed=0, input_hash=fingerprint(profiles))
    return place / "r", place / "p.jsonl"


def judged(release: Release, place: Path, profiles: Profiles = PEOPLE) -> Verdict:
    return verify(*written(release, place, profiles))


# -- the accountant --------------------------------------------------------------------------------


def test_the_rho_of_epsilon_1_and_delta_1e_6() -> None:
    """By the older formula epsilon = rho + 2 sqrt(rho L), L = ln(1/delta), it is .017469."""
    older = (math.sqrt(math.log(1e6) + 1) - math.sqrt(math.log(1e6))) ** 2
    assert older == pytest.approx(0.017469, abs=1e-6)
    assert rho_of(1, 1e-6) == pytest.approx(0.024356, abs=1e-6)
    # At the best order, 22: 21 (22 rho - 1) + 22 ln(21/22) - ln 21 = ln 1e-6 = -13.8155.
    by_hand = 21 * (22 * 0.024356 - 1) + 22 * math.log(21 / 22) - math.log(21)
    assert by_hand == pytest.approx(-13.8155, abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0, 50.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-3])
def test_rho_keeps_delta_and_is_the_largest(epsilon: float, delta: float) -> None:
    rho = rho_of(epsilon, delta)
    assert delta_of(rho, epsilon) <= delta < delta_of(rho * 1.001, epsilon)
    assert rho >= (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2


def test_variance_for_150_terms_has_few_digits() -> None:
    assert variance_for(1, 1e-6, 300, 6) == 6159  # 150 / .024356 is 6158.65
    assert variance_for(1, 1e-6, 300, 2) == 6200


def test_a_term_of_one_person_reaches_the_threshold_too_rarely() -> None:
    """Of a discrete Gaussian of variance 9, the tail is added up term by term."""
    least = threshold_for(9, 4, 1e-3)
    weights = {x: math.exp(-x * x / 18) for x in range(-200, 201)}
    tail = sum(w for x, w in weights.items() if 1 + x >= least) / sum(weights.values())
    assert 4 * tail <= 1e-3
    closer = sum(w for x, w in weights.items() if 1 + x >= least - 3) / sum(weights.values())
    assert 4 * closer > 1e-3


# -- the sampler -----------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", [1, 2, 9, 143])
def test_the_sampler_has_the_distribution_of_its_formula(variance: int) -> None:
    """Chi-squared over values; the key is fixed, so this never fails by chance."""
    draws, spread = 6000, math.isqrt(variance)
    seen = Counter(gaussian(Stream(KEY, f"draw {n}"), variance) for n in range(draws))
    weights = {x: math.exp(-x * x / (2 * variance)) for x in range(-40 * spread, 40 * spread + 1)}
    total = sum(weights.values())
    likely = {x: draws * w / total for x, w in weights.items() if draws * w / total >= 5}
    squares = sum((seen[x] - expected) ** 2 / expected for x, expected in likely.items())
    assert squares < len(likely) + 4 * math.sqrt(2 * len(likely))
    rest = draws - sum(seen[x] for x in likely)
    assert rest <= (draws - sum(likely.values())) + 5 * math.sqrt(draws)


@pytest.mark.parametrize("variance", [1, 9, 6159, 10**12])
def test_the_judge_draws_the_same_noise(variance: int) -> None:
    names = [f"noise {n}" for n in range(200)]
    ours = [gaussian(Stream(KEY, name), variance) for name in names]
    assert ours == [noise_of(KEY, name, variance) for name in names]


def test_the_vector_that_the_documentation_states() -> None:
    assert [gaussian(Stream(KEY, "noise tea"), v) for v in (1, 100, 6159)] == [0, -8, -62]


# -- sensitivity -----------------------------------------------------------------------------------


def test_neighbours_differ_by_no_more_than_twice_the_terms_that_count() -> None:
    rng = random.Random(0)  # noqa: S311
    terms = [f"t{n}" for n in range(12)]
    reached = 0.0
    for _ in range(300):
        most = rng.randint(1, 5)

        def person() -> dict[str, float]:
            own = rng.sample(terms, rng.randint(1, 12))
            return {term: float(rng.randint(1, 3)) for term in own}

        rows = {f"u{n}": person() for n in range(rng.randint(2, 6))}
        other = {**rows, "u0": person()}
        counts = [
            clipped_counts(Profiles.from_rows(one), terms[:10], most, KEY) for one in (rows, other)
        ]
        squared = float(((counts[0] - counts[1]) ** 2).sum())
        assert squared <= 2 * most
        reached = max(reached, squared / (2 * most))
    assert reached == 1  # the bound is tight


def test_of_a_long_profile_the_largest_weights_count() -> None:
    profiles = Profiles.from_rows({"u": {"a": 1.0, "b": 3.0, "c": 2.0, "out": 9.0}})
    assert clipped_counts(profiles, ["a", "b", "c"], 2, KEY).tolist() == [0, 1, 1]


# -- releases --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORLDS)
def test_a_release_is_verified_and_published(name: str, tmp_path: Path) -> None:
    profiles, more = WORLDS[name]
    release = made(profiles, **more)
    folder, path = written(release, tmp_path, profiles)
    verdict = verify(folder, path)
    assert verdict.breaches == []
    assert publish(folder, path, tmp_path / "published").holds
    # What attackers get is counted from profiles without noise, so it may not be published.
    assert "certificate" not in read_published(tmp_path / "published").about["quoted"]
    people = release.rows.weights.data * len(profiles)
    assert np.allclose(people, np.rint(people))
    sizes = release.grouping.sizes.tolist()
    assert max(sizes) - min(sizes) <= 1
    assert sizes == sorted(sizes)


def test_without_a_base_only_what_is_common_is_published() -> None:
    release = made(DRINKERS, base="off")
    assert release.rows.terms == ("tea",)
    assert release.base is None


def test_without_a_base_terms_that_are_clipped_away_are_never_published(tmp_path: Path) -> None:
    """The threshold is for the terms of a person that count, and one person has 3,000 others."""
    many = {f"own {n}": 1.0 for n in range(3000)}
    profiles = Profiles.from_rows({**{f"u{n}": {"tea": 1.0} for n in range(300)}, "x": many})
    more = {"base": "off", "epsilon": 0.5, "delta": 1e-3, "terms": 1}
    for number in range(12):
        release = made(profiles, key=bytes([number]) * 32, **more)
        assert release.rows.terms == ("tea",)
    assert judged(release, tmp_path, profiles).breaches == []


def test_no_seed_makes_noise_and_another_key_makes_other_noise() -> None:
    first, again = (made(DRINKERS, seed=seed, variance=10**4).rows for seed in (1, 2))
    other = made(DRINKERS, key=KEY[::-1], variance=10**4).rows
    assert first.weights.data.tolist() == again.weights.data.tolist()
    assert first.weights.data.tolist() != other.weights.data.tolist()


def with_weight(release: Release) -> Release:
    weights = release.rows.weights.copy()
    weights.data[0] += 1 / 40
    return dataclasses.replace(release, rows=dataclasses.replace(release.rows, weights=weights))


def off_the_grid(release: Release) -> Release:
    weights = release.rows.weights.copy()
    weights.data[0] += 1e-9
    return dataclasses.replace(release, rows=dataclasses.replace(release.rows, weights=weights))


def without_term(release: Release) -> Release:
    rows = release.rows
    entries = (rows.weights.data[1:], rows.weights.indices[1:], rows.weights.indptr - 1)
    entries[2][0] = 0
    cut = Profiles(rows.users, rows.terms, csr_matrix(entries, rows.weights.shape)).in_order()
    return dataclasses.replace(release, rows=cut)


def with_parameters(**more: Any) -> Any:
    return lambda made: dataclasses.replace(made, parameters={**made.parameters, **more})


def with_base(release: Release) -> Release:
    assert release.base is not None
    more = release.base.weights * 2
    return dataclasses.replace(release, base=dataclasses.replace(release.base, weights=more))


def with_half_a_document(release: Release) -> Release:
    assert release.base is not None
    less = release.base.weights * 0.5
    return dataclasses.replace(release, base=dataclasses.replace(release.base, weights=less))


def with_two_topics(release: Release) -> Release:
    assert release.base is not None
    base = release.base
    two = Profiles(base.users[:2], base.terms, base.weights[:2]).in_order()
    return dataclasses.replace(release, base=two)


def unequal(release: Release) -> Release:
    row_of = release.row_of_user.copy()
    row_of[np.flatnonzero(row_of == 0)[0]] = 2
    return dataclasses.replace(release, row_of_user=row_of)


FORGERIES: dict[str, tuple[str, Any, set[str]]] = {
    "a weight": ("one row", with_weight, {"counts"}),
    "off the grid": ("one row", off_the_grid, {"grid", "counts"}),
    "a term": ("one row", without_term, {"counts"}),
    "less noise": ("one row", with_parameters(variance=2), {"epsilon", "counts"}),
    "smaller epsilon": ("one row", with_parameters(epsilon=1.0), {"epsilon"}),
    "smaller delta": ("one row", with_parameters(delta=1e-12), {"epsilon"}),
    "large delta": ("one row", with_parameters(delta=0.1), {"epsilon"}),
    "no clipping": ("one row", with_parameters(terms=8), {"epsilon", "counts"}),
    "no domain": ("no base", with_parameters(base="corpus"), {"base"}),
    "rows": ("three rows", with_parameters(rows=2), {"base"}),
    "sizes": ("three rows", unequal, {"rows"}),
    "base": ("three rows", with_base, set()),  # doubled documents say the same
    "half a document": ("three rows", with_half_a_document, {"base"}),
    "two topics": ("three rows", with_two_topics, {"base"}),
    "one row less": (
        "three rows",
        lambda made: with_parameters(rows=2)(with_two_topics(made)),
        {"rows"},
    ),
    "base of none": ("one row", with_parameters(base="off"), {"base"}),
    "no key": ("one row", lambda made: dataclasses.replace(made, key=None), {"key"}),
    "other key": ("one row", lambda made: dataclasses.replace(made, key=KEY[::-1]), {"counts"}),
    "a person's epsilon": ("one row", with_parameters(epsilon=0.0), {"parameters"}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found(name: str, tmp_path: Path) -> None:
    world, forge, claims = FORGERIES[name]
    profiles, more = WORLDS[world]
    forged = forge(made(profiles, **more))
    forged = dataclasses.replace(forged, facts=facts(profiles, forged))
    verdict = judged(forged, tmp_path, profiles)
    assert {breach.claim for breach in verdict.breaches} == claims


def test_noise_that_a_seed_makes_is_for_experiments_alone(tmp_path: Path) -> None:
    folder, path = written(made(key=measuring_key(0)), tmp_path)
    verdict = publish(folder, path, tmp_path / "published")
    assert [breach.claim for breach in verdict.breaches] == ["key"]
    assert not (tmp_path / "published").exists()


@pytest.mark.parametrize(
    ("choices", "sound"),
    [
        ({}, True),
        ({"weights": "tf"}, True),
        # One person's searches change the weights of others, and so what is clipped.
        ({"weights": "tfidf"}, False),
        ({"weights": "recency"}, False),
        ({"granularity": "session", "gap": 60}, False),
    ],
)
def test_profiles_that_one_person_has_more_than_one_part_in_are_refused(
    choices: dict[str, Any], sound: bool, tmp_path: Path
) -> None:
    folder, path = tmp_path / "r", tmp_path / "p.jsonl"
    people = Profiles(tuple(f"{user}#1" for user in PEOPLE.users), PEOPLE.terms, PEOPLE.weights)
    profiles = people if "granularity" in choices else PEOPLE
    write_profiles(profiles, path)
    release, hashed = made(profiles), fingerprint(profiles)
    write_release(release, folder, seed=0, input_hash=hashed, profiles=choices)
    breaches = {breach.claim for breach in verify(folder, path).breaches}
    assert breaches == (set() if sound else {"profiles"})
    assert publish(folder, path, tmp_path / "published").holds == sound


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"epsilon": 0.0}, "epsilon=0.0 must be above 0 and at most 100"),
        ({"epsilon": 1e-7}, "epsilon=1e-07 needs more noise than there is; take a larger one"),
        ({"epsilon": 101.0}, "epsilon=101.0 must be above 0 and at most 100"),
        ({"delta": 0.0}, "delta=0.0 must be above 0 and below 1 / 40 people"),
        ({"delta": 0.025}, "delta=0.025 must be above 0 and below 1 / 40 people"),
        ({"variance": 2}, "variance=2 must be 4 or more for this epsilon"),
        ({"rows": 2, "base": "off"}, "rows=2 needs base=corpus, whose topics they are"),
        ({"terms": 0}, "terms=0 must be from 1 to 10000"),
    ],
)
def test_wrong_options_are_one_plain_line(given: dict[str, Any], line: str) -> None:
    with pytest.raises(BadParameter) as refused:
        made(**given)
    assert str(refused.value) == line


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"rows": 21}, "40 users are too few for rows=21 of two people or more"),
        (
            {"base": "off", "epsilon": 0.1},
            "at epsilon=0.1 no term stands out from the noise; take a larger",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(given: dict[str, Any], line: str) -> None:
    with pytest.raises(Unsatisfiable, match=line):
        made(**given)


def test_more_rows_than_topics_are_refused() -> None:
    alike = Documents(csr_matrix(np.ones((6, 2)) / math.sqrt(2)), ("cup", "tea"))
    inputs = Inputs(PEOPLE, sample=alike, key=KEY)
    with pytest.raises(Unsatisfiable, match="documents make 1 topics; take fewer rows than 2"):
        anonymize("dp-rows", inputs, {**GIVEN, "rows": 2})
