"""Forget a person: nothing of them in any file, the others as they were, old or new after a kill.

A small town lives in the workspace. Random moments come from a seed that every failure names:
VEILSEARCH_SEED repeats it, VEILSEARCH_KILLS says how often to kill.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.methods import promise_of
from anonymizer.profiles.origins import read_origins
from anonymizer.storage.profiles import fingerprint, read_profiles
from anonymizer.storage.releases import read_input_hash, read_release
from anonymizer.verification.judge import verify
from search_app.accounts.store import PeopleStore
from search_app.errors import UsageError
from search_app.evaluation.log import PrecisionLog
from search_app.forgetting.person import ForgetReport, forget, leave_group
from search_app.server.checkup import checkup
from search_app.server.opening import Serving
from search_app.settings import Settings, load_settings
from search_app.workspace import replacing
from search_app.workspace.folder import Workspace
from search_app.workspace.ledger import read_ledger
from search_app.workspace.profile_choices import fault_of_choices

from ..conftest import Run, call
from ..nursery import Nursery

SEED = int(os.environ.get("VEILSEARCH_SEED") or 20_261_118)
KILLS = int(os.environ.get("VEILSEARCH_KILLS") or 6)
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
    (folder / "more").mkdir(parents=True)
    town(folder)
    log, make = folder / "town.tsv", partial(call, folder)
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


@pytest.fixture
def workspace(built: Path, tmp_path: Path) -> Workspace:
    return Workspace(Path(shutil.copytree(built, tmp_path / "w")))


def gone(workspace: Workspace, user: str, terms: set[str] | None = None) -> ForgetReport:
    return forget(workspace, load_settings(workspace.root), {user}, terms)


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


def test_nothing_of_a_person_is_left_in_any_file(workspace: Workspace) -> None:
    root = workspace.root
    for needle in (OURS, OUR_NAME, OUR_TERM, OUR_QUERY):
        assert held(root, needle), needle
    assert "other.npz" in held(root, OUR_TERM) | held(root, OURS)
    done = gone(workspace, OURS)
    for needle in (OURS, OUR_NAME, OUR_TERM, OUR_QUERY):
        assert held(root, needle) == set(), needle
    assert done.left == ()
    assert done.rows_withdrawn == 2
    assert done.releases_dropped == ()
    assert {"profiles.jsonl", "release", "more/r2", "town.tsv", "town.truth.json"} <= {
        *done.changed
    }
    assert not any(path.name.startswith(".repl") for path in root.iterdir())


@pytest.mark.parametrize("terms", [None, {OUR_TERM}])
def test_what_stands_next_to_profiles_still_fits_them(
    workspace: Workspace, terms: set[str] | None
) -> None:
    held_out = (workspace.root / "other.held-out.tsv").read_bytes()
    gone(workspace, OURS, terms)
    assert (workspace.root / "other.held-out.tsv").read_bytes() != held_out
    for name in ("other.npz", "sessions.jsonl", "profiles.jsonl"):
        path = workspace.root / name
        assert fault_of_choices(path, fingerprint(read_profiles(path))) == ""


def test_the_lecture_goes_on_without_a_person(workspace: Workspace) -> None:
    lecture = workspace.root / "lecture.tsv"
    both = f"java\tperson-1, {OURS}\ttwo\tAsk first.\n"
    lecture.write_text(f"# bass\njava\t{OURS}\n{both}bass\tperson-1\n{OURS} alone\n")
    before = lecture.read_text()
    gone(workspace, OURS, {OUR_TERM})
    assert lecture.read_text() == before
    done = gone(workspace, OURS)
    assert lecture.read_text() == f"# bass\nbass\tperson-1\n{OURS} alone\n"
    assert done.left == ("lecture.tsv",)  # as a query it may mean anything: it is told
    assert "lecture.tsv" in done.changed


def test_the_others_are_byte_for_byte_as_they_were(workspace: Workspace) -> None:
    root = workspace.root
    names = ("profiles.jsonl", "sessions.jsonl", "town.tsv", "other.held-out.tsv")
    before = {name: (root / name).read_bytes().splitlines() for name in names}
    npz, origins = rows(root / "other.npz"), read_origins(root / "profiles.jsonl")
    assert origins is not None
    gone(workspace, OURS)
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


def test_releases_lose_one_row_each_and_hold(workspace: Workspace) -> None:
    root = workspace.root
    parts = ("release", "profiles.jsonl"), ("more/r2", "other.npz")
    before = {name: (root / name / "rows.jsonl").read_bytes().splitlines() for name, _ in parts}
    noted = len(read_ledger(workspace))
    gone(workspace, OURS)
    for name, profiles in parts:
        assert verify(root / name, root / profiles).holds
        rows_now = (root / name / "rows.jsonl").read_bytes().splitlines()
        assert len(rows_now) == len(before[name]) - 1
        assert [line for line in before[name] if line in rows_now] == rows_now
        assert read_input_hash(root / name) == fingerprint(read_profiles(root / profiles))
    assert (root / "published.jsonl").read_bytes().splitlines()[1:] == (
        root / "release" / "rows.jsonl"
    ).read_bytes().splitlines()
    events = [each.event for each in read_ledger(workspace)[noted:]]
    assert events == ["withdrawn", "withdrawn"]


def test_the_town_stays_a_town(workspace: Workspace) -> None:
    gone(workspace, OURS)
    truth = workspace.truth()
    assert truth is not None  # its hash fits the log that profiles were made of
    assert len(truth["users"]) == PEOPLE - 1
    assert truth["interests"] == {"coffee": ["person-1"], "programming": ["person-2"]}
    assert truth["examples"] == {"coffee": "person-1", "programming": "person-2"}
    log = (workspace.root / "town.tsv").read_text().splitlines()
    assert truth["counts"] == {"users": PEOPLE - 1, "lines": len(log) - 1}  # a header


def test_forgetting_everybody_leaves_nothing(workspace: Workspace) -> None:
    for number in range(PEOPLE):
        done = gone(workspace, f"person-{number}")
        assert done.left == ()
    assert workspace.current().profiles == workspace.current().release == ""
    assert workspace.truth() is None
    assert held(workspace.root, "person-") == set()
    assert not (workspace.root / "release").exists()
    assert not (workspace.root / "published.jsonl").exists()


def test_many_are_forgotten_in_one_step_as_one_after_the_other(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    one, run = Workspace(tmp_path / "one"), Run(workspace.root, capsys)
    shutil.copytree(workspace.root, one.root)
    leaving = (OURS, "person-3", "person-12", "person-13")
    reports, noted = [gone(one, user) for user in leaving], len(read_ledger(workspace))
    ids = io.StringIO("".join(f" {user}\r\n\n" for user in (*leaving, "person-99")))
    monkeypatch.setattr("sys.stdin", ids)
    done = json.loads(run("forget", "--user", "-", "--json"))
    assert "4 of these 5 people had a profile." in run.talk
    assert done["rows_withdrawn"] == sum(report.rows_withdrawn for report in reports)
    # But for the notes of what rows there were in between, all files are the same.
    for name, content in state(one.root).items():
        if not name.endswith(("changes.json", "checksums.sha256", "release.json", "ledger.key")):
            assert (workspace.root / name).read_bytes() == content, name
    for name, profiles in (("release", "profiles.jsonl"), ("more/r2", "other.npz")):
        assert verify(workspace.root / name, workspace.root / profiles).holds
    events = [line.event for line in read_ledger(workspace)[noted:]]
    assert events == ["withdrawn", "withdrawn"]
    assert "terms are forgotten for one person at a time" in run.refused(
        "forget", "--user", "person-1", "person-2", "--term", "coffee"
    )
    assert "--user is empty" in run.refused("forget", "--user", "")


def test_a_release_loses_the_row_without_its_profiles_too(workspace: Workspace) -> None:
    root = workspace.root
    for name in ("other.npz", "other.made.json", "other.origins.npz"):
        (root / name).unlink()
    done = gone(workspace, OURS)
    assert (done.rows_withdrawn, done.releases_dropped) == (2, ())
    assert held(root, OURS) == set()


def test_a_damaged_release_that_names_the_person_goes(workspace: Workspace) -> None:
    path = workspace.root / "release" / "rows.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    done = gone(workspace, OURS)
    assert done.releases_dropped == ("release",)
    assert workspace.current().release == ""
    assert held(workspace.root, OURS) == set()


def test_what_nobody_here_can_change_is_told(workspace: Workspace) -> None:
    root = workspace.root
    (root / "old.tsv.gz").write_bytes(gzip.compress(f"{OURS}\tcoffee\t2026-03-01".encode()))
    (root / "notes.md").write_text(f"call {OURS}.")
    (root / "more.md").write_text(f"call {OURS}0 or x{OURS}")  # other words
    assert gone(workspace, OURS).left == ("notes.md", "old.tsv.gz")


@pytest.mark.parametrize("leave", [False, True])
def test_copies_of_a_withdrawn_row_are_named(workspace: Workspace, leave: bool) -> None:
    root = workspace.root
    shutil.copy(root / "release" / "rows.jsonl", root / "shared.txt")
    (root / "old.gz").write_bytes(gzip.compress((root / "published.jsonl").read_bytes()))
    done = leave_group(workspace, {OURS}) if leave else gone(workspace, OURS)
    assert done.left == ("old.gz", "shared.txt")


def test_files_of_queries_without_users_are_named(workspace: Workspace) -> None:
    """A query that only one person asked stayed in them, and nobody was told."""
    root = workspace.root
    labels = [f"{OUR_QUERY} {n},1\nflower {n},0\n" for n in range(10)]
    (root / "labels.csv").write_text("".join(["text,label\n", *labels]))
    train = partial(call, root, "sensitivity")
    train(root / "labels.csv", "-o", root / "model.npz")
    train("--apply", root / "model.npz", root / "town.tsv", "-o", root / "p.csv")
    assert {"labels.csv", "p.csv"} <= held(root, OUR_QUERY)
    (root / "experiments" / "x" / "runs").mkdir(parents=True)
    (root / "experiments" / "x" / "run.json").write_text("{}")
    of_nobody = ("experiments/x/runs", "labels.csv", "model.npz", "p.csv")
    assert gone(workspace, OURS, {OUR_TERM}).left == of_nobody
    assert gone(workspace, OURS).left == of_nobody


# --- terms ---


def test_terms_go_from_profile_origins_and_log(workspace: Workspace) -> None:
    root = workspace.root
    before, log = rows(root / "profiles.jsonl"), (root / "town.tsv").read_text().splitlines()
    done = gone(workspace, OURS, {OUR_TERM})
    after = rows(root / "profiles.jsonl")
    assert set(before[OURS]) - set(after[OURS]) == {OUR_TERM}
    assert {u: r for u, r in after.items() if u != OURS} == {
        u: r for u, r in before.items() if u != OURS
    }
    assert held(root, OUR_TERM) <= {"rows.jsonl", "published.jsonl"}  # rows never change
    assert (root / "town.tsv").read_text().splitlines() == [
        line for line in log if OUR_QUERY not in line
    ]
    assert workspace.truth() is not None
    assert OURS in (workspace.truth() or {})["users"]
    assert verify(root / "release", root / "profiles.jsonl").holds
    assert done.left == ()


def test_without_any_term_left_a_person_is_forgotten(workspace: Workspace) -> None:
    terms = {
        term
        for name in ("profiles.jsonl", "other.npz")
        for term in rows(workspace.root / name)[OURS]
    }
    gone(workspace, OURS, terms)
    assert held(workspace.root, OURS) == held(workspace.root, OUR_NAME) == set()


def test_a_term_nobody_has_changes_nothing(workspace: Workspace) -> None:
    before = list(contents(workspace.root))
    with pytest.raises(UsageError, match="none of these terms is in a profile of this person"):
        gone(workspace, OURS, {"zebra"})
    assert [each for each in contents(workspace.root) if each[0] != ".lock"] == [
        each for each in before if each[0] != ".lock"
    ]


# --- refusals and faults ---


def test_an_unknown_person_is_one_line_without_the_id(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(workspace.root, capsys)
    told = run.refused("forget", "--user", "person-99")
    assert "nobody with this id is in" in told
    assert "person-99" not in told
    monkeypatch.setattr("sys.stdin", io.StringIO("person-98\n"))
    assert "person-98" not in run.refused("forget", "--user", "-")


def test_the_verb_tells_what_it_did(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run(workspace.root, capsys)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{OURS}\n"))
    assert "  release\n" in run("forget", "--user", "-")
    assert "profiles made from them again would bring the person back" in run.talk
    (workspace.root / "notes.md").write_text("person-8")
    told = json.loads(run("forget", "--user", "person-8", "--json", code=1))
    assert told["left"] == ["notes.md"]


def test_a_session_is_no_person(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="the name of a session; give the person's name"):
        gone(workspace, f"{OURS}#1")


def state(root: Path) -> dict[str, bytes]:
    """Return all files, but for the ledger, which may tell of a release that never came to be."""
    found = {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    return {n: c for n, c in found.items() if n not in (".lock", "ledger.jsonl")}


def assert_whole(workspace: Workspace) -> bool:
    """Check that what is current fits together; tell whether it still knows the person."""
    profiles = read_profiles(workspace.find("profiles"))
    release = read_release(workspace.find("release"), promise_of)
    assert read_input_hash(workspace.find("release")) == fingerprint(profiles)
    assert set(release.users) <= set(profiles.users)
    assert (OURS in release.users) == (OURS in profiles.users)
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
                gone(workspace, OURS)
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
            gone(workspace, OURS)
        assert held(workspace.root, OURS) == set()
        shutil.rmtree(workspace.root)
        if not failed and calls < number:
            break
    assert seen >= {(True, True), (False, False)}


def test_killed_at_any_moment_it_is_the_old_or_the_new(built: Path, tmp_path: Path) -> None:
    chance = random.Random(SEED)  # noqa: S311
    (tmp_path / "said").mkdir()
    nursery = Nursery(tmp_path / "said", "from search_app import forgetting")
    timed = Path(shutil.copytree(built, tmp_path / "timed"))
    forget = ("forget", "--user", "person-7")
    began = time.monotonic()
    assert nursery.run(Workspace(timed), *forget) == 0
    took, ends = time.monotonic() - began, set()
    for number in range(KILLS):
        workspace = Workspace(Path(shutil.copytree(built, tmp_path / str(number))))
        try:
            moment = took * chance.uniform(0, 1.05)
            code = nursery.run(workspace, *forget, killed_after=moment)
            assert code in (0, -signal.SIGKILL)
            old = assert_whole(workspace)
            ends.add((code, old))
            more = old or replacing.is_cut_short(workspace)
            assert nursery.run(workspace, *forget) == (0 if more else 2)  # 2: nobody of this id
            assert not assert_whole(workspace)
            assert held(workspace.root, OURS) == set()
            assert not list(workspace.root.glob(".repl*"))
            took *= 1 if code else 0.7  # kill earlier: runs are faster than the first was
        except AssertionError as fault:
            raise AssertionError(f"VEILSEARCH_SEED={SEED}, kill {number}: {fault}") from fault
        shutil.rmtree(workspace.root)
    nursery.close()
    assert (-signal.SIGKILL, True) in ends


@pytest.mark.parametrize("by", ["forget of somebody else", "a server that starts"])
def test_what_a_kill_after_the_code_cut_short_is_said_and_finished(
    workspace: Workspace, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is gone and the profile is not, until anything forgets again, or serves."""
    store = PeopleStore(workspace.root / "people.sqlite")
    store.new_code(OURS)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(replacing.Replacement, "carry_out", lambda *_, **__: _thread_is_killed())
        forget(workspace, Settings(workspace=workspace.root), {OURS}, None, store)
    settings = Settings(workspace=workspace.root)
    assert (store.codes(), OURS in rows(workspace.root / "profiles.jsonl")) == ([], True)
    check = next(one for one in checkup(settings) if one.name == "people")
    assert check.found == "1 person was not forgotten everywhere, because a command was killed"
    store.close()
    if by == "forget of somebody else":
        gone(workspace, "person-3")
    else:
        with suppress(UsageError):  # there is no index to serve
            Serving(settings, print).open()
    assert held(workspace.root, OURS) == set()
    assert next(one for one in checkup(settings) if one.name == "people").good


def _thread_is_killed() -> None:
    raise KeyboardInterrupt


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


def test_forgetting_in_a_server_leaves_its_locks_on_databases(workspace: Workspace) -> None:
    # As a server has them open. A process that closes any other handle of such a file loses its
    # locks; the next process then removes the log of changes that the server still writes.
    store = PeopleStore(workspace.root / "people.sqlite")
    log = PrecisionLog(workspace.root / "precision.sqlite")
    store.new_code("person-3")
    held = locks_of(workspace)
    assert held
    gone(workspace, "person-3")
    PeopleStore(workspace.root / "people.sqlite").close()
    assert locks_of(workspace) == held
    store.close()
    log.close()


def locks_of(workspace: Workspace) -> set[str]:
    """Return the locks that this process holds on the databases of `workspace`."""
    numbers = {str(path.stat().st_ino) for path in workspace.root.glob("*.sqlite*")}
    lines = map(str.split, Path("/proc/locks").read_text().splitlines())
    mine = (line for line in lines if line[4] == str(os.getpid()))
    return {" ".join(line[1:]) for line in mine if line[5].split(":")[-1] in numbers}
