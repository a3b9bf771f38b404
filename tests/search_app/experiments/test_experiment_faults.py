"""`veilsearch experiment` killed, interrupted, out of room, twice at once: the next run goes on.

Most runs are forked from a nursery that has already loaded what takes long; those with workers are
whole interpreters. Random choices come from a seed that every failure names: VEILSEARCH_SEED
repeats it.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from search_app.experiments.results.folder import MANIFEST
from search_app.workspace.folder import Workspace

from ..nursery import LONG, Nursery, until
from . import toy_world
from .toy_world import Place

SEED = int(os.environ.get("VEILSEARCH_SEED") or 20_261_118)
KILLS = 3
GOES_ON = "veilsearch: stopped; to go on, give the same command again\n"
WARM = """
import search_app.experiments.running
from anonymizer.terms.analysis import Analysis
from anonymizer.terms.counting import TermCounter
from anonymizer.terms.wordnet import open_wordnet
from search_app.experiments.report.report import Figure, FigureLine, FigurePoint
from search_app.experiments.results import plots
from search_app.settings import load_settings

TermCounter(Analysis(open_wordnet(load_settings().cache))).count(["a lion sleeps"])
line = FigureLine("a", (FigurePoint(1, 1.0, 0.5, 1.5),))
plots.draw(Figure("a", "a", "a", "a", "a", (line,)))
"""


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    made = Nursery(tmp_path_factory.mktemp("nursery"), WARM)
    yield made
    made.close()


def runs(nursery: Nursery, place: Place, *arguments: object) -> None:
    assert nursery.run(Workspace(place.root), *arguments) == 0, nursery.told


@pytest.fixture(scope="module")
def place(toy: Place) -> Place:
    return toy


OTHER = ["--set", "queries_per_user=1"]
REPLACE = "--replace"  # the run of OTHER


@pytest.fixture(scope="module")
def whole(
    nursery: Nursery, place: Place, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, float]:
    """Return an undisturbed run, another one, and the seconds that one takes."""
    room = tmp_path_factory.mktemp("undisturbed")
    runs(nursery, place, *place.arguments(room / "other", *OTHER))
    began = time.monotonic()
    runs(nursery, place, *place.arguments(room / "out"))
    took = time.monotonic() - began
    return room / "out", room / "other", took


def bytes_of(out: Path) -> dict[str, bytes]:
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert set(json.loads((out / MANIFEST).read_bytes())["sha256"]) == files - {MANIFEST}
    return toy_world.bytes_of(out)


def unfinished(out: Path) -> Path:
    return out.with_name(f".{out.name}.unfinished")


def assert_tells_nothing(*folders: Path) -> None:
    words = [toy_world.NEEDLE, toy_world.PERSON, toy_world.DOCUMENT]
    for path in (path for folder in folders for path in folder.rglob("*") if path.is_file()):
        try:
            content = path.read_bytes()
        except FileNotFoundError:  # a temporary file of a process that is ending
            continue
        for word in words:
            for code in ("utf-8", "utf-16-le", "utf-32-le"):  # numpy's texts have four bytes
                assert word.encode(code) not in content, path


def test_killed_at_any_moment_the_old_run_is_served_and_the_next_goes_on(
    nursery: Nursery, place: Place, whole: tuple[Path, Path, float], tmp_path: Path
) -> None:
    chance, (new, old, took) = random.Random(SEED), whole  # noqa: S311
    out, tally = tmp_path / "out", Counter[str]()
    shutil.copytree(old, out)
    wanted, before = bytes_of(new), bytes_of(old)
    for number in range(KILLS):
        moment = chance.uniform(0.2, 1.0) * took
        what = f"seed {SEED}, run {number} killed after {moment:.3f} s of {took:.3f}"
        code = nursery.run(
            Workspace(place.root), *place.arguments(out, REPLACE), killed_after=moment
        )
        assert code in (0, -signal.SIGKILL), f"{what}: {nursery.told}"
        found = bytes_of(out)
        assert found in (before, wanted), what
        assert_tells_nothing(*(room for room in [unfinished(out)] if room.exists()))
        units = len(list(unfinished(out).glob("*.unit")))
        tally[f"{'killed' if code else 'ended'}, {units} units kept"] += 1
        if found == wanted:
            shutil.rmtree(out)
            shutil.copytree(old, out)
            shutil.rmtree(unfinished(out), ignore_errors=True)
    print(f"seed {SEED}: {dict(tally)}")  # shown by -rP
    runs(nursery, place, *place.arguments(out, REPLACE))
    assert bytes_of(out) == wanted
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_full_disk_is_told_in_one_line_and_the_old_run_stays(
    nursery: Nursery, place: Place, whole: tuple[Path, Path, float], tmp_path: Path
) -> None:
    new, old, _ = whole
    out = tmp_path / "out"
    shutil.copytree(old, out)
    room = {"RLIMIT_FSIZE": (new / "rows.jsonl").stat().st_size - 1}
    code = nursery.run(Workspace(place.root), *place.arguments(out, REPLACE), limits=room)
    assert code == 2
    assert nursery.told.count("\n") == 1
    assert f"{out} can't be written (File too large); check" in nursery.told
    assert bytes_of(out) == bytes_of(old)
    assert len(list(unfinished(out).glob("*.unit"))) == 4
    runs(nursery, place, *place.arguments(out, REPLACE))
    assert bytes_of(out) == bytes_of(new)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def started(place: Place, out: Path, room: Path) -> subprocess.Popen[bytes]:
    """Start a run by two workers, in a session of its own as a terminal would."""
    room.mkdir(exist_ok=True)
    words = [sys.executable, "-m", "search_app", "--workspace", str(place.root)]
    return subprocess.Popen(
        [*words, *place.arguments(out, workers=2)],
        env={**os.environ, "TMPDIR": str(room)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def session(leader: int) -> dict[int, str]:
    """Return the processes of a session that have not ended, with their command lines."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state = (path / "stat").read_text().rpartition(")")[2].split()
            if int(state[3]) == leader and state[0] != "Z":
                words = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found[int(path.name)] = words
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def workers(leader: int) -> list[int]:
    return [number for number, words in session(leader).items() if "spawn_main" in words]


