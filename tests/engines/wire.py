"""A proxy on loopback: it hands requests to its targets in turn, and shows them to the test."""

from __future__ import annotations

import http.client
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

PASSED = ("Content-Type", "Authorization", "Cookie", "Accept")
RETURNED = ("Content-Type", "Location", "Set-Cookie")


class Passing(NamedTuple):
    """A request that passes."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str]


See = Callable[[Passing], object]


@contextmanager
def wire(targets: Sequence[str], see: See = lambda _: None) -> Iterator[str]:
    """Give the URL of a proxy of `targets`, each a URL; `see` gets each request before it goes."""
    hosts, turn = [target.partition("//")[2].rstrip("/") for target in targets], itertools.count()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            see(Passing(self.command, self.path, body, dict(self.headers.items())))
            host = hosts[next(turn) % len(hosts)]
            passed = {name: self.headers[name] for name in PASSED if name in self.headers}
            target = http.client.HTTPConnection(host, timeout=120)
            try:
                target.request(self.command, self.path, body, passed)
                answer = target.getresponse()
                data = answer.read()
            finally:
                target.close()
            self.send_response(answer.status)
            for name in RETURNED:
                for value in answer.headers.get_all(name, []):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def handle(self) -> None:
            """Let a client that is killed go without a word."""
            with suppress(OSError):
                super().handle()

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
