"""`veilsearch index` killed, interrupted, out of room, out of files, twice at once: old or new.

Runs are processes of their own. Most are forked from a nursery that has already loaded what takes
long, so that there can be many; some are whole interpreters. Random choices come from a seed that
every failure names: VEILSEARCH_SEED repeats it.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from index.manifest import Fingerprint, read_manifest
from index.model import Document
from index.opening import check_index, open_index
from search_app.workspace.folder import Workspace

from ..nursery import Child, Nursery, until

SEED = int(os.environ.get("VEILSEARCH_SEED") or 20_261_118)
KILLS = 8
DOCUMENTS = 600
GENERATIONS = ["granite", "basalt", "marble", "quartz", "slate", "chalk", "flint"]
ANIMALS = ["lion", "tiger", "zebra", "panda", "heron", "otter", "badger", "salmon", "donkey"]
WARM = """
import contextlib, time
import index.lucene.jvm, search_app.tasks.indexing
from anonymizer.terms.analysis import Analysis
from anonymizer.terms.counting import TermCounter
from anonymizer.terms.wordnet import open_wordnet
from search_app.settings import load_settings
from search_app.workspace.folder import Workspace

writing = Workspace.writing

@contextlib.contextmanager
def held(self, verb):
    with writing(self, verb):
        while not os.path.exists(os.environ.get("GO_ON", "/")):
            time.sleep(0.01)
        yield

Workspace.writing = held
# In runs this short Java's second compiler costs a sixth of the time and pays nothing back.
index.lucene.jvm.OPTIONS += ("-XX:TieredStopAtLevel=1",)
TermCounter(Analysis(open_wordnet(load_settings().cache))).count(["a lion sleeps"])
"""


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    made = Nursery(tmp_path_factory.mktemp("nursery"), WARM)
    yield made
    made.close()


def seeded() -> random.Random:
    return random.Random(SEED)  # noqa: S311


def command(workspace: Workspace, *arguments: object) -> list[str]:
    """Return the command that runs a verb in an interpreter of its own."""
    head = [sys.executable, "-m", "search_app", "--workspace", str(workspace.root)]
    return [*head, *map(str, arguments)]


def interpreter(workspace: Workspace, *arguments: object) -> Child:
    """Run a verb from the first moment of its interpreter."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command(workspace, *arguments), stdout=quiet, stderr=quiet)
    return Child(process.pid, process.poll)


def refused(nursery: Nursery, workspace: Workspace, *arguments: object) -> str:
    """Run what must be refused: exit 2, nothing on stdout, one line on stderr."""
    assert nursery.run(workspace, *arguments) == 2, nursery.told
    assert nursery.answer == ""
    assert_one_line(nursery.told)
    return nursery.told


def assert_one_line(told: str) -> None:
    assert told.startswith("veilsearch: "), told
    assert told.count("\n") == 1, told


# --- what an index must hold ---


@dataclass(frozen=True)
class State:
    """The documents of an index in their order: id -> text."""

    texts: dict[str, str] = field(default_factory=dict)

    def fingerprint(self) -> str:
        made = Fingerprint()
        for name, text in self.texts.items():
            made.add(Document(name, "", text))
        return str(made)

    def counts(self) -> dict[str, int]:
        """Count the documents of each generation; its name is each document's first word."""
        found = Counter(text.split()[0] for text in self.texts.values())
        return {name: found[name] for name in GENERATIONS}


@dataclass(frozen=True)
class Change:
    """One run of the verb: its arguments, and what the index holds after it."""

    arguments: list[str]
    after: State


def jsonl(path: Path, texts: Mapping[str, str]) -> Path:
    lines = (json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items())
    path.write_text("".join(lines))
    return path


def texts_of(chance: random.Random, generation: str, ids: list[int]) -> dict[str, str]:
    return {f"d{n}": f"{generation} {' '.join(chance.choices(ANIMALS, k=8))}" for n in ids}


def build_of(chance: random.Random, generation: str, room: Path) -> Change:
    texts = texts_of(chance, generation, list(range(DOCUMENTS)))
    return Change([str(jsonl(room / "corpus.jsonl", texts))], State(texts))


