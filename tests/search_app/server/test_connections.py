"""Connections that nobody uses keep nobody out, and none is held for ever."""

from __future__ import annotations

import http.client
import resource
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from search_app.server import connections

from ..toy_server import serving

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
INFINITE = resource.RLIM_INFINITY


def connect(port: int, address: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(address, 0))


def is_answered(asking: socket.socket, request: bytes = GET) -> bool:
    """Send a request and return whether its whole answer comes."""
    try:
        asking.sendall(request)
        with http.client.HTTPResponse(asking) as answer:
            answer.begin()
            return answer.status == 200 and bool(answer.read())
    except (ConnectionError, http.client.HTTPException):
        return False


def is_closed(held: socket.socket) -> bool:
    try:
        return held.recv(1) == b""
    except ConnectionError:
        return True


@pytest.fixture(scope="module")
def impatient() -> Iterator[int]:
    """Return the port of a server that waits half a second for its clients."""
    with serving("127.0.0.1", "", "PATIENCE=0.5") as server:
        yield server.port


def test_silence_ends_a_connection(impatient: int) -> None:
    with connect(impatient) as silent, connect(impatient) as answered:
        assert is_answered(answered)
        assert is_closed(silent)
        assert is_closed(answered)


@pytest.mark.parametrize(
    ("first", "byte"),
    [
        (b"GET / HTTP/1.1\r\nX: ", b"x"),
        (b"POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n", b"x"),
        (b"\r\n", b"\r\n\r\n"),  # blank lines before a request, which servers skip
        (GET, b"\r"),
    ],
)
def test_a_byte_now_and_then_does_not_hold_a_connection(
    impatient: int, first: bytes, byte: bytes
) -> None:
    ended = threading.Event()
    with connect(impatient) as slow:
        slow.sendall(first)

        def drip() -> None:
            while not ended.wait(0.05):
                try:
                    slow.sendall(byte)
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            while not is_closed(slow):  # the answer to GET comes first
                pass
        finally:
            ended.set()
            dripping.join()


def test_an_answer_may_take_longer_than_that(impatient: int) -> None:
    with connect(impatient) as asking:
        assert is_answered(asking, GET.replace(b"/ ", b"/slow/3000000 ", 1))


@pytest.fixture(scope="module")
def narrow() -> Iterator[int]:
    """Return the port of a server that takes twenty connections."""
    with serving("127.0.0.1", "", "MOST=20") as server:
        yield server.port


@pytest.mark.parametrize("held", [b"", b"GET / HTTP/1.1\r\nX: ", GET])
def test_held_connections_keep_nobody_out(narrow: int, held: bytes) -> None:
    """Ten times as many as the server takes: who comes from there, too, is answered."""
    with ExitStack() as stack:
        far = stack.enter_context(connect(narrow, "127.0.0.2"))
        assert is_answered(far)
        for _ in range(200):
            stack.enter_context(connect(narrow)).sendall(held)
        for address in ("127.0.0.1", "127.0.0.2", "127.0.0.3"):
            with connect(narrow, address) as asking:
                assert is_answered(asking)
        assert is_answered(far)  # others' connections never push this one out


def test_addresses_together_keep_nobody_out(narrow: int) -> None:
    with ExitStack() as stack:
        far = stack.enter_context(connect(narrow, "127.0.0.2"))
        for at in range(100):
            stack.enter_context(connect(narrow, f"127.0.0.{3 + at % 5}"))
        with connect(narrow) as asking:
            assert is_answered(asking)
        assert is_answered(far)


def test_a_proxy_has_all_connections() -> None:
    with serving("127.0.0.1", "127.0.0.1", "MOST=20") as server, ExitStack() as stack:
        pool = [stack.enter_context(connect(server.port)) for _ in range(20)]
        assert all(is_answered(asking) for asking in pool)


def test_a_class_behind_one_address_keeps_its_connections() -> None:
    with serving() as server, ExitStack() as stack:
        browsers = [stack.enter_context(connect(server.port)) for _ in range(40 * 6)]
        for _ in range(3):
            assert all(is_answered(asking) for asking in browsers)


def test_where_all_are_being_answered_only_the_newest_goes() -> None:
    with serving("127.0.0.1", "", "MOST=4", "SHARE=1") as server, ExitStack() as stack:
        waiting = [stack.enter_context(connect(server.port)) for _ in range(4)]
        slow = GET.replace(b"/ ", b"/slow/10 ", 1)
        with ThreadPoolExecutor(5) as pool:
            answered = [pool.submit(is_answered, each, slow) for each in waiting]
            newest = stack.enter_context(connect(server.port))
            answered.append(pool.submit(is_answered, newest, slow))
            assert sum(each.result() for each in answered) >= 4


@pytest.mark.parametrize(
    ("soft", "hard", "allowed", "after"),
    [
        (1024, 4096, 1000, 1256),
        (1024, 1024, 768, 1024),
        (1024, INFINITE, 1000, 1256),
        (256, 300, 44, 300),
        (100, 100, 1, 100),
        (5000, 5000, 1000, 5000),
        (INFINITE, INFINITE, 1000, INFINITE),
    ],
)
def test_the_limit_of_files_is_raised_as_far_as_it_may_be(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, allowed: int, after: int
) -> None:
    limits = [(soft, hard)]
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _kind, limit: limits.append(limit))
    assert connections.allowed_connections() == allowed
    assert limits[-1] == (after, hard)
