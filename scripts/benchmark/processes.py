"""Whole processes: what each takes; a server, and requests to it. [I/O]"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple
from urllib.parse import urlencode

from search_app.errors import UsageError
from search_app.workspace.folder import Workspace

ROOT = Path(__file__).parents[2]  # the checkout, on the PYTHONPATH of each process
SAID = 500  # characters shown of what a failed process printed


class Run(NamedTuple):
    """The time that a process took, that of the processor, and its memory."""

    seconds: float
    computing: float
    gigabytes: float


class Server(NamedTuple):
    """A process that answers HTTP requests on a port of this machine."""

    port: int
    process: int

    def computed(self) -> float:
        """Return the seconds of the processor that the server has taken up to now."""
        # The clock of another process, as Linux's clock_getcpuclockid(3) numbers it.
        return time.clock_gettime(~self.process << 3 | 2)


def veilsearch(workspace: Path) -> list[str]:
    """Return the command `veilsearch` for `workspace`."""
    return [sys.executable, "-m", "search_app", "--workspace", str(workspace)]


def verb(workspace: Path, *words: object) -> tuple[Run, Any]:
    """Run a verb in `workspace` with --json; return what it took and its answer."""
    run, answer = process([*veilsearch(workspace), *map(str, words), "--json"])
    return run, json.loads(answer)


def process(
    words: Sequence[str], environment: Mapping[str, str] | None = None
) -> tuple[Run, bytes]:
    """Run `words` with `environment`; return what it took and its output; raise if it fails."""
    with TemporaryFile() as answer, TemporaryFile() as errors:
        began = time.perf_counter()
        started = subprocess.Popen(  # noqa: S603 our own words
            words, stdout=answer, stderr=errors, env=_environment(environment)
        )
        try:
            _, status, used = os.wait4(started.pid, 0)
        except BaseException:
            started.kill()
            started.wait()
            raise
        seconds = time.perf_counter() - began
        started.returncode = os.waitstatus_to_exitcode(status)  # else Popen would wait again
        answer.seek(0)
        errors.seek(0)
        if status:
            text = (answer.read() + errors.read()).decode("utf-8", "replace")[-SAID:]
            raise UsageError(f"failed: {' '.join(words[1:])[:SAID]}: {text}")
        return Run(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6), answer.read()


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    """Return the environment of a process: ours with `more`."""
    # As where it is installed: Python keeps the bytecode that a first run compiles.
    ours = {key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**ours, "PYTHONPATH": str(ROOT), **(more or {})}


def served(workspace: Workspace) -> AbstractContextManager[Server]:
    """Return the server of `workspace`, to be entered."""
    return serving([*veilsearch(workspace.root), "serve", "--port", "0"])


@contextmanager
def serving(command: Sequence[str]) -> Iterator[Server]:
    """Run `command`, which says on stderr where it serves; give the server."""
    with subprocess.Popen(  # noqa: S603 our own words
        command, stderr=subprocess.PIPE, text=True, env=_environment(None)
    ) as server:
        try:
            lines: list[str] = []
            while not (port := re.search(r"http://127\.0\.0\.1:(\d+)", "".join(lines))):
                line = server.stderr.readline() if server.stderr else ""
                if not line:
                    raise UsageError(f"the server did not start: {' '.join(lines)}")
                lines.append(line)
            yield Server(int(port[1]), server.pid)
        finally:
            server.terminate()


def connected(port: int) -> closing[http.client.HTTPConnection]:
    """Return a connection to the server at `port` of this machine."""
    return closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60))


def fetch(connection: http.client.HTTPConnection, path: str, **parameters: str) -> bytes:
    """Return the whole page at `path`; raise if it failed or was not personalized."""
    connection.request("GET", f"{path}?{urlencode(parameters)}")
    response = connection.getresponse()
    body = response.read()
    if response.status != 200 or b"Personalization failed" in body:
        raise UsageError(f"{path} answered {response.status}, or not personalized")
    return body
