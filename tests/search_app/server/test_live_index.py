"""A running server and its workspace: updates under load, damage, races, and its end."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from search_app.cli import main
from search_app.workspace.folder import Workspace

from ..conftest import call, jsonl

ROOT = Path(__file__).parents[3]
WORDS = ("lion", "tiger", "panda", "zebra", "otter", "camel", "goat", "horse")  # one a client
SHOWN = 10  # on a page
UPDATES = 4
PATIENCE = 300.0
VERSION = re.compile(r"Title v(\d+)")
ID = re.compile(r'class="where"[^>]*>([a-z]+)-(\d+)<')  # beside each result
FOUND = re.compile(r"of (\d+) found")
SERVING = re.compile(r"Serving http://127\.0\.0\.1:(\d+)/ ")
needs_proc = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")


def documents(version: int, word: str = WORDS[0]) -> int:
    """Return how many documents of a version have a word: no other word or version as many."""
    return 10 * WORDS.index(word) + 20 + version


def lasting_port() -> int:
    """Return a free port that the system gives nobody by chance, as it does with most."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(first // 2, first)  # noqa: S311
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port


class Server(subprocess.Popen[bytes]):
    """A server in a process of its own, which tells its port in what it says."""

    def __init__(self, command: list[str], file: Path, environment: dict[str, str]):
        self._file = file
        with file.open("wb") as said:  # not a pipe: it can be read before the end, and never fills
            super().__init__(
                command, stdout=subprocess.PIPE, stderr=said, cwd=ROOT, env=environment
            )

    def said(self) -> str:
        return self._file.read_text()

    def port(self) -> int:
        """Return the port that is served, 0 if none is yet."""
        found = SERVING.search(self.said())
        return int(found[1]) if found else 0


class Place:
    """A workspace of invented people, its corpus in versions, and servers of it."""

    def __init__(self, folder: Path, cache: Path):
        self.folder = folder
        self.root = folder / "a workspace"
        self.workspace = Workspace(self.root)
        self.port = 0  # of the latest server
        self.environment = {**os.environ, "VEILSEARCH_CACHE": str(cache)}
        self.command = [sys.executable, "-m", "search_app", "--workspace", str(self.root)]

    def run(self, *arguments: object) -> None:
        call(self.root, *arguments)

    def index(self, version: int, *options: str) -> Path:
        """Index a version of the corpus, whose every document names it."""
        rows = [
            {"id": f"{w}-{n}", "title": f"Title v{version}", "text": f"java coffee code {w} {n}"}
            for w in WORDS
            for n in range(documents(version, w))
        ]
        self.run("index", jsonl(self.folder / f"v{version}.jsonl", rows), *options)
        return self.workspace.find("index")

    def people(self, seed: int = 0) -> list[str]:
        """Write a town, its profiles and a release; return the people who can be chosen."""
        town = self.folder / f"town{seed}.tsv"
        self.run("town", "-o", town, "--users", 6, "--queries", 20, "--seed", seed)
        self.run("profiles", town)
        self.run("anonymize", "--set", "p=0.9")
        profiles = self.workspace.find("profiles").read_text().splitlines()
        return sorted(json.loads(line)["user"] for line in profiles)

    @contextmanager
    def starting(self, port: int = 0) -> Iterator[Server]:
        """Start a server; it is gone when the block ends."""
        command = [*self.command, "serve", "--port", str(port)]
        with Server(command, self.folder / "said", self.environment) as process:
            try:
                yield process
            finally:
                process.kill()

    @contextmanager
    def serving(self, port: int = 0) -> Iterator[Server]:
        """Start a server and wait until it answers."""
        with self.starting(port) as process:
            wait(lambda: process.poll() is not None or process.port(), "where it serves")
            assert process.poll() is None, process.said()
            self.port = process.port()
            assert self.served()
            yield process

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def served(self) -> str:
        """Return the index that is served, by name and number."""
        return str(json.loads(self.get("/api/v1/health")[1])["index"])


def wait(until: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if until():
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"never came: {what}")


