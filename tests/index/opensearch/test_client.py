"""The client against real sockets: nodes that refuse, hang up, say 503, are silent, or are old."""

from __future__ import annotations

import gzip
import json
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest import mock

import numpy as np
import pytest

from index.model import SearchError
from index.opensearch.client import (
    TOO_MUCH,
    ClusterError,
    ClusterPlace,
    NoTimeLeft,
    OpenSearchCluster,
)
from index.opensearch.searching import OpenSearchIndex

Answer = tuple[int, object] | None  # None: hang up


class OneNode(ThreadingHTTPServer):
    """A node that answers as it is set to, and keeps what it got."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[Answer] = []  # the last one again and again
        self.got: list[tuple[str, str, bytes, dict[str, str]]] = []
        self.opened = 0
        self.host = f"127.0.0.1:{self.server_address[1]}"
        self.idle: list[socket.socket] = []

    def next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def hang_up(self) -> None:
        """Close all connections, as a node does that is started again."""
        for one in self.idle:
            one.shutdown(socket.SHUT_RDWR)
        self.idle.clear()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: OneNode

    def setup(self) -> None:
        super().setup()
        self.server.opened += 1
        self.server.idle.append(self.connection)

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.got.append((self.command, self.path, body, dict(self.headers)))
        answer = self.server.next()
        if answer is None:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        status, value = answer
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = answer  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def nodes() -> Iterator[Callable[..., list[OneNode]]]:
    with ExitStack() as stack:

        def made(*answers: list[Answer]) -> list[OneNode]:
            started = []
            for own in answers:
                node = stack.enter_context(OneNode())
                node.answers = own
                threading.Thread(target=node.serve_forever, args=(0.01,), daemon=True).start()
                stack.callback(node.shutdown)
                started.append(node)
            return started

        yield made


@pytest.fixture
def cluster() -> Iterator[Callable[..., OpenSearchCluster]]:
    with ExitStack() as stack:

        def made(*hosts: str, **more: Any) -> OpenSearchCluster:
            asking = OpenSearchCluster(ClusterPlace(hosts, **more))
            stack.callback(asking.close)
            return asking

        yield made


def dead() -> str:
    """Return a host that refuses: nobody listens at its port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


FINE: Answer = (200, {"fine": True})
BUSY: Answer = (503, {"error": {"type": "cluster_block_exception", "reason": "secret words"}})


@pytest.mark.parametrize("fault", [None, BUSY, (502, b"<html>")], ids=["hangs up", "503", "502"])
def test_another_node_gets_what_one_failed_to_answer(
    cluster: Any, nodes: Any, fault: Answer
) -> None:
    failing, other = nodes([fault], [FINE])
    asking = cluster(failing.host, other.host)
    assert [asking.ask("POST", "/x", {"a": 1}) for _ in range(4)] == [{"fine": True}] * 4
    assert len(failing.got) == 1  # then it is the last to be tried
    assert {one[:3] for one in other.got} == {("POST", "/x", b'{"a": 1}\n')}


def test_two_nodes_at_most_get_a_request(cluster: Any, nodes: Any) -> None:
    three = nodes([BUSY], [BUSY], [BUSY])
    with pytest.raises(ClusterError, match=r"can't do this \(HTTP 503, cluster_block_excep"):
        cluster(*(node.host for node in three)).ask("GET", "/x")
    assert sorted(len(node.got) for node in three) == [0, 1, 1]


@pytest.mark.parametrize("kind", TOO_MUCH)
def test_what_is_too_much_is_not_asked_again(cluster: Any, nodes: Any, kind: str) -> None:
    much: Answer = (500, {"error": {"type": "x", "root_cause": [{"type": kind}]}})
    two = nodes([much], [much])
    with pytest.raises(ClusterError) as caught:
        cluster(*(node.host for node in two)).ask("POST", "/x", {})
    assert (caught.value.kind, sum(len(node.got) for node in two)) == (kind, 1)


def test_what_may_not_be_repeated_is_sent_once(cluster: Any, nodes: Any) -> None:
    two = nodes([None], [None])
    with pytest.raises(ClusterError, match="no node of OpenSearch answers"):
        cluster(*(node.host for node in two)).ask("PUT", "/x", {}, safely=False)
    assert sum(len(node.got) for node in two) == 1
    (kept,) = nodes([FINE, None])
    asking = cluster(kept.host)
    asking.ask("GET", "/x")
    with pytest.raises(ClusterError, match="no node of OpenSearch answers"):
        asking.ask("PUT", "/x", {}, safely=False)  # not on the old connection, nor a second time
    assert len(kept.got) == 2


def test_nodes_that_refuse_cost_nothing(cluster: Any, nodes: Any) -> None:
    (living,) = nodes([FINE])
    asking = cluster(dead(), dead(), living.host)
    assert [asking.ask("GET", "/x") for _ in range(3)] == [{"fine": True}] * 3


def test_without_a_node_there_is_one_line(cluster: Any) -> None:
    with pytest.raises(ClusterError, match=r"no node .* answers \(ConnectionRefusedError\); see"):
        cluster(dead(), dead(), dead()).ask("GET", "/x")


