"""min_users: a term of fewer people is in no row, and the judge refuses a release that has one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import BadParameter, Unsatisfiable
from anonymizer.measures.facts import facts
from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles, Release
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import write_release
from anonymizer.verification.finding import Verdict
from anonymizer.verification.judge import verify

from ..small_world import KEY, drawn_documents, drawn_people

METHODS: dict[str, dict[str, Any]] = {
    "p-linkability": {"p": 0.5, "augment": "none"},
    "composition": {"p": 0.6, "steps": 6000},
    "pooled": {"p": 0.4, "steps": 6000},
}


def made(method: str, people: Profiles, **more: Any) -> Release:
    inputs = Inputs(people, sample=drawn_documents(), key=KEY)
    return anonymize(method, inputs, {**METHODS[method], **more})


def owners(people: Profiles, term: str) -> set[str]:
    return {user.split("#")[0] for user in people.users if term in people.row(user)}


def judged(
    folder: Path, people: Profiles, made: Release, choices: dict[str, Any] | None = None
) -> Verdict:
    stated = replace(made, facts=facts(people, made))
    write_release(stated, folder / "r", seed=0, input_hash=fingerprint(people), profiles=choices)
    write_profiles(people, folder / "p.jsonl")
    return verify(folder / "r", folder / "p.jsonl")


@pytest.mark.parametrize("method", METHODS)
def test_a_term_of_fewer_people_is_in_no_row(tmp_path: Path, method: str) -> None:
    people = everybody_has(drawn_people(40), "t00")
    kept = made(method, people, min_users=5)
    assert judged(tmp_path, people, kept).holds
    common = {term for term in people.terms if len(owners(people, term)) >= 5}
    assert set(kept.rows.terms) <= common < set(people.terms)
    # The same as if the rare terms had never been there.
    cut = Profiles.from_rows(
        {user: {t: w for t, w in people.row(user).items() if t in common} for user in people.users}
    )
    again = made(method, cut, min_users=1)
    assert again.row_of_user.tolist() == kept.row_of_user.tolist()
    assert list(map(again.rows.at, range(len(again.rows)))) == [
        *map(kept.rows.at, range(len(kept.rows)))
    ]


@pytest.mark.parametrize("method", METHODS)
def test_the_judge_counts_again(tmp_path: Path, method: str) -> None:
    people = everybody_has(drawn_people(40), "t00")
    plain = made(method, people)
    forged = replace(plain, parameters={**plain.parameters, "min_users": 2})
    claims = {found.claim for found in judged(tmp_path, people, forged).breaches}
    rare = [term for term in plain.rows.terms if len(owners(people, term)) < 2]
    assert ("min_users" in claims) == bool(rare) == True  # noqa: E712 both ways of counting agree
    unset = replace(plain, parameters={**plain.parameters, "min_users": 0})
    breaches = [found.line for found in judged(tmp_path, people, unset).breaches]
    assert breaches == ["min_users must be a whole number from 1 to 2147483647"]


def test_sessions_of_a_person_count_once(tmp_path: Path) -> None:
    drawn = everybody_has(drawn_people(30), "t00")
    rows = {f"{n % 15}#{n // 15 + 1}": drawn.row(user) for n, user in enumerate(drawn.users)}
    for session in ("0#1", "0#2"):
        rows[session]["own"] = 1.0
    people = Profiles.from_rows(rows)
    kept = made("composition", people, min_users=2)
    assert judged(tmp_path, people, kept, {"granularity": "session"}).holds
    assert "own" in made("composition", people).rows.terms
    assert "own" not in kept.rows.terms


def test_nobody_may_lose_every_term() -> None:
    people = Profiles.from_rows({**{f"u{n}": {"tea": 1.0} for n in range(9)}, "v": {"mocha": 1.0}})
    with pytest.raises(Unsatisfiable, match="min_users=2 leaves 1 users no term; take a smaller"):
        made("composition", people, min_users=2)
    with pytest.raises(BadParameter, match="min_users=0 must be 1 or more"):
        made("composition", people, min_users=0)


def everybody_has(people: Profiles, term: str) -> Profiles:
    return Profiles.from_rows({user: {term: 1.0, **people.row(user)} for user in people.users})
