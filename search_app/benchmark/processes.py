"""Whole processes: what each takes of time and memory. [I/O]"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from ..errors import UsageError

SAID = 500  # characters of what a failed process said


class Run(NamedTuple):
    """What a process took."""

    seconds: float
    gigabytes: float


def veilsearch(workspace: Path) -> list[str]:
    """Return the command for a workspace."""
    return [sys.executable, "-m", "search_app", "--workspace", str(workspace)]


def verb(workspace: Path, *words: object) -> tuple[Run, Any]:
    """Run a verb that answers in JSON; return what it took and what it answered."""
    run, answer = process([*veilsearch(workspace), *map(str, words), "--json"])
    return run, json.loads(answer)


def process(words: Sequence[str]) -> tuple[Run, bytes]:
    """Run a command to its end; return what it took and its output; refuse one that fails."""
    with TemporaryFile() as answer, TemporaryFile() as said:
        began = time.perf_counter()
        started = subprocess.Popen(words, stdout=answer, stderr=said)  # noqa: S603 our own words
        try:
            _, status, used = os.wait4(started.pid, 0)
        except BaseException:
            started.kill()
            started.wait()
            raise
        seconds = time.perf_counter() - began
        started.returncode = os.waitstatus_to_exitcode(status)  # or it would be waited for again
        answer.seek(0)
        said.seek(0)
        if status:
            told = (answer.read() + said.read()).decode("utf-8", "replace")[-SAID:]
            raise UsageError(f"failed: {' '.join(words[1:])[:SAID]}: {told}")
        return Run(seconds, used.ru_maxrss / 1e6), answer.read()
