"""Rows of one user each, protected by others who have the same terms, are published; others not."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import BadInput
from anonymizer.publishing import publish, read_published
from anonymizer.verification.finding import Verdict
from anonymizer.verification.judge import verify

from .small_reduced import KEPT, PROFILES, reduced, small
from .small_release import SmallRelease


def published(release: SmallRelease, place: Path) -> Verdict:
    (place / "out").unlink(missing_ok=True)
    profiles = release.write_profiles(place / "p.jsonl")
    verdict = publish(release.write(place / "r"), profiles, place / "out")
    assert (place / "out").exists() == verdict.holds
    return verdict


def test_rows_of_one_user_each_are_published(tmp_path: Path) -> None:
    verdict = published(small(), tmp_path)
    assert verdict.breaches == []
    assert "each row is one user's, and any m of its terms stand in k rows" in str(verdict)
    content = (tmp_path / "out").read_text()
    assert "anna" not in content
    assert "own1" not in content
    read = read_published(tmp_path / "out")
    assert read.sizes.tolist() == [1, 1, 1, 1]
    assert read.rows.row("g0001") == {"apple": 1.0, "banana": 2.0}
    assert read.about["quoted"]["parameters"]["marketing"] == "none"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"users": 5}, "a row is of more people than one"),
        ({"k": 1}, "k=1 hides nobody"),
        ({"k": None}, "k is missing"),
        ({"m": None}, "m is missing"),
        ({"m": 5}, "m must be a whole number from 1 to 4"),
        ({"granularity": "session"}, "users are sessions"),
    ],
)
def test_a_file_that_promises_nothing_is_not_read(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    """Its hash fits, as whoever forges a file can count one."""
    published(small(), tmp_path)
    first, _, rows = (tmp_path / "out").read_bytes().partition(b"\n")
    about = json.loads(first)
    for name, value in change.items():
        if name == "users":
            rows = rows.replace(b'"users": 1', b'"users": %d' % value)
        elif name == "granularity":
            about["quoted"]["profiles"][name] = value
        elif value is None:
            del about["parameters"][name]
        else:
            about["parameters"][name] = value
    about["sha256"] = hashlib.sha256(rows).hexdigest()
    about["quoted"]["certificate"]["sha256"] = about["sha256"]
    (tmp_path / "out").write_bytes(json.dumps(about).encode() + b"\n" + rows)
    with pytest.raises(BadInput, match=why):
        read_published(tmp_path / "out")


def test_k_1_is_not_published(tmp_path: Path) -> None:
    (breach,) = published(small(k=1), tmp_path).breaches
    assert breach.line == "k=1 hides nobody; anonymize with --set k=2, or more"


@pytest.mark.parametrize("choices", [{"granularity": "session"}, {}])
def test_rows_of_sessions_are_not_published(tmp_path: Path, choices: dict[str, Any]) -> None:
    """Two rows with the same terms may be one person's; without choices the names say so."""
    users = ["anna#1", "anna#2", "carla#1", "carla#2", "lena#1"]
    names = dict(zip(PROFILES, users, strict=True))
    profiles = {names[user]: row for user, row in PROFILES.items()}
    release = reduced(profiles, {names[user]: terms for user, terms in KEPT.items()})
    release.choices = choices
    profiles_file = release.write_profiles(tmp_path / "p.jsonl")
    assert verify(release.write(tmp_path / "r"), profiles_file).holds
    (breach,) = published(release, tmp_path).breaches
    assert breach.claim == "groups"
    assert breach.line == (
        "users are sessions, so k rows may be of one person; make profiles with "
        "--granularity user, or if these are people, give them ids unlike anna#1 and anna#2"
    )


@pytest.mark.parametrize(
    ("users", "people"),
    [
        (["anna#1", "anna#2", "anna#3", "anna#4", "w"], 2),
        (["anna#1", "berta", "carla#7", "dora", "anna#12"], 4),
        (["anna#1", "berta#1", "carla", "dora", "lena"], 0),  # nobody has two
        (["anna#1", "anna", "anna#x", "anna#01", "lena"], 0),  # one looks like a session
    ],
)
def test_an_id_that_is_no_sessions_does_not_hide_those_that_are(
    tmp_path: Path, users: list[str], people: int
) -> None:
    names = dict(zip(PROFILES, users, strict=True))
    profiles = {names[user]: row for user, row in PROFILES.items()}
    release = reduced(profiles, {names[user]: terms for user, terms in KEPT.items()})
    found = verify(release.write(tmp_path / "r"), release.write_profiles(tmp_path / "p.jsonl"))
    assert found.holds
    assert found.checked.get("people", 0) == people
    told = [finding.line for finding in found.findings if finding.claim == "sessions"]
    assert len(told) == bool(people)
    assert all(line.startswith(f"users are 5 sessions of {people} people: ") for line in told)
    breaches = published(release, tmp_path).breaches
    assert [finding.claim for finding in breaches] == ["groups"] * bool(people)


def test_a_broken_release_is_not_published(tmp_path: Path) -> None:
    assert published(small(k=3), tmp_path).breaches
    release = small()
    del release.parameters["k"]
    assert "k is missing" in str(published(release, tmp_path).breaches)
