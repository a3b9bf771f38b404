"""Compiled loops, alone and on all cores [I/O]: the anonymizer's only module that counts cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from loops.kept import compiled, when_compiling

__all__ = ["compiled", "cores", "in_parallel", "same", "when_compiling"]

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """Return how many threads can run at the same time; no result may depend on it."""
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not Linux
        return max(1, os.cpu_count() or 1)


def in_parallel(function: Callable[[T], R], shares: Sequence[T]) -> list[R]:
    """Return what `function` gives for each of `shares`, in order; threads do the work."""
    if len(shares) < 2 or cores() < 2:
        return [function(share) for share in shares]
    return list(_threads().map(function, shares))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="anonymizer")


# A forked process has none of its parent's threads, so a pool of them would wait forever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)


@compiled
def same(text: Any, low: int, high: int, other: Any, start: int, end: int) -> bool:
    """Return whether `text[low:high]` and `other[start:end]` have the same letters."""
    if high - low != end - start:
        return False
    for i in range(high - low):  # noqa: SIM110 (numba compiles no generator)
        if text[low + i] != other[start + i]:
            return False
    return True
