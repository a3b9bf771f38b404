"""Parsed lines -> query events, compiled: texts are numbered, repeated lines folded.

Numbers are given in the order in which texts are met. Arrays grow in place, before a batch and
by as much as it may need, so that no loop stops halfway.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled
from .model import Ints, Numbers, QueryLog, Texts
from .querylog_scan import GOOD, Rows

_ROOM = 1 << 10
_MOST_CLICKS = np.int64((1 << 31) - 1)


class _Names(NamedTuple):
    """Texts by number: open addressing; a slot holds a text's hash above its number + 1."""

    slots: NDArray[np.uint64]
    blob: NDArray[np.uint8]
    at: Ints


class _Events(NamedTuple):
    """The events so far, and each user's latest one."""

    user: Numbers
    query: Numbers
    time: Ints
    clicks: Numbers
    latest: Numbers


class _Sizes(NamedTuple):
    """How much of the arrays is used."""

    users: int = 0
    queries: int = 0
    events: int = 0
    repeats: int = 0


class Folding:
    """The log as far as it has been read."""

    def __init__(self) -> None:
        self._users, self._queries = _no_names(), _no_names()
        self._events = _Events(
            np.empty(0, dtype=np.int32),
            np.empty(0, dtype=np.int32),
            np.empty(0, dtype=np.int64),
            np.empty(0, dtype=np.int32),
            np.empty(0, dtype=np.int32),
        )
        self.sizes = _Sizes()

    def add(self, rows: Rows) -> None:
        """Fold the good lines of a batch into events."""
        lines = int(np.count_nonzero(rows.state == GOOD))
        sizes = self.sizes
        self._users = _with_room(self._users, sizes.users, lines, rows.text.size)
        self._queries = _with_room(self._queries, sizes.queries, lines, rows.text.size)
        for column in self._events[:-1]:
            _reserve(column, sizes.events, lines)
        _reserve(self._events.latest, sizes.users, lines)
        self.sizes = _Sizes(*_fold(rows, self._users, self._queries, self._events, sizes))

    def log(self) -> QueryLog:
        """Return the log; nothing can be added after it."""
        sizes, events = self.sizes, self._events
        users = _texts(self._users, sizes.users).strings()
        queries = _texts(self._queries, sizes.queries)
        for column in events[:-1]:
            column.resize(sizes.events, refcheck=False)
        return QueryLog(
            tuple(users), events.user, events.query, queries, events.time, events.clicks
        )


def _no_names() -> _Names:
    return _Names(
        np.zeros(2 * _ROOM, dtype=np.uint64),
        np.empty(0, dtype=np.uint8),
        np.zeros(1, dtype=np.int64),
    )


def _with_room(names: _Names, size: int, more: int, letters: int) -> _Names:
    """Make room for more texts; at most half of the slots are ever used."""
    _reserve(names.at, size + 1, more)
    _reserve(names.blob, int(names.at[size]), letters)
    slots = names.slots
    if 2 * (size + more) <= slots.size:
        return names
    wider = np.zeros(1 << (2 * (size + more)).bit_length(), dtype=np.uint64)
    _refill(slots, wider)
    return names._replace(slots=wider)


def _reserve(array: NDArray[Any], used: int, more: int) -> None:
    """Lengthen an array in place: a copy would double the peak of memory."""
    if array.size < used + more:
        array.resize(used + more + used // 4, refcheck=False)


def _texts(names: _Names, size: int) -> Texts:
    names.blob.resize(int(names.at[size]), refcheck=False)
    names.at.resize(size + 1, refcheck=False)
    return Texts(names.blob, names.at)


@compiled
def _refill(slots: Any, wider: Any) -> None:
    """Move the slots into a larger table."""
    mask = np.uint64(wider.size - 1)
    for i in range(slots.size):
        if slots[i]:
            slot = (slots[i] >> np.uint64(32)) & mask
            while wider[slot]:
                slot = (slot + np.uint64(1)) & mask
            wider[slot] = slots[i]


@compiled
def _same(text: Any, low: int, high: int, blob: Any, start: int, end: int) -> bool:
    """Compare two texts byte by byte."""
    if high - low != end - start:
        return False
    for i in range(high - low):  # noqa: SIM110 (numba compiles no generator)
        if text[low + i] != blob[start + i]:
            return False
    return True


@compiled
def _number(text: Any, low: int, high: int, names: Any, size: int) -> Any:
    """Return a text's number, which is `size` if it is new; then it is added."""
    key = np.uint64(14695981039346656037)
    for i in range(low, high):
        key = (key ^ np.uint64(text[i])) * np.uint64(1099511628211)
    key = (key ^ (key >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
    mask = np.uint64(names.slots.size - 1)
    slot = key & mask
    while names.slots[slot]:
        found = names.slots[slot]
        if found >> np.uint64(32) == key:
            number = np.int64(found & np.uint64(0xFFFFFFFF)) - 1
            if _same(text, low, high, names.blob, names.at[number], names.at[number + 1]):
                return number
        slot = (slot + np.uint64(1)) & mask
    names.slots[slot] = (key << np.uint64(32)) | np.uint64(size + 1)
    start = names.at[size]
    for i in range(high - low):
        names.blob[start + i] = text[low + i]
    names.at[size + 1] = start + high - low
    return size


@compiled
def _fold(rows: Any, users: Any, queries: Any, events: Any, sizes: Any) -> Any:
    """Fold each good line into its user's latest event if that asked the same."""
    people, asked, made, repeats = sizes.users, sizes.queries, sizes.events, sizes.repeats
    user = np.int64(-1)
    for i in range(rows.state.size):
        if rows.state[i] != GOOD:
            continue
        low, middle, high = rows.user_at[i], rows.query_at[i], rows.query_end[i]
        if user < 0 or not _same(
            rows.text, low, middle, users.blob, users.at[user], users.at[user + 1]
        ):
            user = _number(rows.text, low, middle, users, people)
            if user == people:
                events.latest[user] = -1
                people += 1
        event = events.latest[user]
        if event >= 0:
            query = events.query[event]
            start, end = queries.at[query], queries.at[query + 1]
            if _same(rows.text, middle, high, queries.blob, start, end):
                repeats += 1
                clicks = np.int64(events.clicks[event]) + rows.clicks[i]
                events.clicks[event] = min(clicks, _MOST_CLICKS)
                events.time[event] = min(events.time[event], rows.time[i])
                continue
        query = _number(rows.text, middle, high, queries, asked)
        asked = max(asked, query + 1)
        events.latest[user] = made
        events.user[made], events.query[made] = user, query
        events.time[made], events.clicks[made] = rows.time[i], rows.clicks[i]
        made += 1
    return people, asked, made, repeats
