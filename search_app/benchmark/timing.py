"""Medians of seconds, all calls in turns, so that a busy moment meets each of them. [I/O]"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Calls = Mapping[str, Callable[[], object]]
QueryCalls = Mapping[str, Callable[[str], object]]


class Times(NamedTuple):
    """The median of some calls' seconds, the quartiles below and above it, and how many calls."""

    median: float
    low: float
    high: float
    calls: int


def times_of(seconds: Sequence[float]) -> Times:
    """Sum up what calls took."""
    if len(seconds) == 1:
        return Times(seconds[0], seconds[0], seconds[0], 1)
    low, median, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return Times(median, low, high, len(seconds))


def seconds_of(call: Callable[[], object]) -> float:
    """Return the seconds a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def timed(calls: Calls, rounds: int, warm_up: int = 0) -> dict[str, Times]:
    """Time each call in each round."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(-warm_up, rounds):
        for name, call in calls.items():
            seconds = seconds_of(call)
            if number >= 0:
                taken[name].append(seconds)
    return {name: times_of(values) for name, values in taken.items()}


def timed_over(
    queries: Sequence[str], calls: QueryCalls, rounds: int, warm_up: int = 2
) -> dict[str, Times]:
    """Time each call over all queries in each round, after a warm-up.

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
    return {name: times_of(values) for name, values in taken.items()}


def divided(
    taken: Mapping[str, Times], parts: Mapping[str, tuple[str, str]]
) -> tuple[dict[str, float], dict[str, int]]:
    """Divide the medians that the bars divide, as far as they are there; and tell of how many."""
    there = {
        name: (taken[one], taken[other])
        for name, (one, other) in parts.items()
        if one in taken and other in taken
    }
    values = {name: one.median / other.median for name, (one, other) in there.items()}
    return values, {name: min(one.calls, other.calls) for name, (one, other) in there.items()}


def milliseconds(taken: Mapping[str, Times]) -> dict[str, Any]:
    """Return medians, quartiles and how many calls, in milliseconds, as facts."""
    found = {name: [round(1000 * value, 4) for value in each[:3]] for name, each in taken.items()}
    return {
        "milliseconds": {name: median for name, (median, _, _) in found.items()},
        "quartiles": {name: [low, high] for name, (_, low, high) in found.items()},
        "calls": {name: each.calls for name, each in taken.items()},
    }
