"""One run at a time in one place, workers that leave nothing, and units that are kept."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from search_app.errors import UsageError
from search_app.experiments import kept_units, running
from search_app.experiments.design import Unit
from search_app.experiments.outcomes import Block
from search_app.experiments.pipeline import Measured
from search_app.measures.precision import MEASURES


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


KEY = "0a1b"
UNIT = Unit("u001", "one", "m", {}, "binary", "tfidf", 0, (("group", 50),))


def kept(folder: Path) -> Measured:
    values = {name: np.array([0.5, np.nan]) for name in MEASURES}
    made = Measured({"groups": 3, "share": 0.1}, [Block("u001", "group", 50, np.ones(2), values)])
    kept_units.keep(folder, KEY, made)
    return made


def test_a_unit_is_found_as_it_was_kept(tmp_path: Path) -> None:
    made = kept(tmp_path)
    kept_units.keep(tmp_path, KEY, made)  # again, over the old one
    found = kept_units.find(tmp_path, KEY, UNIT)
    assert found is not None
    assert found.facts == made.facts
    (block,) = found.blocks
    assert (block.unit, block.mode, block.pool) == ("u001", "group", 50)
    for name in MEASURES:
        assert np.array_equal(block.values[name], [0.5, np.nan], equal_nan=True)
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_another_key_or_other_pools_find_nothing(tmp_path: Path) -> None:
    kept(tmp_path)
    assert kept_units.find(tmp_path, "ffff", UNIT) is None
    assert kept_units.find(tmp_path, KEY, replace(UNIT, asked=(("group", 100),))) is None
    (tmp_path / f"{KEY}{kept_units.SUFFIX}").rename(tmp_path / f"ffff{kept_units.SUFFIX}")
    assert kept_units.find(tmp_path, "ffff", UNIT) is None


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.99])
def test_a_flipped_byte_and_a_cut_are_noticed(tmp_path: Path, share: float) -> None:
    kept(tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    at = int(share * len(whole))
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    assert kept_units.find(tmp_path, KEY, UNIT) is None
    file.write_bytes(whole[:at])
    assert kept_units.find(tmp_path, KEY, UNIT) is None
    file.write_bytes(whole)
    assert kept_units.find(tmp_path, KEY, UNIT) is not None
