"""Compiling ahead: it must run the real steps, and never outlive or break what it helps."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from search_app.tasks import warming


def test_all_steps_are_run_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    written: list[Path] = []
    import anonymizer.storage.releases

    write = anonymizer.storage.releases.write_release

    def spy(release: object, folder: Path, **rest: object) -> None:
        written.append(folder)
        write(release, folder, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(anonymizer.storage.releases, "write_release", spy)
    warming.compile_loops()
    assert [folder.name for folder in written] == ["release"]
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def idling(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Let the process sleep for a minute instead of compiling, and remember it."""
    started: list[subprocess.Popen[bytes]] = []
    begin = subprocess.Popen

    def sleeping(_command: list[str], **rest: object) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", "import time; time.sleep(60)"]
        started.append(begin(command, **rest))  # type: ignore[call-overload]
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", sleeping)
    return started


def test_it_is_waited_for_so_long_and_no_longer(
    idling: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warming, "LONGEST", 0.2)
    began = time.monotonic()
    with warming.warming() as wait:
        wait()
    assert time.monotonic() - began >= 0.2
    assert idling[0].returncode == -signal.SIGKILL


def test_it_ends_when_the_build_fails(idling: list[subprocess.Popen[bytes]]) -> None:
    with pytest.raises(ValueError, match="no room"), warming.warming():
        raise ValueError("no room")
    assert idling[0].returncode is not None
