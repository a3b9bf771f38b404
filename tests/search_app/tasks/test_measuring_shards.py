"""Measures of a release in shards, against those of the same rows in one file."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import BadInput
from anonymizer.measures import all_measures
from anonymizer.measures.measurement import summarize
from anonymizer.methods import promise_of
from anonymizer.model import Profiles
from anonymizer.storage.profiles import read_profiles, write_profiles
from anonymizer.storage.releases import read_release
from search_app.errors import UsageError
from search_app.tasks.measuring import measure_in_shards

from ...anonymizer.cut_release import cut, resum, substitute
from ...anonymizer.small_release import PARAMETERS, SmallRelease, made
from ...anonymizer.small_shares import COMPOSITION, shares


def world(parameters: dict[str, Any], *, binary: bool = True) -> SmallRelease:
    rng = random.Random(3)  # noqa: S311
    profiles = {
        f"u{user:02d}": {
            term: 1.0 if binary else rng.choice([1.0, 0.3, 2.5])
            for term in rng.sample("abcdefghij", rng.randint(2, 5))
        }
        for user in range(30)
    }
    users, groups = rng.sample(sorted(profiles), 30), list[list[str]]()
    while users:
        groups.append([users.pop() for _ in range(min(len(users), rng.randint(2, 4)))])
    release = made(profiles, groups, {**PARAMETERS, **parameters})
    if "size" in parameters:
        release.method, release.parameters = "composition", dict(parameters)
        for row, group in zip(release.rows, groups, strict=True):
            own = shares(profiles, group)
            row["terms"] = {term: float(share) for term, share in own.items() if share}
    return release


def placed(release: SmallRelease, place: Path) -> tuple[Path, Path, Path]:
    """Write `release` in one folder, in three shards in another one, and its profiles."""
    whole, profiles = release.write(place / "whole"), place / "p.npz"
    write_profiles(Profiles.from_rows(release.profiles), profiles)
    return whole, cut(whole, place / "shards", (3, 1, len(release.rows) - 4)), profiles


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("parameters", [{"p": 0.9}, {**COMPOSITION, "p": 1.0}])
def test_shards_are_measured_like_the_same_rows_in_one_file(
    parameters: dict[str, Any], binary: bool, tmp_path: Path
) -> None:
    whole, shards, profiles = placed(world(parameters, binary=binary), tmp_path)
    wanted = summarize(all_measures(read_profiles(profiles), read_release(whole, promise_of)))
    measured = measure_in_shards(shards, profiles)
    assert measured is not None
    assert [(one.name, one.of, one.values) for one in measured] == [
        (one.name, one.of, one.values) for one in wanted
    ]
    for one, other in zip(measured, wanted, strict=True):
        assert one[3:] == pytest.approx(other[3:], rel=1e-12, abs=1e-15), one.name


@pytest.mark.parametrize(
    "parameters",
    [
        {"p": 0.9, "representative": "union"},
        {"p": 0.7, "guarantee": "every-term"},
        {"p": 0.9, "min_users": 2},
    ],
)
def test_measures_that_take_all_rows_are_not_taken_of_shards(
    parameters: dict[str, Any], tmp_path: Path
) -> None:
    release = world(parameters)
    for row in release.rows:
        row["terms"] = row["terms"] or {"a": 1.0}
    whole, shards, profiles = placed(release, tmp_path)
    assert measure_in_shards(shards, profiles) is None
    assert measure_in_shards(whole, profiles) is None


def test_other_profiles_and_doubled_people_are_refused(tmp_path: Path) -> None:
    release = world({"p": 0.9})
    _, shards, profiles = placed(release, tmp_path)
    other = tmp_path / "other.npz"
    write_profiles(read_profiles(profiles).some(range(29)), other)
    with pytest.raises(UsageError, match="made from other profiles"):
        measure_in_shards(shards, other)
    first = release.members[0]["user"]
    files = sorted((shards / "private").glob("members-*"))
    (own,) = [path for path in files if f'"{first}"' in path.read_text()]
    another = next(path for path in files if path != own)
    someone = another.read_text().split('"')[3]
    substitute(shards, f"private/{own.name}", first, someone)
    resum(shards)
    with pytest.raises(BadInput, match="twice"):
        measure_in_shards(shards, profiles)
