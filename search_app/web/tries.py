"""How often codes may be tried: wrong ones count, right ones do not.

Nobody guesses 100 bits: what is guarded is the time of this machine, and nobody's wrong codes keep
anybody out who comes from elsewhere.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

EACH, ALL = 5, 60  # wrong tries in a minute from one address: of one code, of all codes
PERIOD = 60.0  # seconds
ADDRESSES = 10_000  # of which more have tried, the one that tried longest ago goes
AT_ONCE, WAITING = 2, 4  # codes that are looked at, and that wait for that: fewer than threads
LONGEST = 1.0  # seconds to wait


class Tries:
    """The wrong tries of the last minute by address; any thread may call."""

    def __init__(self, each: int = EACH, all_: int = ALL, addresses: int = ADDRESSES):
        self._each, self._all, self._addresses = each, all_, addresses
        self._lock = threading.Lock()
        self._made: OrderedDict[str, list[tuple[float, str | None]]] = OrderedDict()

    def begin(self, address: str, public: str | None, now: float) -> int:
        """Count a try and return 0, or return in how many seconds there may be one.

        A code is named by its public part; None is the operator's token, which counts alone.
        """
        with self._lock:
            made = [
                (at, what) for at, what in self._made.pop(address, ()) if 0 <= now - at < PERIOD
            ]
            self._made[address] = made
            if len(self._made) > self._addresses:
                self._made.popitem(last=False)
            same = [at for at, what in made if what == public]
            codes = [at for at, what in made if what is not None]
            full = same[:1] if len(same) >= self._each else []
            full += codes[:1] if public is not None and len(codes) >= self._all else []
            if full:
                return math.ceil(max(full) + PERIOD - now)
            made.append((now, public))
            return 0

    def take_back(self, address: str, public: str | None) -> None:
        """Count the latest try of a code from an address no more: it was right."""
        with self._lock:
            made = self._made.get(address, [])
            places = [place for place, (_, what) in enumerate(made) if what == public]
            if places:
                del made[places[-1]]


class Busy(Exception):
    """More codes are looked at than this machine looks at in one moment."""


class Turns:
    """Few codes are hashed at once and few more wait: guessing never takes every thread."""

    def __init__(self, at_once: int = AT_ONCE, waiting: int = WAITING, longest: float = LONGEST):
        self._longest = longest
        self._inside = threading.BoundedSemaphore(at_once + waiting)
        self._turns = threading.BoundedSemaphore(at_once)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn and have it; raise Busy where that would take too long."""
        if not self._inside.acquire(blocking=False):
            raise Busy
        try:
            if not self._turns.acquire(timeout=self._longest):
                raise Busy
            try:
                yield
            finally:
                self._turns.release()
        finally:
            self._inside.release()
