"""Loops compiled by numba [I/O]: the one place that imports it here, and that counts the cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.event import Listener, install_listener

T = TypeVar("T")
R = TypeVar("R")


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop, and keep the machine code for the next process where that can be written."""
    try:
        made: Any = njit(nogil=True, cache=True)(function)
        made._cache._cache_file._source_stamp = _sources()
    except (RuntimeError, AttributeError):  # nowhere to write to, or another numba
        made = njit(nogil=True)(function)
    return cast(Callable[..., Any], made)


@contextmanager
def when_compiling(tell: Callable[[], object]) -> Iterator[None]:
    """Tell once if a loop is compiled meanwhile, as no machine code of it was kept."""
    with install_listener("numba:compile", _Once(tell)):
        yield


class _Once(Listener):
    def __init__(self, tell: Callable[[], object]) -> None:
        self._tell: list[Callable[[], object]] = [tell]

    def on_start(self, _event: Any) -> None:
        if self._tell:
            self._tell.pop()()

    def on_end(self, _event: Any) -> None: ...


@cache
def _sources() -> tuple[tuple[str, int, int], ...]:
    """Return what changes with any file of this package.

    A loop holds the code of those it calls, but numba looks only at the file of the loop itself:
    after an update it would go on with, say, an old question of the constraints.
    """
    folder = Path(__file__).parent
    stats = {path.relative_to(folder): path.stat() for path in sorted(folder.rglob("*.py"))}
    return tuple((str(path), stat.st_mtime_ns, stat.st_size) for path, stat in stats.items())


def cores() -> int:
    """Return how many threads can run at once; no result may depend on it."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not Linux
        return max(1, os.cpu_count() or 1)


def in_parallel(function: Callable[[T], R], shares: Sequence[T]) -> list[R]:
    """Call a function with each share, in threads, and return the results in order."""
    if len(shares) < 2 or cores() < 2:
        return [function(share) for share in shares]
    return list(_threads().map(function, shares))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="anonymizer")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads
    os.register_at_fork(after_in_child=_threads.cache_clear)
