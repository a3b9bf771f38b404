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
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from search_app.experiments.run_folder import MANIFEST

from . import toy_world
from .toy_world import Place

SEED = int(os.environ.get("VEILSEARCH_SEED") or 20_261_118)
KILLS = 6
LONG = 60  # seconds in which anything here ends
TIMED = {"provenance.json", "report.html", MANIFEST}
GOES_ON = "veilsearch: stopped; the same command goes on from here\n"
NURSERY = """
import json, os, resource, sys
import search_app.experiments.running
from anonymizer.counting import TermCounter
from anonymizer.text import Analysis
from anonymizer.wordnet import open_wordnet
from search_app.cli import main
from search_app.experiments import plots
from search_app.experiments.report import Figure, Line, Point
from search_app.settings import load_settings

TermCounter(Analysis(open_wordnet(load_settings().cache))).count(["a lion sleeps"])
plots.draw(Figure("a", "a", "a", "a", "a", (Line("a", (Point(1, 1.0, 0.5, 1.5),)),)))
for line in sys.stdin:
    order = json.loads(line)
    if "wait" in order:
        answer = os.waitstatus_to_exitcode(os.waitpid(order["wait"], 0)[1])
    else:
        answer = os.fork()
        if not answer:
            for stream in (1, 2):
                path = order["said"] + str(stream)
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            for name, most in order["limits"].items():
                kind = getattr(resource, name)
                resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
            main(order["arguments"])
    print(json.dumps(answer), flush=True)
"""


class Nursery:
    """Forks verbs, one at a time."""

    def __init__(self, room: Path) -> None:
        self._room = room
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def _ask(self, **order: Any) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        return int(json.loads(self._process.stdout.readline()))

    def run(
        self,
        place: Place,
        arguments: list[str],
        killed_after: float | None = None,
        limits: Mapping[str, int] | None = None,
    ) -> tuple[int, float]:
        """Run a verb, kill it after some seconds; return its exit code and what it took."""
        words = ["--workspace", str(place.root), *arguments]
        began = time.monotonic()
        child = self._ask(arguments=words, limits=limits or {}, said=str(self._room / "said"))
        if killed_after is not None:
            time.sleep(killed_after)
            os.kill(child, signal.SIGKILL)
        return self._ask(wait=child), time.monotonic() - began

    @property
    def told(self) -> str:
        """Return what the latest run wrote to stderr."""
        return (self._room / "said2").read_text()

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    made = Nursery(tmp_path_factory.mktemp("nursery"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def place(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Place:
    room = tmp_path_factory.mktemp("killed")
    made = toy_world.place_in(room)
    assert nursery.run(made, ["index", str(room / "corpus.jsonl")])[0] == 0, nursery.told
    return made


OTHER = ["--set", "queries_per_user=1"]
REPLACE = "--replace"  # the run of OTHER


@pytest.fixture(scope="module")
def whole(
    nursery: Nursery, place: Place, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, float]:
    """Return an undisturbed run, another one, and the seconds that one takes."""
    room = tmp_path_factory.mktemp("undisturbed")
    assert nursery.run(place, place.arguments(room / "other", *OTHER))[0] == 0, nursery.told
    code, took = nursery.run(place, place.arguments(room / "out"))
    assert code == 0, nursery.told
    return room / "out", room / "other", took


def bytes_of(out: Path) -> dict[str, bytes]:
    """Return all files of a run that the same command makes the same."""
    files = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    assert set(json.loads((out / MANIFEST).read_bytes())["sha256"]) == files.keys() - {MANIFEST}
    return {name: path.read_bytes() for name, path in files.items() if name not in TIMED}


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


def until(look: Callable[[], Any]) -> Any:
    latest = time.monotonic() + LONG
    while not (seen := look()):
        assert time.monotonic() < latest, f"nothing after {LONG} seconds"
        time.sleep(0.01)
    return seen


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
        code, _ = nursery.run(place, place.arguments(out, REPLACE), moment)
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
    assert nursery.run(place, place.arguments(out, REPLACE))[0] == 0, nursery.told
    assert bytes_of(out) == wanted
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_full_disk_is_told_in_one_line_and_the_old_run_stays(
    nursery: Nursery, place: Place, whole: tuple[Path, Path, float], tmp_path: Path
) -> None:
    new, old, _ = whole
    out = tmp_path / "out"
    shutil.copytree(old, out)
    room = {"RLIMIT_FSIZE": (new / "rows.jsonl").stat().st_size - 1}
    code, _ = nursery.run(place, place.arguments(out, REPLACE), limits=room)
    assert code == 2
    assert nursery.told.count("\n") == 1
    assert f"{out} can't be written (File too large); see to" in nursery.told
    assert bytes_of(out) == bytes_of(old)
    assert len(list(unfinished(out).glob("*.unit"))) == 4
    assert nursery.run(place, place.arguments(out, REPLACE))[0] == 0, nursery.told
    assert bytes_of(out) == bytes_of(new)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# --- with workers, in interpreters of their own ---


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
    both = until(lambda: found if len(found := workers(process.pid)) == 2 else [])
    time.sleep(random.Random(SEED).uniform(0, 0.5))  # noqa: S311
    for worker in both:
        os.kill(worker, signal.SIGSTOP)  # or a fast machine has ended before it is interrupted
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    for worker in both:
        os.kill(worker, signal.SIGCONT)
    said, told = process.communicate(timeout=LONG)
    assert (said, told.decode(), process.returncode) == (b"", GOES_ON, 130)
    until(lambda: not session(process.pid))
    assert_tells_nothing(tmp_path)
    assert not out.exists()


def test_killed_it_leaves_no_worker_and_the_next_goes_on(
    nursery: Nursery, place: Place, whole: tuple[Path, Path, float], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = started(place, out, tmp_path / "tmp")
    until(lambda: len(workers(process.pid)) == 2)
    until(lambda: list(unfinished(out).glob("*.unit")) or process.poll() is not None)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=LONG)
    until(lambda: not session(process.pid))
    assert_tells_nothing(tmp_path)
    assert nursery.run(place, place.arguments(out, REPLACE))[0] == 0, nursery.told
    assert bytes_of(out) == bytes_of(whole[0])
    assert not unfinished(out).exists()


def test_a_worker_that_is_killed_is_told_in_one_line(place: Place, tmp_path: Path) -> None:
    process = started(place, tmp_path / "out", tmp_path / "tmp")
    for worker in until(lambda: workers(process.pid)):
        os.kill(worker, signal.SIGKILL)
    said, told = process.communicate(timeout=LONG)
    assert (said, process.returncode) == (b"", 2)
    assert told.decode().startswith("veilsearch: a worker has ended before its time")
    assert told.count(b"\n") == 1
    until(lambda: not session(process.pid))
