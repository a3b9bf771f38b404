"""One run at a time in one place, and workers that leave nothing."""

from __future__ import annotations

import os
import shutil
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from search_app.errors import UsageError
from search_app.experiments import running, workers
from search_app.experiments.data import Data
from search_app.experiments.outcomes import Unit


def test_a_second_run_in_the_same_place_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running._room(out) as room:
        assert room == tmp_path / ".out.unfinished"
        with (
            pytest.raises(UsageError, match=f"{out} is being made by another veilsearch; wait"),
            running._room(out),
        ):
            pass
        assert room.is_dir()
    assert list(tmp_path.iterdir()) == []
    with running._room(out):
        pass


def test_what_is_kept_stays_where_a_run_breaks_off(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), running._room(tmp_path / "out") as room:
        (room / "kept").touch()
        raise KeyboardInterrupt
    with running._room(tmp_path / "out") as room:
        assert (room / "kept").exists()
        assert room.stat().st_mode & 0o777 == 0o700


def test_a_room_that_goes_while_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, real = tmp_path / ".out.unfinished", os.open
    gone = []

    def opened(path: Path, *rest: int, **named: int | None) -> int:
        handle = real(path, *rest, **named)
        if not gone and str(path).endswith("lock"):  # who had it has just come to an end
            gone.append(path)
            shutil.rmtree(room)
        return handle

    monkeypatch.setattr(running.os, "open", opened)
    lock = running._locked(room, tmp_path / "out")
    assert gone == [room / "lock"]
    assert os.path.samestat(os.fstat(lock), (room / "lock").stat())
    os.close(lock)


def test_a_place_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(UsageError, match="file/out can't be written"),
        running._room(tmp_path / "file" / "out"),
    ):
        pass


def test_a_worker_that_ends_while_others_are_asked_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise BrokenProcessPool

    monkeypatch.setattr(workers.ProcessPoolExecutor, "submit", broken)
    units = [Unit(name, name, "", {}, "binary", "tfidf", 0, ()) for name in ("u001", "u002")]
    nothing = Data({}, None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a worker has ended before its time"):
        list(workers.measured(nothing, workers.Place(Path(), Path()), units, 2))
