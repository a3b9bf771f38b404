"""The invented log of AltaVista's shape: exactly the marginals it promises, by both its ways."""

from __future__ import annotations

from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest

from anonymizer.model import Profiles
from anonymizer.profile_file import fingerprint, read_profiles
from anonymizer.profiles import build_profiles, without_robots
from anonymizer.querylog import read_log
from anonymizer.text import Words
from search_app.benchmark.altavista_shape import (
    WHOLE,
    Shape,
    altavista_profiles,
    draw_log,
    main,
    profiles_of,
    repeated_queries,
    shared_out,
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


def test_terms_of_a_topic_stand_together() -> None:
    """By chance two terms of at most 60 of 36,780 users share 60 * 60 / 36,780 = 0.1 of them."""
    log = altavista_profiles(0.1)
    present = log.weights.astype(bool).astype(np.int32)
    having = np.bincount(log.weights.indices)
    some = present[:, np.flatnonzero((having >= 20) & (having <= 60))]
    together = (some.T @ some).tocoo()
    assert np.sum((together.row < together.col) & (together.data >= 5)) > 100


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
    read, _ = build_profiles(stay, Words(digits=True).terms, weights="tf")
    assert read.users == small.users
    assert fingerprint(read) == fingerprint(small)


def test_lines_stand_user_by_user_with_time_ascending_within_a_day(tmp_path: Path) -> None:
    write_log(draw_log(WHOLE.part(0.002)), tmp_path / "log.tsv")
    rows = [line.split("\t") for line in (tmp_path / "log.tsv").read_text().splitlines()]
    for _, lines in groupby(rows, key=lambda row: row[0]):
        asked = list(lines)
        assert [row[2] for row in asked] == sorted(row[2] for row in asked)
        assert all(row[1] != after[1] for row, after in pairwise(asked))
    assert {row[2][:10] for row in rows} == {"2002-09-08"}
    users = [user for user, _ in groupby(row[0] for row in rows)]
    assert len(users) == len(set(users))


def test_repeated_queries_are_found() -> None:
    words = np.array([1, 2, 1, 2, 1, 2, 1, 3, 3])
    at = np.array([0, 2, 4, 6, 7, 8, 9])  # 12, 12 | 12, 1, 3, 3
    assert repeated_queries(words, at, np.array([0, 0, 1, 1, 1, 1])).tolist() == [1, 5]
    assert repeated_queries(words[:2], at[:2], np.array([0])).tolist() == []


def test_a_total_is_shared_out_within_its_bounds() -> None:
    rng = np.random.default_rng(0)
    sizes = shared_out(np.array([100.0, 1.0, 1.0, 1.0]), 12, 5, rng)
    assert sizes.sum() == 12
    assert sizes[0] == 5
    assert sizes.min() >= 1


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
