"""Profiles and releases on disk: exact bytes, whole or absent, and nothing broken is believed."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer.errors import BadInput
from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release
from anonymizer.promise import AVERAGE, UNKNOWN
from anonymizer.storage import files, json_lines, records
from anonymizer.storage import parts as parts_module
from anonymizer.storage import profiles as profile_file
from anonymizer.storage import releases as release_module
from anonymizer.storage.profiles import (
    fingerprint,
    open_profiles,
    read_others,
    read_profiles,
    write_profiles,
)
from anonymizer.storage.releases import read_input_hash, read_release, write_release

Rows = dict[str, dict[str, float]]

TWO = Profiles.from_rows({"u1": {"kitten": 1.0, "ärger": 0.1}, "u2": {"pup": 2.5}})
THREE_USERS = Release(
    Profiles.from_rows({"g0001": {"pup": 0.5, "kitten": 1.0}, "g0002": {"java": 1.0}}),
    ("anna", "berta", "carla"),
    np.array([0, 1, 0]),
    "p-linkability",
    {"p": 0.4, "first_seed": "drawn"},
    {"groups": 2, "worst": np.float64(0.5), "sizes": np.array([2, 1])},
    promise=AVERAGE,
)
FILES = ("release.json", "rows.jsonl", "private/members.jsonl", "private/checksums.sha256")


def rows_of(profiles: Profiles) -> Rows:
    return {user: profiles.row(user) for user in profiles.users}


def write(release: Release, folder: Path, seed: int = 7) -> Path:
    profiles = {"weights": "binary", "size": 150}
    write_release(release, folder, seed=seed, input_hash="0a1b", profiles=profiles)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def forge(folder: Path, name: str, old: str, new: str) -> None:
    """Change a part and all hashes with it, as one would who knows the format."""
    before = sha256(folder / "rows.jsonl")
    _substitute(folder / name, old, new)
    _substitute(folder / "release.json", before, sha256(folder / "rows.jsonl"))
    sums = "".join(f"{sha256(folder / part)}  {part}\n" for part in FILES[:3])
    (folder / FILES[3]).write_bytes(sums.encode())


def _substitute(path: Path, old: str, new: str) -> None:
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode(), 1))


def refusal(act: Callable[[], object]) -> str:
    with pytest.raises(BadInput) as refused:
        act()
    assert "\n" not in str(refused.value)
    return str(refused.value)


# -- profiles --------------------------------------------------------------------------------------


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
WEIGHTS = st.floats(0, exclude_min=True, allow_infinity=False)
TERMS = st.dictionaries(NAMES, WEIGHTS, min_size=1, max_size=4)


@settings(max_examples=40)
@given(st.dictionaries(NAMES, TERMS, min_size=1), st.sampled_from(["jsonl", "npz"]))
def test_what_is_written_is_read(rows: Rows, form: str) -> None:
    profiles = Profiles.from_rows(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"p.{form}"
        write_profiles(profiles, path)
        first = path.read_bytes()
        read = read_profiles(path)
        write_profiles(read, path)
        assert path.read_bytes() == first
        stored = open_profiles(path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(profile_file, "_BLOCK", 7)  # bytes, so that names are cut
            blocks = [*stored.blocks()]
    assert {user: block.row(user) for block in blocks for user in block.users} == rows
    assert [user for block in blocks for user in block.users] == [*rows]
    assert (stored.users, stored.fingerprint) == (len(rows), fingerprint(profiles))
    assert all(block.terms == stored.terms == read.terms for block in blocks)
    assert rows_of(read) == rows
    assert read.users == tuple(rows)
    assert fingerprint(read) == fingerprint(profiles)


@settings(max_examples=20)
@given(st.dictionaries(NAMES, TERMS, min_size=1), st.data(), st.sampled_from(["jsonl", "npz"]))
def test_others_are_read_without_some(rows: Rows, data: st.DataObject, form: str) -> None:
    users = data.draw(st.sets(st.sampled_from(sorted(rows))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"p.{form}"
        write_profiles(Profiles.from_rows(rows), path)
        others = read_others(path, users)
    left = {user: row for user, row in rows.items() if user not in users}
    assert (rows_of(others) if others else {}) == left
    assert tuple(left) == (others.users if others else ())


def test_the_fingerprint_is_of_the_content_and_not_of_the_numbering() -> None:
    dense = csr_matrix(np.fliplr(np.pad(TWO.weights.toarray(), ((0, 0), (0, 1)))))
    renumbered = Profiles(TWO.users, ("nobody's", *TWO.terms[::-1]), dense)
    assert rows_of(renumbered) == rows_of(TWO)
    assert fingerprint(renumbered) == fingerprint(TWO)


def test_other_content_has_another_fingerprint() -> None:
    u1, u2 = TWO.row("u1"), TWO.row("u2")
    others: list[Rows] = [
        {"u2": u2, "u1": u1},
        {"u1": u1, "u3": u2},
        {"u1": u1 | {"kitten": 1.5}, "u2": u2},
        {"u1": u1 | {"pup": 2.5}, "u2": u2},
        {"u1": u1, "u2": {"pups": 2.5}},
    ]
    assert len({fingerprint(Profiles.from_rows(rows)) for rows in (rows_of(TWO), *others)}) == 6


@pytest.mark.parametrize("form", ["jsonl", "npz"])
def test_paths_that_cannot_be_used_are_named(tmp_path: Path, form: str) -> None:
    missing = tmp_path / "no" / f"p.{form}"
    assert refusal(lambda: read_profiles(missing)).startswith(f"{missing}: can't be read (No such")
    assert "can't be written (No such" in refusal(lambda: write_profiles(TWO, missing))
    missing.mkdir(parents=True)
    assert "can't be read (Is a directory)" in refusal(lambda: read_profiles(missing))
    release = tmp_path / "neither" / "r"
    assert "can't be read (No such" in refusal(lambda: read_release(release, promise_of))
    assert "can't be written (No such" in refusal(lambda: write(THREE_USERS, release))


def test_a_forged_npz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    write_profiles(TWO, path)
    with np.load(path) as stored:
        arrays = dict(stored)
    for name, value in (
        ("weights", np.nan),
        ("weights", 0.5),
        ("columns", 99),
        ("columns", -1),
        ("ends", 99),
    ):
        forged = arrays[name].copy()
        forged[1] = value
        np.savez(path, **{**arrays, name: forged})
        refusal(lambda: read_profiles(path))
        refusal(lambda: open_profiles(path))
    np.savez_compressed(path, **arrays)
    (packed,) = open_profiles(path).blocks()
    assert rows_of(packed) == rows_of(TWO)


# -- releases --------------------------------------------------------------------------------------


def test_a_release_by_hand(tmp_path: Path) -> None:
    folder = write(THREE_USERS, tmp_path / "r")
    rows = (
        '{"row": "g0001", "users": 2, "terms": {"kitten": 1.0, "pup": 0.5}}\n'
        '{"row": "g0002", "users": 1, "terms": {"java": 1.0}}\n'
    )
    members = (
        '{"user": "anna", "row": "g0001"}\n'
        '{"user": "berta", "row": "g0002"}\n'
        '{"user": "carla", "row": "g0001"}\n'
    )
    found = contents(folder)
    assert (set(found), read_input_hash(folder)) == (set(FILES), "0a1b")
    assert found["rows.jsonl"].decode() == rows
    assert found["private/members.jsonl"].decode() == members
    assert json.loads(found["release.json"]) == {
        "format": 3,
        "method": "p-linkability",
        "parameters": {"p": 0.4, "first_seed": "drawn"},
        "profiles": {"weights": "binary", "size": 150},
        "seed": 7,
        "input_hash": "0a1b",
        "facts": {"groups": 2, "worst": 0.5, "sizes": [2, 1]},
        "sha256": {"rows.jsonl": sha256(folder / "rows.jsonl")},
    }
    assert list(tmp_path.iterdir()) == [folder]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*")}
    assert modes["private"] == 0o700
    # The rows are public once they are published, in a file of their own.
    assert modes["rows.jsonl"] == modes["members.jsonl"] == modes["checksums.sha256"] == 0o600


def test_a_release_that_names_a_user_or_holds_no_json_is_refused(tmp_path: Path) -> None:
    for named in (
        replace(THREE_USERS, parameters={"first_seed": "anna"}),
        replace(THREE_USERS, facts={"worst_user": "carla"}),
        replace(THREE_USERS, users=("anna", "g0002", "carla")),
        replace(THREE_USERS, facts={"worst": np.nan}),
        replace(THREE_USERS, facts={"terms": {1, 2}}),
    ):
        said = refusal(partial(write, named, tmp_path / "r"))
        assert not any(user in said for user in ("anna", "carla"))
    assert list(tmp_path.iterdir()) == []


@st.composite
def releases(draw: st.DrawFn) -> Release:
    rows = draw(st.lists(TERMS, min_size=1, max_size=4))
    named = Profiles.from_rows({f"g{number:04}": row for number, row in enumerate(rows, 1)})
    extra = draw(st.lists(st.integers(0, len(rows) - 1), max_size=6))
    row_of_user = draw(st.permutations([*range(len(rows)), *extra]))
    users = draw(st.sets(NAMES, min_size=len(row_of_user), max_size=len(row_of_user)))
    facts = draw(st.dictionaries(NAMES, st.integers() | st.lists(st.floats(0, 1)), max_size=3))
    return Release(
        named, tuple(users), np.array(row_of_user), "none", {"k": 2}, facts, promise=UNKNOWN
    )


@settings(max_examples=40)
@given(releases())
def test_a_release_that_is_written_is_read(release: Release) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = write(release, Path(place) / "r")
        read = read_release(folder, promise_of)
        assert contents(folder) == contents(write(read, Path(place) / "again"))
    assert rows_of(read.rows) == rows_of(release.rows)
    assert (read.rows.users, read.users) == (release.rows.users, release.users)
    assert read.row_of_user.tolist() == release.row_of_user.tolist()
    assert (read.parameters, read.facts) == (release.parameters, release.facts)


def test_every_flipped_byte_and_cut_and_missing_part_of_a_release_is_noticed(
    tmp_path: Path,
) -> None:
    folder = write(replace(THREE_USERS, key=bytes(range(32))), tmp_path / "r")
    for name, good in contents(folder).items():
        damaged = [good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :] for at in range(len(good))]
        for content in [*damaged, *(good[:at] for at in range(len(good)))]:
            (folder / name).write_bytes(content)
            assert str(folder) in refusal(lambda: read_release(folder, promise_of))
        (folder / name).unlink()
        assert f"{folder / name}: can't be read (No such" in refusal(
            lambda: read_release(folder, promise_of)
        )
        (folder / name).write_bytes(good)
    read_release(folder, promise_of)


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("release.json", '"format": 3', '"format": 2', "format=2 must be 3; make the"),
        ("release.json", '"format": 3', '"format": 3.0', "format must be of type int"),
        ("release.json", '"profiles": {', '"profile": {', "the names are not exactly format"),
        ("release.json", '"seed": 7', '"seed": "7"', "seed must be of type int"),
        ("release.json", '"seed": 7', '"seeds": 7', "the names are not exactly format, method"),
        ("release.json", "{", "[", "Expecting"),
        ("release.json", 'rows.jsonl": "', 'rows.jsonl": "0', "rows.jsonl: changed since"),
        ("rows.jsonl", '"users": 1', '"users": 2', "line 2: users is not the number of members"),
        ("rows.jsonl", "g0002", "g0001", "line 2: the row occurs twice"),
        ("rows.jsonl", "0.5", "NaN", "line 1: NaN is no number"),
        ("private/members.jsonl", "carla", "anna", "line 3: the user occurs twice"),
        ("private/members.jsonl", "g0002", "g0009", "line 2: there is no such row"),
        ("private/members.jsonl", "g0002", "g0001", "line 1: users is not the number of members"),
    ],
)
def test_forgeries_are_refused(tmp_path: Path, name: str, old: str, new: str, why: str) -> None:
    folder = write(THREE_USERS, tmp_path / "r")
    forge(folder, name, old, new)
    assert why in refusal(lambda: read_release(folder, promise_of))


@pytest.mark.parametrize("kind", ["empty", "foreign", "more", "file", "link", "dangling"])
def test_what_is_no_release_is_never_replaced(tmp_path: Path, kind: str) -> None:
    folder, target = tmp_path / "r", tmp_path / "elsewhere"
    if kind in ("empty", "foreign"):
        folder.mkdir()
    if kind in ("more", "link"):
        write(THREE_USERS, folder if kind == "more" else target)
    if kind in ("link", "dangling"):
        folder.symlink_to(target)
    if kind in ("foreign", "more", "file"):
        (folder if kind == "file" else folder / "mine").write_text("mine", encoding="utf-8")
    before = (sorted(tmp_path.iterdir()), contents(tmp_path))
    said = refusal(lambda: write(THREE_USERS, folder, seed=8))
    assert said.startswith(f"{folder}: exists and is no release")
    assert (sorted(tmp_path.iterdir()), contents(tmp_path)) == before


# -- failures --------------------------------------------------------------------------------------


class FullDisk:
    """Let the n-th sync, rename, new folder or record fail, as on a full disk."""

    def __init__(self, patch: pytest.MonkeyPatch, fails_at: int) -> None:
        self.calls, self.fails_at = 0, fails_at
        for name in ("fsync", "replace", "mkdir"):
            patch.setattr(os, name, partial(self.call, getattr(os, name)))
        for module in (parts_module, profile_file):
            patch.setattr(module, "as_json", partial(self.call, records.as_json))
        for name in ("json_texts", "_digits"):
            patch.setattr(json_lines, name, partial(self.call, getattr(json_lines, name)))

    def call(self, real: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        self.calls += 1
        if self.calls == self.fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*arguments, **named)


def outcomes(act: Callable[[], object], place: Path) -> Iterator[bool]:
    """Act with the first, second, ... step failing until none does; nothing else may be left."""
    failed, at = True, 0
    while failed:
        at += 1
        with pytest.MonkeyPatch.context() as patch:
            disk = FullDisk(patch, at)
            try:
                act()
                failed = False
            except BadInput as error:
                assert "No space left on device" in str(error)
        assert failed == (disk.calls >= at)
        assert [path.name for path in place.iterdir() if path.name.startswith(".")] == []
        yield failed


@pytest.mark.parametrize("form", ["jsonl", "npz"])
def test_profiles_are_written_whole_or_not_at_all(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"p.{form}"
    old = Profiles.from_rows({"old": {"a": 1.0}})
    write_profiles(old, path)
    states = []
    for failed in outcomes(lambda: write_profiles(TWO, path), tmp_path):
        states.append(read_profiles(path).users == TWO.users)
        if failed:
            write_profiles(old, path)
    # Only a failing sync of the folder comes after the switch.
    assert states == [False] * (len(states) - 2) + [True, True]
    assert len(states) >= 5


@pytest.mark.parametrize("there", [False, True])
def test_a_release_is_written_whole_or_not_at_all(tmp_path: Path, there: bool) -> None:
    folder = tmp_path / "r"
    if there:
        write(THREE_USERS, folder, seed=1)
    states = []
    for failed in outcomes(lambda: write(THREE_USERS, folder, seed=2), tmp_path):
        assert folder.exists() or not there
        states.append(folder.exists() and b'"seed": 2' in contents(folder)["release.json"])
        if folder.exists():
            read_release(folder, promise_of)
        if failed and there:
            write(THREE_USERS, folder, seed=1)
        elif failed:
            shutil.rmtree(folder, ignore_errors=True)
    assert states == [False] * (len(states) - 2) + [True, True]
    assert len(states) >= 15


def test_all_that_is_written_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced, real = set(), os.fsync

    def fsync(handle: int) -> None:
        synced.add(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    write(THREE_USERS, tmp_path / "r")
    write_profiles(TWO, tmp_path / "p.npz")
    assert {path.stat().st_ino for path in (tmp_path, *tmp_path.rglob("*"))} <= synced


def test_leftovers_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(THREE_USERS, tmp_path / "r")
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    said = refusal(lambda: write(THREE_USERS, folder, seed=8))
    (holder,) = tmp_path.glob(".r.*")
    assert said == f"{folder} is written, but {holder} can't be removed; delete it by hand"
    assert b'"seed": 8' in contents(folder)["release.json"]


def test_an_old_release_is_never_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(THREE_USERS, tmp_path / "r")
    before = contents(folder)
    moves = [os.replace]

    def move_once(*paths: Path) -> None:
        moves.pop()(*paths)

    monkeypatch.setattr(os, "replace", move_once)
    monkeypatch.setattr(files, "exchange", lambda *_: False)
    with pytest.raises(IndexError):
        write(THREE_USERS, folder, seed=8)
    (holder,) = tmp_path.iterdir()
    assert contents(holder / "old") == before


# -- killed writers --------------------------------------------------------------------------------


def killed(folder: Path, name: str, *, first: bool) -> Path:
    """Write in a process that is killed before or after it calls one of the writer's own steps."""
    child = os.fork()
    if not child:
        module = files if name == "_switch" else release_module
        step = getattr(module, name)

        def kill(*arguments: Any) -> None:
            if not first:
                step(*arguments)
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(module, name, kill)
        try:
            write(THREE_USERS, folder, seed=9)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    (holder,) = set(folder.parent.iterdir()) - {folder}
    return holder


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize(
    ("name", "first", "names_users"),
    [
        ("write_files", True, "never"),
        ("write_manifest", False, "always"),
        ("_switch", True, "always"),
        ("_switch", False, "there"),  # the old release
    ],
)
def test_what_a_killed_writer_left_goes(
    tmp_path: Path, name: str, first: bool, names_users: str, there: bool
) -> None:
    folder = tmp_path / "a [b]*.c"
    if there:
        write(THREE_USERS, folder, seed=1)
    holder = killed(folder, name, first=first)
    assert bool(list(holder.rglob("members.jsonl"))) == (
        names_users == "always" or (names_users == "there" and there)
    )
    write(THREE_USERS, folder, seed=2)
    assert list(tmp_path.iterdir()) == [folder]
    assert b'"seed": 2' in contents(folder)["release.json"]


