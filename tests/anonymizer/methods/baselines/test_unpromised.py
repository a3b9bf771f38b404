"""Methods that promise nothing: what they release, what is found if it is spoilt, no publishing."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import BadParameter, Unsatisfiable
from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.publishing import publish
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import write_release
from anonymizer.verification.finding import Verdict
from anonymizer.verification.judge import verify

from ...small_world import drawn_people

CAFE, CODE = {"coffee": 1.0, "cup": 1.0}, {"java": 1.0, "code": 1.0}
SIX = Profiles.from_rows({**{f"c{n}": CAFE for n in range(4)}, **{f"j{n}": CODE for n in range(2)}})
METHODS: dict[str, dict[str, Any]] = {
    "random-k": {"k": 3},
    "topic-rows": {"rows": 2},
    "global-row": {},
    "own-rows": {},
}


def made(name: str, profiles: Profiles = SIX, seed: int = 0, **more: Any) -> Release:
    release = anonymize(name, Inputs(profiles, seed), {**METHODS[name], **more})
    return dataclasses.replace(release, facts=facts(profiles, release))


def written(release: Release, place: Path, profiles: Profiles = SIX) -> tuple[Path, Path]:
    write_profiles(profiles, place / "p.jsonl")
    write_release(release, place / "r", seed=0, input_hash=fingerprint(profiles))
    return place / "r", place / "p.jsonl"


def judged(release: Release, place: Path, profiles: Profiles = SIX) -> Verdict:
    return verify(*written(release, place, profiles))


def rows_of(release: Release) -> list[dict[str, float]]:
    return [release.rows.at(row) for row in range(len(release.rows))]


def test_by_topic_coffee_and_code_are_apart_and_each_row_is_the_mean() -> None:
    release = made("topic-rows", rows=5)  # two profiles differ, so there are two topics
    assert sorted(map(sorted, rows_of(release))) == [["code", "java"], ["coffee", "cup"]]
    assert sorted(release.grouping.sizes.tolist()) == [2, 4]


def test_one_row_for_everybody_is_the_average() -> None:
    (row,) = rows_of(made("global-row"))
    assert row == {"code": 2 / 6, "coffee": 4 / 6, "cup": 4 / 6, "java": 2 / 6}


def test_own_rows_are_the_profiles_in_an_order_that_names_nobody() -> None:
    release = made("own-rows")
    for user, row in zip(release.users, release.row_of_user.tolist(), strict=True):
        assert release.rows.at(row) == SIX.row(user)
    assert rows_of(release)[:2] == [CODE, CODE]


def test_random_groups_have_k_people_or_more_and_the_seed_draws_them() -> None:
    people = drawn_people(23)
    first, again, other = (made("random-k", people, seed, k=5) for seed in (1, 1, 2))
    assert sorted(first.grouping.sizes.tolist()) == [5, 6, 6, 6]
    assert first.row_of_user.tolist() == again.row_of_user.tolist() != other.row_of_user.tolist()


@pytest.mark.parametrize("name", METHODS)
def test_it_is_verified_and_never_published(name: str, tmp_path: Path) -> None:
    people = drawn_people(12)
    folder, profiles = written(made(name, people), tmp_path, people)
    assert verify(folder, profiles).holds
    verdict = publish(folder, profiles, tmp_path / "published")
    assert "promise" in {breach.claim for breach in verdict.breaches}
    assert not (tmp_path / "published").exists()


@pytest.mark.parametrize("name", METHODS)
def test_a_weight_that_is_not_the_mean_is_found(name: str, tmp_path: Path) -> None:
    people = drawn_people(12)
    release = made(name, people)
    rows = release.rows
    weights = rows.weights.copy()
    weights.data[0] /= 2
    spoilt = dataclasses.replace(rows, weights=weights)
    verdict = judged(dataclasses.replace(release, rows=spoilt), tmp_path, people)
    assert "weights" in {breach.claim for breach in verdict.breaches}


@pytest.mark.parametrize(
    ("name", "claimed", "claim"),
    [
        ("random-k", {"k": 4}, "k"),
        ("topic-rows", {"rows": 1}, "rows"),
        ("own-rows", {"k": 2}, "parameters"),
    ],
)
def test_parameters_that_the_rows_belie_are_found(
    name: str, claimed: dict[str, int], claim: str, tmp_path: Path
) -> None:
    release = made(name)
    claims = {**release.parameters, **claimed}
    verdict = judged(dataclasses.replace(release, parameters=claims), tmp_path)
    assert {breach.claim for breach in verdict.breaches} == {claim}


def test_two_rows_are_not_one_row(tmp_path: Path) -> None:
    two = dataclasses.replace(made("topic-rows"), method="global-row", parameters={"min_users": 1})
    assert [breach.line for breach in judged(two, tmp_path).breaches] == [
        "there is more than one row"
    ]


def test_terms_of_few_people_are_in_no_row(tmp_path: Path) -> None:
    rows = {"a": {"tea": 1.0, "elk": 1.0}, "b": {"tea": 1.0}}
    release = made("global-row", Profiles.from_rows(rows), min_users=2)
    assert rows_of(release) == [{"tea": 1.0}]
    assert judged(release, tmp_path, Profiles.from_rows(rows)).holds


@pytest.mark.parametrize(
    ("name", "parameters", "line"),
    [
        ("random-k", {"k": 7}, "6 users make no group of k=7; take a smaller k"),
        ("topic-rows", {"rows": 7}, "6 profiles or documents make no 7 topics; take fewer rows"),
    ],
)
def test_too_few_users_are_refused(name: str, parameters: dict[str, int], line: str) -> None:
    with pytest.raises(Unsatisfiable, match=line):
        made(name, **parameters)


@pytest.mark.parametrize(
    ("name", "parameters", "line"),
    [
        ("random-k", {"k": 1}, "k=1 must be 2 or more"),
        ("topic-rows", {"rows": 0}, "rows=0 must be 1 or more"),
        ("own-rows", {"k": 2}, "own-rows has no k"),
    ],
)
def test_wrong_options_are_one_plain_line(name: str, parameters: dict[str, int], line: str) -> None:
    with pytest.raises(BadParameter, match=line):
        anonymize(name, Inputs(SIX), parameters)
