"""A site of a few pages in a process of its own, served as the real one is."""

from __future__ import annotations

import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

PROGRAM = """
import sys, time
from flask import Flask, request
from search_app.server import connections, waitress
from search_app.settings import Settings
from search_app.web.headers import guard
app = Flask("toy")
app.get("/")(lambda: "answered")
app.get("/slow/<int:size>", endpoint="s")(lambda size: time.sleep(1) or "x" * size)
app.get("/stuck", endpoint="t")(lambda: time.sleep(300) or "never")
app.post("/body", endpoint="b")(lambda: str(len(request.get_data())))
app.get("/who", endpoint="w")(lambda: f"{request.remote_addr} {request.host_url}")
app.get("/open", endpoint="o")(lambda: str(app.config["VEILSEARCH_OPEN"]))
guard(app, Settings(hosts=("search.example.org",), https="https" in sys.argv))
proxy = sys.argv[2] if sys.argv[2:] else ""
for name, _, value in (word.partition("=") for word in sys.argv[3:] if "=" in word):
    setattr(waitress if name == "GRACE" else connections, name, float(value))
waitress.serve(app, sys.argv[1], 0, lambda line: print(line, flush=True), proxy=proxy)
"""


class Server(subprocess.Popen[bytes]):
    """The toy site, on a port that it was free to choose: one that was free may be taken."""

    def __init__(self, host: str, *more: str) -> None:
        pipe, command = subprocess.PIPE, [sys.executable, "-c", PROGRAM, host, *more]
        super().__init__(command, stdout=pipe, stderr=pipe, bufsize=0)  # no more than a line
        assert self.stdout is not None
        came, _, _ = select.select([self.stdout], [], [], 60)
        self.told = self.stdout.readline().decode() if came else ""
        if not self.told:
            self.kill()
            raise AssertionError(f"the server did not start: {self.communicate()[1].decode()}")
        self.port = int(self.told.rstrip("/\n").rpartition(":")[2])

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to end; it does, and has nothing more to say."""
        self.send_signal(number)
        assert self.communicate(timeout=60) == (b"", b"")
        assert self.returncode == 0


@contextmanager
def serving(host: str = "127.0.0.1", *more: str) -> Iterator[Server]:
    """Start a server that is gone when the block ends, cleanly unless something has failed."""
    server = Server(host, *more)
    try:
        yield server
        if server.returncode is None:
            server.end()
    finally:
        server.kill()
        server.communicate()
