"""What the log of average precision says, counted once for all who look at a log as it was.

To count 300,000 searches takes seconds. So one thread counts at a time, and a long count is not
repeated at once; meanwhile everybody sees what was counted last, and how old it is.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

from flask import abort

from ..precision_history import Course, Difference, course, differences
from ..precision_log import Chosen, PrecisionLog, Summary

PATIENCE = 5.0  # seconds; all threads waiting for one count would stop every search
SHORT = 0.25  # seconds of counting that nobody is spared
REST = 4  # times as long as a longer count took, nothing is counted again
KEPT = 16  # counts; what was not asked for in a while is counted again
COUNTING = "The log is being counted for the first time. Try again in a few seconds."
Value = TypeVar("Value")


class Pictured(NamedTuple):
    """What is drawn of one pool, mix, corpus and release."""

    courses: list[Course]
    differences: list[Difference]


class Seen(NamedTuple, Generic[Value]):
    """What was counted, and its age in seconds: 0 if nothing was logged since."""

    value: Value
    age: int


@dataclass(frozen=True)
class _Counted:
    value: object
    last: int  # the row of the log up to which it was counted
    at: float  # by the clock that never goes back
    took: float

    def serves(self, last: int) -> bool:
        """Tell whether it is as new as the log, or too dear to be counted again already."""
        dear = self.took > SHORT and time.monotonic() - self.at < REST * self.took
        return self.last >= last or dear

    def seen(self, last: int) -> Seen[object]:
        age = 0 if self.last >= last else max(1, round(time.monotonic() - self.at))
        return Seen(self.value, age)


class _Memory:
    """What was counted of one log."""

    def __init__(self) -> None:
        self._counting, self._changing = threading.Lock(), threading.Lock()
        self._kept: OrderedDict[Chosen | None, _Counted] = OrderedDict()

    def look(
        self, log: PrecisionLog, key: Chosen | None, end: float, count: Callable[[], object]
    ) -> Seen[object]:
        """Return what was counted; count only if nobody does and it is time to."""
        last, known = log.last(), self._known(key)
        if known and known.serves(last):
            return known.seen(last)
        longest = 0.0 if known else max(end - time.monotonic(), 0.0)
        if not self._counting.acquire(timeout=longest):
            return known.seen(last) if known else abort(503, COUNTING)
        try:
            known = self._known(key)  # another may have counted it meanwhile
            if not known or not known.serves(last):
                known = self._count(log, key, count)
            return known.seen(last)
        finally:
            self._counting.release()

    def _known(self, key: Chosen | None) -> _Counted | None:
        with self._changing:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _count(
        self, log: PrecisionLog, key: Chosen | None, count: Callable[[], object]
    ) -> _Counted:
        last, start = log.last(), time.monotonic()
        value, end = count(), time.monotonic()
        counted = _Counted(value, last, end, end - start)
        with self._changing:
            self._kept[key] = counted
            self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return counted


_memories: WeakKeyDictionary[PrecisionLog, _Memory] = WeakKeyDictionary()
_making = threading.Lock()


def patience() -> float:
    """Return when a visit that begins now has waited long enough, by the clock of waiting."""
    return time.monotonic() + PATIENCE


def summaries(log: PrecisionLog, end: float | None = None) -> Seen[list[Summary]]:
    """Return the means of the whole log, by mode, pool, mix, corpus and release."""
    return cast(Seen[list[Summary]], _memory(log).look(log, None, end or patience(), log.summary))


def pictured(log: PrecisionLog, setting: Chosen, end: float | None = None) -> Seen[Pictured]:
    """Return what is drawn of one setting."""
    found = _memory(log).look(
        log,
        setting,
        end or patience(),
        lambda: Pictured(course(log, setting), differences(log, setting)),
    )
    return cast(Seen[Pictured], found)


def _memory(log: PrecisionLog) -> _Memory:
    with _making:
        return _memories.setdefault(log, _Memory())
