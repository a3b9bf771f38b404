"""How often codes may be tried: wrong ones count, right ones do not."""

from __future__ import annotations

import math
import threading

EACH, ALL = 5, 30  # wrong codes in a minute: from one address, from everywhere
PERIOD = 60.0  # seconds


class Tries:
    """The wrong codes of the last minute; any thread may call."""

    def __init__(self, each: int = EACH, all_: int = ALL):
        self._each, self._all = each, all_
        self._lock = threading.Lock()
        self._made: list[tuple[float, str]] = []  # at most as many as count: nothing to fill up

    def begin(self, address: str, now: float) -> int:
        """Count a try and return 0, or return in how many seconds there may be one."""
        with self._lock:
            self._made = [(at, whose) for at, whose in self._made if 0 <= now - at < PERIOD]
            own = [at for at, whose in self._made if whose == address]
            full = [own[0]] if len(own) >= self._each else []
            full += [self._made[0][0]] if len(self._made) >= self._all else []
            if full:
                return math.ceil(max(full) + PERIOD - now)
            self._made.append((now, address))
            return 0

    def take_back(self, address: str) -> None:
        """Count the latest try from an address no more: its code was right."""
        with self._lock:
            mine = [place for place, (_, whose) in enumerate(self._made) if whose == address]
            if mine:
                del self._made[mine[-1]]
