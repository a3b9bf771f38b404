"""What the workers of one server share, in the memory of the process that started them [I/O].

A worker calls it over a socket that has no name, so nobody else can. Nothing of it is written.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, cast

from ..accounts.transcripts import Transcripts
from ..evaluation.repeats import Repeats
from ..settings import Settings
from ..web.api.metrics import KEY as TIMES
from ..web.api.metrics import RequestTimes
from ..web.visitors.limits import BUCKETS, Buckets
from ..web.visitors.sign_in import TRIES
from ..web.visitors.tries import Tries
from .opening import ServerMemory

_TRANSCRIPTS, _REPEATS = "transcripts", "repeats"


def shared_parts(settings: Settings, drops: Any) -> dict[str, Any]:
    """Return what workers by `settings` share, by name; `drops` is a number that all can read."""
    parts = {TIMES: RequestTimes(), TRIES: Tries(), _REPEATS: Repeats()}
    parts |= {BUCKETS: Buckets(settings.rate)} if settings.rate else {}
    return {**parts, _TRANSCRIPTS: Transcripts(drops=drops)}


def answer_calls(parts: Mapping[str, Any], line: Connection) -> None:
    """Call methods of `parts` for the worker at the other end of `line`, in a thread."""

    def run() -> None:
        # Of who was killed within a call, half a message may come.
        with line, suppress(EOFError, OSError):
            while True:
                # No name keeps a call here, as the next one may come much later.
                line.send(_done(parts, *line.recv()))

    threading.Thread(target=run, daemon=True).start()


def _done(parts: Mapping[str, Any], part: str, method: str, values: Any) -> tuple[bool, Any]:
    try:
        return True, getattr(parts[part], method)(*values)
    except Exception as fault:
        return False, fault


class Caller:
    """Calls over `lines`, each of which takes one at a time; any thread may call."""

    def __init__(self, lines: Sequence[Connection]):
        self._free: SimpleQueue[Connection] = SimpleQueue()
        for line in lines:
            self._free.put(line)

    def __call__(self, part: str, method: str, *values: object) -> Any:
        """Return what `method` of the shared `part` returns for `values`, or raise what it does."""
        line = self._free.get()
        try:
            line.send((part, method, values))
            done, result = line.recv()
        finally:
            self._free.put(line)
        if not done:
            raise result
        return result


class SharedPart:
    """What has the methods of a shared part, and calls them there."""

    def __init__(self, call: Caller, part: str, drops: Any = None):
        self._call, self._part, self._drops = call, part, drops

    def __getattr__(self, method: str) -> Any:
        return partial(self._call, self._part, method)

    @property
    def generation(self) -> int:
        """Return the number of drops so far: every request reads it, so nobody is called."""
        return int(self._drops.value)


def memory_of(call: Caller, drops: Any, everywhere: Any) -> ServerMemory:
    """Return the memory that a worker shares by `call` and `drops`."""
    transcripts = cast(Transcripts, SharedPart(call, _TRANSCRIPTS, drops))
    return ServerMemory(transcripts, cast(Repeats, SharedPart(call, _REPEATS)), everywhere)


def own_parts(call: Caller, settings: Settings) -> dict[str, SharedPart]:
    """Return what takes the place of limits and counts by `settings`, and calls by `call`."""
    names = (TIMES, TRIES, BUCKETS) if settings.rate else (TIMES, TRIES)
    return {name: SharedPart(call, name) for name in names}
