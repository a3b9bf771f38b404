"""Parsed lines -> query events, in compiled loops: texts are numbered, repeated lines folded."""
# Texts are numbered in the order in which they are met. Arrays grow in place before each batch, by
# as much as the batch may need, so that no loop stops halfway.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints, Numbers
from ..compiled import compiled, same
from ..model import QueryLog
from ..numbering import no_names, number, reserve, texts, with_room
from .scanning import GOOD, ScannedLines

_MOST_CLICKS = np.int64((1 << 31) - 1)  # what 32 bits can hold
_NOWHERE = np.empty(0, dtype=np.int64)


class _Events(NamedTuple):
    """The events so far, and each user's latest one."""

    user: Numbers
    query: Numbers
    time: Ints
    clicks: Numbers
    place: Ints  # of the line that began each event; empty unless lines have places
    latest: Numbers


class _Sizes(NamedTuple):
    """How many entries of the arrays are used."""

    users: int = 0
    queries: int = 0
    events: int = 0
    repeats: int = 0


class Folding:
    """The query events of all lines that were added so far; unless `folded`, each is a line.

    If lines are `placed`, each has a place in the whole log, and so has each event.
    """

    def __init__(self, *, folded: bool = True, placed: bool = False) -> None:
        self._folded, self._placed = folded, placed
        self._users, self._queries = no_names(), no_names()
        user, query, clicks, latest = (np.empty(0, dtype=np.int32) for _ in range(4))
        time, place = (np.empty(0, dtype=np.int64) for _ in range(2))
        self._events = _Events(user, query, time, clicks, place, latest)
        self.sizes = _Sizes()

    def add(self, rows: ScannedLines, places: Ints = _NOWHERE) -> None:
        """Fold the good lines among `rows`, which stand in these `places`, into events."""
        lines = int(np.count_nonzero(rows.state == GOOD))
        sizes = self.sizes
        self._users = with_room(self._users, sizes.users, lines, rows.text.size)
        self._queries = with_room(self._queries, sizes.queries, lines, rows.text.size)
        for column in self._columns:
            reserve(column, sizes.events, lines)
        reserve(self._events.latest, sizes.users, lines)
        names = (self._users, self._queries)
        self.sizes = _Sizes(*_fold(rows, places, *names, self._events, sizes, self._folded))

    @property
    def _columns(self) -> tuple[Numbers | Ints, ...]:
        return self._events[: -1 if self._placed else -2]

    @property
    def places(self) -> Ints:
        """Return the place of each event."""
        return self._events.place[: self.sizes.events]

    def log(self) -> QueryLog:
        """Return the log; nothing can be added after it."""
        sizes, events = self.sizes, self._events
        users = texts(self._users, sizes.users).strings()
        queries = texts(self._queries, sizes.queries)
        for column in self._columns:
            column.resize(sizes.events, refcheck=False)
        return QueryLog(
            tuple(users), events.user, events.query, queries, events.time, events.clicks
        )


@compiled
def _fold(
    rows: Any, places: Any, users: Any, queries: Any, events: Any, sizes: Any, folded: bool
) -> Any:
    """If `folded`, fold each good line into its user's latest event if the query is the same."""
    people, texts, made, repeats = sizes.users, sizes.queries, sizes.events, sizes.repeats
    user = np.int64(-1)
    for i in range(rows.state.size):
        if rows.state[i] != GOOD:
            continue
        low, middle, high = rows.user_at[i], rows.query_at[i], rows.query_end[i]
        # Most lines have the user of the line before: compare with that one before hashing.
        if user < 0 or not same(
            rows.text, low, middle, users.blob, users.at[user], users.at[user + 1]
        ):
            user = number(rows.text, low, middle, users, people)
            if user == people:
                events.latest[user] = -1
                people += 1
        event = events.latest[user]
        if folded and event >= 0:
            query = events.query[event]
            start, end = queries.at[query], queries.at[query + 1]
            if same(rows.text, middle, high, queries.blob, start, end):
                repeats += 1
                clicks = np.int64(events.clicks[event]) + rows.clicks[i]
                events.clicks[event] = min(clicks, _MOST_CLICKS)
                events.time[event] = min(events.time[event], rows.time[i])
                continue
        query = number(rows.text, middle, high, queries, texts)
        texts = max(texts, query + 1)
        events.latest[user] = made
        events.user[made], events.query[made] = user, query
        events.time[made], events.clicks[made] = rows.time[i], rows.clicks[i]
        if places.size:
            events.place[made] = places[i]
        made += 1
    return people, texts, made, repeats
