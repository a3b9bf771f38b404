"""What all tests share: the real WordNet, compiled once, and toy profiles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from anonymizer.model import Profiles
from anonymizer.wordnet import WordNet, open_wordnet
from search_app.settings import load_settings

MEMORY = 4 << 30  # bytes a worker may need: its own Java, one that it starts, and a browser
MOST = 4  # workers: containers often tell of all cores of a machine whose smallest part is theirs


settings.register_profile("no clock", deadline=None)  # no test fails on a clock
settings.load_profile("no clock")


@pytest.hookimpl(optionalhook=True)  # pytest -n auto: of pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """Return how many workers the cores and the memory allow; 0 is a run without workers."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    workers = min(os.cpu_count() or 1, memory // MEMORY, MOST)
    return workers if workers > 1 else 0


@pytest.fixture(scope="session")
def wordnet_cache() -> Path:
    """Return the cache the product itself uses, so that WordNet is compiled once a machine."""
    return load_settings().cache


@pytest.fixture(scope="session")
def wordnet(wordnet_cache: Path) -> WordNet:
    return open_wordnet(wordnet_cache)


@pytest.fixture
def paper() -> Profiles:
    """Return the four profiles of Zhu & Xiong's table 1."""
    return Profiles.from_rows(
        {
            "UP1": {"kitten": 1.0, "riding": 0.8},
            "UP2": {"pup": 0.6, "equitation": 1.0},
            "UP3": {"mocha": 0.7, "java": 0.6, "coffee": 0.8},
            "UP4": {"programming language": 0.6, "java": 1.0, "C++": 0.4},
        }
    )
