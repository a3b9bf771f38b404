"""The engine's last requests for each person, in memory only."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from ..search.request import Request

PEOPLE = 10_000  # limit; beyond it, the person who searched longest ago is dropped


class Transcripts:
    """The last request of each person in each mode, shown to that person only."""

    def __init__(self, people: int = PEOPLE, drops: Any = None):
        self._people = people
        self._lock = threading.Lock()
        self._of: OrderedDict[str, dict[str, Request]] = OrderedDict()
        # Where several processes share this, they read the number in memory of all of them.
        self._drops = SimpleNamespace(value=0) if drops is None else drops

    @property
    def generation(self) -> int:
        """Return the number of drops so far."""
        return int(self._drops.value)

    def note(self, user: str, mode: str, request: Request, generation: int) -> None:
        """Keep `request` as the last one of `user` in `mode`, if `generation` is still the same."""
        # If something was dropped since this search began, the request may hold dropped data. So it
        # is not kept. At worst a search of another person is not shown.
        with self._lock:
            if generation != self.generation:
                return
            self._of.setdefault(user, {})[mode] = request
            self._of.move_to_end(user)
            while len(self._of) > self._people:
                self._of.popitem(last=False)

    def of(self, user: str) -> Mapping[str, Request]:
        """Return the last request of `user` in each mode."""
        with self._lock:
            return dict(self._of.get(user, {}))

    def drop(self, user: str) -> None:
        """Drop everything of `user`."""
        with self._lock:
            self._drops.value += 1
            self._of.pop(user, None)

    def clear(self) -> None:
        """Drop everything of everybody."""
        with self._lock:
            self._drops.value += 1
            self._of.clear()
