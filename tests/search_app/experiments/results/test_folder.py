"""The folder of a run: whole or not at all, whatever fails on the way."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anonymizer.storage import files
from search_app.errors import UsageError
from search_app.experiments.design import Variant
from search_app.experiments.results import folder as run_folder
from search_app.experiments.results.folder import (
    Marks,
    changed_file,
    kept_in_run,
    refuse_foreign,
    write_run,
)
from search_app.measures.precision import MEASURES

from ..conftest import outcomes_of

VARIANTS = [Variant("a", "p-linkability", {"p": p}, complete={"p": p}) for p in (0.1, 0.4)]


def written(folder: Path, level: float = 0.5) -> dict[str, bytes]:
    """Write a run and return its bytes."""
    write(folder, level)
    return content(folder)


def write(folder: Path, level: float) -> None:
    outcomes = outcomes_of(VARIANTS, lambda *_: level, measures=list(MEASURES))
    keys = {unit.name: f"key of {unit.name}" for unit in outcomes.units}
    figure = {"figures/one.svg": [b"<svg/>"], "report.json": [b"{}\n"]}
    write_run(folder, outcomes, Marks(keys, "data", {"seconds": 1}), lambda _rows: figure)


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def failing(monkeypatch: pytest.MonkeyPatch, at: int) -> Callable[[], int]:
    """Let the n-th thing that is asked of the disk fail; return how often it was asked."""
    asked = [0]

    def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            asked[0] += 1
            if asked[0] == at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*given, **named)

        return call

    for owner, name in (
        (os, "fsync"), (os, "replace"), (os, "mkdir"), (Path, "open"), (Path, "touch"),
    ):  # fmt: skip
        monkeypatch.setattr(owner, name, wrapped(getattr(owner, name)))
    return lambda: asked[0]


@pytest.mark.parametrize("exchanges", [True, False])
def test_whatever_fails_the_old_run_or_the_new_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    folder = tmp_path / "out"
    old, new = written(folder, 0.25), written(tmp_path / "new", 0.75)
    assert old.keys() == new.keys()
    if not exchanges:
        monkeypatch.setattr(files, "exchange", lambda *_: False)
    failed, at = 0, 1
    while True:
        with monkeypatch.context() as patch:
            count = failing(patch, at)
            try:
                write(folder, 0.75)
            except UsageError as fault:
                told = str(fault).replace("be read", "be written")
                assert told.startswith(f"{folder} can't be written (No space left")
                failed += 1
            if count() < at:
                break
        assert content(folder) in (old, new), at
        if content(folder) == new:
            written(folder, 0.25)
        at += 1
    assert failed > 25  # of all but the folders that are there already
    assert content(folder) == new


def test_what_was_measured_is_found_unless_a_byte_has_changed(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    written(folder)
    units = outcomes_of(VARIANTS, lambda *_: 0.5, measures=list(MEASURES)).units
    wanted = {f"key of {unit.name}": unit for unit in units}
    found = kept_in_run(folder, wanted)
    assert found.keys() == wanted.keys()
    (block,) = found["key of u001"].blocks
    assert block.values["AP"][:2].tolist() == pytest.approx([0.5 - 0.095] * 2)
    assert kept_in_run(folder, {"another key": units[0]}) == {}
    for name in ("rows.csv", "units.jsonl", run_folder.MANIFEST):
        whole = (folder / name).read_bytes()
        for damaged in (whole.replace(b"4", b"5", 1), whole[: len(whole) // 2], b"[]"):
            (folder / name).write_bytes(damaged)
            assert kept_in_run(folder, wanted) == {}, name
        (folder / name).unlink()
        assert kept_in_run(folder, wanted) == {}, name
        (folder / name).write_bytes(whole)
    assert kept_in_run(folder, wanted).keys() == wanted.keys()


def test_every_flipped_byte_of_the_manifest_is_noticed(tmp_path: Path) -> None:
    written(tmp_path / "out")
    manifest = tmp_path / "out" / run_folder.MANIFEST
    whole = manifest.read_bytes()
    for at in range(len(whole)):
        manifest.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert changed_file(tmp_path / "out"), whole[at - 9 : at + 9]
    manifest.write_bytes(whole)
    assert changed_file(tmp_path / "out") == ""


def test_only_a_run_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    refuse_foreign(folder)
    folder.mkdir()
    refuse_foreign(folder)
    written(folder)
    refuse_foreign(folder)
    (folder / "figures" / "mine.svg").write_text("mine")
    with pytest.raises(UsageError, match=r"holds figures/mine.svg, which is no part of its run"):
        written(folder)
    (folder / "figures" / "mine.svg").unlink()
    (folder / run_folder.MANIFEST).write_text("{")
    with pytest.raises(
        UsageError, match=r"run.json is damaged, so the files of the run are unknown"
    ):
        refuse_foreign(folder)
    (folder / run_folder.MANIFEST).unlink()
    with pytest.raises(UsageError, match="holds no run; name another with -o"):
        refuse_foreign(folder)


def test_a_run_that_was_moved_away_comes_back(tmp_path: Path) -> None:
    folder, left = tmp_path / "out", tmp_path / ".out.veil0a1b"
    old = written(folder)
    left.mkdir()
    folder.rename(left / "old")
    files.sweep_for(folder)
    assert content(folder) == old
    assert list(tmp_path.iterdir()) == [folder]


def test_units_can_be_joined_to_rows_and_variants(tmp_path: Path) -> None:
    again = Variant("b", "p-linkability", {"p": 0.1}, complete={"p": 0.1}, seeds=(0, 7))
    baseline = Variant("none", modes=("none",))
    outcomes = outcomes_of(
        [*VARIANTS, again, baseline],
        lambda *_: 0.5,
        lambda unit: {"groups": 3} if unit.method else {},
        list(MEASURES),
    )
    keys = {unit.name: "key" for unit in outcomes.units}
    out = tmp_path / "out"
    write_run(out, outcomes, Marks(keys, "data", {}), lambda _rows: {})
    assert (out / "units.csv").read_text().splitlines() == [
        "unit,tables,method,seed,weights,vectors,p,groups",
        "u001,a b,p-linkability,0,binary,tfidf,0.1,3",
        "u002,a,p-linkability,0,binary,tfidf,0.4,3",
        "u003,b,p-linkability,7,binary,tfidf,0.1,3",
        "u004,none,,0,binary,tfidf,,",
    ]
    lines = (out / "units.jsonl").read_text().splitlines()
    assert [json.loads(line)["tables"] for line in lines] == [["a", "b"], ["a"], ["b"], ["none"]]
