"""What a search may take: its size, its threads and its time. [I/O]"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from time import monotonic

from .model import SearchError, TooSlow

MOST_HITS = 10_000
MOST_THREADS = 64
BLOCK = 64  # queries of a batch that are prepared together
FEW = 2  # words; only longer queries get the advice to use fewer


class QueryClock:
    """The time that a query has, from now on."""

    def __init__(self, deadline: float | None, query: str) -> None:
        self.deadline = deadline
        self._short = len(query.split(maxsplit=FEW)) <= FEW
        self._ends = math.inf if deadline is None else monotonic() + deadline

    def left(self) -> float:
        """Return the seconds that are left; raise TooSlow if there are none."""
        left = self._ends - monotonic()
        if left <= 0:
            raise self.over()
        return left

    def over(self) -> TooSlow:
        """Return the error for a query whose time is over."""
        fewer = "" if self._short else "ask with fewer words or a smaller pool, or "
        return TooSlow(
            f"the search took longer than deadline={self.deadline} seconds; "
            f"{fewer}set a longer deadline"
        )

    @contextmanager
    def turn(self, talking: RLock) -> Iterator[None]:
        """Wait for a turn to use Java, which who holds `talking` has, while there is time."""
        if not talking.acquire(timeout=-1 if self.deadline is None else self.left()):
            raise self.over()
        try:
            yield
        finally:
            talking.release()


def check_size(size: int) -> None:
    """Refuse a pool of `size` documents that no index gives."""
    if not 1 <= size <= MOST_HITS:
        raise SearchError(f"size={size} must be from 1 to {MOST_HITS}")


def check_threads(threads: int) -> None:
    """Refuse a number of `threads` that no index searches in."""
    if not 1 <= threads <= MOST_THREADS:
        raise SearchError(f"threads={threads} must be from 1 to {MOST_THREADS}")
