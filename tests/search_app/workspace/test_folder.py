from __future__ import annotations

import fcntl
import json
import os
import re
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from search_app.errors import UsageError
from search_app.evaluation.log import PrecisionLog
from search_app.workspace.folder import Workspace, write_whole


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "a place ☕")


@pytest.mark.parametrize(
    ("kind", "remedy"), [("index", "index CORPUS"), ("profiles", "LOG"), ("release", "anonymize")]
)
def test_what_is_missing_says_how_to_make_it(workspace: Workspace, kind: str, remedy: str) -> None:
    with pytest.raises(UsageError, match=f"no {kind} in .*veilsearch.*{remedy}"):
        workspace.find(kind)


def test_a_new_workspace_is_its_owners_only(workspace: Workspace) -> None:
    workspace.create()
    PrecisionLog(workspace.log).close()
    for path, mode in ((workspace.root, 0o700), (workspace.log, 0o600)):
        assert path.stat().st_mode & 0o777 == mode


def test_paths_inside_move_with_the_folder(workspace: Workspace, tmp_path: Path) -> None:
    workspace.create()
    inside, outside = workspace.root / "p.jsonl", tmp_path / "release"
    inside.write_text("x")
    outside.write_text("y")
    workspace.make_current(profiles=workspace.relative(inside), release=workspace.relative(outside))
    moved = Workspace(workspace.root.rename(tmp_path / "moved"))
    assert moved.find("profiles").read_text() == "x"
    assert moved.find("release") == outside


def test_the_truth_of_another_log_is_none(workspace: Workspace) -> None:
    workspace.create()
    truth = {"users": {}, "interests": {}, "log_sha256": "aa"}
    (workspace.root / "t.json").write_text(json.dumps(truth))
    workspace.make_current(truth="t.json", log_sha256="aa")
    assert workspace.truth() == truth
    workspace.make_current(log_sha256="bb")
    assert workspace.truth() is None


@pytest.mark.parametrize("text", ["5", "[]", "{}", '{"users": []}', "x", '{"users": {}}'])
def test_a_damaged_truth_is_one_line(workspace: Workspace, text: str) -> None:
    workspace.create()
    (workspace.root / "t.json").write_text(text)
    workspace.make_current(truth="t.json")
    with pytest.raises(UsageError, match="missing or damaged; write the town again"):
        workspace.truth()


def test_a_second_writer_is_told_who_is_first(workspace: Workspace) -> None:
    with workspace.writing("profiles"):
        expected = (
            rf"is being written to by veilsearch profiles, process {os.getpid()} on "
            rf"{re.escape(os.uname().nodename)}, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d; wait until"
        )
        with pytest.raises(UsageError, match=expected), workspace.writing("index"):
            pass
    with workspace.writing("index"):
        assert "veilsearch index" in (workspace.root / ".lock").read_text()


def test_a_lock_that_is_lost_with_its_writer_is_free(workspace: Workspace) -> None:
    def die() -> None:
        with workspace.writing("index"):
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_fork(die) == -signal.SIGKILL
    assert f"process {os.getpid()} " not in (workspace.root / ".lock").read_text()
    with workspace.writing("index"):
        assert f"process {os.getpid()} " in (workspace.root / ".lock").read_text()


def test_damage_is_told_before_the_work(workspace: Workspace) -> None:
    workspace.create()
    (workspace.root / "current.json").write_text("")
    with pytest.raises(UsageError, match="can't be read; delete it"), workspace.writing("index"):
        raise AssertionError("never reached")


def test_a_workspace_that_can_not_be_written_is_told_in_one_line(workspace: Workspace) -> None:
    (workspace.root / ".lock").mkdir(parents=True)
    expected = (
        r"can't be written to \(Is a directory\); check permissions and free space, or name another"
    )
    with pytest.raises(UsageError, match=expected), workspace.writing("index"):
        pass


