"""What all tests share: the real WordNet, compiled once, and the paper's profiles."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from anonymizer.model import Profiles
from anonymizer.terms.wordnet import WordNet, open_wordnet
from index.lucene import jvm
from search_app.settings import load_settings

MEMORY = 4 << 30  # bytes a worker may need: its own Java, one that it starts, and a browser
MOST = 4  # workers: containers often count all cores of a machine but may use only a few

gc.disable()  # until all tests are collected; nothing of that is ever garbage

# A shell ignores Ctrl+C for what it starts with `&`; the processes that tests start would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("no clock", deadline=None)  # no test fails on a clock
settings.load_profile("no clock")


@pytest.hookimpl(optionalhook=True)  # pytest -n auto: of pytest-xdist
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many workers the cores and the memory allow; 0 is a run without workers."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    # Slow tests wait for processes, so one worker more finds a free core.
    cores = (os.cpu_count() or 1) + (not config.getoption("--quick"))
    workers = min(cores, memory // MEMORY, MOST)
    return workers if workers > 1 else 0


# The files, and folders of them, that start Java, a browser or processes, or take long.
SLOW = frozenset((Path(__file__).parent / "slow.txt").read_text(encoding="utf-8").split())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="skip the files of tests/slow.txt")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    name = collection_path.relative_to(Path(__file__).parent).as_posix()
    return (name in SLOW and config.getoption("--quick")) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of engines first, and a failed test of a browser once more.

    Engines make their tests wait, so others run meanwhile. The summary names what ran once more.
    """
    items.sort(key=lambda item: "engines" not in item.path.parts)
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()  # else each full collection would look at all modules and tests again
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def quickly(pytestconfig: pytest.Config) -> Iterator[None]:
    """Let Java compile once only, and no test of the quick run start Java or a process."""
    with pytest.MonkeyPatch.context() as patch:
        # In a run this short the second compiler costs a third of Java's time, and pays nothing.
        patch.setattr(jvm, "OPTIONS", (*jvm.OPTIONS, "-XX:TieredStopAtLevel=1"))
        if pytestconfig.getoption("--quick"):
            patch.setattr(subprocess.Popen, "__init__", _refuse)
            patch.setattr(jvm, "_launch", _refuse)
            # Else scikit-learn starts a process to count the machine's cores.
            patch.setenv("OMP_NUM_THREADS", "1")
        yield


def _refuse(*_arguments: object, **_named: object) -> None:
    raise AssertionError("this starts a process: name the file in tests/slow.txt")


@pytest.fixture(scope="session")
def wordnet_cache() -> Path:
    """Return the product's own cache, so that WordNet is compiled once on a machine."""
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
