"""`veilsearch anonymize` and `publish` killed at random moments: old or new, and whole.

Verbs are forked from a nursery that has already loaded what takes long, so that there can be many.
VEILSEARCH_SEED repeats the random choices of a failure, which names it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from anonymizer.model import Profiles
from anonymizer.profile_file import write_profiles
from anonymizer.release import read_release

SEED = int(os.environ.get("VEILSEARCH_SEED") or 20_261_118)
KILLS = 50
NURSERY = """
import json, os, sys
from anonymizer import compiled
from search_app.cli import main

def verb(arguments):
    child = os.fork()
    if not child:
        compiled._threads.cache_clear()  # no thread lives on in a fork
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        main(arguments)
    return child

warm = json.loads(sys.stdin.readline())
for arguments in warm:
    try:
        main(arguments)
    except SystemExit as ended:
        assert not ended.code, arguments
print("warm", file=sys.stderr, flush=True)
for line in sys.stdin:
    order = json.loads(line)
    if "wait" in order:
        answer = os.waitstatus_to_exitcode(os.waitpid(order["wait"], 0)[1])
    else:
        answer = verb(order["arguments"])
    print(json.dumps(answer), file=sys.stderr, flush=True)
"""


class Nursery:
    """Forks verbs, one at a time, after it has run some itself."""

    def __init__(self, warm: list[list[str]]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._send(warm)
        assert self._process.stderr is not None
        while (line := self._process.stderr.readline()) != b"warm\n":
            assert line, "the nursery has ended"

    def _send(self, order: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()

    def _ask(self, **order: Any) -> int:
        self._send(order)
        assert self._process.stderr is not None
        return int(json.loads(self._process.stderr.readline()))

    def run(self, arguments: list[str], killed_after: float | None = None) -> tuple[int, float]:
        """Run a verb, kill it after some seconds; return its exit code and what it took."""
        began = time.monotonic()
        child = self._ask(arguments=arguments)
        if killed_after is not None:
            time.sleep(killed_after)
            os.kill(child, signal.SIGKILL)
        return self._ask(wait=child), time.monotonic() - began

    def kill_when(self, arguments: list[str], seen: Callable[[], bool]) -> None:
        """Run a verb and kill it as soon as something is seen, or after some seconds."""
        child, end = self._ask(arguments=arguments), time.monotonic() + 10
        while not seen() and time.monotonic() < end:
            pass
        os.kill(child, signal.SIGKILL)
        self._ask(wait=child)

    def close(self) -> None:
        self._process.communicate()


class Place:
    """A workspace with profiles; a release and a published file, in it or elsewhere."""

    def __init__(self, root: Path, folder: Path) -> None:
        root.mkdir()
        folder.mkdir(exist_ok=True)
        self.root, self.profiles = root, root / "profiles.npz"
        self.release, self.published = folder / "release", folder / "published.jsonl"
        rng = random.Random(7)  # noqa: S311
        words = [f"w{number}" for number in range(60)]
        rows = {f"u{n}": dict.fromkeys(rng.sample(words, 6), 1.0) for n in range(120)}
        write_profiles(Profiles.from_rows(rows), self.profiles)

    def anonymize(self, seed: int) -> list[str]:
        choices = ["--set", "augment=none", "--seed", str(seed), "-o", str(self.release)]
        return [*self._verb("anonymize"), str(self.profiles), *choices]

    def publish(self) -> list[str]:
        against = ["--against", str(self.profiles), "-o", str(self.published), "--second"]
        return [*self._verb("publish"), str(self.release), *against]

    def _verb(self, name: str) -> list[str]:
        return ["--workspace", str(self.root), name]

    def state(self) -> tuple[Any, bytes]:
        """Return the bytes of the release and of the published file; both must be whole."""
        read_release(self.release)
        files = sorted(path for path in self.release.rglob("*") if path.is_file())
        return [path.read_bytes() for path in files], self.published.read_bytes()

    def left(self) -> set[str]:
        """Return the names of what lies beside profiles, release and published file."""
        wanted = {self.profiles, self.release, self.published, self.root / "current.json"}
        folders = {self.root, self.release.parent}
        found = {path for folder in folders for path in folder.iterdir()}
        return {path.name for path in found - wanted} - {".lock", "ledger.jsonl"}

    def age(self) -> None:
        """Let a minute pass for what killed publishers left."""
        for path in self.published.parent.iterdir():
            if path.name.startswith(".") and path.is_file():
                os.utime(path, (0, 0))


@pytest.fixture(scope="module", params=["workspace", "elsewhere"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    root = tmp_path_factory.mktemp("killed")
    return Place(root / "workspace", root / request.param)


def holders(names: set[str]) -> set[str]:
    """Return those names under which a release is written."""
    return {name for name in names if name.startswith(".release.")}


@pytest.fixture(scope="module")
def nursery(place: Place) -> Iterator[Nursery]:
    made = Nursery([place.anonymize(0), place.publish()])
    yield made
    made.close()


def test_killed_at_any_moment_a_release_and_what_is_published_are_old_or_new(
    nursery: Nursery, place: Place
) -> None:
    chance = random.Random(SEED)  # noqa: S311
    whole: dict[int, Any] = {}
    took = {"anonymize": 0.0, "publish": 0.0}
    for seed in (1, 2):
        for name, verb in (("anonymize", place.anonymize(seed)), ("publish", place.publish())):
            code, took[name] = nursery.run(verb)
            assert code == 0, name
        whole[seed] = place.state()
    assert whole[1] != whole[2]
    released = published = 2
    tally: Counter[str] = Counter()
    for number in range(KILLS):
        name = ("anonymize", "publish")[number % 2]
        seed = 3 - released if name == "anonymize" else released
        verb = place.anonymize(seed) if name == "anonymize" else place.publish()
        moment = chance.uniform(0.2, 1.1) * took[name]
        code, _ = nursery.run(verb, moment)
        what = f"seed {SEED}, run {number}: {name} killed after {moment:.4f} s of {took[name]:.4f}"
        assert code in (0, -signal.SIGKILL), what
        files, file = place.state()
        old = (released, published)
        if name == "anonymize":
            released = next((s for s in whole if whole[s][0] == files), 0)
        else:
            published = next((s for s in whole if whole[s][1] == file), 0)
        assert (released, published) in (old, (seed, published), (released, seed)), what
        assert (whole[released][0], whole[published][1]) == (files, file), what
        assert code or (released if name == "anonymize" else published) == seed, what
        assert code or name != "anonymize" or not holders(place.left()), what
        ended, kept = "killed" if code else "ended", (released, published) == old
        tally[f"{name} {ended}, {'old' if kept else 'new'}"] += 1
        took[name] *= 1.2 if kept else 0.8  # kill where it is undecided what will be there
    print(f"seed {SEED}: {dict(tally)}")  # shown by -rP
    assert tally["anonymize killed, old"] > KILLS / 10, f"seed {SEED}: {tally}"
    place.age()
    assert nursery.run(place.anonymize(1))[0] == nursery.run(place.publish())[0] == 0
    assert place.state() == whole[1]
    assert place.left() == set()


def test_what_a_killed_run_left_goes_with_the_next(nursery: Nursery, place: Place) -> None:
    assert nursery.run(place.anonymize(1))[0] == nursery.run(place.publish())[0] == 0
    for _ in range(5):  # the look may come too late
        nursery.kill_when(place.anonymize(2), lambda: bool(holders(place.left())))
        if holders(place.left()):
            break
    assert len(holders(place.left())) == 1
    read_release(place.release)
    assert nursery.run(place.anonymize(1))[0] == 0
    assert place.left() == set()
