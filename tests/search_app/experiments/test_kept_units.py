"""Units kept on the disk: whole and of the same key, or as if there were none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from search_app.evaluation import MEASURES
from search_app.experiments import kept_units
from search_app.experiments.outcomes import Block, Unit
from search_app.experiments.pipeline import Measured

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


def test_it_has_the_name_that_its_unit_has_here(tmp_path: Path) -> None:
    renamed = kept_units.renamed(kept(tmp_path), replace(UNIT, name="u007"))
    assert [block.unit for block in renamed.blocks] == ["u007"]


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
