from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from search_app.errors import UsageError
from search_app.workspace import Workspace, write_whole


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "a place ☕")


@pytest.mark.parametrize(
    ("kind", "remedy"), [("index", "index CORPUS"), ("profiles", "LOG"), ("release", "anonymize")]
)
def test_what_is_missing_says_how_to_make_it(workspace: Workspace, kind: str, remedy: str) -> None:
    with pytest.raises(UsageError, match=f"no {kind} in .*veilsearch.*{remedy}"):
        workspace.find(kind)


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


def test_two_writers_at_once(workspace: Workspace) -> None:
    with (
        workspace.writing(),
        pytest.raises(UsageError, match="another veilsearch is writing"),
        workspace.writing(),
    ):
        pass
    with workspace.writing():
        pass


def test_leftovers_of_killed_writers_go_and_nothing_else(workspace: Workspace) -> None:
    old = [".profiles.jsonl.ab12_9xz", ".town.truth.json.zzzzzzzz", ".release.qqqqqqqq/members"]
    kept = ["profiles.jsonl", ".bashrc.original", ".config.settings/x", ".current.json.backup"]
    for name in (*old, *kept, ".current.json.abcdefgh"):
        path = workspace.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        if name != ".current.json.abcdefgh":  # young: its writer may still live
            for aged in (path, path.parent):
                os.utime(aged, (0, 0))
    with workspace.writing():
        assert not any((workspace.root / name).exists() for name in old)
        assert not (workspace.root / ".release.qqqqqqqq").exists()
        assert all((workspace.root / name).exists() for name in kept)
        assert (workspace.root / ".current.json.abcdefgh").exists()


@pytest.mark.parametrize("text", ['{"index": 5}', "[]", "5", '{"other": "x"}'])
def test_a_current_file_of_another_shape_is_refused(workspace: Workspace, text: str) -> None:
    workspace.create()
    (workspace.root / "current.json").write_text(text)
    with pytest.raises(UsageError, match="can't be read; delete it"):
        workspace.current()


def test_odd_names_beside_the_builds_are_no_builds(workspace: Workspace) -> None:
    first = workspace.new_index("corpus")
    (first.parent / "corpus.²").mkdir()
    (first.parent / "corpus.x").mkdir()
    assert workspace.new_index("corpus") == first


def test_switching_removes_older_builds_of_that_index_only(workspace: Workspace) -> None:
    other = workspace.new_index("other")
    other.mkdir()
    first = workspace.new_index("corpus")
    first.mkdir()
    workspace.switch_index(first)
    second = workspace.new_index("corpus")
    second.mkdir()
    assert workspace.find("index") == first  # a build that has not been switched to serves nobody
    workspace.switch_index(second)
    assert workspace.find("index") == second
    assert not first.exists()
    assert workspace.index_named("other") == other
    with pytest.raises(UsageError, match=r"no index third in .*; there are: corpus, other"):
        workspace.index_named("third")


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden"])
def test_index_names_are_plain(workspace: Workspace, name: str) -> None:
    with pytest.raises(UsageError, match="must be a plain file name"):
        workspace.new_index(name)


def test_a_broken_current_file_is_one_line_with_the_remedy(workspace: Workspace) -> None:
    workspace.create()
    (workspace.root / "current.json").write_text('{"index": ')
    with pytest.raises(UsageError, match="can't be read; delete it"):
        workspace.current()


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    with pytest.raises(UsageError, match="can't make the workspace"):
        Workspace(tmp_path / "f" / "w").create()


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "f.txt"
    write_whole(target, "old")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UsageError, match=r"can't be written .No space left"):
        write_whole(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
