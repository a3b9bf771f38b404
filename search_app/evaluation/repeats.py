"""Whose searches the log has, in the memory of this process only.

The log counts a person's search once, and a mean's interval is over people. Both need to know who
searched, which the log itself must not say. So it is known here by hashes with a random key. The
key is never written, and two processes share nothing of this.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from hashlib import blake2b

KEPT = 20_000  # searches, about 12 MB; the one that was logged longest ago is dropped first
_BYTES = 16  # of a hash
Served = frozenset[tuple[str, str]]  # mode and release
_NEW: tuple[None, Served] = (None, frozenset())


class Repeats:
    """The logged searches of people, by keyed hashes; hold the `lock` to log one."""

    def __init__(self, kept: int = KEPT):
        self.lock = threading.RLock()
        self._key = secrets.token_bytes(32)
        self._kept = kept
        self._logged: OrderedDict[tuple[bytes, bytes], tuple[int, Served]] = OrderedDict()
        self._people: dict[int, bytes] = {}  # by the number of a search

    def __len__(self) -> int:
        return len(self._logged)

    def logged(self, user: str, search: object) -> tuple[int | None, Served]:
        """Return the number of this `search` by `user` in the log, if known, and what served it."""
        return self._logged.get(self._place(user, search), _NEW)

    def note(self, user: str, search: object, number: int, served: Served) -> None:
        """Keep in mind that the log has the `search` by `user` as `number`, by what `served` it."""
        place = self._place(user, search)
        self._logged[place] = number, served
        self._logged.move_to_end(place)
        self._people[number] = place[0]
        while len(self._logged) > self._kept:
            self._drop(next(iter(self._logged)))

    def person(self, number: int) -> bytes | None:
        """Return a hash of the person who made the search `number`; None if that is not known."""
        return self._people.get(number)

    def numbers(self) -> dict[int, int]:
        """Return the number of a person for each search whose person is known; all are below 0."""
        with self.lock:
            people = {person: -at for at, person in enumerate({*self._people.values()}, 1)}
            return {number: people[person] for number, person in self._people.items()}

    def forget(self, user: str) -> None:
        """Keep nothing about `user`."""
        gone = self._hash(user)
        self._drop_people(lambda person: person == gone)

    def keep(self, people: Iterable[str]) -> None:
        """Keep nothing about anybody who is none of `people`."""
        known = {self._hash(user) for user in people}
        self._drop_people(lambda person: person not in known)

    def _drop_people(self, goes: Callable[[bytes], bool]) -> None:
        with self.lock:
            for place in [place for place in self._logged if goes(place[0])]:
                self._drop(place)

    def _drop(self, place: tuple[bytes, bytes]) -> None:
        number, _ = self._logged.pop(place)
        self._people.pop(number, None)

    def _place(self, user: str, search: object) -> tuple[bytes, bytes]:
        return self._hash(user), self._hash((user, search))

    def _hash(self, value: object) -> bytes:
        # The form of Python's literals tells apart what joined texts would not.
        return blake2b(ascii(value).encode(), key=self._key, digest_size=_BYTES).digest()