def update_of(chance: random.Random, generation: str, room: Path, old: State) -> Change:
    """Delete some documents, and add some of which half replace others."""
    gone = chance.sample(sorted(old.texts), len(old.texts) // 5) if chance.random() < 0.7 else []
    new = chance.sample(range(2 * DOCUMENTS), DOCUMENTS // 4) if chance.random() < 0.7 else []
    arguments = []
    if gone or not new:
        gone = gone or ["d0", sorted(old.texts)[0]]
        (room / "gone").write_text("\n".join(gone))
        arguments += ["--delete-from", str(room / "gone")]
    added = texts_of(chance, generation, new)
    if added:
        arguments += ["--add", str(jsonl(room / "added.jsonl", added))]
    left = {n: text for n, text in old.texts.items() if n not in added and n not in set(gone)}
    return Change(arguments, State({**left, **added}))


def assert_holds(workspace: Workspace, *states: State) -> State:
    """Open the current index; return which of the states it holds, in every part."""
    folder = workspace.find("index")
    lucene, forward = open_index(folder)
    try:
        manifest = read_manifest(folder)
        (state,) = [each for each in states if each.fingerprint() == manifest["fingerprint"]][:1]
        size = len(state.texts)
        assert manifest["counts"]["documents"] == lucene.size == forward.documents == size
        found = {name: len(lucene.pool(name, 10_000)) for name in GENERATIONS}
        assert found == state.counts()
        ids = [hit.id for hit in lucene.documents(range(0, size, 97))]
        assert ids == list(state.texts)[::97]
    finally:
        lucene.close()
    for other in builds(workspace):
        assert check_index(other) == [], other
    return state


def builds(workspace: Workspace) -> list[Path]:
    """Return what lies under a build's name."""
    return sorted((workspace.root / "indexes").glob("[!.]*"))


def assert_swept(workspace: Workspace) -> None:
    assert [path.name for path in builds(workspace)] == [workspace.find("index").name]
    assert list((workspace.root / "indexes").glob(".*")) == []
    assert {path.name for path in workspace.root.iterdir()} == {"indexes", "current.json", ".lock"}


# --- kill -9 ---


@dataclass(frozen=True)
class Kill:
    """When a run is killed: after a share of the time one takes, or when its index is sealed."""

    share: float
    late: bool
    cold: bool  # in an interpreter of its own, from its first moment


def test_killed_at_any_moment_it_is_the_old_or_the_new(nursery: Nursery, tmp_path: Path) -> None:
    chance, workspace = seeded(), Workspace(tmp_path / "killed")
    change = build_of(chance, GENERATIONS[0], tmp_path)
    began = time.monotonic()
    assert nursery.run(workspace, "index", *change.arguments) == 0, nursery.told
    took = time.monotonic() - began
    state, tally = assert_holds(workspace, change.after), Counter[str]()
    for number in range(KILLS):
        generation = GENERATIONS[number % len(GENERATIONS)]
        if chance.random() < 0.3:
            change = build_of(chance, generation, tmp_path)
        else:
            change = update_of(chance, generation, tmp_path, state)
        kill = Kill(chance.uniform(0, 1.1), late=number % 3 == 0, cold=number % 8 == 7)
        try:
            code = killed(nursery, workspace, change, kill, took)
            held = assert_holds(workspace, change.after, state)
            assert code == -signal.SIGKILL or (code == 0 and held is change.after), nursery.told
        except BaseException as fault:
            fault.add_note(f"seed {SEED}, run {number} of {took:.2f} s: {kill}, {change.arguments}")
            raise
        tally[f"{'killed' if code else 'ended'}, {'old' if held is state else 'new'}"] += 1
        state = held
        took *= 1 if code else 0.7  # kill earlier: runs are faster than the first was
    print(f"seed {SEED}: {dict(tally)}")  # shown by -rP
    assert tally["killed, old"], f"seed {SEED}: {tally}"
    change = update_of(chance, "flint", tmp_path, state)
    assert_the_next_run_is_as_if_none_was_killed(nursery, workspace, change, tmp_path)


def killed(nursery: Nursery, workspace: Workspace, change: Change, kill: Kill, took: float) -> int:
    """Run the verb and kill it; return its exit code."""
    start = interpreter if kill.cold else nursery.start
    before = builds(workspace)
    run = start(workspace, "index", *change.arguments)
    if kill.late:
        until(lambda: sealed(workspace, before) or run.poll() is not None or None, every=0.0005)
        time.sleep(kill.share * 0.03)
    else:
        time.sleep(kill.share * took)
    run.send(signal.SIGKILL)
    return run.wait()


def sealed(workspace: Workspace, before: list[Path]) -> bool:
    """Tell whether a manifest is being written, or more is done."""
    young = workspace.root.glob("indexes/.corpus.*/new/manifest.json")
    return bool(list(young)) or builds(workspace) != before


def assert_the_next_run_is_as_if_none_was_killed(
    nursery: Nursery, workspace: Workspace, change: Change, room: Path
) -> None:
    """Compare with a workspace in which the same documents were indexed once, undisturbed."""
    assert nursery.run(workspace, "index", *change.arguments) == 0, nursery.told
    assert_holds(workspace, change.after)
    assert_swept(workspace)
    fresh = Workspace(room / "fresh")
    assert nursery.run(fresh, "index", jsonl(room / "all.jsonl", change.after.texts)) == 0
    assert_holds(fresh, change.after)
    one, two = workspace.find("index"), fresh.find("index")
    for part in ("counts", "fingerprint"):
        assert read_manifest(one)[part] == read_manifest(two)[part], part
    for path in (two / "forward").iterdir():
        if path.name != "numbers.npy":
            assert path.read_bytes() == (one / "forward" / path.name).read_bytes(), path.name


# --- interrupted ---


@pytest.fixture(scope="module")
def made(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, State]:
    """Return a workspace with an index, to be copied."""
    room = tmp_path_factory.mktemp("made")
    workspace, change = Workspace(room / "w"), build_of(seeded(), "granite", room)
    assert nursery.run(workspace, "index", *change.arguments) == 0, nursery.told
    return workspace.root, change.after


@pytest.fixture
def served(made: tuple[Path, State], tmp_path: Path) -> tuple[Workspace, State]:
    """Return a workspace with an index."""
    workspace = Workspace(shutil.copytree(made[0], tmp_path / "a workspace ☕"))
    return workspace, assert_holds(workspace, made[1])


def holder(workspace: Workspace, run: Child) -> bool | None:
    """Tell whether a run has the lock, None if not yet."""
    assert run.poll() is None, "it has ended too early"
    return f", process {run.process} on " in (workspace.root / ".lock").read_text() or None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_ends_and_the_old_index_serves(
    nursery: Nursery, served: tuple[Workspace, State], tmp_path: Path, number: int
) -> None:
    workspace, state = served
    chance = seeded()
    took = 1.0
    codes = []
    for step in range(3):
        change = update_of(chance, "basalt", tmp_path, state)
        began = time.monotonic()
        run = nursery.start(workspace, "index", *change.arguments)
        until(lambda run=run: holder(workspace, run))
        if step:
            time.sleep(took * step / 3)
            run.send(number)
        code = run.wait()
        told = f"seed {SEED}, step {step} of {took:.2f} s: exit {code}, {nursery.told!r}"
        state = assert_holds(workspace, change.after, state)
        if step == 0:
            took = time.monotonic() - began
        assert code in ({0, 130, -number} if step else {0}), told
        assert nursery.told == "", told
        codes.append(code)
        if code == 130:  # Ctrl+C has time to tidy up
            assert list((workspace.root / "indexes").glob(".*")) == [], told
    assert any(codes), f"seed {SEED}: none was interrupted"
    change = update_of(chance, "marble", tmp_path, state)
    assert nursery.run(workspace, "index", *change.arguments) == 0, nursery.told
    assert_holds(workspace, change.after)
    assert_swept(workspace)


# --- two at once, and who only reads ---


def test_the_second_of_two_is_told_who_is_first_while_readers_go_on(
    nursery: Nursery, served: tuple[Workspace, State], tmp_path: Path
) -> None:
    workspace, state = served
    change = update_of(seeded(), "basalt", tmp_path, state)
    go_on = {"GO_ON": str(tmp_path / "go on")}  # having the lock, it waits for this file
    first = nursery.start(workspace, "index", *change.arguments, environment=go_on)
    until(lambda: holder(workspace, first))
    second = command(workspace, "index", *change.arguments)
    done = subprocess.run(second, capture_output=True, check=False)
    told = done.stderr.decode()
    assert (done.returncode, done.stdout, told.count("\n")) == (2, b"", 1), told
    assert f"written to by veilsearch index, process {first.process} on " in told
    assert re.search(r", since \d{4}-\d\d-\d\d ", told)
    assert told.endswith("; wait until it is done\n")
    done = subprocess.run(command(workspace, "search", "granite"), check=False)
    assert done.returncode == 0
    done = subprocess.run(
        command(workspace, "doctor", "--json"), stdout=subprocess.PIPE, check=False
    )
    bad = {each["name"] for each in json.loads(done.stdout) if not each["good"]}
    assert bad <= {"memory", "disk"}  # what else runs here
    assert_holds(workspace, state)
    (tmp_path / "go on").touch()
    assert first.wait() == 0, nursery.told
    assert_holds(workspace, change.after)
    assert_swept(workspace)


# --- no room, no files ---


@pytest.mark.parametrize(
    ("limit", "tries"),
    [
        ("RLIMIT_FSIZE", [600, 10_000]),  # the first is room for the line
        ("RLIMIT_NOFILE", [5, 28]),
    ],
)
def test_files_that_cant_grow_or_are_too_few_are_one_line(
    nursery: Nursery, served: tuple[Workspace, State], tmp_path: Path, limit: str, tries: list[int]
) -> None:
    """Other limits are tried in tests/index/test_faults.py."""
    workspace, state = served
    change = update_of(seeded(), "basalt", tmp_path, state)
    for most in tries:
        code = nursery.run(workspace, "index", *change.arguments, limits={limit: most})
        assert code == 2, f"{limit}={most}: {nursery.told}"
        assert_one_line(nursery.told)
        assert_holds(workspace, state)
        assert [path.name for path in builds(workspace)] == [workspace.find("index").name]
    assert not list(Path.cwd().glob("hs_err*"))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Return what mounts a disk, or gives it other options."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "none", str(folder), "-o"]
    if os.geteuid() or subprocess.run([*mount, "size=16m"], check=False).returncode:
        pytest.skip("only root may mount a small disk, and not everywhere")

    def remount(options: str) -> Path:
        subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)
        return folder

    yield remount
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_one_line(
    nursery: Nursery, disk: Callable[[str], Path], tmp_path: Path
) -> None:
    workspace = Workspace(disk("size=16m") / "w")
    change = build_of(seeded(), "granite", tmp_path)
    assert nursery.run(workspace, "index", *change.arguments) == 0, nursery.told
    state = assert_holds(workspace, change.after)
    used = sum(path.stat().st_blocks * 512 for path in workspace.root.rglob("*"))
    change = build_of(seeded(), "basalt", tmp_path)
    refusals = 0
    for more in (0, 16, 128):
        disk(f"size={used // 1024 + more}k")
        code = nursery.run(workspace, "index", *change.arguments)
        assert code == 2 or (code == 0 and refusals), f"{more} kB: {nursery.told}"
        if code:
            assert_one_line(nursery.told)
            refusals += 1
        held = assert_holds(workspace, change.after, state)
        assert held is state or not code
        assert [path.name for path in builds(workspace)] == [workspace.find("index").name]
        assert list((workspace.root / "indexes").glob(".*")) == []
    assert refusals >= 2
    disk("size=16m")
    assert nursery.run(workspace, "index", *change.arguments) == 0, nursery.told
    assert_holds(workspace, change.after)
    assert_swept(workspace)


def test_a_disk_that_is_read_only_serves_and_refuses(
    nursery: Nursery, disk: Callable[[str], Path], tmp_path: Path
) -> None:
    workspace = Workspace(disk("size=16m") / "w")
    change = build_of(seeded(), "granite", tmp_path)
    assert nursery.run(workspace, "index", *change.arguments) == 0, nursery.told
    disk("ro")
    told = refused(nursery, workspace, "index", *change.arguments)
    assert (
        "can't be written to (Read-only file system); check permissions and free space, or name an"
        in told
    )
    told = refused(nursery, Workspace(workspace.root.parent / "new"), "index", *change.arguments)
    assert "Read-only file system; name another folder with --workspace" in told
    assert nursery.run(workspace, "search", "granite") == 0
    assert nursery.told == ""
    assert_holds(workspace, change.after)


# --- where the workspace is, and in which locale ---


def test_a_workspace_that_is_a_file_is_refused(nursery: Nursery, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "file", {"d0": "granite"})
    told = refused(nursery, Workspace(file), "index", file)
    assert f"can't make the workspace {file}: File exists; name another folder" in told
    told = refused(nursery, Workspace(file / "w"), "index", file)
    assert "Not a directory; name another folder" in told
    assert file.read_text() == '{"id": "d0", "text": "granite"}\n'


@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["C", "ascii"],
)
def test_any_path_in_any_locale_works_or_is_one_line(
    tmp_path: Path, locale: dict[str, str]
) -> None:
    """Without UTF-8 a path of such letters may be refused, never mistaken for another."""
    workspace = Workspace(tmp_path / "köln 😀" / "a b")
    corpus = jsonl(tmp_path / "größe ☕.jsonl", {"d0": "granite", "d1": "basalt"})
    done = subprocess.run(
        command(workspace, "index", corpus),
        env={**os.environ, **locale},
        capture_output=True,
        check=False,
    )
    if done.returncode or "PYTHONUTF8" not in locale:
        assert done.returncode == (2 if "PYTHONUTF8" in locale else 0), done.stderr
    if done.returncode:
        assert_one_line(done.stderr.decode())
        assert builds(workspace) == []
    else:
        assert_holds(workspace, State({"d0": "granite", "d1": "basalt"}))
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["köln 😀"]