def test_interrupted_it_says_that_it_can_go_on_and_leaves_nobody_behind(
    place: Place, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = started(place, out, tmp_path / "tmp")
    both = until(lambda: found if len(found := workers(process.pid)) == 2 else None)
    time.sleep(random.Random(SEED).uniform(0, 0.5))  # noqa: S311
    for worker in both:
        os.kill(worker, signal.SIGSTOP)  # or a fast machine has ended before it is interrupted
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    for worker in both:
        os.kill(worker, signal.SIGCONT)
    said, told = process.communicate(timeout=LONG)
    assert (said, told.decode(), process.returncode) == (b"", GOES_ON, 130)
    until(lambda: not session(process.pid) or None)
    assert_tells_nothing(tmp_path)
    assert not out.exists()


def test_killed_it_leaves_no_worker_and_the_next_goes_on(
    nursery: Nursery, place: Place, whole: tuple[Path, Path, float], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = started(place, out, tmp_path / "tmp")
    until(lambda: len(workers(process.pid)) == 2 or None)
    until(lambda: list(unfinished(out).glob("*.unit")) or process.poll() is not None or None)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=LONG)
    until(lambda: not session(process.pid) or None)
    assert_tells_nothing(tmp_path)
    runs(nursery, place, *place.arguments(out, REPLACE))
    assert bytes_of(out) == bytes_of(whole[0])
    assert not unfinished(out).exists()


def test_a_worker_that_is_killed_is_told_in_one_line(place: Place, tmp_path: Path) -> None:
    process = started(place, tmp_path / "out", tmp_path / "tmp")
    for worker in until(lambda: workers(process.pid) or None):
        os.kill(worker, signal.SIGKILL)
    said, told = process.communicate(timeout=LONG)
    assert (said, process.returncode) == (b"", 2)
    assert told.decode().startswith("veilsearch: a worker died, perhaps for want of memory")
    assert told.count(b"\n") == 1
    until(lambda: not session(process.pid) or None)
