"""The web server: bound, ended by signals, one line when it can't be bound."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from email.message import Message

import pytest
from flask import Flask

from search_app.errors import UsageError
from search_app.server.waitress import _own_addresses, serve
from search_app.web.headers import HEADERS, HOSTS, guard

from ...toy_server import serving

ALWAYS = {**HEADERS, "Cache-Control": "no-store"}
REFUSED = {
    400: "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
    413: "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n",
    431: f"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: {'x' * 300_000}\r\n\r\n",
    501: "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
}


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


def tell(port: int, request: str) -> tuple[int, Message, bytes]:
    """Send a request as it stands; return status, headers and body of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as asking:
        asking.sendall(request.encode())
        with http.client.HTTPResponse(asking) as answer:
            answer.begin()
            return answer.status, answer.headers, answer.read()


def get(port: int, path: str, **headers: str) -> tuple[int, Message, bytes]:
    told = {"Host": f"127.0.0.1:{port}", **headers}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in told.items()]
    return tell(port, "\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]))


def ask(port: int, host: str) -> int:
    return get(port, "/", Host=host)[0]


def addresses(name: str) -> list[str]:
    """Return the addresses of a name, as they stand in a Host header."""
    try:
        found = {str(address[0]) for *_, address in socket.getaddrinfo(name, None)}
    except socket.gaierror:
        return []
    return [f"[{a.partition('%')[0]}]" if ":" in a else a for a in sorted(found)]


@pytest.fixture(scope="module")
def served() -> Iterator[int]:
    """A port that is answered."""
    with serving() as server:
        yield server.port


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_cleanly(number: signal.Signals) -> None:
    with serving() as server:
        assert ask(server.port, f"127.0.0.1:{server.port}") == 200
        assert ask(server.port, "evil.example") == 400
        assert (server.end(number), server.exitcode) == ("", 0)
    assert server.told == f"http://127.0.0.1:{server.port}/\n"


class Asker(threading.Thread):
    """Asks for one page and keeps its length."""

    def __init__(self, port: int, path: str):
        super().__init__()
        self.port, self.path = port, path
        self.asked, self.length = threading.Event(), -1

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", self.path)
        self.asked.set()
        self.length = len(connection.getresponse().read())
        connection.close()


@pytest.mark.parametrize("size", [10, 3_000_000])
def test_who_has_asked_is_answered_before_it_ends(size: int) -> None:
    with serving("127.0.0.1", "", "GRACE=600") as server:
        askers = [Asker(server.port, f"/slow/{size}") for _ in range(8)]  # four wait for a thread
        for asker in askers:
            asker.start()
        assert all(asker.asked.wait(60) for asker in askers)
        server.send(signal.SIGTERM)
        wait_until_closed(server.port)
        for asker in askers:
            asker.join()
        assert [asker.length for asker in askers] == [size] * 8
        server.join(60)
        assert server.exitcode == 0


def wait_until_closed(port: int) -> None:
    """Wait until the port is free for the next server."""
    with pytest.raises(ConnectionRefusedError):
        while True:
            with suppress(ConnectionResetError):  # it stood in the queue of the closed port
                socket.create_connection(("127.0.0.1", port)).close()
            time.sleep(0.05)


def test_asked_twice_it_waits_for_nobody() -> None:
    with (
        serving("127.0.0.1", "", "GRACE=600") as server,
        socket.create_connection(("127.0.0.1", server.port)) as asking,
    ):
        asking.sendall(b"GET /stuck HTTP/1.1\r\nHost: localhost\r\n\r\n")
        server.send(signal.SIGINT)
        wait_until_closed(server.port)
        assert server.is_alive()
        server.end(signal.SIGINT)
        assert not server.is_alive()


def exchange(port: int, head: str, body: bytes) -> list[int | bytes]:
    """Send a request that waits to be told to go on if it has a body; return what comes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as asking:
        asking.sendall(f"{head} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n".encode())
        asking.sendall(b"Content-Type: application/json\r\n")
        asking.sendall(f"Content-Length: {len(body)}\r\n\r\n".encode() if body else b"\r\n")
        if body:
            assert asking.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
            asking.sendall(body)
        answer = http.client.HTTPResponse(asking)
        answer.begin()
        try:
            return [answer.status, answer.read()]
        finally:
            answer.close()


def test_who_expects_to_be_told_to_go_on_is_answered(served: int) -> None:
    assert exchange(served, "GET /", b"") == [200, b"answered"]
    assert exchange(served, "POST /body", b"seven!!") == [200, b"7"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0"])  # noqa: S104
def test_bound_to_all_it_announces_and_answers_under_its_names(host: str) -> None:
    if host == "::" and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    name = socket.gethostname().lower()
    with serving(host) as server:
        names = [f"{name}:{server.port}", name.upper(), "localhost", *addresses(name)]
        assert [ask(server.port, known) for known in names] == [200] * len(names)
        assert ask(server.port, "evil.example") == 400
        assert get(server.port, "/open")[2] == b"True"
    assert server.told == f"http://{name}:{server.port}/\n"


def test_its_own_addresses_are_found_where_the_name_leads_to_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Probe:
        def __init__(self, family: int, _kind: int) -> None:
            self.family = family

        def __enter__(self) -> Probe:
            return self

        def __exit__(self, *_fault: object) -> None:
            return None

        def connect(self, _address: object) -> None:
            if self.family == socket.AF_INET6:
                raise OSError("no route")

        def getsockname(self) -> tuple[str, int]:
            return "198.51.100.7", 40000

    def unknown(_name: str, _port: None) -> None:
        raise socket.gaierror("no such host")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    monkeypatch.setattr(socket, "socket", Probe)
    assert _own_addresses("box") == {"198.51.100.7"}


@pytest.mark.parametrize("status", REFUSED)
def test_what_waitress_refuses_itself_carries_the_headers(served: int, status: int) -> None:
    found, headers, _ = tell(served, REFUSED[status])
    assert found == status
    for name, value in ALWAYS.items():
        assert headers.get_all(name) == [value]


@pytest.mark.parametrize("path", ["/api/v1/search", "/", "/apis"])
def test_what_waitress_refuses_under_api_is_json(served: int, path: str) -> None:
    _, headers, body = tell(served, REFUSED[413].replace("GET / ", f"GET {path} "))
    if path.startswith("/api/"):
        assert headers.get_all("Content-Type") == ["application/json"]
        assert json.loads(body) == {
            "error": {"status": 413, "message": "The request is too large."}
        }
    else:
        assert headers.get_all("Content-Type") == ["text/plain; charset=utf-8"]


@pytest.mark.parametrize(
    ("proxy", "known"),
    [
        ("127.0.0.1", "192.0.2.7 https://search.example.org/"),
        ("127.0.0.9", "127.0.0.1 http://127.0.0.1:{port}/"),  # another peer than the proxy
        ("", "127.0.0.1 http://127.0.0.1:{port}/"),
    ],
)
def test_only_the_proxy_is_believed_who_asks_and_for_which_host(proxy: str, known: str) -> None:
    forwarded = {
        "X_Forwarded_For": "198.51.100.1, 192.0.2.7",  # the last is the proxy's own word
        "X_Forwarded_Host": "search.example.org",
        "X_Forwarded_Proto": "https",
    }
    with serving("127.0.0.1", proxy) as server:
        assert get(server.port, "/who", **forwarded)[2].decode() == known.format(port=server.port)
        foreign = get(server.port, "/who", **{**forwarded, "X_Forwarded_Host": "evil.example"})[2]
        assert (b"does not answer" in foreign) == (proxy == "127.0.0.1")
        assert get(server.port, "/open")[2] == str(bool(proxy)).encode()  # whether others can ask


def test_a_proxy_that_can_not_be_understood_gets_the_headers_too() -> None:
    with serving("127.0.0.1", "127.0.0.1") as server:
        status, headers, _ = get(server.port, "/who", X_Forwarded_Proto="http, https")
        assert status == 400
        for name, value in ALWAYS.items():
            assert headers.get_all(name) == [value]
        assert server.end().startswith("Malformed proxy header")


def test_with_https_waitress_too_tells_browsers_to_stay() -> None:
    with serving("127.0.0.1", "", "https") as server:
        for request in ("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", REFUSED[400]):
            _, headers, _ = tell(server.port, request)
            assert headers.get_all("Strict-Transport-Security") == ["max-age=31536000"]


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
