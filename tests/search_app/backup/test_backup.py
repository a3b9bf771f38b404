"""A workspace copied into one file and back, while others write, and files that are no backup."""

from __future__ import annotations

import io
import json
import random
import select
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from search_app.accounts.database import FILE
from search_app.accounts.store import PeopleStore
from search_app.backup.copying import back_up, elsewhere, restore
from search_app.errors import UsageError
from search_app.workspace.folder import Workspace, check_of
from search_app.workspace.tables import is_database

from ..conftest import Run

NO_CACHE = Path("/nowhere")
# Two files are written under the lock and hold the same; two people's searches grow in a database.
WRITER = """
import sys
from pathlib import Path
from search_app.accounts.store import PeopleStore
from search_app.errors import UsageError
from search_app.workspace.folder import Workspace
workspace = Workspace(Path(sys.argv[1]))
store = PeopleStore(workspace.root / "people.sqlite")
print("ready", flush=True)
number = 0
while True:
    number += 1
    for user in ("mira", "oren"):
        store.choose(user, remember=True)
        store.remember(user, f"query {number}" * 50, "own", number)
    if number % 40 == 0:
        store.forget("mira")
    try:
        with workspace.writing("writer"):
            for name in ("one.txt", "two.txt"):
                (workspace.root / name).write_text(str(number) * 5000)
    except UsageError:
        pass
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a workspace with a file in a folder, an odd name, a setting and a database."""
    made = Workspace(tmp_path / "served ☕")
    made.create()
    (made.root / "release" / "private").mkdir(parents=True)
    (made.root / "release" / "private" / "members.jsonl").write_bytes(b"needle-mira\n" * 999)
    (made.root / "town ☕.tsv").write_bytes(b"")
    (made.root / "veilsearch.toml").write_text("pool = 50\n")
    made.make_current(release="release")
    with closing(PeopleStore(made.root / FILE)) as store:
        store.new_code("needle-mira")
    return made


def listed(**record: object) -> bytes:
    return json.dumps({**record, "check": check_of(record)}).encode()


def files_of(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != ".lock" and not is_database(path)
    }


def test_what_comes_back_is_what_was_there(workspace: Workspace, tmp_path: Path) -> None:
    before = files_of(workspace.root)
    count = back_up(workspace, tmp_path / "b.tar", NO_CACHE)
    back = tmp_path / "new" / "place"
    assert restore(tmp_path / "b.tar", back) == count == len(before) + 1
    assert files_of(back) == before
    with closing(PeopleStore(back / FILE)) as store:
        assert store.check() == 1
    assert Workspace(back).current() == workspace.current()
    assert (tmp_path / "b.tar").stat().st_mode & 0o777 == 0o600
    assert {path.stat().st_mode & 0o077 for path in (back, *back.rglob("*"))} == {0}
    assert {path.name for path in tmp_path.iterdir()} == {workspace.root.name, "b.tar", "new"}


def test_everybody_is_signed_out_and_tokens_stay(workspace: Workspace, tmp_path: Path) -> None:
    with closing(PeopleStore(workspace.root / FILE)) as store:
        session = store.sign_in(store.new_code("mira"), 1000) or ""
        token = store.new_token("mira", "script") or ""
        back_up(workspace, tmp_path / "b.tar", NO_CACHE)
        assert store.visitor_of(session, 1001) == "mira"
    restore(tmp_path / "b.tar", tmp_path / "back")
    with closing(PeopleStore(tmp_path / "back" / FILE)) as store:
        assert store.check() == 2
        assert store.visitor_of(session, 1001) is None
        assert store.holder_of(token) == "mira"


def test_what_a_killed_restore_left_is_named(workspace: Workspace, tmp_path: Path) -> None:
    back_up(workspace, tmp_path / "b.tar", NO_CACHE)
    (tmp_path / "back" / ".restoring").mkdir(parents=True)
    with pytest.raises(UsageError, match="holds what a restore left that was killed"):
        restore(tmp_path / "b.tar", tmp_path / "back")


def test_any_tar_program_reads_it(workspace: Workspace, tmp_path: Path) -> None:
    back_up(workspace, tmp_path / "b.tar", NO_CACHE)
    subprocess.run(["tar", "-xf", "b.tar"], cwd=tmp_path, check=True)
    assert files_of(tmp_path / "workspace") == files_of(workspace.root)


def test_the_cache_and_unfinished_files_stay_out(workspace: Workspace, tmp_path: Path) -> None:
    before = files_of(workspace.root)
    (workspace.root / "cache" / "deep").mkdir(parents=True)
    (workspace.root / "cache" / "deep" / "machine code").write_bytes(b"x")
    (workspace.root / ".replacing.0123456789abcdef").mkdir()
    back_up(workspace, tmp_path / "b.tar", workspace.root / "cache")
    restore(tmp_path / "b.tar", tmp_path / "back")
    assert files_of(tmp_path / "back") == before


def test_what_is_outside_is_named(workspace: Workspace, tmp_path: Path) -> None:
    assert elsewhere(workspace) == []
    workspace.make_current(release=str(tmp_path / "release"))
    assert elsewhere(workspace) == [str(tmp_path / "release")]