def test_a_release_that_survived_only_in_what_was_left_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "exchange", lambda *_: False)
    folder = write(THREE_USERS, tmp_path / "r", seed=1)
    old = contents(folder)
    holder = killed(folder, "_switch", first=True)
    folder.replace(holder / "old")  # as far as a switch without exchange may have come
    nameless = replace(THREE_USERS, facts={"worst": np.nan})
    assert "can't be written" in refusal(lambda: write(nameless, folder))
    assert (contents(folder), list(tmp_path.iterdir())) == (old, [folder])


def test_what_is_at_work_or_not_ours_stays(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    others = (".r.previous", ".r.veil", ".r.veil12345", ".r.veilance", ".s.veil0a1b", ".r.veil0a1c")
    for name in others:
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / ".r.veil0a1d").symlink_to(".r.veil")
    (tmp_path / ".r.veil0a1e" / "new").mkdir(parents=True)
    with (tmp_path / ".r.veil0a1e" / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = contents(tmp_path)
        write(THREE_USERS, folder)
        shutil.rmtree(folder)
        assert contents(tmp_path) == before
    write(THREE_USERS, folder)
    assert not (tmp_path / ".r.veil0a1e").exists()
    assert {path.name for path in tmp_path.iterdir()} == {*others, ".r.veil0a1d", "r"}


def test_a_writer_s_own_folder_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, fill = tmp_path / "r", release_module.write_manifest

    def fill_while_another_writes(*arguments: Any) -> None:
        monkeypatch.setattr(release_module, "write_manifest", fill)
        fill(*arguments)
        write(THREE_USERS, folder, seed=2)

    monkeypatch.setattr(release_module, "write_manifest", fill_while_another_writes)
    write(THREE_USERS, folder, seed=3)
    assert list(tmp_path.iterdir()) == [folder]
    assert b'"seed": 3' in contents(folder)["release.json"]


def test_a_secret_key_is_kept_in_the_private_part_for_the_owner_only(tmp_path: Path) -> None:
    key = bytes(range(32))
    folder = write(replace(THREE_USERS, key=key), tmp_path / "r")
    assert (folder / "private/key.json").stat().st_mode & 0o777 == 0o600
    assert read_release(folder, promise_of).key == key
    public = (content for name, content in contents(folder).items() if "private" not in name)
    assert not any(key.hex().encode() in content or key in content for content in public)
    write(THREE_USERS, folder)  # the key of a release goes with it
    assert not (folder / "private/key.json").exists()
    assert read_release(folder, promise_of).key is None


@pytest.mark.parametrize("content", [b'{"key": "zz"}', b"{}", b"00", b'{"key": 7}'])
def test_a_key_that_is_none_is_refused_without_being_shown(tmp_path: Path, content: bytes) -> None:
    folder = write(replace(THREE_USERS, key=bytes(32)), tmp_path / "r")
    sums = (folder / "private/checksums.sha256").read_text()
    old = hashlib.sha256((folder / "private/key.json").read_bytes()).hexdigest()
    (folder / "private/key.json").write_bytes(content)
    with pytest.raises(BadInput, match=r"key\.json: changed since it was written"):
        read_release(folder, promise_of)
    new = hashlib.sha256(content).hexdigest()
    (folder / "private/checksums.sha256").write_text(sums.replace(old, new))
    with pytest.raises(BadInput, match=r"key\.json: holds no key; make the release again"):
        read_release(folder, promise_of)
