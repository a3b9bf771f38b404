"""What the engine was last told for each person, in this process's memory and nowhere else."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping

from ..request import Request

PEOPLE = 10_000  # of whom more have searched, the one who searched longest ago goes


class Transcripts:
    """The last request of each mode by person; shown to that person only, gone at the end."""

    def __init__(self, people: int = PEOPLE):
        self._people = people
        self._lock = threading.Lock()
        self._of: OrderedDict[str, dict[str, Request]] = OrderedDict()
        self._generation = 0

    @property
    def generation(self) -> int:
        """Return what changes whenever something is dropped: what began before is not kept."""
        return self._generation

    def note(self, user: str, mode: str, request: Request, generation: int) -> None:
        """Keep what the engine was told in place of what it was told before in this mode.

        Nothing is kept of a search that began in another generation: what it was told may have
        been dropped meanwhile. At worst a search of somebody else is not shown.
        """
        with self._lock:
            if generation != self._generation:
                return
            self._of.setdefault(user, {})[mode] = request
            self._of.move_to_end(user)
            while len(self._of) > self._people:
                self._of.popitem(last=False)

    def of(self, user: str) -> Mapping[str, Request]:
        """Return the last request of each mode in which this person's searches were answered."""
        with self._lock:
            return dict(self._of.get(user, {}))

    def drop(self, user: str) -> None:
        """Keep nothing of a person any more."""
        with self._lock:
            self._generation += 1
            self._of.pop(user, None)

    def clear(self) -> None:
        """Keep nothing of anybody any more."""
        with self._lock:
            self._generation += 1
            self._of.clear()
