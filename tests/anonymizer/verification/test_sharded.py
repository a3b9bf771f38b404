"""Releases in shards, judged one by one, against the judge of the same rows in one file."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.errors import BadInput
from anonymizer.model import Profiles
from anonymizer.storage.profiles import write_profiles
from anonymizer.verification import sharded
from anonymizer.verification.files import streamed
from anonymizer.verification.finding import CountedLine, Finding, Verdict, over_shards
from anonymizer.verification.judge import examine, examine_shards, verify

from ..cut_release import again, cut, flip, resum, substitute, swap
from ..small_release import PARAMETERS, SmallRelease, made
from ..small_shares import COMPOSITION, shares

SHARDS = (3, 1, 4)  # rows
CASES: dict[str, dict[str, Any]] = {
    "average": {"p": 0.9},
    "too strict": {"p": 0.2},
    "k and l": {"p": None, "k": 3, "l": 1.5},
    "every-term": {"p": 0.7, "guarantee": "every-term"},
    "union": {"p": 1.0, "representative": "union"},
    "rare terms": {"p": 0.9, "min_users": 2},
    "composition": {**COMPOSITION, "p": 1.0, "size": 3},
    "too far": {**COMPOSITION, "p": 0.2, "size": 3},
}


def world(seed: int, parameters: dict[str, Any], *, binary: bool = True) -> SmallRelease:
    """Return a release of 24 people in 8 groups by `parameters`, whether they hold or not."""
    rng = random.Random(seed)  # noqa: S311
    profiles = {
        f"u{user:02d}": {
            term: 1.0 if binary else rng.choice([1.0, 0.3, 2.5])
            for term in rng.sample("abcdefghij", rng.randint(2, 5))
        }
        for user in range(24)
    }
    users = rng.sample(sorted(profiles), 24)
    groups = [users[at : at + 3] for at in range(0, 24, 3)]
    release = made(profiles, groups, {**PARAMETERS, **parameters})
    if "size" in parameters:
        release.method, release.parameters = "composition", dict(parameters)
        for row, group in zip(release.rows, groups, strict=True):
            of_group = shares(profiles, group)
            row["terms"] = {term: float(share) for term, share in of_group.items() if share}
    return release


def placed(release: SmallRelease, place: Path) -> tuple[Path, Path, Path]:
    """Return `release` in one folder, in shards in another one, and its profiles, all written."""
    whole = release.write(place / "whole")
    write_profiles(Profiles.from_rows(release.profiles), place / "p.npz")
    return whole, cut(whole, place / "cut", SHARDS), place / "p.npz"


def said(verdict: Verdict) -> list[tuple[str, bool, str]]:
    return [(one.claim, one.holds, str(one.line)) for one in verdict.findings]


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_shards_are_judged_like_the_same_rows_in_one_file(
    name: str, binary: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed, "_AT_ONCE", 50)
    monkeypatch.setattr(sharded, "_TOGETHER", 10)  # users
    whole, shards, profiles = placed(world(5, CASES[name], binary=binary), tmp_path)
    one, together = verify(whole, profiles), examine(shards, profiles).verdict
    case = examine_shards(shards, profiles)
    assert case is not None
    by_shard = case.verdict
    assert said(together) == said(by_shard) or not one.holds
    assert one.holds == together.holds == by_shard.holds
    assert one.checked == together.checked == by_shard.checked
    assert {finding.claim for finding in one.breaches} == {
        finding.claim for finding in by_shard.breaches
    }
    alike = [said(verdict) for verdict in (one, by_shard)]
    good = [[line for line in lines if line[1] and line[0] != "shards"] for lines in alike]
    assert good[0] == good[1] or not one.holds
    if not one.holds:
        assert {*good[1]} <= {*good[0]}


def test_some_of_these_releases_hold_and_others_do_not(tmp_path: Path) -> None:
    holds = {
        name: verify(*placed(world(5, parameters), tmp_path / str(at))[1:]).holds
        for at, (name, parameters) in enumerate(CASES.items())
    }
    assert {name for name, held in holds.items() if not held} == {"too strict", "too far"}


def test_numbers_of_lines_add_up_and_of_fractions_the_largest_counts() -> None:
    line = CountedLine("{} rows, the farthest is {:.2f}", 3, 0.25)
    assert line == "3 rows, the farthest is 0.25"
    assert (line.form, line.numbers) == ("{} rows, the farthest is {:.2f}", (3, 0.25))


Tamper = Callable[[Path], object]
MEMBERS = "private/members"
CHANGED: dict[str, Tamper] = {
    "rows-0000": lambda folder: flip(folder, "rows-0000.jsonl"),
    "rows-0001": lambda folder: flip(folder, "rows-0001.jsonl"),
    "rows-0002": lambda folder: flip(folder, "rows-0002.jsonl"),
    "members-0000": lambda folder: flip(folder, f"{MEMBERS}-0000.jsonl"),
    "members-0002": lambda folder: flip(folder, f"{MEMBERS}-0002.jsonl"),
    "rows swapped": lambda folder: swap(folder, "rows"),
    "members swapped": lambda folder: swap(folder, MEMBERS),
    "both swapped": lambda folder: swap(folder, "rows", MEMBERS),
    "rows are missing": lambda folder: (folder / "rows-0001.jsonl").unlink(),
    "the last rows are missing": lambda folder: (folder / "rows-0002.jsonl").unlink(),
    "members are missing": lambda folder: (folder / f"{MEMBERS}-0001.jsonl").unlink(),
    "more rows": lambda folder: again(folder, "rows"),
    "more members": lambda folder: again(folder, MEMBERS),
}
FORGED: dict[str, tuple[str, Tamper]] = {
    "rows swapped": ("partition", lambda folder: swap(folder, "rows")),
    "members swapped": ("partition", lambda folder: swap(folder, MEMBERS)),
    "both swapped": ("identity", lambda folder: swap(folder, "rows", MEMBERS)),
    "a shard twice": ("partition", lambda folder: (again(folder, "rows"), again(folder, MEMBERS))),
    "a user in two shards": (
        "partition",
        lambda folder: substitute(
            folder, f"{MEMBERS}-0001.jsonl", first_user(folder, 1), first_user(folder, 0)
        ),
    ),
    "a user in no shard": (
        "partition",
        lambda folder: substitute(
            folder, f"{MEMBERS}-0000.jsonl", first_line(folder, f"{MEMBERS}-0000.jsonl"), ""
        ),
    ),
    "a stranger": (
        "partition",
        lambda folder: substitute(folder, f"{MEMBERS}-0001.jsonl", first_user(folder, 1), "v9"),
    ),
    "a row's name twice": (
        "identity",
        lambda folder: [
            substitute(folder, name, '"row": "g0004"', '"row": "g0001"')
            for name in ("rows-0001.jsonl", *[f"{MEMBERS}-0001.jsonl"] * 3)
        ],
    ),
    "another weight": (
        "weights",
        lambda folder: substitute(folder, "rows-0002.jsonl", "0.3", "0.4"),
    ),
    # Publishing would put it next to the published file.
    "a log": ("files", lambda folder: (folder / "log.tsv").write_text("g0001\tcat\n")),
    "a key": (
        "files",
        lambda folder: (
            (folder / "private/key.json").write_text('{"key": "aa"}'),
            (folder / "private/key.json").chmod(0o600),
        ),
    ),
    "other facts": (
        "facts",
        lambda folder: substitute(
            folder, "release.json", '"largest_group": 3', '"largest_group": 4'
        ),
    ),
}


def first_line(folder: Path, name: str) -> str:
    return (folder / name).read_text().splitlines(keepends=True)[0]


def first_user(folder: Path, shard: int) -> str:
    return first_line(folder, f"{MEMBERS}-{shard:04d}.jsonl").split('"')[3]


def both_ways(folder: Path, profiles: Path) -> list[Verdict]:
    by_shard = examine_shards(folder, profiles)
    assert by_shard is not None
    return [by_shard.verdict, examine(folder, profiles).verdict]


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_shard_is_a_breach(name: str, tmp_path: Path) -> None:
    _, folder, profiles = placed(world(5, CASES["average"]), tmp_path)
    CHANGED[name](folder)
    for verdict in both_ways(folder, profiles):
        assert "files" in {breach.claim for breach in verdict.breaches}


@pytest.mark.parametrize("name", FORGED)
def test_forged_shards_are_breaches(name: str, tmp_path: Path) -> None:
    _, folder, profiles = placed(world(5, CASES["average"]), tmp_path)
    claim, change = FORGED[name]
    change(folder)
    resum(folder)
    users = world(5, CASES["average"]).profiles
    for verdict in both_ways(folder, profiles):
        assert verdict.breaches
        assert not users.keys() & {word for one in verdict.breaches for word in one.line.split()}
    assert claim in {breach.claim for breach in both_ways(folder, profiles)[0].breaches}


@pytest.mark.parametrize("name", ["rows.jsonl", f"{MEMBERS}.jsonl"])
def test_a_part_beside_its_shards_is_a_breach(name: str, tmp_path: Path) -> None:
    _, folder, profiles = placed(world(5, CASES["average"]), tmp_path)
    (folder / name).write_text('{"row": "g0009", "users": 3, "terms": {"u01": 1.0}}\n')
    (folder / name).chmod(0o600)
    resum(folder)
    breaches = [(one.claim, one.where, one.line) for one in verify(folder, profiles).breaches]
    assert ("files", name, "there are shards of it, too; remove it") in breaches


def test_a_shard_of_nobody_is_judged_with_the_others(tmp_path: Path) -> None:
    _, folder, profiles = placed(world(5, CASES["average"]), tmp_path)
    for name in ("rows-0003.jsonl", f"{MEMBERS}-0003.jsonl"):
        (folder / name).touch(mode=0o600)
    resum(folder)
    assert verify(folder, profiles).holds
    (folder / "rows-0003.jsonl").write_text((folder / "rows-0002.jsonl").read_text())
    resum(folder)
    assert not verify(folder, profiles).holds


def test_a_breach_is_said_of_the_file_of_its_shard(tmp_path: Path) -> None:
    _, folder, profiles = placed(world(5, CASES["average"]), tmp_path)
    substitute(folder, f"{MEMBERS}-0002.jsonl", '"g0005"', '"g0001"')
    resum(folder)
    wheres = [one.where for one in verify(folder, profiles).breaches]
    assert any(where.startswith(f"{MEMBERS}-0002.jsonl, line ") for where in wheres)


def test_shards_that_find_other_things_at_a_place_are_not_added_up() -> None:
    one = [Finding("a", True, "f", CountedLine("{} of {}", 1, 2))]
    other = [Finding("b", True, "f", CountedLine("{}", 3))]
    assert [str(finding.line) for finding in over_shards([one, other, one])] == ["2 of 4"]


def test_what_is_wrong_with_release_json_is_said_once() -> None:
    wrong = [Finding("identity", False, "release.json", "it holds a time")]
    assert [*over_shards([wrong, wrong])] == wrong


def test_cells_of_nobody_are_no_profiles(tmp_path: Path) -> None:
    _, folder, profiles = placed(world(5, CASES["average"]), tmp_path)
    with np.load(profiles) as file:
        stored = dict(file)
    stored["columns"] = np.append(stored["columns"], stored["columns"][:1])
    stored["weights"] = np.append(stored["weights"], 1.0)
    np.savez(profiles, **stored)
    assert examine_shards(folder, profiles) is None
    with pytest.raises(BadInput, match="damaged"):
        verify(folder, profiles)


def test_what_cannot_be_read_in_pieces_is_read_whole(tmp_path: Path) -> None:
    _, folder, profiles = placed(world(5, CASES["average"]), tmp_path)
    with np.load(profiles) as stored:
        np.savez_compressed(profiles, **stored)
    assert examine_shards(folder, profiles) is None
    assert verify(folder, profiles).holds
    (folder / "release.json").write_text("{")
    assert {breach.claim for breach in verify(folder, profiles).breaches} == {
        "files",
        "release.json",
    }


def test_sessions_and_bounds_on_everybody_s_weights_are_judged_together(tmp_path: Path) -> None:
    _, folder, profiles = placed(world(5, {"p": 0.9, "t": 1.0}), tmp_path / "t")
    assert examine_shards(folder, profiles) is None
    assert verify(folder, profiles).holds
    release = world(5, CASES["average"])
    release.choices = {"granularity": "session"}
    _, folder, profiles = placed(release, tmp_path / "sessions")
    assert examine_shards(folder, profiles) is None