@pytest.fixture
def writing(workspace: Workspace) -> Iterator[None]:
    """Let another process write to the workspace as fast as it can."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, workspace.root], stdout=subprocess.PIPE
    )
    assert writer.stdout is not None and select.select([writer.stdout], [], [], 60)[0]
    yield
    ended = writer.poll()
    writer.kill()
    writer.communicate()
    assert ended is None


@pytest.mark.usefixtures("writing")
def test_a_backup_is_of_one_moment_while_others_write(workspace: Workspace, tmp_path: Path) -> None:
    root, searches = workspace.root, set[int]()
    deadline = time.monotonic() + 120
    while not (root / "two.txt").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    for number in range(6):
        target, back = tmp_path / f"{number}.tar", tmp_path / str(number)
        while not target.exists() and time.monotonic() < deadline:
            with suppress(UsageError):  # the other process has the lock
                back_up(workspace, target, NO_CACHE)
        restore(target, back)
        assert (back / "one.txt").read_text() == (back / "two.txt").read_text()
        with closing(PeopleStore(back / FILE)) as store:
            store.check()  # each row is as it was written, by the sum of all
            searches.add(len(store.searches("oren")))
    assert len(searches) > 1, "nobody wrote meanwhile"


def test_any_flipped_bit_of_a_file_is_noticed(workspace: Workspace, tmp_path: Path) -> None:
    target, back = tmp_path / "b.tar", tmp_path / "back"
    back_up(workspace, target, NO_CACHE)
    whole, draw = target.read_bytes(), random.Random(7)  # noqa: S311
    with tarfile.open(target) as tar:
        places = [(entry.offset_data, entry.size) for entry in tar if entry.size]
    for start, size in places * 10:
        changed = bytearray(whole)
        changed[start + draw.randrange(size)] ^= 1 << draw.randrange(8)
        target.write_bytes(changed)
        with pytest.raises(UsageError, match="is no whole backup"):
            restore(target, back)
        assert list(back.iterdir()) == []
    for end in [0, 1, 600, *(draw.randrange(len(whole) - 12_000) for _ in range(20))]:
        target.write_bytes(whole[:end])
        with pytest.raises(UsageError, match="is no whole backup"):
            restore(target, back)
        assert list(back.iterdir()) == []
    target.write_bytes(whole)
    restore(target, back)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../outside", tarfile.REGTYPE),
        ("/tmp/outside", tarfile.REGTYPE),  # noqa: S108
        ("workspace/../outside", tarfile.REGTYPE),
        ("workspace//tmp/outside", tarfile.REGTYPE),
        ("workspace/", tarfile.REGTYPE),
        (f"workspace/{'deep/' * 3000}x", tarfile.REGTYPE),
        ("outside", tarfile.REGTYPE),
        ("workspace/link", tarfile.SYMTYPE),
        ("workspace/link", tarfile.LNKTYPE),
        ("workspace/pipe", tarfile.FIFOTYPE),
    ],
)
def test_a_file_that_leads_elsewhere_is_refused(tmp_path: Path, name: str, kind: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, "/etc/passwd"
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        tar.addfile(entry, io.BytesIO(b""))
    with pytest.raises(UsageError, match="is no whole backup"):
        restore(tmp_path / "b.tar", tmp_path / "in" / "back")
    assert [path.name for path in (tmp_path / "in").rglob("*")] == ["back"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 100_000, "is no whole backup"),
        (b"9" * 10_000, "is no whole backup"),
        (b"{}", "is no whole backup"),
        (
            listed(format=2, veilsearch="\x1b[31m9.9" + "x" * 99, files={}),
            r"veilsearch '\\x1b\[31m9.9x{28} made this backup in a form",
        ),
    ],
)
def test_a_list_that_is_none_or_newer_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    entry = tarfile.TarInfo("backup.json")
    entry.size = len(content)
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        tar.addfile(entry, io.BytesIO(content))
    with pytest.raises(UsageError, match=said):
        restore(tmp_path / "b.tar", tmp_path / "back")
    assert list((tmp_path / "back").iterdir()) == []


def test_refusals_are_one_line(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "b.tar"
    assert "the workspace" in run.refused("backup", target)
    assert not run.workspace.exists()
    run.workspace = workspace.root
    assert "is in the workspace itself" in run.refused("backup", workspace.root / "b.tar")
    assert "can't be written" in run.refused("backup", tmp_path / "none" / "b.tar")
    with workspace.writing("test"):
        assert "is being written to by veilsearch test" in run.refused("backup", target)
    (workspace.root / "linked").symlink_to(tmp_path)
    assert "is a link" in run.refused("backup", target)
    (workspace.root / "linked").unlink()
    assert not target.exists()
    assert "5 files" in run("backup", target)
    assert "forget can't reach it" in run.talk
    assert "is there already" in run.refused("backup", target)
    assert "is not empty" in run.refused("restore", target)
    run.workspace = target
    assert "is not empty" in run.refused("restore", target)
    run.workspace = tmp_path / "back"
    assert "can't be read" in run.refused("restore", tmp_path / "none.tar")
    assert run.json("restore", target) == {"workspace": str(run.workspace), "files": 5}
    assert "forget again" in run.talk
