"""A site of a few pages in a process of its own, served as the real one is."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

# A process that has loaded what takes long; each server is a fork of it.
_LOADED = get_context("forkserver")
_LOADED.set_forkserver_preload(["flask", "search_app.server.waitress", "search_app.web.headers"])


def _serve(told: str, host: str, proxy: str = "", *words: str) -> None:
    """Serve on `host`; `told` is where it writes, with 1 or 2 at its end."""
    for stream in (1, 2):
        os.dup2(os.open(f"{told}{stream}", os.O_WRONLY), stream)
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
    guard(app, Settings(hosts=("search.example.org",), https="https" in words))
    for name, _, value in (word.partition("=") for word in words if "=" in word):
        setattr(waitress if name == "GRACE" else connections, name, float(value))
    waitress.serve(app, host, 0, lambda line: print(line, flush=True), proxy=proxy)


class Server(_LOADED.Process):  # type: ignore[name-defined, misc]
    """The toy site, on a port that it was free to choose: one that was free may be taken."""

    def __init__(self, folder: Path, host: str, *more: str) -> None:
        self._files = [folder / f"told{stream}" for stream in (1, 2)]
        for file in self._files:
            file.touch()
        super().__init__(target=_serve, args=(str(folder / "told"), host, *more))
        self.start()
        end = time.monotonic() + 60
        while not (told := self._files[0].read_text()).endswith("\n"):
            assert self.is_alive() and time.monotonic() < end, self._files[1].read_text()
            time.sleep(0.005)
        self.told = told
        self.port = int(told.rstrip("/\n").rpartition(":")[2])

    def send(self, number: int) -> None:
        assert self.pid
        os.kill(self.pid, number)

    def end(self, number: int = signal.SIGTERM) -> str:
        """Ask it to end; it does, and returns what it said on the way."""
        self.send(number)
        self.join(60)
        assert self._files[0].read_text() == self.told
        return self._files[1].read_text()


@contextmanager
def serving(host: str = "127.0.0.1", *more: str) -> Iterator[Server]:
    """Start a server that is gone when the block ends, cleanly unless something has failed."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), host, *more)
        try:
            yield server
            if server.is_alive():
                assert server.end() == ""
                assert server.exitcode == 0
        finally:
            server.kill()
            server.join()
            server.close()
