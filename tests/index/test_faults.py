"""Whatever fails at whichever step, and whatever byte changes: whole or absent, and never served.

What kills, interrupts and starves a whole run is in tests/search_app/verbs/test_index_faults.py.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index import build as building
from index.build import update_index
from index.forward.writing import COUNTS, ForwardWriter
from index.manifest import read_manifest
from index.model import Account, Document, SearchError
from index.opening import check_index, open_index

from .conftest import Build, Counter, words

STEPS = ("fsync", "link", "mkdir", "rename", "replace")
Act = Callable[[Path], object]


class Failing:
    """Counts steps that change a disk; in place of the n-th it says that the disk is full."""

    def __init__(self, number: int) -> None:
        self.number, self.calls = number, 0

    def step(self) -> None:
        self.calls += 1
        if self.calls == self.number:
            raise OSError(28, "No space left on device")

    def counted(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.step()
            return plain(*arguments, **options)

        return call

    def open(self, path: Path, mode: str = "r", *others: Any, **options: Any) -> Any:
        """Open a file; if it is written, each write and its closing counts too."""
        if "w" not in mode:
            return _open(path, mode, *others, **options)
        self.step()
        file = Writer(io.FileIO(path, "w"))
        file.failing = self
        return file if "b" in mode else io.TextIOWrapper(file, "utf-8", write_through=True)


class Writer(io.BufferedWriter):
    """A file each write to which is a step, and its closing, which writes what waits."""

    failing: Failing

    def write(self, content: Any) -> int:
        self.failing.step()
        return super().write(content)

    def close(self) -> None:
        if self.closed:
            return
        try:
            self.failing.step()
        finally:
            super().close()


_open = io.open


@contextmanager
def failing(number: int) -> Iterator[Failing]:
    """Let the n-th step fail."""
    made = Failing(number)
    with pytest.MonkeyPatch.context() as patch:
        for name in STEPS:
            patch.setattr(os, name, made.counted(getattr(os, name)))
        patch.setattr(io, "open", made.open)
        yield made


def assert_whole_or_absent_whichever_step_fails(act: Act, room: Path, least: int) -> None:
    refused = 0
    for number in itertools.count(1):
        folder = room / f"at {number}" / "index"
        folder.parent.mkdir(parents=True)
        with failing(number) as steps:
            try:
                act(folder)
            except SearchError as error:
                assert "No space left on device" in str(error), number
                assert "\n" not in str(error)
                refused += 1
        left = [path.name for path in folder.parent.iterdir()]
        if folder.exists():
            assert left == ["index"], number
            assert check_index(folder) == [], number
        else:
            assert left == [], number
        if steps.calls < number:
            break
    assert refused >= least, f"{refused} of {number - 1} steps were refused"
    act(folder.parent / "again")
    assert check_index(folder.parent / "again") == []


def test_a_build_is_whole_or_absent_whichever_step_fails(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    """Steps: folders, each file's opening, writes, closing and sync, and the folder's renaming."""
    assert_whole_or_absent_whichever_step_fails(lambda to: build(toys, to), tmp_path, 60)


def test_an_update_is_whole_or_absent_whichever_step_fails(
    toys: list[Document], build: Build, tmp_path: Path
) -> None:
    """A file that can't be shared is copied, so not every step that fails is the end."""
    old = build(toys, tmp_path / "old")
    before = contents(old)

    def update(to: Path) -> None:
        more = [Document("d0", "", "okapi panda")]
        update_index(old, more, Counter(words), to, delete=["d1"], account=Account())

    assert_whole_or_absent_whichever_step_fails(update, tmp_path / "new", 60)
    assert contents(old) == before


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


# --- limits that Java meets too ---

LIMITED = """
import itertools, json, os, random, resource, sys
from pathlib import Path
from index.build import *
from index.model import *
from tests.index.conftest import Counter

room = Path(sys.argv[1])
kind, start, factor, more = getattr(resource, sys.argv[2]), *map(float, sys.argv[3:])
chance = random.Random(1)
texts = [" ".join(f"w{chance.randrange(3000)}" for _ in range(60)) for _ in range(400)]
documents = [Document(str(n), "", text) for n, text in enumerate(texts)]
update = dict(delete=["1"], account=Account())
hard = resource.getrlimit(kind)[1]
build_index(documents, Counter(str.split), room / "old", account=Account())
update_index(room / "old", documents[:99], Counter(str.split), room / "unlimited", **update)
for what in ("build", "update"):
    limit = start
    for number in itertools.count(1):
        folder, said = room / f"{what}.{number}", ""
        resource.setrlimit(kind, (int(limit), hard))
        try:
            if what == "build":
                build_index(documents, Counter(str.split), folder, account=Account())
            else:
                update_index(room / "old", documents[:99], Counter(str.split), folder, **update)
        except SearchError as error:
            said = str(error)
        finally:
            resource.setrlimit(kind, (hard, hard))
        print(json.dumps([what, int(limit), said, sorted(os.listdir(room))]))
        limit = limit * factor + more
        if not said:
            break
"""


