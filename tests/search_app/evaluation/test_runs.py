"""Runs: scores that fall for whoever reads 32 bits, and files that are whole or absent."""

from __future__ import annotations

import gzip
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_app.errors import UsageError
from search_app.evaluation.runs import strictly_falling, writing_run


def naive(scores: list[float]) -> list[np.float32]:
    """Take each score, or the next float below the one before, leaving out the smallest of all."""
    tiny, falling = np.finfo(np.float32).tiny, []
    for score in scores:
        value = np.float32(score)
        value = np.float32(0) if abs(value) < tiny else value
        if falling and value >= falling[-1]:
            value = np.nextafter(falling[-1], np.float32(-np.inf))
            if 0 < value < tiny:
                value = np.float32(0)
            elif -tiny < value < 0:
                value = -tiny
        falling.append(np.float32(value))
    return falling


@given(
    st.lists(
        st.floats(-(2.0**99), 2.0**99, width=32) | st.sampled_from([0.0, -0.0, 1e-40, -1e-40, 1.0])
    )
)
def test_scores_fall_as_the_naive_loop_has_them(values: list[float]) -> None:
    scores = sorted(values, reverse=True)
    falling = strictly_falling(np.array(scores, dtype=np.float64))
    assert falling.tolist() == [float(value) for value in naive(scores)]
    read = np.array([float(f"{value:.9g}") for value in falling.tolist()], dtype=np.float32)
    assert (read == falling).all()  # nine digits carry a 32-bit float
    assert (np.diff(read) < 0).all()


def test_a_run_has_trecs_six_columns(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    with writing_run(path, "mine") as run:
        run.add("q1", ["d7", "ü/😀"], np.array([2.5, 2.5], dtype=np.float32))
        run.add("q2", [], np.array([]))
        run.add("q3", ["d7"], np.array([0.25]))
    assert path.read_text(encoding="utf-8") == (
        "q1 Q0 d7 1 2.5 mine\nq1 Q0 ü/😀 2 2.49999976 mine\nq3 Q0 d7 1 0.25 mine\n"
    )
    assert (run.topics, run.rows) == (3, 3)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a b", "a\tb", "a\n", " a", ""])
def test_ids_with_blanks_are_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.txt"
    path.write_text("before")
    with (
        pytest.raises(UsageError, match=r"(has a blank|'' is empty), which no run can hold; index"),
        writing_run(path, "x") as run,
    ):
        run.add("1", ["good", name], np.array([2.0, 1.0]))
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_blanks_beyond_ascii_part_no_columns(tmp_path: Path) -> None:
    path, names = tmp_path / "run.txt", ["a\u00a0b", "a\u2028b", "a\u2003b", "a\x85b"]
    with writing_run(path, "x") as run:
        run.add("1", names, np.array([4.0, 3.0, 2.0, 1.0]))
    lines = path.read_text(encoding="utf-8").split("\n")
    assert [line.split(" ")[2] for line in lines[:-1]] == names


def write(path: Path) -> None:
    with writing_run(path, "x") as run:
        run.add("1", ["d"], np.array([0.5]))


def test_a_run_has_the_rights_of_any_file_or_of_the_one_it_replaces(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    before = os.umask(0o027)
    try:
        old.write_text("before")
        old.chmod(0o606)
        write(new)
        write(old)
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~0o027
    assert stat.S_IMODE(old.stat().st_mode) == 0o606


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed(tmp_path: Path, there: bool) -> None:
    (tmp_path / "far").mkdir()
    run, link = tmp_path / "far" / "run.txt", tmp_path / "link"
    if there:
        run.write_text("before")
    link.symlink_to(run)
    write(link)
    assert link.is_symlink()
    assert run.read_text() == "1 Q0 d 1 0.5 x\n"
    assert list(run.parent.iterdir()) == [run]


def test_a_packed_run_is_always_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tmp_path / "run.txt.gz", tmp_path / "other.gz"
    write(one)
    monkeypatch.setattr("time.time", lambda: 1e9)
    write(other)
    assert gzip.decompress(one.read_bytes()) == b"1 Q0 d 1 0.5 x\n"
    assert one.read_bytes() == other.read_bytes()
    assert sorted(tmp_path.iterdir()) == [other, one]


@pytest.mark.parametrize("name", ["run.txt", "run.gz"])
def test_what_goes_wrong_meanwhile_is_not_the_runs_fault(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(FileNotFoundError, match="elsewhere"), writing_run(path, "x") as run:
        run.add("1", ["d"], np.array([1.0]))
        raise FileNotFoundError(2, "missing", "elsewhere")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["full", "full.gz"])
def test_rows_that_find_no_room_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    real = os.open

    def onto_a_full_disk(path: str, flags: int, mode: int) -> int:
        os.close(real(path, flags, mode))
        return real("/dev/full", os.O_WRONLY)

    monkeypatch.setattr("os.open", onto_a_full_disk)
    with (
        pytest.raises(UsageError, match=rf"{name} can't be written \(No space left"),
        writing_run(tmp_path / name, "x") as run,
    ):
        for number in range(20_000):
            run.add(str(number), [f"d{number}"], np.array([1.0]))


@pytest.mark.parametrize("tag", ["", "a b", " a", "a\n"])
def test_a_tag_is_one_word(tmp_path: Path, tag: str) -> None:
    with pytest.raises(UsageError, match="must be one word"), writing_run(tmp_path / "run", tag):
        pass


def test_a_folder_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be a file"), writing_run(tmp_path, "x"):
        pass
    with (
        pytest.raises(UsageError, match="no/run can't be written"),
        writing_run(tmp_path / "no" / "run", "x"),
    ):
        pass


def test_a_place_out_of_reach_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def barred(*_: object, **__: object) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr("pathlib.Path.exists", barred)
    with (
        pytest.raises(UsageError, match=r"run can't be written \(Permission denied\)"),
        writing_run(tmp_path / "run", "x"),
    ):
        pass


@pytest.mark.parametrize("call", ["os.fsync", "pathlib.Path.replace", "os.open"])
def test_a_full_disk_leaves_the_old_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    path = tmp_path / "run.txt"
    path.write_text("before")
    monkeypatch.setattr(call, full)
    with (
        pytest.raises(UsageError, match=r"run.txt can't be written \(No space left"),
        writing_run(path, "x") as run,
    ):
        run.add("1", ["d"], np.array([1.0]))
    monkeypatch.undo()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
