"""The ledger: what was made and published, in lines that a kill can't spoil."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from anonymizer.model import Profiles
from anonymizer.publishing import Candidate
from anonymizer.storage.profiles import fingerprint, write_profiles
from anonymizer.storage.releases import read_hash
from search_app.errors import UsageError
from search_app.workspace import ledger
from search_app.workspace.folder import Workspace
from search_app.workspace.ledger import ledger_path, note_made, publishing, read_ledger

from ..conftest import Run

PEOPLE = {f"person-{n}": {"java": 1.0, f"w{n % 3}": 1.0, f"x{n}": 1.0} for n in range(8)}
CHOICES = ("--set", "augment=none", "--set", "k=2")


@pytest.fixture
def run(run: Run) -> Run:
    run.workspace.mkdir()
    write_profiles(Profiles.from_rows(PEOPLE), run.workspace / "profiles.jsonl")
    run("anonymize", run.workspace / "profiles.jsonl", *CHOICES)
    return run


def test_what_is_made_and_published_is_noted(run: Run, tmp_path: Path) -> None:
    workspace = Workspace(run.workspace)
    run("publish", "-o", tmp_path / "published.jsonl")
    run("anonymize", *CHOICES, "--seed", "1", "-o", tmp_path / "outside")
    run("publish", "-o", tmp_path / "published.jsonl", "--second")
    noted = read_ledger(workspace)
    assert [each.event for each in noted] == ["made", "published", "made", "published"]
    first, second = read_hash(run.workspace / "release"), read_hash(tmp_path / "outside")
    assert [each.sha256 for each in noted] == [first, first, second, second]
    assert {(each.method, each.users) for each in noted} == {("p-linkability", 8)}
    assert noted[0].parameters["k"] == 2
    assert noted[0].rows == len((run.workspace / "release" / "rows.jsonl").read_text().splitlines())
    assert [each.at for each in noted] == sorted(each.at for each in noted)


def test_it_tells_no_person_and_no_hash_of_the_input_and_only_its_owner(run: Run) -> None:
    path = ledger_path(Workspace(run.workspace))
    text = path.read_text()
    assert "person-" not in text
    rows = Profiles.from_rows(PEOPLE)
    assert fingerprint(rows) not in text
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_release_from_anywhere_is_noted_before_its_file_is_there(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a second one of the same people would be published beside it."""
    profiles = run.workspace / "profiles.jsonl"
    there = [tmp_path / "one", tmp_path / "two"]
    for k, folder in zip((2, 4), there, strict=True):
        chosen = ("--set", "augment=none", "--set", "p=off", "--set", f"k={k}")
        run("anonymize", profiles, *chosen, "-o", folder)
    for place in (tmp_path / "w2", run.workspace):
        other = Run(place, run.capsys)
        other("publish", there[0], "--against", profiles, "-o", tmp_path / "q1")
        text = other("publish", there[1], "--against", profiles, "-o", tmp_path / "q2", code=1)
        assert "8 of these people stand in another row than in the release of " in text
        assert not (tmp_path / "q2").exists()
    run("publish", there[1], "--against", profiles, "-o", tmp_path / "no" / "q", "--second", code=2)
    assert read_ledger(Workspace(run.workspace))[-1].sha256 == read_hash(there[0])  # not to be had
    monkeypatch.setattr("anonymizer.storage.files.sync_folder", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run("publish", there[1], "--against", profiles, "-o", tmp_path / "q3", "--second")
    assert read_ledger(Workspace(run.workspace))[-1].sha256 == read_hash(there[1])


NOBODY = Candidate(set(), "ab", once=False, users=8, rows=2, method="none", parameters={})


def test_rows_keep_the_certificate_with_which_they_were_first_published(run: Run) -> None:
    path = ledger_path(Workspace(run.workspace))
    for certificate, sha256 in (({"seed": 1}, "ab"), ({"seed": 2}, "ab"), ({"seed": 3}, "cd")):
        candidate = NOBODY._replace(sha256=sha256, certificate=certificate)
        with publishing(path, candidate) as publication:
            publication.note()
    assert ledger.earlier_certificate([path], "ab") == {"seed": 1}
    assert ledger.earlier_certificate([path.with_name("none"), path], "cd") == {"seed": 3}
    assert ledger.earlier_certificate([path], "ef") == {}


def test_nobody_publishes_while_another_does(run: Run) -> None:
    path = ledger_path(Workspace(run.workspace))
    with (
        publishing(path, NOBODY),
        path.open() as file,
        pytest.raises(BlockingIOError),
    ):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_refused_release_is_not_noted(run: Run, tmp_path: Path) -> None:
    rows = run.workspace / "release" / "rows.jsonl"
    rows.write_bytes(rows.read_bytes() + b"\n")
    run("publish", "-o", tmp_path / "published.jsonl", code=1)
    assert [each.event for each in read_ledger(Workspace(run.workspace))] == ["made"]


@pytest.mark.parametrize("half", ['{"at": 17', "\0" * 9, '{"at": 1, "event": "made"}'])
def test_half_a_line_is_none_and_the_next_one_takes_its_place(run: Run, half: str) -> None:
    workspace = Workspace(run.workspace)
    path, before = ledger_path(workspace), read_ledger(workspace)
    whole = path.read_bytes()
    path.write_bytes(whole + half.encode())
    assert read_ledger(workspace) == before
    run("anonymize", *CHOICES)
    assert path.read_bytes().startswith(whole)
    assert path.read_bytes().count(b"\n") == 2
    assert len(read_ledger(workspace)) == 2


@pytest.mark.parametrize("line", ["{}", "x", '{"at": "now"}', "[" * 100_000])
def test_a_damaged_line_is_named(run: Run, line: str) -> None:
    workspace = Workspace(run.workspace)
    path = ledger_path(workspace)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(UsageError, match=r"ledger.jsonl, line 2: damaged .*; restore the file"):
        read_ledger(workspace)


def test_every_flipped_bit_and_every_missing_line_is_noticed(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    path = ledger_path(workspace)
    for person in ("person-1", "person-2", "person-3"):
        with publishing(path, NOBODY._replace(stood={(b"a" * 8, person)})) as publication:
            publication.note()
    content = path.read_bytes()
    assert [bool(line.stood) for line in read_ledger(workspace)] == [True] * 3
    lines = content.splitlines(keepends=True)
    spoilt = [b"".join(lines[:at] + lines[at + 1 :]) for at in range(3)]
    spoilt += [b"".join(lines[:at]) for at in range(3)]
    spoilt += [
        content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]
        for at in range(len(content))
        for bit in range(8)
    ]
    for other in spoilt:
        path.write_bytes(other)
        with pytest.raises(UsageError, match=r"ledger.jsonl, line [1-3]: damaged"):
            read_ledger(workspace)


def test_a_kill_between_a_line_and_its_number_damages_nothing(tmp_path: Path) -> None:
    """The key's file is written after the line, so it may know of a line less."""
    workspace = Workspace(tmp_path)
    path = ledger_path(workspace)
    key, known = ledger.key_path(path), list[bytes]()
    for person in ("person-1", "person-2", "person-3"):
        with publishing(path, NOBODY._replace(stood={(b"a" * 8, person)})) as publication:
            known.append(key.read_bytes())  # as it is when the line is written
            publication.note()
        whole, noted, newest = path.read_bytes(), read_ledger(workspace), key.read_bytes()
        for older in known:
            key.write_bytes(older)
            for half in (b"", b'{"at": 17'):
                path.write_bytes(whole + half)
                assert read_ledger(workspace) == noted
        key.write_bytes(newest)
    assert len(noted) == 3
    assert key.read_bytes().count(b"\n") == 2


def test_a_line_that_can_not_be_written_leaves_the_others(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(run.workspace)
    before = ledger_path(workspace).read_bytes()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger.os, "fsync", full)
    with pytest.raises(UsageError, match=r"ledger.jsonl can't be written .No space left"):
        note_made(workspace, run.workspace / "release")
    assert ledger_path(workspace).read_bytes() == before


NOTING = """
import sys
from pathlib import Path
from search_app.workspace.ledger import note_made
from search_app.workspace.folder import Workspace
while True:
    note_made(Workspace(Path(sys.argv[1])), Path(sys.argv[1], "release"))
    print("noted", flush=True)
"""


def test_what_was_noted_outlives_a_kill_and_two_writers_part_nothing(run: Run) -> None:
    command = [sys.executable, "-c", NOTING, str(run.workspace)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    told = 0
    for writer in writers:
        assert writer.stdout is not None
        told += sum(writer.stdout.readline() == b"noted\n" for _ in range(20))
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
        writer.communicate()
    assert told == 40
    noted = read_ledger(Workspace(run.workspace))
    assert len(noted) > told
    content = ledger_path(Workspace(run.workspace)).read_bytes()
    assert all(json.loads(line) for line in content.split(b"\n")[:-1])