@pytest.fixture
def place(tmp_path: Path, wordnet_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("VEILSEARCH_CACHE", str(wordnet_cache))
    return Place(tmp_path, wordnet_cache)


@pytest.fixture
def server(place: Place) -> Iterator[Server]:
    place.index(1)
    with place.serving() as process:
        yield process


def end(process: Server) -> str:
    """Ask a server to end; return what it has said."""
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, process.said()
    assert out == b""
    return process.said()


def deleted(process: Server) -> list[str]:
    """List the removed files of indexes that a process still holds on to."""
    maps = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
    handles = [str(each.readlink()) for each in Path(f"/proc/{process.pid}/fd").iterdir()]
    return [line for line in maps + handles if "(deleted)" in line and "/indexes/" in line]


def catches(process: Server, number: signal.Signals) -> bool:
    """Tell whether a process has a handler of its own for a signal."""
    [caught] = re.findall(r"SigCgt:\s*(\w+)", Path(f"/proc/{process.pid}/status").read_text())
    return bool(int(caught, 16) >> (number - 1) & 1)


class Client(threading.Thread):
    """Asks again and again for a word of its own, and keeps every answer that is wrong."""

    def __init__(self, place: Place, word: str, who: str, ended: threading.Event):
        super().__init__()
        self.place, self.word, self.ended = place, word, ended
        self.path, self.plain = f"/?q={word}{who}", "mode=own" not in who
        self.answers = 0
        self.versions: list[int] = []
        self.wrong: list[str] = []

    def run(self) -> None:
        while not self.ended.is_set():
            try:
                self.judge(*self.place.get(self.path))
            except (OSError, http.client.HTTPException) as fault:
                self.wrong.append(repr(fault))
            self.answers += 1

    def judge(self, status: int, page: str) -> None:
        """Take an answer: of one version and word, as many as there are, never older than before.

        Plain scores are all the same, so the first documents come first.
        """
        found, versions = FOUND.findall(page), {int(each) for each in VERSION.findall(page)}
        failed = status != 200 or len(versions) != 1 or "Personalization failed" in page
        many = documents(max(versions, default=0), self.word)
        rows = [int(row) for word, row in ID.findall(page) if word == self.word]
        others = {word for word, _ in ID.findall(page)} & set(WORDS) - {self.word}
        right = rows == list(range(SHOWN)) if self.plain else set(rows) <= set(range(many))
        if failed or found != [str(many)] or others or not right or len(set(rows)) != SHOWN:
            self.wrong.append(
                f"{status}: versions {versions}, found {found}, {others}, rows {rows}"
            )
            return
        self.versions.append(versions.pop())
        if self.versions != sorted(self.versions):
            self.wrong.append(f"went back: {self.versions[-2:]}")


@needs_proc
def test_updates_under_load_are_served_without_a_wrong_or_failed_answer(place: Place) -> None:
    place.index(1)
    people = place.people()
    with place.serving() as process:
        ended = threading.Event()
        asked = [f"&user={user}&mode={mode}" for user in people for mode in ("own", "none")]
        asking = zip(WORDS, ["", "", *asked], strict=False)
        clients = [Client(place, word, who, ended) for word, who in asking]
        assert len(clients) == len(WORDS)
        for client in clients:
            client.start()
        for version in range(2, 2 + UPDATES):
            folder = place.index(version, *["--add"] * (version in (3, 4)))
            if version % 2:  # every other one is replaced before anybody could open it
                wait(lambda name=folder.name: place.served() == name, f"version {version}")
        last = place.workspace.find("index").name
        wait(lambda: place.served() == last, "the last version")
        counts = [client.answers for client in clients]
        wait(lambda: all(c.answers > n + 2 for c, n in zip(clients, counts, strict=True)), "more")
        ended.set()
        for client in clients:
            client.join()
        assert [client.wrong for client in clients] == [[]] * len(WORDS)
        assert {client.versions[0] for client in clients} == {1}
        assert {client.versions[-1] for client in clients} == {1 + UPDATES}
        with contextlib.suppress(AssertionError):
            wait(lambda: not deleted(process), "the release of the former indexes' files")
        assert deleted(process) == []
        said = end(process)
        assert "Serving http://127.0.0.1:" in said
        assert f"The workspace was updated; served from now on: {last}, " in said
        assert "can't be opened" not in said
        assert not any(user in said for user in people)


def test_profiles_and_release_are_followed_together(place: Place) -> None:
    place.index(1)
    former = place.people(seed=0)
    with place.serving() as process:
        release = json.loads(place.get("/api/v1/health")[1])["release"]
        new = place.people(seed=1)
        chosen = set(new) - set(former)
        assert chosen, "the towns should differ"

        def followed() -> bool:
            said = json.loads(place.get("/api/v1/health")[1])["release"]
            return said.startswith("p-linkability") and said != release

        wait(followed, "the new release")
        user = min(chosen)
        status, page = place.get(f"/?q=java&user={user}&mode=group")
        assert (status, "Personalization failed" in page) == (200, False)
        assert place.get(f"/?q=java&user={min(set(former) - set(new))}")[0] == 404
        end(process)


def test_a_damaged_update_leaves_the_old_one_serving(place: Place, server: Server) -> None:
    kept = place.folder / "kept"
    good = place.workspace.find("index")
    shutil.copytree(good, kept)
    broken = good.with_name("corpus.0002")
    shutil.copytree(good, broken)
    arrays = next((broken / "forward").rglob("*.npy"))
    arrays.write_bytes(arrays.read_bytes()[:-1])
    place.workspace.switch_index(broken)
    assert not good.exists()
    wait(lambda: "can't be opened" in server.said(), "the refusal")
    time.sleep(1)  # it is tried again, and said once
    status, page = place.get("/?q=java")
    assert (status, set(VERSION.findall(page))) == (200, {"1"})
    assert place.served() == "corpus.0001"
    shutil.rmtree(broken)
    shutil.copytree(kept, broken)
    wait(lambda: place.served() == "corpus.0002", "the mended index")
    said = end(server)
    assert said.count("can't be opened (SearchError)") == 1
    assert said.count("\n") == 3
    assert str(place.root) not in said


@needs_proc
def test_it_ends_cleanly_and_starts_again_on_the_same_port(place: Place) -> None:
    place.index(1)
    port = lasting_port()
    for _ in range(2):
        with place.serving(port) as process:
            end(process)
        with pytest.raises(ConnectionRefusedError):
            place.get("/")


def test_a_build_has_its_name_on_the_disk_before_it_is_current(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power cut at any moment what is current is there."""
    place.index(1)
    events: list[str] = []
    sync = os.fsync
    known = {
        path.stat().st_ino: f"sync {path.name}" for path in (place.root, place.root / "indexes")
    }

    def record(handle: int) -> None:
        sync(handle)
        events.append(known.get(os.fstat(handle).st_ino, "sync a file"))

    def moved(name: str, move: Callable[[Path, Path], None], source: Path, target: Path) -> None:
        move(source, target)
        events.append(f"{name} {Path(target).name}")

    monkeypatch.setattr(os, "fsync", record)
    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, partial(moved, name, getattr(os, name)))
    place.index(2)
    begin = events.index("rename corpus.0002")
    assert events[begin : begin + 5] == [
        "rename corpus.0002",
        "sync indexes",
        "sync a file",  # the new current.json
        "replace current.json",
        f"sync {place.root.name}",
    ]
    assert "replace current.json" not in events[:begin]
    [gone] = events[begin + 5 :]  # the build it replaces, and no sooner
    assert gone == "rename new"  # in .corpus.0001.veil0a1b


def test_another_index_than_before_is_told(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    told = []
    for options in ([], ["--name", "other"], ["--add"], ["--name", "corpus", "--add"], []):
        capsys.readouterr()
        place.index(1, *options)
        told.append((place.workspace.find("index").name, capsys.readouterr().err))
    assert told == [
        ("corpus.0001", ""),
        ("other.0001", "search and serve use other from now on\n"),
        ("other.0002", ""),
        ("corpus.0002", "search and serve use corpus from now on\n"),
        ("corpus.0003", ""),
    ]


@pytest.mark.parametrize(("there", "told"), [(False, "is not there; build"), (True, "is a file;")])
def test_a_workspace_that_is_none_is_not_served(
    place: Place, capsys: pytest.CaptureFixture[str], there: bool, told: str
) -> None:
    if there:
        place.root.touch()
    with pytest.raises(SystemExit) as ended:
        main(["--workspace", str(place.root), "serve"])
    [line] = capsys.readouterr().err.splitlines()
    assert (ended.value.code, told in line, "precision" in line) == (2, True, False)
    assert not place.root.is_dir()


@needs_proc
def test_it_ends_cleanly_while_it_is_starting_or_following(place: Place) -> None:
    place.index(1)
    for seconds in (0.0, 0.5):
        with place.starting() as process:
            wait(lambda process=process: catches(process, signal.SIGTERM), "the verb")
            time.sleep(seconds)
            end(process)
    with place.serving() as process:
        place.index(2)
        time.sleep(0.5)
        end(process)


@pytest.mark.parametrize("verb", [("search", "java"), ("doctor",)])
def test_verbs_open_what_is_current_when_an_update_comes_in_between(
    place: Place, verb: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place.index(1)
    place.index(2)
    find, current = Workspace.find, place.workspace.find("index")
    updates = iter([current.with_name("corpus.0003"), current.with_name("corpus.0004")])

    def find_then_update(self: Workspace, kind: str) -> Path:
        """Find a folder which is gone by the time it is opened, twice."""
        found = find(self, kind)
        if kind == "index" and (following := next(updates, None)):
            shutil.copytree(found, following)
            self.switch_index(following)
            assert not found.exists()
        return found

    monkeypatch.setattr(Workspace, "find", find_then_update)
    capsys.readouterr()
    place.run(*verb, "--json")
    said = json.loads(capsys.readouterr().out)
    if verb == ("doctor",):
        [looked] = [check for check in said if check["name"] == "index"]
        assert (looked["good"], looked["found"][-11:]) == (True, "corpus.0004")
    else:
        assert said["hits"][0]["title"] == "Title v2"