# --- damage ---


def test_damage_in_a_shared_file_is_found_by_doctor_and_search_and_not_passed_on(
    nursery: Nursery, served: tuple[Workspace, State], tmp_path: Path
) -> None:
    workspace, state = served
    more = State({**state.texts, "new": "basalt lion"})
    added = jsonl(tmp_path / "more.jsonl", {"new": "basalt lion"})
    kept = tmp_path / "kept"
    kept.mkdir()
    for path in (workspace.find("index") / "lucene").iterdir():
        os.link(path, kept / path.name)  # as a server that still has the old one
    assert nursery.run(workspace, "index", "--add", added) == 0, nursery.told
    assert_holds(workspace, more)
    damaged = next((workspace.find("index") / "lucene").glob("_0.doc"), None)
    damaged = damaged or max((workspace.find("index") / "lucene").glob("_0*"), key=os.path.getsize)
    assert damaged.stat().st_nlink == 2
    good = damaged.read_bytes()
    with damaged.open("r+b") as file:  # in place: whoever shares it sees it
        file.write(bytes([good[0] ^ 1]))
    for verb in (["search", "granite"], ["index", "--delete", "d0"], ["index", "--add", added]):
        assert nursery.run(workspace, *verb) == 2
        assert f"{damaged.name} has changed since it was built; build it again" in nursery.told
    assert nursery.run(workspace, "doctor", "--json") == 1
    found = next(each for each in json.loads(nursery.answer) if each["name"] == "index")
    assert "has changed since it was built" in found["found"]
    assert found["remedy"] == "build it again with: veilsearch index CORPUS"
    change = build_of(seeded(), "slate", tmp_path)
    assert nursery.run(workspace, "index", *change.arguments) == 0
    assert_holds(workspace, change.after)
