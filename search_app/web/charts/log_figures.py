"""Figures of the log of average precision, computed once for all readers of the same log."""
# Counting 300,000 searches takes seconds. So one thread counts at a time, and a long count is not
# repeated at once. Meanwhile everybody sees the last figures, and how old they are.

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

from flask import abort

from ...evaluation.log import Chosen, LogSummary, PrecisionLog
from ...evaluation.log_history import Course, LoggedDifference, course, differences

# Seconds to wait for a count. If all threads waited for one, no search would be answered.
PATIENCE = 5.0
SHORT = 0.25  # seconds; a count that took no longer is repeated whenever the log grew
REST = 4  # a longer count rests for this many times its own duration
KEPT = 16  # counts; those not used for longest are dropped
COUNTING = "The log is being counted for the first time. Try again in a few seconds."
Value = TypeVar("Value")


class Pictured(NamedTuple):
    """The figures to draw for one pool, rule, corpus and release."""

    courses: list[Course]
    differences: list[LoggedDifference]


class Seen(NamedTuple, Generic[Value]):
    """Figures, and their age in seconds: 0 if nothing was logged since."""

    value: Value
    age: int


@dataclass(frozen=True)
class _Counted:
    value: object
    last: int  # row of the log that was counted last
    at: float  # by the monotonic clock
    took: float  # seconds

    def serves(self, last: int) -> bool:
        """Return whether this is as new as row `last`, or rests after a long count."""
        resting = self.took > SHORT and time.monotonic() - self.at < REST * self.took
        return self.last >= last or resting

    def seen(self, last: int) -> Seen[object]:
        age = 0 if self.last >= last else max(1, round(time.monotonic() - self.at))
        return Seen(self.value, age)


class _LogMemory:
    """The figures of one log."""

    def __init__(self) -> None:
        self._counting, self._changing = threading.Lock(), threading.Lock()
        self._kept: OrderedDict[Chosen | None, _Counted] = OrderedDict()

    def look(
        self, log: PrecisionLog, key: Chosen | None, end: float, count: Callable[[], object]
    ) -> Seen[object]:
        """Return the figures of `key`; `count` in `log` if they are due, waiting until `end`."""
        last, known = log.last(), self._known(key)
        if known and known.serves(last):
            return known.seen(last)
        # Old figures serve at once; only a first count is worth waiting for.
        longest = 0.0 if known else max(end - time.monotonic(), 0.0)
        if not self._counting.acquire(timeout=longest):
            return known.seen(last) if known else abort(503, COUNTING)
        try:
            # While this thread waited, another may have counted.
            known = self._known(key)
            if not known or not known.serves(last):
                # The row is read first: searches logged while counting make the figures old.
                noted, start = log.last(), time.monotonic()
                value, end = count(), time.monotonic()
                known = _Counted(value, noted, end, end - start)
                with self._changing:
                    self._kept[key] = known
                    self._kept.move_to_end(key)
                    while len(self._kept) > KEPT:
                        self._kept.popitem(last=False)
            return known.seen(last)
        finally:
            self._counting.release()

    def _known(self, key: Chosen | None) -> _Counted | None:
        with self._changing:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)


_memories: WeakKeyDictionary[PrecisionLog, _LogMemory] = WeakKeyDictionary()
_making = threading.Lock()


def patience() -> float:
    """Return when a request that begins now stops waiting, by the monotonic clock."""
    return time.monotonic() + PATIENCE


def summaries(log: PrecisionLog, end: float | None = None) -> Seen[list[LogSummary]]:
    """Return the means of all of `log`, as its `summary` groups them; wait until `end`."""
    return cast(Seen[list[LogSummary]], _cache(log).look(log, None, end or patience(), log.summary))


def pictured(log: PrecisionLog, setting: Chosen, end: float | None = None) -> Seen[Pictured]:
    """Return the figures of `log` to draw for one `setting`; wait until `end`."""
    figures = _cache(log).look(
        log,
        setting,
        end or patience(),
        lambda: Pictured(course(log, setting), differences(log, setting)),
    )
    return cast(Seen[Pictured], figures)


def _cache(log: PrecisionLog) -> _LogMemory:
    with _making:
        return _memories.setdefault(log, _LogMemory())
