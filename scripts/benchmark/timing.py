"""Medians of seconds. All calls take turns, so that a busy moment affects each of them. [I/O]"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Calls = Mapping[str, Callable[[], object]]
QueryCalls = Mapping[str, Callable[[str], object]]


class Times(NamedTuple):
    """The median seconds of some calls, the quartiles below and above, and the number of calls."""

    median: float
    low: float
    high: float
    calls: int


def times_of(seconds: Sequence[float]) -> Times:
    """Return the median and quartiles of the `seconds` that calls took."""
    if len(seconds) == 1:
        return Times(seconds[0], seconds[0], seconds[0], 1)
    low, median, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return Times(median, low, high, len(seconds))


def seconds_of(call: Callable[[], object]) -> float:
    """Return the seconds that `call` takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def timed(calls: Calls, rounds: int, warm_up: int = 0) -> dict[str, Times]:
    """Return the times of each of `calls`, made once in each of `rounds`."""
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
    """Return the times of each of `calls` over all `queries` in each of `rounds`."""
    # The warm-up is for Java, which compiles what it runs a thousand times: until then it reads a
    # document in 140 µs instead of 30.
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
    """Return the ratios of medians in `taken` that `parts` name, and the calls behind each."""
    pairs = {
        name: (taken[one], taken[other])
        for name, (one, other) in parts.items()
        if one in taken and other in taken
    }
    values = {name: one.median / other.median for name, (one, other) in pairs.items()}
    return values, {name: min(one.calls, other.calls) for name, (one, other) in pairs.items()}


def in_seconds(taken: Sequence[float]) -> dict[str, Any]:
    """Return median, quartiles and number of the seconds `taken` by some calls, as facts."""
    times = times_of(taken)
    quartiles = [round(times.low, 3), round(times.high, 3)]
    return {"seconds": round(times.median, 3), "quartiles": quartiles, "calls": times.calls}


def milliseconds(taken: Mapping[str, Times]) -> dict[str, Any]:
    """Return the medians and quartiles in `taken` in milliseconds, as facts."""
    rounded = {name: [round(1000 * t, 4) for t in times[:3]] for name, times in taken.items()}
    return {
        "milliseconds": {name: median for name, (median, _, _) in rounded.items()},
        "quartiles": {name: [low, high] for name, (_, low, high) in rounded.items()},
        "calls": {name: times.calls for name, times in taken.items()},
    }