def test_a_full_disk_does_not_keep_the_sweep_from_making_room(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = workspace.root / "indexes" / ".corpus.0001.veil0a1b"
    left.mkdir(parents=True)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with workspace.writing("index"):
        assert not left.exists()
        with pytest.raises(UsageError, match="another veilsearch"), workspace.writing("index"):
            pass


def test_leftovers_of_killed_writers_go_and_nothing_else(workspace: Workspace) -> None:
    old = [".profiles.jsonl.veil0a1b", ".town.truth.json.veil0a1b", ".current.json.veil0a1b"]
    kept = ["profiles.jsonl", ".bashrc.veil0a1b", ".release.veilance/x", ".current.json.backup"]
    at_work = ".town.tsv.veil0a1b"  # `town` takes no lock of the workspace
    for name in (*old, *kept, at_work, ".release.veil0a1b/new/members.jsonl"):
        path = workspace.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    left = {*old, ".release.veil0a1b"}
    with (workspace.root / at_work).open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with workspace.writing("index"):
            assert not any((workspace.root / name).exists() for name in left)
            assert all((workspace.root / name).exists() for name in (*kept, at_work))


@pytest.mark.parametrize(
    "text",
    [
        *('{"index": ', '{"index": 5}', "[]", "5", '{"other": "x"}'),
        *('{"builds": ["x"]}', '{"builds": {"x": 1}}', "", "\0" * 80, "[" * 100_000),
    ],
)
def test_a_current_file_of_another_shape_is_refused(workspace: Workspace, text: str) -> None:
    workspace.create()
    (workspace.root / "current.json").write_text(text)
    with pytest.raises(UsageError, match="can't be read; delete it"):
        workspace.current()


def test_every_flipped_bit_of_the_current_file_is_noticed(workspace: Workspace) -> None:
    workspace.make_current(profiles="profiles.jsonl")
    path = workspace.root / "current.json"
    content = path.read_bytes()
    for bit in range(8 * len(content)):
        spoilt = bytearray(content)
        spoilt[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoilt)
        with pytest.raises(UsageError, match=r"current.json can't be read"):
            workspace.current()


def test_odd_names_beside_the_builds_are_no_builds(workspace: Workspace) -> None:
    first = workspace.new_index("corpus")
    (first.parent / "corpus.²").mkdir()
    (first.parent / "corpus.x").mkdir()
    assert workspace.new_index("corpus") == first


def test_switching_removes_older_builds_of_that_index_only(workspace: Workspace) -> None:
    other = workspace.new_index("other")
    other.mkdir()
    assert workspace.switch_index(other) == ""  # nobody is surprised: there was none before
    first = workspace.new_index("corpus")
    first.mkdir()
    assert workspace.switch_index(first) == "corpus"
    second = workspace.new_index("corpus")
    second.mkdir()
    assert workspace.find("index") == first  # a build that has not been switched to serves nobody
    assert workspace.switch_index(second) == ""
    assert workspace.find("index") == second
    assert not first.exists()
    assert workspace.index_named("other") == other
    with pytest.raises(UsageError, match=r"no index third in .*; there are: corpus, other"):
        workspace.index_named("third")


ODD = ["a\x1b[2J", "a\nb", "a\x7f", "a\x85", "a\u202eb", "a\u2028"]


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", *ODD])
def test_index_names_are_plain_and_do_nothing_to_a_terminal(
    workspace: Workspace, name: str
) -> None:
    told = "has control characters; give a name without" if name in ODD else "a plain file name"
    with pytest.raises(UsageError, match=told) as refused:
        workspace.new_index(name)
    assert str(refused.value).isprintable()


def test_index_names_fit_a_disk(workspace: Workspace) -> None:
    folder = workspace.new_index("ö" * 100)  # 200 bytes
    folder.with_name(f".{folder.name}.12345678").mkdir()  # as it is called while it is built
    with pytest.raises(UsageError, match="too long: --name has 201 bytes; give at most 200"):
        workspace.new_index("ö" * 100 + "x")


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077])
def test_others_may_read_what_is_current_and_nothing_else(tmp_path: Path, mask: int) -> None:
    def write() -> None:
        os.umask(mask)
        Workspace(tmp_path).make_current(index="x")
        write_whole(tmp_path / "held-out.tsv", "who searched for what")

    assert in_a_fork(write) == 0
    assert (tmp_path / "current.json").stat().st_mode & 0o777 == 0o666 & ~mask
    assert (tmp_path / "held-out.tsv").stat().st_mode & 0o777 == 0o600


# --- killed or failing at each step of a switch ---

STEPS = ("fsync", "mkdir", "open", "rename", "replace", "rmdir", "unlink")
FILES = ("manifest.json", "lucene/segments_1", "lucene/_0.fdt", "forward/tf.npy")


