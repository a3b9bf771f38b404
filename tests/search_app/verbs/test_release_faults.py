"""`veilsearch anonymize` and `publish` killed at random moments: old or new, and whole.

Verbs are forked from a nursery that has already loaded what takes long, so that there can be many.
VEILSEARCH_SEED repeats the random choices of a failure, which names it.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from anonymizer.methods import promise_of
from anonymizer.model import Profiles
from anonymizer.storage.profiles import write_profiles
from anonymizer.storage.releases import read_release
from search_app.workspace.folder import Workspace

from ..nursery import Nursery

SEED = int(os.environ.get("VEILSEARCH_SEED") or 20_261_118)
KILLS = 8
WARM = """
from anonymizer import compiled

os.register_at_fork(after_in_child=compiled._threads.cache_clear)  # no thread lives on in a fork
for words in {!r}:
    try:
        main(["--workspace", {!r}, *words])
    except SystemExit as ended:
        assert not ended.code, words
"""


class Place:
    """A workspace with profiles; a release and a published file, in it or elsewhere."""

    def __init__(self, root: Path, folder: Path) -> None:
        root.mkdir()
        folder.mkdir(exist_ok=True)
        self.root, self.profiles, self.workspace = root, root / "profiles.npz", Workspace(root)
        self.release, self.published = folder / "release", folder / "published.jsonl"
        rng = random.Random(7)  # noqa: S311
        words = [f"w{number}" for number in range(60)]
        rows = {f"u{n}": dict.fromkeys(rng.sample(words, 6), 1.0) for n in range(120)}
        write_profiles(Profiles.from_rows(rows), self.profiles)

    def anonymize(self, seed: int) -> list[str]:
        choices = ["--set", "augment=none", "--seed", str(seed), "-o", str(self.release)]
        return ["anonymize", str(self.profiles), *choices]

    def publish(self) -> list[str]:
        against = ["--against", str(self.profiles), "-o", str(self.published), "--second"]
        return ["publish", str(self.release), *against]

    def state(self) -> tuple[Any, bytes]:
        """Return the bytes of the release and of the published file; both must be whole."""
        read_release(self.release, promise_of)
        files = sorted(path for path in self.release.rglob("*") if path.is_file())
        return [path.read_bytes() for path in files], self.published.read_bytes()

    def left(self) -> set[str]:
        """Return the names of what lies beside profiles, release and published file."""
        wanted = {self.profiles, self.release, self.published, self.root / "current.json"}
        folders = {self.root, self.release.parent}
        found = {path for folder in folders for path in folder.iterdir()}
        return {path.name for path in found - wanted} - {".lock", "ledger.jsonl", "ledger.key"}


@pytest.fixture(scope="module", params=["workspace", "elsewhere"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    root = tmp_path_factory.mktemp("killed")
    return Place(root / "workspace", root / request.param)


def holders(names: set[str]) -> set[str]:
    """Return those names under which a release is written."""
    return {name for name in names if name.startswith(".release.")}


@pytest.fixture(scope="module")
def nursery(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    warm = WARM.format([place.anonymize(0), place.publish()], str(place.root))
    made = Nursery(tmp_path_factory.mktemp("nursery"), warm)
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
            began = time.monotonic()
            assert nursery.run(place.workspace, *verb) == 0, nursery.told
            took[name] = time.monotonic() - began
        whole[seed] = place.state()
    assert whole[1] != whole[2]
    released = published = 2
    tally: Counter[str] = Counter()
    for number in range(KILLS):
        name = ("anonymize", "publish")[number % 2]
        seed = 3 - released if name == "anonymize" else released
        verb = place.anonymize(seed) if name == "anonymize" else place.publish()
        moment = chance.uniform(0.2, 1.1) * took[name]
        code = nursery.run(place.workspace, *verb, killed_after=moment)
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
    assert tally["anonymize killed, old"], f"seed {SEED}: {tally}"
    run = partial(nursery.run, place.workspace)
    assert run(*place.anonymize(1)) == run(*place.publish()) == 0
    assert place.state() == whole[1]
    assert place.left() == set()
