"""Limits on tries of codes: wrong codes count, right ones do not."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict

BY_CODE = 5  # wrong tries a minute of one code from one address
PERIOD = 60.0  # seconds
KEPT = 10_000  # codes and addresses in memory; those tried longest ago are dropped first


class Tries:
    """The wrong tries of the last minute by address and code; safe for many threads."""

    def __init__(self, by_code: int = BY_CODE, kept: int = KEPT):
        self._by_code, self._kept = by_code, kept
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[str, str | None], list[float]] = OrderedDict()

    def begin(self, address: str, public: str | None, now: float) -> int:
        """Count a try of `public` from `address` at `now` and return 0, or the seconds to wait."""
        # A code goes by its public part. None is the operator's token, which counts on its own.
        key = address, public
        with self._lock:
            made = [at for at in self._made.pop(key, ()) if 0 <= now - at < PERIOD]
            self._made[key] = made
            if len(self._made) > self._kept:
                self._made.popitem(last=False)
            if len(made) >= self._by_code:
                return math.ceil(made[0] + PERIOD - now)
            made.append(now)
            return 0

    def take_back(self, address: str, public: str | None) -> None:
        """Uncount the latest try of `public` from `address`, because the code was right."""
        with self._lock:
            if made := self._made.get((address, public)):
                made.pop()
