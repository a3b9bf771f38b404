"""The invented log of AOL's shape: same seed, same bytes; its figures are those it promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anonymizer.profiles.building import build_profiles
from anonymizer.querylog.reading import read_log
from anonymizer.terms.analysis import Analysis
from anonymizer.terms.wordnet import WordNet
from scripts.benchmark.inputs.aol import write_log

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
