"""The events of a log whose queries many people entered, found part by part of its users.

All lines of a person are in one part. So the numbers of people who entered a query, counted in each
part, add up. They are added by a hash of the query, and only common queries come together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from ..arrays import Ints
from ..model import QueryLog, Texts
from .log_pieces import Content, PartRead, part_of_log

Counts = list[tuple[str, int]]  # query, people who entered it


class PartLog(NamedTuple):
    """The events of a part, and what was read of it."""

    read: PartRead
    log: QueryLog
    first: Ints  # place of each user's first event


class CommonEvents(NamedTuple):
    """Events of a part, by numbers of its users and of all common queries."""

    users: tuple[str, ...]
    first: Ints
    user: Ints
    query: Ints


def log_of_part(dealt: Iterable[Content]) -> PartLog:
    """Return the events of the part whose lines were `dealt`."""
    folding, read = part_of_log(dealt)
    log = folding.log()
    return PartLog(read, log, first_places(log, folding.places))


def first_places(log: QueryLog, places: Ints) -> Ints:
    """Return the place of the first event of each user of `log`, whose events have `places`."""
    _, events = np.unique(log.user, return_index=True)
    first: Ints = places[events]
    return first


def people_by_query(part: PartLog, buckets: int) -> Iterator[tuple[int, Counts]]:
    """Yield how many people of `part` entered each query, in `buckets` by a hash of the query."""
    # A person counts once for a query, however often it was entered.
    log, span = part.log, max(1, len(part.log.queries))
    pairs = np.unique(log.user.astype(np.int64) * span + log.query)
    having = np.bincount(pairs % span, minlength=span).tolist()
    made: dict[int, Counts] = {}
    for query, people in zip(log.queries.strings(), having, strict=False):
        # Python's own hash of a text differs from one worker to the next.
        if people:
            made.setdefault(crc32(query.encode()) % buckets, []).append((query, people))
    yield from made.items()


def common_in(counts: Iterable[Counts], k: int) -> list[str]:
    """Return the queries that `k` people or more entered, by the `counts` of all parts."""
    people = Counter[str]()
    for some in counts:
        for query, count in some:
            people[query] += count
    return [query for query, count in people.items() if count >= k]


def common_events(part: PartLog, queries: Sequence[str]) -> CommonEvents:
    """Return the events of `part` with one of these common `queries`."""
    log, number = part.log, {query: at for at, query in enumerate(queries)}
    numbers = [number.get(query, -1) for query in log.queries.strings()]
    query = np.array(numbers, dtype=np.int64)[log.query]
    kept = np.flatnonzero(query >= 0)
    return CommonEvents(log.users, part.first, log.user[kept].astype(np.int64), query[kept])


def united_log(parts: Sequence[CommonEvents], queries: Sequence[str]) -> QueryLog:
    """Return the events of all `parts`, which have no time, over the common `queries`.

    All users of the log are there, in the order of their first events.
    """
    order = np.argsort(np.concatenate([part.first for part in parts]))
    number = np.empty(order.size, dtype=np.int64)
    number[order] = np.arange(order.size)
    starts = np.cumsum([0, *(len(part.users) for part in parts)])[:-1].tolist()
    users = [user for part in parts for user in part.users]
    user = np.concatenate(
        [number[part.user + start] for part, start in zip(parts, starts, strict=True)]
    )
    query = np.concatenate([part.query for part in parts])
    none = np.zeros(user.size, dtype=np.int64)
    names = tuple(users[at] for at in order.tolist())
    events = (user.astype(np.int32), query.astype(np.int32))
    return QueryLog(names, *events, Texts.of(queries), none, none.astype(np.int32))
