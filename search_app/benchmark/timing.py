"""Medians of seconds, all calls in turns, so that a busy moment meets each of them. [I/O]"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Calls = Mapping[str, Callable[[], object]]
QueryCalls = Mapping[str, Callable[[str], object]]


class Spent(NamedTuple):
    """Time that has gone by, and what of it this process and its ended children computed."""

    seconds: float
    computing: float

    def since(self, earlier: Spent) -> Spent:
        """Return what was spent since an earlier moment."""
        return Spent(
            round(self.seconds - earlier.seconds, 1), round(self.computing - earlier.computing, 1)
        )


def now() -> Spent:
    """Return what is spent up to now."""
    return Spent(time.perf_counter(), sum(os.times()[:4]))


def seconds_of(call: Callable[[], object]) -> float:
    """Return the seconds a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def medians(calls: Calls, rounds: int, warm_up: int = 0) -> dict[str, float]:
    """Return the median seconds of each call."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(-warm_up, rounds):
        for name, call in calls.items():
            seconds = seconds_of(call)
            if number >= 0:
                taken[name].append(seconds)
    return {name: statistics.median(values) for name, values in taken.items()}


def medians_over(
    queries: Sequence[str], calls: QueryCalls, rounds: int, warm_up: int = 2
) -> dict[str, float]:
    """Return the median seconds of each call over all queries, after a warm-up.

    Java compiles what it runs a thousand times: until then it reads a document in 140 µs, not 30.
    """
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(-warm_up, rounds):
        for query in queries:
            for name, call in calls.items():
                began = time.perf_counter()
                call(query)
                if number >= 0:
                    taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in taken.items()}
