"""The archive of Java's classes: mapped if it is whole, and else as if there were none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from index import archive
from index.lucene import jvm


def says() -> str:
    """Return what a Java prints that starts with the options of ours."""
    java = jvm.java_home() / "bin" / "java"
    command = [java, *jvm.OPTIONS, jvm.ALONE, *jvm._from_archive(), "-cp", jvm.jar(), "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def test_a_whole_archive_is_mapped_and_a_damaged_one_ignored_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jvm, "folder", lambda: tmp_path)
    assert jvm._from_archive() == []
    plain = says()
    assert "sharing" not in plain
    old = [tmp_path / f"java-{at}.jsa" for at in range(archive._KEPT)]
    for path in old:
        path.touch()
        os.utime(path, (0, int(path.stem[-1])))
    made = archive.make()
    assert made
    assert {*tmp_path.iterdir()} == {made, *old[1:]}
    assert says().replace(", sharing", "") == plain != says()
    assert archive.make() == made
    good = made.read_bytes()
    middle = len(good) // 2
    flipped = good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]
    for damaged in (flipped, good[:middle], b""):
        made.unlink()
        made.write_bytes(damaged)
        assert says() == plain


@pytest.mark.parametrize("name", [None, "a:b", "ä"])
def test_where_java_can_not_read_it_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    monkeypatch.setattr(jvm, "folder", lambda: name and tmp_path / name)
    assert archive.make() is None
    assert jvm._from_archive() == []