def in_a_fork(act: Callable[[], object]) -> int:
    """Run in a process of its own; return its exit code, negative if it was killed."""
    child = os.fork()
    if not child:
        try:
            act()
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def on_step(number: int, act: Callable[[], object], reached: Callable[[], object]) -> None:
    """Do something, and something else in place of its n-th call to the system."""
    calls = 0

    def counted(name: str) -> Callable[..., object]:
        plain = getattr(os, name)

        def call(*arguments: object, **options: object) -> object:
            nonlocal calls
            calls += 1
            if calls == number:
                reached()
            return plain(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in STEPS:
            patch.setattr(os, name, counted(name))
        act()


def built(workspace: Workspace, name: str = "corpus") -> Path:
    """Make what stands for a build: only its files' names matter to a switch."""
    folder = workspace.new_index(name)
    for file in FILES:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(folder.name)
    return folder


def whole(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)


def assert_old_or_new(workspace: Workspace, old: Path, new: Path) -> None:
    current = workspace.find("index")
    assert current in (old, new)
    assert workspace.index_named("corpus") == current  # one never switched to serves nobody
    for folder in (workspace.root / "indexes").glob("[!.]*"):
        assert whole(folder), folder
    with workspace.writing("index"):
        pass
    assert [path.name for path in (workspace.root / "indexes").iterdir()] == [current.name]


def test_killed_at_any_step_of_a_switch_it_is_the_old_or_the_new(tmp_path: Path) -> None:
    seen, step, code = set(), 0, -signal.SIGKILL
    while code == -signal.SIGKILL:
        step += 1
        workspace = Workspace(tmp_path / str(step))
        old = built(workspace)
        workspace.switch_index(old)
        new = built(workspace)

        def act(workspace: Workspace = workspace, new: Path = new, step: int = step) -> None:
            die = partial(os.kill, os.getpid(), signal.SIGKILL)
            on_step(step, partial(workspace.switch_index, new), die)

        code = in_a_fork(act)
        seen.add(workspace.find("index").name)
        assert_old_or_new(workspace, old, new)
    assert code == 0
    assert seen == {"corpus.0001", "corpus.0002"}
    assert step > 10  # a temporary file, its sync, the switch, a rename, each file's removal


def test_failing_at_any_step_of_a_switch_it_is_the_old_or_the_new(tmp_path: Path) -> None:
    refused = 0
    for step in range(1, 30):
        workspace = Workspace(tmp_path / str(step))
        old = built(workspace)
        workspace.switch_index(old)
        new = built(workspace)

        def fail() -> None:
            raise OSError(28, "No space left on device")

        try:
            on_step(step, partial(workspace.switch_index, new), fail)
        except UsageError as fault:
            assert "current.json can't be written (No space left on device)" in str(fault)
            refused += 1
        assert_old_or_new(workspace, old, new)
    assert 3 <= refused <= 8  # what comes after the switch is no fault of the new index


def test_a_build_of_another_index_never_switched_to_serves_nobody_and_goes(
    workspace: Workspace,
) -> None:
    """Its writer was killed between the build and the switch."""
    corpus, wiki = built(workspace), built(workspace, "wiki")
    workspace.switch_index(wiki)
    workspace.switch_index(corpus)
    built(workspace, "wiki")
    built(workspace, "new")
    assert workspace.index_named("wiki") == wiki
    with pytest.raises(UsageError, match=r"no index new in .*; there are: corpus, wiki"):
        workspace.index_named("new")
    with workspace.writing("index"):
        left = sorted(path.name for path in workspace.indexes.iterdir())
    assert left == ["corpus.0001", "new.0001", "wiki.0001"]  # the next build of `new` replaces it


def test_a_workspace_without_a_record_takes_the_latest_and_records_it(
    workspace: Workspace,
) -> None:
    corpus, old, wiki = built(workspace), built(workspace, "wiki"), built(workspace, "wiki")
    (workspace.indexes / "notes.2024").mkdir()  # no index
    (workspace.root / "current.json").write_text('{"index": "indexes/corpus.0001"}')
    with workspace.writing("index"):
        assert old.exists()  # whichever was switched to
    assert workspace.builds() == {"corpus": corpus, "wiki": wiki}
    workspace.switch_index(second := built(workspace))
    assert workspace.current().builds == {"corpus": second.name, "wiki": wiki.name}
    with workspace.writing("index"):
        left = sorted(path.name for path in workspace.indexes.iterdir())
    assert left == ["corpus.0002", "notes.2024", "wiki.0002"]


def test_nothing_is_swept_where_the_current_index_is_gone(workspace: Workspace) -> None:
    """What is left may be all there is."""
    (workspace.root / "indexes" / "corpus.0001").mkdir(parents=True)
    workspace.make_current(index="indexes/corpus.0002")
    with workspace.writing("index"):
        assert (workspace.root / "indexes" / "corpus.0001").exists()
    with pytest.raises(UsageError, match=r"no index in .*; build one with: veilsearch index"):
        workspace.find("index")
