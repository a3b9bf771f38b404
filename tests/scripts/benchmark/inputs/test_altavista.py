"""The invented log of AltaVista's shape: exactly the marginals it promises, by both its ways."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anonymizer.model import Profiles
from anonymizer.profiles.building import ProfileChoices, build_profiles, without_robots
from anonymizer.querylog.reading import read_log
from anonymizer.storage.profiles import fingerprint, read_profiles
from anonymizer.terms.analysis import WordAnalysis
from scripts.benchmark.inputs.altavista import (
    WHOLE,
    Shape,
    altavista_profiles,
    draw_log,
    main,
    profiles_of,
    write_log,
)

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


def test_the_seed_settles_everything(tmp_path: Path) -> None:
    shape = WHOLE.part(0.001)
    contents = []
    for seed in (1, 1, 2):
        write_log(draw_log(shape, seed), tmp_path / "log.tsv", seed)
        contents.append((tmp_path / "log.tsv").read_bytes())
    assert contents[0] == contents[1] != contents[2]


def test_log_and_profiles_tell_the_same(tmp_path: Path, small: Profiles) -> None:
    log = draw_log(SHAPE)
    write_log(log, tmp_path / "log.tsv")
    events, report = read_log([tmp_path / "log.tsv"])
    assert (report.lines, report.events) == (SHAPE.queries, SHAPE.queries)  # nothing is folded
    stay, dropped = without_robots(events)
    assert dropped == 0
    read, _ = build_profiles(stay, WordAnalysis(digits=True).terms, ProfileChoices(weights="tf"))
    assert read.users == small.users
    assert fingerprint(read) == fingerprint(small)


def test_the_command_writes_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("log.tsv", "profiles.npz"):
        words = ["altavista_shape", "--share", "0.002", "-o", str(tmp_path / name)]
        monkeypatch.setattr("sys.argv", words)
        main()
    written = read_profiles(tmp_path / "profiles.npz")
    assert fingerprint(written) == fingerprint(profiles_of(draw_log(WHOLE.part(0.002))))
    assert len(read_log([tmp_path / "log.tsv"])[0]) == WHOLE.part(0.002).queries
    monkeypatch.setattr("sys.argv", ["altavista_shape", "--share", "2", "-o", "x"])
    with pytest.raises(SystemExit):
        main()
