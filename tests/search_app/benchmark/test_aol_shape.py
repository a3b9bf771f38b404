"""The invented log of AOL's shape: same seed, same bytes; its figures are those it promises."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from anonymizer.profiles import build_profiles
from anonymizer.querylog import read_log
from anonymizer.text import Analysis
from anonymizer.wordnet import WordNet
from search_app.benchmark.aol_shape import write_log

USERS, LINES = 3_000, 160_000
INVENTED = 5_000  # words, quicker made


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("log") / "log.tsv"
    write_log(path, USERS, LINES, 5, INVENTED)
    return path


def test_the_seed_settles_every_byte(tmp_path: Path) -> None:
    contents = []
    for seed in (1, 1, 2):
        write_log(tmp_path / "log.tsv", 50, 2_000, seed, INVENTED)
        contents.append((tmp_path / "log.tsv").read_bytes())
    assert contents[0] == contents[1] != contents[2]


def test_lines_stand_user_by_user_with_time_ascending(log: Path) -> None:
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    assert rows.pop(0) == ["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"]
    users = [user for user, _ in groupby(row[0] for row in rows)]
    assert len(users) == len(set(users)) == USERS
    assert abs(len(rows) / LINES - 1) < 0.05
    whole = [row for row in rows if len(row) == 5]
    assert len(whole) > len(rows) - 5
    for _, lines in groupby(whole, key=lambda row: row[0]):
        times = [row[2] for row in lines]
        assert times == sorted(times)
    assert {row[2][:7] for row in whole} == {"2006-03", "2006-04", "2006-05"}
    assert all((row[3] == "") == (row[4] == "") for row in whole)


def test_the_figures_are_aols(log: Path, wordnet: WordNet) -> None:
    events, report = read_log([log])
    assert 0.5 < report.events / report.lines < 0.6  # 20 M of 36 M
    assert report.empty > 0
    asked = np.bincount(events.user)
    assert 8 <= np.median(asked) <= 13
    assert asked.max() > 20 * np.median(asked)
    profiles, _ = build_profiles(events, Analysis(wordnet).terms)
    assert 30 < profiles.sizes.mean() < 45
    having = np.bincount(profiles.weights.indices)
    assert 0.05 < having.max() / len(profiles) < 0.12
