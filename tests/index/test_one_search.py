"""What one search spares: files that nobody touched since they were checked are not read again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index import manifest as checks
from index.brief import one_search
from index.forward import reading
from index.forward.reading import ARRAYS, Forward
from index.manifest import faults_of, read_manifest, write_manifest
from loops.loop import uncompiled

STAMPS = ".checked.json"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small index folder, whose files count as written long ago."""
    monkeypatch.setattr(checks, "_STEADY", -1)
    for name in ("lucene", "forward"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part").write_bytes(name.encode())
    write_manifest(tmp_path, {"format": checks.FORMAT})
    return tmp_path


def faults(folder: Path, *, brief: bool = True) -> list[str]:
    manifest = read_manifest(folder)
    if not brief:
        return list(faults_of(folder, manifest))
    with one_search():
        return list(faults_of(folder, manifest))


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each file that is read whole is added from now on."""
    read: list[str] = []
    plain = checks._digest

    def digest(path: Path) -> str:
        read.append(path.name)
        return plain(path)

    monkeypatch.setattr(checks, "_digest", digest)
    return read


def test_only_the_first_search_reads_all_bytes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reads(monkeypatch)
    assert faults(folder) == []
    assert len(read) == 2
    assert faults(folder) == []
    assert len(read) == 2
    assert faults(folder, brief=False) == []  # a server, an update, doctor
    assert len(read) == 4


def flip(path: Path) -> None:
    """Change a byte in place, and set the time of the change back, as no honest program does."""
    facts, good = path.stat(), path.read_bytes()
    path.write_bytes(bytes([good[0] ^ 1]) + good[1:])
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def lengthen(path: Path) -> None:
    facts = path.stat()
    path.write_bytes(path.read_bytes() + b"!")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def replace(path: Path) -> None:
    """Put another file in its place, of the same size and time."""
    other = path.with_name(".other")
    shutil.copy2(path, other)
    flip(other)
    other.replace(path)


@pytest.mark.parametrize("damage", [flip, lengthen, replace, Path.unlink])
def test_a_touched_file_is_read_again(folder: Path, damage: Callable[[Path], Any]) -> None:
    assert faults(folder) == []
    damage(folder / "forward" / "part")
    for brief in (True, False):
        (fault,) = faults(folder, brief=brief)
        assert fault.startswith("forward/part")
    assert faults(folder) == faults(folder)  # a damaged index gets no stamps


def test_what_the_disk_changed_by_itself_is_found_by_what_reads_all_bytes(folder: Path) -> None:
    """Stamps as they were before: the file system knows of no change."""
    assert faults(folder) == []
    flip(folder / "forward" / "part")
    manifest = read_manifest(folder)
    stamps = checks._stamps(folder, manifest["files"])
    assert stamps
    checks._keep_stamps(folder, stamps)
    assert faults(folder) == []
    assert faults(folder, brief=False) == ["forward/part has changed since it was built"]


def test_another_build_in_the_same_files_is_read_again(folder: Path) -> None:
    assert faults(folder) == []
    manifest = read_manifest(folder)
    manifest["files"]["forward/part"]["sha256"] = "0" * 64
    with one_search():
        assert list(faults_of(folder, manifest)) == ["forward/part has changed since it was built"]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000])
def test_broken_stamps_spare_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (folder / STAMPS).write_text(text)
    read = reads(monkeypatch)
    assert faults(folder) == []
    assert len(read) == 2
    assert faults(folder) == []
    assert len(read) == 2


def test_files_written_just_now_get_no_stamps(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another change could come within the same tick of the clock."""
    monkeypatch.setattr(checks, "_STEADY", 3600)
    assert faults(folder) == []
    assert not (folder / STAMPS).exists()


def test_where_nobody_may_write_all_is_read_each_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / STAMPS).mkdir()  # as root may write anywhere
    read = reads(monkeypatch)
    assert faults(folder) == faults(folder) == []
    assert len(read) == 4


@pytest.mark.filterwarnings("error")
def test_without_machine_code_one_search_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    ends = np.cumsum(rng.integers(0, 40, 300))
    columns = [rng.permutation(500)[:size] for size in np.diff(ends)]
    parts: dict[str, Any] = dict.fromkeys(ARRAYS, np.arange(299))
    parts |= {"indptr": ends - ends[0], "indices": np.concatenate(columns).astype(np.uint32)}
    parts |= {"tf": rng.integers(1, 256, parts["indices"].size).astype(np.uint8)}
    parts |= {"df": rng.integers(1, 299, 500)}
    forward = Forward(parts, [f"term{at}" for at in range(500)])
    rows = rng.integers(0, 299, 100)
    target = forward.target(rng.permutation(600)[:150] - 100, rng.random(150))

    def answers() -> list[bytes]:
        made = forward.cosines(rows, target), forward.contributions(rows, target)
        return [part.tobytes() for part in made]

    usual = answers()
    run: list[object] = []

    def noted(loop: Any) -> Any:
        run.append(loop)
        return uncompiled(loop)

    monkeypatch.setattr(reading, "uncompiled", noted)
    with one_search():
        assert answers() == usual
        assert len(run) == 2
        monkeypatch.setattr(reading, "FEW_COUNTS", 0)
        assert answers() == usual
    assert len(run) == 2
