"""The web server: bound, ended by signals, one line when it can't be bound."""

from __future__ import annotations

import http.client
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from flask import Flask

from search_app.errors import UsageError
from search_app.web import serve
from search_app.web.headers import HOSTS, guard

PROGRAM = """
import sys
from flask import Flask
from search_app.web import serve
from search_app.web.headers import guard
app = Flask("toy")
app.get("/")(lambda: "answered")
guard(app)
serve(app, "127.0.0.1", int(sys.argv[1]))
"""


@pytest.fixture
def port() -> Iterator[int]:
    """A port that is bound, and so taken."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def guarded() -> Flask:
    app = Flask("toy")
    guard(app)
    return app


def ask(port: int, host: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/", headers={"Host": host})
        return connection.getresponse().status
    finally:
        connection.close()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server did not start")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_cleanly(number: signal.Signals) -> None:
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        wait_for(port)
        assert ask(port, f"127.0.0.1:{port}") == 200
        assert ask(port, "evil.example") == 400
    finally:
        server.send_signal(number)
        out, err = server.communicate(timeout=10)
    assert (server.returncode, out, err) == (0, b"", b"")


def test_a_taken_port_is_one_line(port: int) -> None:
    with pytest.raises(UsageError, match=rf"port {port}: Address already in use; name others"):
        serve(guarded(), "127.0.0.1", port)


@pytest.mark.parametrize("port", [-1, 65536])
def test_an_impossible_port_is_one_line(port: int) -> None:
    with pytest.raises(UsageError, match=f"--port {port} must be from 0 to 65535"):
        serve(guarded(), "127.0.0.1", port)


def test_an_unknown_host_is_one_line() -> None:
    with pytest.raises(UsageError, match=r"can't serve on nowhere\.invalid, port 0: "):
        serve(guarded(), "nowhere.invalid", 0)


def test_the_bound_host_is_trusted() -> None:
    app = guarded()
    with pytest.raises(UsageError):
        serve(app, "127.0.0.2", 65536)
    assert "127.0.0.2" in app.config[HOSTS]