def test_a_connection_is_kept_and_a_node_that_came_back_is_no_fault(
    cluster: Any, nodes: Any
) -> None:
    (node,) = nodes([FINE])
    asking = cluster(node.host)
    for _ in range(3):
        asking.ask("GET", "/x")
    assert node.opened == 1
    node.hang_up()
    assert asking.ask("GET", "/x") == {"fine": True}
    assert node.opened == 2


def test_a_silent_node_ends_with_the_deadline(cluster: Any) -> None:
    with socket.socket() as silent:  # takes connections, and never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(NoTimeLeft):
            cluster(f"127.0.0.1:{silent.getsockname()[1]}").ask("GET", "/x", seconds=0.05)


@contextmanager
def endless(head: bytes, piece: bytes) -> Iterator[str]:
    """Give the host of a node that answers `head`, and then `piece` again and again."""

    class Endless(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                self.request.sendall(head)
                while True:
                    self.request.sendall(piece)
                    time.sleep(0 if len(piece) > 9 else 0.005)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Endless) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize("head", [OK, OK + b"Content-Length: 9999\r\n\r\n", OK + b"\r\n"])
def test_a_node_that_drips_ends_with_the_deadline(cluster: Any, head: bytes) -> None:
    with endless(head, b"x") as host, pytest.raises(NoTimeLeft):
        cluster(host).ask("GET", "/x", seconds=0.3)


@pytest.mark.parametrize("head", [b"", b"Content-Length: 999999999999999\r\n"])
def test_an_answer_without_an_end_is_refused(cluster: Any, head: bytes) -> None:
    with (
        mock.patch("index.opensearch.client.MOST_BYTES", 1 << 20),
        endless(OK + head + b"\r\n", b"x" * 4096) as host,
        pytest.raises(ClusterError, match="no node of OpenSearch answers"),
    ):
        cluster(host).ask("GET", "/x")


GARBAGE = {
    "half": (200, b'{"fine": '),
    "empty": (200, b""),
    "packed": (200, gzip.compress(b"{}")),
    "no object": (200, [1]),
    "too deep": (200, b"[" * 100_000),
    "elsewhere": (302, b""),
    "elsewhere, with JSON": (307, {"fine": True}),
    "a fault of another form": (400, {"error": {"type": "a b", "root_cause": "secret"}}),
    "a fault in text": (400, {"error": "secret"}),
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_refused_in_one_line(cluster: Any, nodes: Any, garbage: Answer) -> None:
    (node,) = nodes([garbage])
    with pytest.raises(ClusterError, match=r"^[^\n]*\(HTTP \d+\); [^\n]*$") as caught:
        cluster(node.host).ask("GET", "/x")
    assert "secret" not in str(caught.value)
    assert len(node.got) == 1


def test_an_answer_to_something_else_is_refused(cluster: Any, nodes: Any) -> None:
    (node,) = nodes([(200, {"_shards": {"failed": 0}})])
    with pytest.raises(ClusterError, match="the answer of OpenSearch lacks count; see"):
        OpenSearchIndex(cluster(node.host), "x", np.arange(3))
    with pytest.raises(SearchError, match="no OpenSearch"):
        cluster(node.host).check_version()


def test_an_error_has_no_text_of_the_cluster_and_no_password(cluster: Any, nodes: Any) -> None:
    fault = {"error": {"type": "parsing_exception", "reason": "secret words"}}
    (node,) = nodes([(400, fault), (401, b""), (403, b"Forbidden"), (200, b"<html>")])
    asking = cluster(node.host, user="ada", password="hush")  # noqa: S106
    assert "hush" not in repr(asking.place)
    texts = []
    for _ in range(4):
        with pytest.raises(ClusterError) as caught:
            asking.ask("POST", "/x", {"query": "secret words"})
        texts.append(str(caught.value))
    assert "HTTP 400, parsing_exception" in texts[0]
    assert "refuses this user (HTTP 401); set VEILSEARCH_OPENSEARCH_USER" in texts[1]
    assert not [text for text in texts if "secret" in text or "hush" in text or "\n" in text]
    assert {one[3]["Authorization"] for one in node.got} == {"Basic YWRhOmh1c2g="}


@pytest.mark.parametrize(
    ("version", "fault"),
    [
        ({"distribution": "opensearch", "number": "3.0.0"}, ""),
        ({"distribution": "opensearch", "number": "10.1.0"}, ""),
        ({"distribution": "opensearch", "number": "2.19.6"}, "opensearch 2.19.6; its scores diff"),
        ({"number": "8.9.0"}, "no OpenSearch 8.9.0"),
        ({}, "takes OpenSearch 3.0 and newer"),
    ],
)
def test_an_older_version_is_refused(
    cluster: Any, nodes: Any, version: dict[str, str], fault: str
) -> None:
    (node,) = nodes([(200, {"version": version})])
    asking = cluster(node.host)
    if not fault:
        assert asking.check_version() == version["number"]
        return
    with pytest.raises(SearchError, match=fault):
        asking.check_version()


def test_a_certificate_that_is_not_there_is_named(cluster: Any) -> None:
    with pytest.raises(SearchError, match="a certificate for OpenSearch can't be read"):
        cluster("https://a.example", ca="/nowhere.pem")
    with pytest.raises(SearchError, match="no host of OpenSearch"):
        cluster()