@pytest.mark.parametrize(
    ("limit", "start", "factor", "more", "told"),
    [
        ("RLIMIT_FSIZE", 1, 2, 0, "File too large"),
        ("RLIMIT_NOFILE", 8, 1, 1, "Too many open files"),
    ],
)
def test_under_any_limit_it_is_whole_or_absent(
    tmp_path: Path, limit: str, start: int, factor: float, more: int, told: str
) -> None:
    """The limit grows until the build and the update succeed; one JVM survives all of it."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path), limit, str(start), str(factor), str(more)],
        env={"LC_ALL": "C", "PYTHONPATH": str(Path(building.__file__).parents[1])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    for what in ("build", "update"):
        *refused, (_, _, nothing, _) = [each for each in rounds if each[0] == what]
        assert nothing == ""
        assert len(refused) > 5
        for _, most, said, left in refused:
            assert told in said or "broken forward index" in said, (what, most, said)
            assert "\n" not in said
            hidden = [name for name in left if name.startswith(".")]
            assert not hidden or "open files" in told, (what, most)  # to tidy up takes a few
    left_over = list(tmp_path.glob("[!.]*"))
    assert len(left_over) == 4  # nothing of what was refused, no hs_err of Java's
    folders = {path.name.partition(".")[0]: path for path in left_over}
    assert sorted(folders) == ["build", "old", "unlimited", "update"]
    for one, two in (("build", "old"), ("update", "unlimited")):
        assert check_index(folders[one]) == []
        same = [read_manifest(folders[name])["fingerprint"] for name in (one, two)]
        assert same[0] == same[1]


@pytest.fixture
def updated(toys: list[Document], build: Build, tmp_path: Path) -> Path:
    """Return an index that shares files with the one it was made from."""
    old = build(toys, tmp_path / "old")
    more = [Document("d5", "Okapi", "zebra giraffe"), Document("d6", "", "panda panda")]
    update_index(old, more, Counter(words), tmp_path / "new", account=Account())
    return tmp_path / "new"


def assert_refused(folder: Path, *names: str) -> None:
    with pytest.raises(SearchError) as caught:
        open_index(folder)
    faults = check_index(folder)
    assert "build it again with: veilsearch index CORPUS" in str(caught.value)
    for name in names:
        assert any(name in fault for fault in faults), (name, faults)
        assert all("\n" not in fault for fault in faults)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "first bit": lambda good: bytes([good[0] ^ 1]) + good[1:],
    "middle bit": lambda good: (
        good[: len(good) // 2] + bytes([good[len(good) // 2] ^ 128]) + good[len(good) // 2 + 1 :]
    ),
    "last bit": lambda good: good[:-1] + bytes([good[-1] ^ 64]),
    "cut": lambda good: good[:-1],
    "halved": lambda good: good[: len(good) // 2],
    "emptied": lambda _: b"",
    "longer": lambda good: good + b"\0",
    "zeros": lambda good: bytes(len(good)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_no_damage_to_any_file_is_served(updated: Path, damage: str) -> None:
    """In place, as a disk would do it: the files that are shared are damaged in both folders."""
    shared = 0
    for name, good in contents(updated).items():
        path = updated / name
        path.write_bytes(DAMAGES[damage](good))
        assert_refused(updated, path.name)
        twin = updated.parent / "old" / name
        if twin.exists() and twin.samefile(path):
            shared += 1
            assert_refused(twin.parents[1], path.name)
        path.write_bytes(good)
    assert shared > 8
    assert check_index(updated) == check_index(updated.parent / "old") == []


def test_a_file_that_is_a_folder_or_a_link_to_nothing_is_refused(updated: Path) -> None:
    path = updated / "forward" / "tf.npy"
    kept = path.rename(updated.parent / "kept")
    path.mkdir()
    assert_refused(updated, "tf.npy is missing")
    path.rmdir()
    path.symlink_to("nowhere")
    assert_refused(updated, "tf.npy is missing")
    path.unlink()
    kept.rename(path)
    assert check_index(updated) == []


def test_a_manifest_that_can_not_be_read_is_not_called_damaged(updated: Path) -> None:
    (updated / "manifest.json").unlink()
    (updated / "manifest.json").mkdir()
    assert_refused(updated, "manifest.json can't be read (Is a directory); check its rights, or")


class Many:
    """Counts, in each text, as many terms as it has words, all of the same few thousand."""

    TERMS = 2_000
    terms = tuple(f"t{n:04d}" for n in range(TERMS))

    def count(self, texts: Sequence[str]) -> tuple[Any, Any, Any]:
        columns = np.tile(np.arange(self.TERMS, dtype=np.int32), len(texts))
        return columns, np.ones_like(columns), self.TERMS * np.arange(1, len(texts) + 1)


def peak(folder: Path, documents: int) -> int:
    """Return the most memory that writing a forward index has taken at any moment."""
    text = "t" * 2 * Many.TERMS
    tracemalloc.start()
    try:
        writer = ForwardWriter(folder, Many())  # type: ignore[arg-type]
        for _ in range(documents):
            writer.add(Document("", "", text))
        assert writer.write() == Many.TERMS
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_counts(tmp_path: Path) -> None:
    few = 2 * COUNTS // Many.TERMS
    small, large = peak(tmp_path / "small", few), peak(tmp_path / "large", 8 * few)
    print(f"{small / 1e6:.0f} MB and, with 8 times the counts, {large / 1e6:.0f} MB")
    assert large < 1.2 * small
    assert (tmp_path / "large" / "indices.npy").stat().st_size > 7 * 2 * 2 * COUNTS
