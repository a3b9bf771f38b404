"""Whose searches the log has, in memory only.

The log counts a person's search once, and a mean's interval is over people. Both need to know who
searched, which the log itself must not say. So it is known here by hashes with a random key. The
key is never written. The workers of one server share one such memory, other servers nothing of it.
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
_Logged = tuple[tuple[int, ...], Served]  # the numbers of a search, and what served it
_NEW: _Logged = ((), frozenset())


class Repeats:
    """The logged searches of people, by keyed hashes; safe for many threads."""

    def __init__(self, kept: int = KEPT):
        self._lock = threading.Lock()
        self._key = secrets.token_bytes(32)
        self._kept = kept
        self._logged: OrderedDict[tuple[bytes, bytes], _Logged] = OrderedDict()
        self._people: dict[int, bytes] = {}  # by the number of a search

    def __len__(self) -> int:
        return len(self._logged)

    def claim(self, user: str, search: object, served: Served) -> tuple[int | None, Served]:
        """Return the number of this `search` by `user`, if known, and what of `served` is new.

        Who claims it logs what is new, then calls `note`, or `release` if that fails.
        """
        place = self._place(user, search)
        with self._lock:
            numbers, known = self._logged.get(place, _NEW)
            if served - known:
                self._logged[place] = numbers, known | served
                self._logged.move_to_end(place)
            while len(self._logged) > self._kept:
                self._drop(next(iter(self._logged)))
            return next(iter(numbers), None), served - known

    def note(self, user: str, search: object, number: int) -> None:
        """Keep in mind that the log has the `search` by `user` as `number`."""
        place = self._place(user, search)
        with self._lock:
            if place in self._logged:  # unless the person was forgotten meanwhile
                numbers, known = self._logged[place]
                # There are several if workers log the same search in other modes at once.
                self._logged[place] = (*dict.fromkeys((*numbers, number)),), known
                self._people[number] = place[0]

    def release(self, user: str, search: object, served: Served) -> None:
        """Take back that the `search` by `user` was claimed as `served`."""
        place = self._place(user, search)
        with self._lock:
            numbers, known = self._logged.get(place, _NEW)
            if known - served:
                self._logged[place] = numbers, known - served
            elif place in self._logged:
                self._drop(place)

    def numbers(self) -> dict[int, int]:
        """Return the number of a person for each search whose person is known; all are below 0."""
        with self._lock:
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
        with self._lock:
            for place in [place for place in self._logged if goes(place[0])]:
                self._drop(place)

    def _drop(self, place: tuple[bytes, bytes]) -> None:
        for number in self._logged.pop(place)[0]:
            self._people.pop(number, None)

    def _place(self, user: str, search: object) -> tuple[bytes, bytes]:
        return self._hash(user), self._hash((user, search))

    def _hash(self, value: object) -> bytes:
        # The form of Python's literals tells apart what joined texts would not.
        return blake2b(ascii(value).encode(), key=self._key, digest_size=_BYTES).digest()
