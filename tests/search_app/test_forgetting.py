"""Forget a person: nothing of them in any file, the others as they were, old or new after a kill.

A small town lives in the workspace. Random moments come from a seed that every failure names:
VEILSEARCH_SEED repeats it, VEILSEARCH_KILLS says how often to kill.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.measures.verification import verify
from anonymizer.origins import read_origins
from anonymizer.profile_file import fingerprint, read_profiles
from anonymizer.publication import read_published
from anonymizer.release import read_input_hash, read_manifest, read_release
from search_app import forgetting_releases, replacing
from search_app.cli import main
from search_app.errors import UsageError
from search_app.forgetting import forget, look_again
from search_app.ledger import read_ledger
from search_app.people_store import PeopleStore
from search_app.settings import Settings, load_settings
from search_app.workspace import Workspace

from .conftest import Run

SEED = int(os.environ.get("VEILSEARCH_SEED") or 20_261_118)
KILLS = int(os.environ.get("VEILSEARCH_KILLS") or 10)
PEOPLE = 16
OURS = "person-7"
OUR_QUERY = "sphygmomanometer of my aunt"  # nobody else asked it,
OUR_TERM = "sphygmomanometer"  # nobody else has it
OUR_NAME = "Zebulonia"
SHARED = ("coffee", "tea", "music", "guitar", "piano", "garden", "flower", "tree")
AOL = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"


def town(folder: Path) -> None:
    """Write the log and the truth of a town of sixteen."""
    lines, users = [], [f"person-{number}" for number in range(PEOPLE)]
    for number, user in enumerate(users):
        for day in range(1, 7):
            words = f"{SHARED[(number + day) % 8]} {SHARED[(number + 3 * day) % 8]}"
            lines.append(f"{user}\t{words}\t2026-03-{day:02} 10:00:00\t\t\n")
        lines.append(f"{user}\t{'kitten' if number % 2 else 'dog'}\t2026-03-09 10:00:00\t\t\n")
    lines.append(f"{OURS}\t{OUR_QUERY}\t2026-03-10 10:00:00\t1\thttp://a.example\n")
    log = folder / "town.tsv"
    log.write_text(AOL + "".join(lines))
    truth = {
        "format": 1,
        "users": {
            user: {"name": OUR_NAME if user == OURS else f"Name{n}", "interests": [], "queries": 7}
            for n, user in enumerate(users)
        },
        "interests": {"coffee": [OURS, users[1]], "programming": [users[2]], "alone": [OURS]},
        "examples": {"coffee": OURS, "programming": users[2]},
        "counts": {"users": PEOPLE, "lines": len(lines), "queries": len(lines)},
        "log_sha256": hashlib.sha256(log.read_bytes()).hexdigest(),
    }
    (folder / "town.truth.json").write_text(json.dumps(truth))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with profiles in both forms, two releases and a published file."""
    folder = tmp_path_factory.mktemp("town") / "w"
    folder.mkdir()
    town(folder)
    log, make = folder / "town.tsv", partial(called, folder)
    make("profiles", log, "--test-share", "0.2", "--weights", "tfidf", "-o", folder / "other.npz")
    make("profiles", log, "--granularity", "session", "-o", folder / "sessions.jsonl")
    make("profiles", log)
    choices = ("--set", "augment=none", "--set", "p=off", "--set", "k=3", "--seed", "5")
    make("anonymize", folder / "other.npz", *choices, "-o", folder / "more" / "r2")
    make("anonymize", folder / "profiles.jsonl", *choices)
    # anonymize of other profiles ends the town; profiles and release of the town come last
    make("profiles", log)
    make("anonymize", *choices)
    make("publish", "-o", folder / "published.jsonl")
    return folder


def called(folder: Path, *arguments: object) -> None:
    if "more" in str(arguments[-1]):
        (folder / "more").mkdir(exist_ok=True)
    with pytest.raises(SystemExit) as ended:
        main(["--workspace", str(folder), *map(str, arguments)])
    assert ended.value.code == 0


