"""Releases in shards: the same rows as in one file, each shard by its own, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anonymizer.errors import BadInput
from anonymizer.model import Profiles, Release
from anonymizer.promise import UNKNOWN
from anonymizer.storage.changes import without_rows
from anonymizer.storage.parts import read_cohorts
from anonymizer.storage.releases import (
    read_hash,
    read_in_shards,
    read_release,
    row_lines_of,
    write_release,
)
from anonymizer.storage.sharded import ReleaseHead, called_like_rows, write_sharded_release

from ..cut_release import again, flip, resum, substitute, swap

# Three shards: rows of two, one and two people.
PEOPLE = ((("ada", "bob"), ("cy",)), (("di", "ed"),), (("flo", "gus"), ("hal",)))


def shards() -> Iterator[Release]:
    """Yield the shards, whose rows are called g0001, g0002, ... in each."""
    for number, groups in enumerate(PEOPLE):
        rows = {
            f"g{at + 1:04d}": {"wine": 0.5, f"term {number} {at}": 1.0} for at in range(len(groups))
        }
        users = [(user, at) for at, group in enumerate(groups) for user in group]
        names, row_of_user = zip(*users, strict=True)
        yield Release(
            Profiles.from_rows(rows), names, np.array(row_of_user), "m", {}, promise=UNKNOWN
        )


def write(folder: Path) -> Path:
    head = ReleaseHead("m", {"k": 1}, 5, {"users": 8})
    write_sharded_release(head, shards(), folder, seed=7, input_hash="0a1b", profiles={"size": 2})
    return folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return write(tmp_path / "release")


def read(folder: Path) -> Release:
    return read_release(folder, lambda *_: UNKNOWN)


def test_shards_hold_their_own_rows_and_people_by_names_that_run_through(release: Path) -> None:
    there = sorted(path.relative_to(release).as_posix() for path in release.rglob("*.jsonl"))
    assert there == [
        f"{part}-{number:04d}.jsonl" for part in ("private/members", "rows") for number in range(3)
    ]
    assert (release / "rows-0001.jsonl").read_text() == (
        '{"row": "g0003", "users": 2, "terms": {"term 1 0": 1.0, "wine": 0.5}}\n'
    )
    assert (release / "private/members-0002.jsonl").read_text() == (
        '{"user": "flo", "row": "g0004"}\n{"user": "gus", "row": "g0004"}\n'
        '{"user": "hal", "row": "g0005"}\n'
    )


def test_a_sharded_release_reads_like_the_same_rows_in_one_file(
    release: Path, tmp_path: Path
) -> None:
    whole = read(release)
    one = tmp_path / "one"
    write_release(whole, one, seed=7, input_hash="0a1b", profiles={"size": 2})
    again = read(one)
    assert (whole.users, whole.rows.users, whole.facts) == (
        again.users,
        again.rows.users,
        again.facts,
    )
    assert np.array_equal(whole.row_of_user, again.row_of_user)
    assert (whole.rows.weights != again.rows.weights).nnz == 0
    assert read_hash(release) == read_hash(one)
    assert row_lines_of(release) == row_lines_of(one)
    assert (one / "rows.jsonl").read_bytes() == read_cohorts(release)[0].parts["rows.jsonl"]


def test_a_release_is_read_shard_by_shard(release: Path) -> None:
    parts, whole = [*read_in_shards(release, lambda *_: UNKNOWN)], read(release)
    assert [part.users for part in parts] == [shard.users for shard in shards()]
    for part in parts:
        for user in part.users:
            assert part.row_for(user) == whole.row_for(user)
    without_rows(
        read_cohorts(release), release.parent / "left", {"di"}, known=True, input_hash="2c"
    )
    left = [*read_in_shards(release.parent / "left", lambda *_: UNKNOWN)]
    assert [len(part.rows) for part in left] == [2, 2]
    flip(release, "rows-0002.jsonl")
    with pytest.raises(BadInput, match="changed since it was written"):
        [*read_in_shards(release, lambda *_: UNKNOWN)]


def test_nothing_is_left_of_a_release_whose_shards_fail(tmp_path: Path) -> None:
    def broken() -> Iterator[Release]:
        yield next(shards())
        raise BadInput("a part failed")

    head = ReleaseHead("m", {}, 5, {})
    with pytest.raises(BadInput, match="a part failed"):
        write_sharded_release(head, broken(), tmp_path / "release", seed=7, input_hash="0a1b")
    with pytest.raises(BadInput, match="2 rows, and 5 were stated"):
        write_sharded_release(
            head, [next(shards())], tmp_path / "release", seed=7, input_hash="0a1b"
        )
    assert not [*tmp_path.iterdir()]


def test_a_fact_is_no_user_of_any_shard(tmp_path: Path) -> None:
    head = ReleaseHead("m", {}, 5, {"opened by": "hal"})
    with pytest.raises(BadInput, match="a fact holds a user's id"):
        write_sharded_release(head, shards(), tmp_path / "release", seed=7, input_hash="0a1b")
    assert not [*tmp_path.iterdir()]


def test_rows_are_never_called_like_users(tmp_path: Path) -> None:
    named = [
        replace(shard, users=tuple("g0002" if user == "hal" else user for user in shard.users))
        for shard in shards()
    ]
    users = called_like_rows(user for shard in named for user in shard.users)
    assert users == {"g0002"}
    head = ReleaseHead("m", {}, 5, {}, users)
    write_sharded_release(head, named, tmp_path / "release", seed=7, input_hash="0a1b")
    assert read(tmp_path / "release").rows.users == tuple(f"gg000{n}" for n in range(1, 6))


TAMPERING: dict[str, Callable[[Path], object]] = {
    **{
        f"a byte of {part}-{number:04d}": lambda folder, name=f"{part}-{number:04d}.jsonl": flip(
            folder, name
        )
        for part in ("rows", "private/members")
        for number in range(3)
    },
    "rows swapped": lambda folder: swap(folder, "rows"),
    "members swapped": lambda folder: swap(folder, "private/members"),
    "a shard is missing": lambda folder: (folder / "rows-0001.jsonl").unlink(),
    "members are missing": lambda folder: (folder / "private/members-0002.jsonl").unlink(),
    "a shard too many": lambda folder: again(folder, "rows"),
    "members too many": lambda folder: again(folder, "private/members"),
}
FORGERY: dict[str, Callable[[Path], object]] = {
    "members swapped": lambda folder: swap(folder, "private/members"),
    "shards swapped": lambda folder: swap(folder, "rows", "private/members"),
    "a user in two shards": lambda folder: substitute(
        folder, "private/members-0001.jsonl", '"di"', '"ada"'
    ),
    "a row's name twice": lambda folder: substitute(folder, "rows-0001.jsonl", "g0003", "g0001"),
    "a row of another shard": lambda folder: substitute(
        folder, "private/members-0000.jsonl", "g0002", "g0003"
    ),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_a_changed_shard_is_refused(name: str, release: Path) -> None:
    TAMPERING[name](release)
    with pytest.raises(BadInput) as refused:
        read(release)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", FORGERY)
def test_forged_shards_are_refused(name: str, release: Path) -> None:
    FORGERY[name](release)
    resum(release)
    with pytest.raises(BadInput) as refused:
        read(release)
    assert any(why in str(refused.value) for why in ("make the release again", "occurs twice"))


def test_when_a_member_leaves_only_that_shard_is_written_again(
    release: Path, tmp_path: Path
) -> None:
    done = without_rows(
        read_cohorts(release), tmp_path / "left", {"bob"}, known=False, input_hash="2c"
    )
    assert (done.withdrawn, done.left) == (1, 4)
    left = read(tmp_path / "left")
    assert left.users == ("cy", "di", "ed", "flo", "gus", "hal")
    assert left.rows.users == ("g0002", "g0003", "g0004", "g0005")
    same = [
        (release / name).samefile(tmp_path / "left" / name)
        for part in ("rows", "private/members")
        for name in (f"{part}-{number:04d}.jsonl" for number in range(3))
    ]
    assert same == [False, True, True] * 2


def test_a_shard_may_lose_all_of_its_rows(release: Path, tmp_path: Path) -> None:
    without_rows(read_cohorts(release), tmp_path / "left", {"di"}, known=True, input_hash="2c")
    assert (tmp_path / "left/rows-0001.jsonl").read_bytes() == b""
    assert read(tmp_path / "left").rows.users == ("g0001", "g0002", "g0004", "g0005")
