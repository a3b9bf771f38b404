"""`serve --workers 2` behaves as one server, whichever worker answers or is killed."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest

from anonymizer.methods import anonymize
from anonymizer.methods.method import Inputs
from anonymizer.model import Profiles
from search_app.accounts.store import PeopleStore
from search_app.evaluation.log import PrecisionLog
from search_app.search.request import Request
from search_app.server import waitress
from search_app.server.sharing import (
    Caller,
    answer_calls,
    memory_of,
    own_parts,
    shared_parts,
)
from search_app.settings import Settings
from search_app.web.visitors.limits import BUCKETS

from ..conftest import Run, call, jsonl, serve_release

ROOT = Path(__file__).parents[3]
PEOPLE = [f"person-{n}" for n in range(6)]
_SERVING = re.compile(r"Serving http://127\.0\.0\.1:(\d+)/ with 2 workers")
_SOON = 120.0  # seconds, on a machine that does other work


def until(holds: Callable[[], Any]) -> Any:
    """Return what `holds` returns as soon as it is true."""
    end = time.monotonic() + _SOON
    while not (value := holds()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return value


def state(pid: int) -> str:
    """Return the state of a process: T if it is stopped, Z if it ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return "Z"


class Server:
    """The command, and its workers by process id."""

    def __init__(self, root: Path):
        self._said = root.with_name(f"said {time.monotonic()}")
        command = [sys.executable, "-m", "search_app", "--workspace", str(root), "serve"]
        environment = {**os.environ, "VEILSEARCH_ADMIN_TOKEN": "t" * 40}
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [*command, "--workers", "2", "--port", "0"], stderr=said, cwd=ROOT, env=environment
            )

    def said(self) -> str:
        return self._said.read_text()

    def children(self) -> list[int]:
        pid = self.process.pid
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        return [int(child) for task in tasks for child in task.read_text().split()]

    def workers(self) -> list[int]:
        """Return the processes that serve, without multiprocessing's own tracker."""
        running = [pid for pid in self.children() if state(pid) != "Z"]
        lines = {pid: Path(f"/proc/{pid}/cmdline") for pid in running}
        return [pid for pid, line in lines.items() if b"spawn_main" in line.read_bytes()]

    def connect(self) -> http.client.HTTPConnection:
        port = until(lambda: _SERVING.search(self.said()))[1]
        return http.client.HTTPConnection("127.0.0.1", int(port), timeout=_SOON)

    @contextmanager
    def only(self, worker: int) -> Iterator[None]:
        """Let no other than `worker` take connections within the block."""
        others = [pid for pid in self.workers() if pid != worker]
        for pid in others:
            os.kill(pid, signal.SIGSTOP)
            until(lambda pid=pid: state(pid) == "T")
        try:
            yield
        finally:
            for pid in others:
                os.kill(pid, signal.SIGCONT)

    def by(self, worker: int, method: str, path: str, cookie: str = "", **form: str) -> Any:
        """Return the answer of `worker`: status, body, and the cookie that is set."""
        with self.only(worker):
            return self.ask(method, path, cookie, **form)

    def ask(self, method: str, path: str, cookie: str = "", **form: str) -> Any:
        """Return the answer of whichever worker takes the connection."""
        with closing(self.connect()) as connection:
            return ask(connection, method, path, cookie, **form)


