"""Verbs forked from a process that has loaded what takes long: quick to start and to kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from search_app.workspace.folder import Workspace

LONG = 600  # seconds in which anything here ends, also where much else runs
_CODE = """
import json, os, resource, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what warms up may print
from search_app.cli import main
{}
for line in sys.stdin:
    order = json.loads(line)
    if "poll" in order:
        ended, status = os.waitpid(order["poll"], os.WNOHANG)
        answer = os.waitstatus_to_exitcode(status) if ended else None
    else:
        answer = os.fork()
        if not answer:
            for stream in (1, 2):
                path = order["said"] + str(stream)
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
            os.environ.update(order["environment"])
            for name, most in order["limits"].items():
                kind = getattr(resource, name)
                resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
            main(order["words"])
    print(json.dumps(answer), file=answers, flush=True)
"""


def until(look: Callable[[], Any], every: float = 0.002) -> Any:
    """Look again and again until there is something to see."""
    latest = time.monotonic() + LONG
    while (seen := look()) is None:
        assert time.monotonic() < latest, f"nothing after {LONG} seconds"
        time.sleep(every)
    return seen


class Child:
    """A verb in a process of its own, whose number stays its own until it is seen to have ended."""

    def __init__(self, process: int, poll: Callable[[], int | None]) -> None:
        self.process, self._poll, self._code = process, poll, None

    def poll(self) -> int | None:
        """Return the exit code if it has ended, negative if it was killed."""
        self._code = self._poll() if self._code is None else self._code
        return self._code

    def wait(self) -> int:
        return int(until(self.poll, every=0.005))

    def send(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.process, number)


class Nursery:
    """Forks verbs, one at a time, after some code of its own has made it warm."""

    def __init__(self, room: Path, warm: str) -> None:
        self._room = room
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CODE.format(warm)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def _ask(self, **order: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def start(
        self,
        workspace: Workspace,
        *arguments: object,
        limits: Mapping[str, int] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Child:
        words = ["--workspace", str(workspace.root), *map(str, arguments)]
        process = self._ask(
            words=words,
            said=str(self._room / "said"),
            limits=dict(limits or {}),
            environment=dict(environment or {}),
        )
        return Child(process, lambda: self._ask(poll=process))

    def run(
        self,
        workspace: Workspace,
        *arguments: object,
        killed_after: float | None = None,
        limits: Mapping[str, int] | None = None,
    ) -> int:
        """Run a verb, kill it after some seconds if they are named; return its exit code."""
        child = self.start(workspace, *arguments, limits=limits)
        if killed_after is not None:
            time.sleep(killed_after)
            child.send(signal.SIGKILL)
        return child.wait()

    @property
    def told(self) -> str:
        """Return what the latest run wrote to stderr."""
        return (self._room / "said2").read_text()

    @property
    def answer(self) -> str:
        """Return what the latest run wrote to stdout."""
        return (self._room / "said1").read_text()

    def close(self) -> None:
        self._process.communicate()