@pytest.fixture
def workspace(built: Path, tmp_path: Path) -> Workspace:
    return Workspace(Path(shutil.copytree(built, tmp_path / "w")))


@pytest.fixture
def settings(workspace: Workspace) -> Settings:
    return load_settings(workspace.root)


def contents(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file's name and bytes, and the arrays of every .npz."""
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes()
            if path.suffix == ".npz":
                with np.load(io.BytesIO(path.read_bytes())) as arrays:
                    yield from ((f"{path.name}:{n}", arrays[n].tobytes()) for n in arrays.files)


def held(root: Path, needle: str) -> set[str]:
    return {name for name, content in contents(root) if needle.encode() in content}


def rows(path: Path) -> dict[str, dict[str, float]]:
    profiles = read_profiles(path)
    return {user: profiles.row(user) for user in profiles.users}


# --- the whole person ---


def test_nothing_of_a_person_is_left_in_any_file(workspace: Workspace, settings: Settings) -> None:
    root = workspace.root
    for needle in (OURS, OUR_NAME, OUR_TERM, OUR_QUERY):
        assert held(root, needle), needle
    assert "other.npz" in held(root, OUR_TERM) | held(root, OURS)
    done = forget(workspace, settings, OURS)
    for needle in (OURS, OUR_NAME, OUR_TERM, OUR_QUERY):
        assert held(root, needle) == set(), needle
    assert done.left == ()
    assert done.release_made
    assert done.releases_dropped == ()
    assert {"profiles.jsonl", "release", "more/r2", "town.tsv", "town.truth.json"} <= {
        *done.changed
    }
    assert not any(path.name.startswith(".repl") for path in root.iterdir())


def test_the_lecture_goes_on_without_a_person(workspace: Workspace, settings: Settings) -> None:
    lecture = workspace.root / "lecture.tsv"
    lecture.write_text(f"# bass\njava\t{OURS}\nbass\tperson-1\n{OURS} alone\n")
    before = lecture.read_text()
    forget(workspace, settings, OURS, {OUR_TERM})
    assert lecture.read_text() == before
    done = forget(workspace, settings, OURS)
    assert lecture.read_text() == f"# bass\nbass\tperson-1\n{OURS} alone\n"
    assert done.left == ("lecture.tsv",)  # as a query it may mean anything: it is told
    assert "lecture.tsv" in done.changed


def test_the_others_are_byte_for_byte_as_they_were(
    workspace: Workspace, settings: Settings
) -> None:
    root = workspace.root
    names = ("profiles.jsonl", "sessions.jsonl", "town.tsv", "other.held-out.tsv")
    before = {name: (root / name).read_bytes().splitlines() for name in names}
    npz, origins = rows(root / "other.npz"), read_origins(root / "profiles.jsonl")
    assert origins is not None
    forget(workspace, settings, OURS)
    for name in names:
        kept = [line for line in before[name] if OURS.encode() not in line]
        assert (root / name).read_bytes().splitlines() == kept
        assert len(kept) < len(before[name])
    assert rows(root / "other.npz") == {user: row for user, row in npz.items() if user != OURS}
    profiles = read_profiles(root / "profiles.jsonl")
    after = read_origins(root / "profiles.jsonl", fingerprint(profiles))
    assert after is not None
    assert after.users == profiles.users
    assert all(after.of(user) == origins.of(user) for user in profiles.users)
    assert all(set(after.of(user)) == set(profiles.row(user)) for user in profiles.users)


def test_releases_are_made_anew_as_before_and_hold(
    workspace: Workspace, settings: Settings
) -> None:
    root = workspace.root
    before = {name: read_manifest(root / name) for name in ("release", "more/r2")}
    noted = len(read_ledger(workspace))
    forget(workspace, settings, OURS)
    for name, profiles in (("release", "profiles.jsonl"), ("more/r2", "other.npz")):
        assert verify(root / name, root / profiles).holds
        manifest = read_manifest(root / name)
        for part in ("method", "parameters", "seed", "profiles"):
            assert manifest[part] == before[name][part]
        assert len(read_release(root / name).users) == PEOPLE - 1
        assert read_input_hash(root / name) == fingerprint(read_profiles(root / profiles))
    published = read_published(root / "published.jsonl")
    assert int(published.sizes.sum()) == PEOPLE - 1
    events = [each.event for each in read_ledger(workspace)[noted:]]
    assert sorted(events) == ["made", "made", "outlived", "published"]


def test_the_town_stays_a_town(workspace: Workspace, settings: Settings) -> None:
    forget(workspace, settings, OURS)
    truth = workspace.truth()
    assert truth is not None  # its hash fits the log that profiles were made of
    assert len(truth["users"]) == PEOPLE - 1
    assert truth["interests"] == {"coffee": ["person-1"], "programming": ["person-2"]}
    assert truth["examples"] == {"coffee": "person-1", "programming": "person-2"}
    log = (workspace.root / "town.tsv").read_text().splitlines()
    assert truth["counts"] == {"users": PEOPLE - 1, "lines": len(log) - 1}  # a header


def test_forgetting_everybody_leaves_nothing(workspace: Workspace, settings: Settings) -> None:
    for number in range(PEOPLE):
        done = forget(workspace, settings, f"person-{number}")
        assert done.left == ()
    assert workspace.current().profiles == workspace.current().release == ""
    assert workspace.truth() is None
    assert held(workspace.root, "person-") == set()
    assert not (workspace.root / "release").exists()
    assert not (workspace.root / "published.jsonl").exists()


def test_a_release_that_nobody_can_make_again_goes(
    workspace: Workspace, settings: Settings
) -> None:
    root = workspace.root
    shutil.copytree(root / "release", root / "elsewhere")
    for name in ("other.npz", "other.made.json", "other.origins.npz"):
        (root / name).unlink()
    done = forget(workspace, settings, OURS)
    assert done.releases_dropped == ("more/r2",)
    assert not (root / "more" / "r2").exists()
    assert (root / "elsewhere").exists()
    assert held(root, OURS) == set()


def test_a_release_that_would_not_hold_goes_and_none_is_current(
    workspace: Workspace, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    remake = forgetting_releases.remake_release

    def spoiled(folder: Path, profiles: Any, output: Path, settings: Settings) -> Any:
        made = remake(folder, profiles, output, settings)
        path = output / "rows.jsonl"
        path.write_bytes(path.read_bytes() + b"\n")
        return made

    monkeypatch.setattr(forgetting_releases, "remake_release", spoiled)
    done = forget(workspace, settings, OURS)
    assert set(done.releases_dropped) == {"release", "more/r2"}
    assert not done.release_made
    assert workspace.current().release == ""
    assert held(workspace.root, OURS) == set()
    assert not (workspace.root / "published.jsonl").exists()


def test_what_nobody_here_can_change_is_told(workspace: Workspace, settings: Settings) -> None:
    root = workspace.root
    (root / "old.tsv.gz").write_bytes(gzip.compress(f"{OURS}\tcoffee\t2026-03-01".encode()))
    (root / "notes.md").write_text(f"call {OURS}.")
    (root / "more.md").write_text(f"call {OURS}0 or x{OURS}")  # other words
    assert forget(workspace, settings, OURS).left == ("notes.md", "old.tsv.gz")


# --- terms ---


def test_terms_go_from_profile_origins_and_log(workspace: Workspace, settings: Settings) -> None:
    root = workspace.root
    before, log = rows(root / "profiles.jsonl"), (root / "town.tsv").read_text().splitlines()
    done = forget(workspace, settings, OURS, {OUR_TERM})
    after = rows(root / "profiles.jsonl")
    assert set(before[OURS]) - set(after[OURS]) == {OUR_TERM}
    assert {u: r for u, r in after.items() if u != OURS} == {
        u: r for u, r in before.items() if u != OURS
    }
    assert held(root, OUR_TERM) == set()
    assert (root / "town.tsv").read_text().splitlines() == [
        line for line in log if OUR_QUERY not in line
    ]
    assert workspace.truth() is not None
    assert OURS in (workspace.truth() or {})["users"]
    assert verify(root / "release", root / "profiles.jsonl").holds
    assert done.left == ()


def test_without_any_term_left_a_person_is_forgotten(
    workspace: Workspace, settings: Settings
) -> None:
    terms = {
        term
        for name in ("profiles.jsonl", "other.npz")
        for term in rows(workspace.root / name)[OURS]
    }
    forget(workspace, settings, OURS, terms)
    assert held(workspace.root, OURS) == held(workspace.root, OUR_NAME) == set()


def test_a_term_nobody_has_changes_nothing(workspace: Workspace, settings: Settings) -> None:
    before = list(contents(workspace.root))
    with pytest.raises(UsageError, match="none of these terms is in a profile of this person"):
        forget(workspace, settings, OURS, {"zebra"})
    assert [each for each in contents(workspace.root) if each[0] != ".lock"] == [
        each for each in before if each[0] != ".lock"
    ]


# --- refusals and faults ---


def test_an_unknown_person_is_one_line_without_the_id(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(workspace.root, capsys)
    told = run.refused("forget", "--user", "person-99")
    assert "nobody of this id is in" in told
    assert "person-99" not in told
    monkeypatch.setattr("sys.stdin", io.StringIO("person-98\n"))
    assert "person-98" not in run.refused("forget", "--user", "-")


def test_the_verb_tells_what_it_did(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(workspace.root, capsys)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{OURS}\n"))
    assert "  release\n" in run("forget", "--user", "-")
    assert "profiles made of them again bring the person back" in run.talk
    (workspace.root / "notes.md").write_text("person-8")
    told = json.loads(run("forget", "--user", "person-8", "--json", code=1))
    assert told["left"] == ["notes.md"]


def test_a_session_is_no_person(workspace: Workspace, settings: Settings) -> None:
    with pytest.raises(UsageError, match="a session's name; give the person's"):
        forget(workspace, settings, f"{OURS}#1")


def state(root: Path) -> dict[str, bytes]:
    """Return all files, but for the ledger, which may tell of a release that never came to be."""
    found = {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    return {n: c for n, c in found.items() if n not in (".lock", "ledger.jsonl")}


def assert_whole(workspace: Workspace) -> bool:
    """Check that what is current fits together; tell whether it still knows the person."""
    profiles = read_profiles(workspace.find("profiles"))
    release = read_release(workspace.find("release"))
    assert read_input_hash(workspace.find("release")) == fingerprint(profiles)
    assert set(release.users) == set(profiles.users)
    truth = workspace.truth()
    assert truth is not None
    assert (OURS in truth["users"]) == (OURS in profiles.users)
    return OURS in profiles.users


def test_whatever_write_fails_it_is_the_old_or_the_new(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()
    for number in range(1, 90, 7):
        workspace = Workspace(Path(shutil.copytree(built, tmp_path / str(number))))
        before, calls = state(workspace.root), 0

        def fsync(_handle: int, number: int = number) -> None:
            nonlocal calls
            calls += 1
            if calls == number:
                raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            try:
                forget(workspace, load_settings(workspace.root), OURS)
                failed = False
            except Exception as fault:
                assert "No space left on device" in str(fault)
                assert OURS not in str(fault)
                failed = True
        old = assert_whole(workspace)
        seen.add((failed, old))
        if failed and not replacing.is_cut_short(workspace):
            assert state(workspace.root) == before or not old
        if failed:
            forget(workspace, load_settings(workspace.root), OURS)
        assert held(workspace.root, OURS) == set()
        shutil.rmtree(workspace.root)
        if not failed and calls < number:
            break
    assert seen >= {(True, True), (False, False)}


NURSERY = """
import os, sys
from search_app.cli import main
from search_app import forgetting
for line in sys.stdin:
    child = os.fork()
    if not child:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        main(["--workspace", line.strip(), "forget", "--user", "person-7"])
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Nursery:
    """Forks the verb from a process that has loaded what takes long."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, "-c", NURSERY], stdin=pipe, stdout=pipe)

    def run(self, root: Path, kill_after: float | None = None) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{root}\n".encode())
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        if kill_after is not None:
            time.sleep(kill_after)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


def test_killed_at_any_moment_it_is_the_old_or_the_new(built: Path, tmp_path: Path) -> None:
    chance, nursery = random.Random(SEED), Nursery()  # noqa: S311
    timed = Path(shutil.copytree(built, tmp_path / "timed"))
    began = time.monotonic()
    assert nursery.run(timed) == 0
    took, ends = time.monotonic() - began, set()
    for number in range(KILLS):
        workspace = Workspace(Path(shutil.copytree(built, tmp_path / str(number))))
        try:
            code = nursery.run(workspace.root, took * chance.uniform(0, 1.05))
            assert code in (0, -signal.SIGKILL)
            old = assert_whole(workspace)
            ends.add((code, old))
            more = old or replacing.is_cut_short(workspace)
            assert nursery.run(workspace.root) == (0 if more else 2)  # 2: nobody of this id
            assert not assert_whole(workspace)
            assert held(workspace.root, OURS) == set()
            assert not list(workspace.root.glob(".repl*"))
        except AssertionError as fault:
            raise AssertionError(f"VEILSEARCH_SEED={SEED}, kill {number}: {fault}") from fault
        shutil.rmtree(workspace.root)
    nursery.close()
    assert (-signal.SIGKILL, True) in ends


def test_the_verb_forgets_codes_and_searches_too_also_of_who_has_no_profile(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    run, path = Run(workspace.root, capsys), workspace.root / "people.sqlite"
    for user in (OURS, "person-without-profile"):
        store = PeopleStore(path)
        store.new_code(user)
        store.choose(user, remember=True)
        store.remember(user, OUR_QUERY, "own", 1)
        store.close()
        assert "people.sqlite" in held(workspace.root, user)
        told = run("forget", "--user", user, "--json")  # left files end it with 1
        assert json.loads(told)["left"] == []
        assert held(workspace.root, user) == held(workspace.root, "aunt") == set()


def test_while_the_workspace_is_in_use_the_verb_leaves_a_person_their_code(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    run, store = Run(workspace.root, capsys), PeopleStore(workspace.root / "people.sqlite")
    code = store.new_code(OURS)
    with workspace.writing("index"):
        run.refused("forget", "--user", OURS)
    assert store.sign_in(code, time.time())
    run("forget", "--user", OURS)
    assert store.sign_in(code, time.time()) is None
    store.close()


def test_a_copy_of_the_people_s_file_is_left(workspace: Workspace, settings: Settings) -> None:
    """Whoever forgets what people.sqlite holds looks again: at this file, and at no copy of it."""
    store = PeopleStore(workspace.root / "people.sqlite")
    store.choose(OURS, remember=True)
    store.close()
    shutil.copy(workspace.root / "people.sqlite", workspace.root / "people.sqlite.old")
    done = forget(workspace, settings, OURS)
    assert done.left == ("people.sqlite", "people.sqlite.old")
    assert look_again(workspace, OURS, done) == done  # nothing has forgotten it yet
    store = PeopleStore(workspace.root / "people.sqlite")
    store.forget(OURS)
    assert look_again(workspace, OURS, done).left == ("people.sqlite.old",)
    store.close()
