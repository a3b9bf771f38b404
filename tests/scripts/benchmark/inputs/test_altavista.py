"""The invented log of AltaVista's shape: exactly the marginals it promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anonymizer.model import Profiles
from anonymizer.storage.profiles import fingerprint, read_profiles
from scripts.benchmark.inputs.altavista import WHOLE, Shape, altavista_profiles, main

SHARE = 0.01
SHAPE = Shape(3_678, 9_361, 55_018, 18_461, 495)


@pytest.fixture(scope="module")
def small() -> Profiles:
    return altavista_profiles(SHARE)


def test_the_whole_shape_is_that_of_section_5_1() -> None:
    assert WHOLE == (367_803, 251_115, 5_501_825, 1_846_134, 495)
    assert WHOLE.part(1) == WHOLE
    assert WHOLE.part(SHARE) == SHAPE


def test_the_marginals_are_exact(small: Profiles) -> None:
    assert len(small) == SHAPE.users
    assert len(small.terms) == SHAPE.terms
    assert small.weights.sum() == SHAPE.occurrences
    assert small.sizes.max() == SHAPE.longest
    assert np.sort(small.sizes)[-2] < SHAPE.longest
    assert np.bincount(small.weights.indices, minlength=SHAPE.terms).min() == 1
    assert list(small.terms) == sorted(small.terms)


def test_frequencies_are_skewed_and_sizes_heavy_tailed() -> None:
    log = altavista_profiles(0.1)
    having = np.bincount(log.weights.indices)
    assert 0.4 < np.mean(having == 1) < 0.65
    assert 0.05 < having.max() / len(log) < 0.12  # "com": 31,974 of 367,803 users
    assert 4 <= np.median(log.sizes) <= 7
    assert log.sizes.mean() > 1.5 * np.median(log.sizes)


def test_the_seed_settles_everything() -> None:
    one, again, other = (fingerprint(altavista_profiles(0.001, seed)) for seed in (1, 1, 2))
    assert one == again != other


def test_the_command_writes_profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["altavista", "-o", str(tmp_path / "profiles.npz"), "--share"]
    monkeypatch.setattr("sys.argv", [*words, "2"])
    with pytest.raises(SystemExit):
        main()
    monkeypatch.setattr("sys.argv", [*words, "0.002"])
    main()
    written = read_profiles(tmp_path / "profiles.npz")
    assert fingerprint(written) == fingerprint(altavista_profiles(0.002))