def ask(
    connection: http.client.HTTPConnection, method: str, path: str, cookie: str = "", **form: str
) -> tuple[int, Any, str]:
    kind = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
    sent = {"Cookie": f"veilsearch={cookie}"} if cookie else {}
    connection.request(method, path, urlencode(form) or None, {**kind, **sent})
    answer = connection.getresponse()
    text = answer.read().decode()
    given = re.search(r"veilsearch=([^;]+)", answer.headers.get("Set-Cookie", ""))
    body = json.loads(text) if answer.headers.get_content_subtype() == "json" else text
    return answer.status, body, given[1] if given else ""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace of six people in one group."""
    folder = tmp_path_factory.mktemp("workers")
    root = folder / "workspace"
    documents = ({"id": f"d{n}", "title": f"word{n}", "text": f"java only{n}"} for n in range(6))
    call(root, "index", jsonl(folder / "corpus.jsonl", documents))
    rows = {user: {"shared": 1.0, f"only{n}": 1.0} for n, user in enumerate(PEOPLE)}
    people = Profiles.from_rows(rows)
    release = anonymize("p-linkability", Inputs(people), {"p": 0.4, "augment": "none"})
    serve_release(root, people, release)
    (root / "veilsearch.toml").write_text('access = "private"\nrate = 0\n')
    return root


@pytest.fixture(scope="module")
def codes(root: Path) -> dict[str, str]:
    with closing(PeopleStore(root / "people.sqlite")) as store:
        return store.new_codes(PEOPLE)


@pytest.fixture(scope="module")
def server(root: Path, codes: dict[str, str]) -> Iterator[Server]:
    assert codes  # a running server would drop all last requests when codes are made
    server = Server(root)
    try:
        until(lambda: _SERVING.search(server.said()) or server.process.poll())
        yield server
    finally:
        server.process.kill()
        server.process.wait()


def test_it_needs_a_number_that_makes_sense(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(root, capsys)
    for number in (0, 65):
        line = run.refused("serve", "--port", "0", "--workers", number)
        assert f"--workers {number} must be from 1 to 64" in line
    study = "--mode", "study", root
    assert "a study has one server" in run.refused("serve", *study, "--workers", 2)


def test_shared_limits_are_one_and_faults_come_back() -> None:
    ends = [Pipe() for _ in range(2)]
    settings, drops = Settings(rate=1.0), SimpleNamespace(value=0)
    parts = shared_parts(settings, drops)
    for line, _ in ends:
        answer_calls(parts, line)
    # Each has a line of its own, as two workers have.
    one, other = (Caller([line]) for _, line in ends)
    buckets = [own_parts(call, settings)[BUCKETS] for call in (one, other)]
    waits = [buckets[n % 2].take("address 10.0.0.1", 1000.0) for n in range(6)]
    assert waits == [0, 0, 0, 0, 1, 1]  # four seconds' worth, whichever takes
    first, second = (memory_of(call, drops, print).transcripts for call in (one, other))
    first.note("ada", "own", Request("java", 10, profile={"tea": 1.0}), second.generation)
    assert second.of("ada") == {"own": Request("java", 10, profile={"tea": 1.0})}
    second.drop("ada")
    first.note("ada", "own", Request("java", 10), 0)  # it began before
    assert (first.of("ada"), first.generation) == ({}, 1)
    with pytest.raises(TypeError):
        buckets[0].take()
    for _, line in ends:
        line.close()


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("sent", [b"", b"\0\0", b"\0\0\xff\xffhalf"])
def test_who_is_killed_within_a_call_only_ends_its_line(sent: bytes) -> None:
    line, theirs = Pipe()
    answer_calls({}, line)
    os.write(theirs.fileno(), sent)
    theirs.close()
    until(lambda: line.closed)


def test_a_limit_counts_whichever_worker_answers(server: Server, codes: dict[str, str]) -> None:
    one, other = server.workers()
    right = codes[PEOPLE[5]]
    wrong = f"{right[:-1]}{'1' if right[-1] == '0' else '0'}"
    order = one, one, other, other, one, other, one
    tried = [server.by(at, "POST", "/sign-in", code=wrong)[0] for at in order]
    assert tried == [*[403] * 5, 429, 429]
    pages = [server.by(at, "GET", "/metrics")[1] for at in (one, other)]
    for page in pages:
        assert 'count{route="/sign-in",method="POST",status="403"} 5' in page


def test_what_one_worker_did_all_know(server: Server, codes: dict[str, str], root: Path) -> None:
    one, other = server.workers()
    _, _, cookie = server.by(one, "POST", "/sign-in", code=codes[PEOPLE[4]])
    for worker in (one, other):
        assert server.by(worker, "GET", "/?q=java+only4&mode=own", cookie)[0] == 200
    with closing(PrecisionLog(root / "precision.sqlite")) as log:
        assert sorted(row["mode"] for row in log.rows()) == ["group", "none", "own"]
    assert "java only4" in server.by(other, "GET", "/me", cookie)[1]
    server.by(other, "POST", "/sign-out", cookie)
    _, _, cookie = server.by(other, "POST", "/sign-in", code=codes[PEOPLE[4]])
    assert "java only4" not in server.by(one, "GET", "/me", cookie)[1]


def test_who_is_forgotten_by_one_worker_is_so_at_all_when_it_says_so(
    server: Server, codes: dict[str, str]
) -> None:
    one, other = server.workers()
    leaves, stays = (server.by(one, "POST", "/sign-in", code=codes[PEOPLE[n]])[2] for n in (0, 1))
    assert server.by(other, "GET", "/api/v1/profile", stays)[1]["row"]["users"] == 6
    with closing(server.connect()) as connection:
        with server.only(one):
            assert ask(connection, "GET", "/api/v1/profile", leaves)[0] == 200
            connection.request(
                "DELETE", "/api/v1/profile", headers={"Cookie": f"veilsearch={leaves}"}
            )
            until(lambda: server.ask("GET", "/api/v1/profile", stays)[1]["row"] is None)
            # One worker is done, and says nothing yet, as the other one may show the row.
            assert select.select([connection.sock], [], [], 1.0)[0] == []
        assert connection.getresponse().status == 200
        assert server.by(other, "GET", "/api/v1/profile", stays)[1]["row"] is None
    assert [server.by(at, "GET", "/me", leaves)[0] for at in (one, other)] == [303, 303]


def test_a_worker_that_is_killed_loses_nothing_and_is_started_again(
    server: Server, codes: dict[str, str]
) -> None:
    one, other = server.workers()
    _, _, cookie = server.by(other, "POST", "/sign-in", code=codes[PEOPLE[3]])
    os.kill(other, signal.SIGKILL)
    until(lambda: state(other) == "Z")
    with closing(server.connect()) as connection:
        assert ask(connection, "GET", "/api/v1/profile", cookie)[0] == 200
    (again,) = until(lambda: {*server.workers()} - {one, other})
    assert server.by(again, "GET", "/?q=java", cookie)[0] == 200
    assert "Worker 2 ended (-9); it is started again" in server.said()


def test_no_worker_outlives_its_parent(server: Server, root: Path) -> None:
    """Whether the parent is killed or ended by a signal, and whether workers serve or start."""
    starting = Server(root)
    for one, number, code in ((server, signal.SIGKILL, -9), (starting, signal.SIGTERM, 0)):
        children = until(lambda one=one: len(one.workers()) == 2 and one.children())
        one.process.send_signal(number)
        assert one.process.wait(_SOON) == code
        until(lambda children=children: {*map(state, children)} == {"Z"})


def test_a_worker_with_more_connections_lets_others_take_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = SimpleNamespace(monotonic=lambda: 10.0)
    monkeypatch.setattr(waitress, "time", now)
    loads, bound = [0, 2], socket.socket()
    bound.close()
    server = SimpleNamespace(
        share=waitress.WorkerShare(bound, loads, 1), active_channels=range(2), yields=11.0
    )
    may = [waitress._may_accept(server, lambda: True)]  # has one connection, as the other has
    server.active_channels = range(3)
    may.append(waitress._may_accept(server, lambda: True))
    server.yields = 9.0  # the other did not take it in time
    may += [waitress._may_accept(server, lambda taken=taken: taken) for taken in (True, False)]
    assert (may, loads) == ([True, False, True, False], [3, 2])
