"""Query events -> owners, held-out events and counts of terms."""
# Events stand user by user; a user's go by time, equal times in log order. Terms are counted for
# some owners at a time, so that memory stays flat.

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints, Marks, Numbers
from ..compiled import in_parallel
from ..model import QueryLog

_CELLS = 1 << 20  # terms of events that are counted together


class Spans(NamedTuple):
    """Events in order: a span is a user or a session, and span i is order[at[i]:at[i + 1]]."""

    order: Numbers
    at: Ints


class QueryTerms(NamedTuple):
    """The distinct terms of distinct queries: query i has terms[at[i]:at[i + 1]]."""

    terms: Numbers
    counts: Numbers
    at: Ints


class OwnedEvents(NamedTuple):
    """Events by owner, with the terms of their queries."""

    log: QueryLog
    spans: Spans  # an owner's events
    held: Marks  # events that are held out
    queries: QueryTerms
    terms: int  # number of distinct terms


class Events(NamedTuple):
    """The query events of each pair with the term; times are seconds since the log's first."""

    times: NDArray[np.unsignedinteger]
    first: NDArray[np.integer]
    last: NDArray[np.integer]


class OwnerTerms(NamedTuple):
    """Pairs of an owner and a term, each once: row i has terms[at[i]:at[i + 1]]."""

    at: Ints
    terms: Numbers
    counts: Numbers
    decayed: Floats  # none unless they are wanted
    events: Events


class _PairCells(NamedTuple):
    """The terms of some spans' events, those of one pair of a span and a term together."""

    row: Ints  # of each pair: which of the spans
    term: Ints
    start: Ints  # pair -> its first cell; its cells are in the order of their events
    place: Ints  # cell -> its place in the order of events
    counts: Numbers
    event: Numbers


def user_spans(log: QueryLog) -> Spans:
    """Return the events of `log` in order, one span per user; it is empty without events."""
    events = np.bincount(log.user, minlength=len(log.users))
    at = np.concatenate([[0], np.cumsum(events)]).astype(np.int64)
    return Spans(np.lexsort((log.time, log.user)).astype(np.int32), at)


def session_spans(log: QueryLog, users: Spans, gap: float) -> Spans:
    """Return the spans of `users` cut where the pause between two events is longer than `gap`."""
    order = users.order
    starts = np.zeros(order.size + 1, dtype=np.bool_)
    starts[users.at] = True
    time = log.time[order]
    starts[1:-1] |= time[1:] > time[:-1] + gap
    return Spans(order, np.flatnonzero(starts))


def held_out(log: QueryLog, users: Spans, share: float) -> Marks:
    """Return which events belong to the last `share` of their user's distinct queries."""
    held = np.zeros(len(log), dtype=np.bool_)
    if share > 0 and len(log):
        user, query = log.user[users.order], log.query[users.order]
        keys = user.astype(np.int64) * len(log.queries) + query
        _, first, pair = np.unique(keys, return_index=True, return_inverse=True)
        # Each user's distinct queries in the order of their first events.
        distinct = np.bincount(user[first], minlength=len(log.users))
        by_time, place = np.argsort(first), np.empty_like(first)
        place[by_time] = (
            np.arange(first.size) - (np.cumsum(distinct) - distinct)[user[first[by_time]]]
        )
        # The small addend repairs products such as 100 * 0.29, which is 28.999999999999996.
        kept = distinct - np.floor(distinct * share + 1e-9)
        held[users.order] = place[pair] >= kept[user]
    return held


def sizes(owned: OwnedEvents) -> Ints:
    """Return the number of distinct terms of each span of `owned`."""

    def count(spans: Ints) -> Ints:
        return np.bincount(_cells(owned, spans).row, minlength=spans.size)

    return np.concatenate(in_parallel(count, [*_parts(owned, np.arange(owned.spans.at.size - 1))]))


def pairs_of(owned: OwnedEvents, chosen: Ints, size: int | None, half_life: float) -> OwnerTerms:
    """Return the counted terms of the `chosen` spans; `size` keeps the most frequent of each.

    With a `half_life`, occurrences decay until the last event that is counted.
    """
    log, (order, at) = owned.log, owned.spans
    since = started(log)
    # Seconds since the first event fit 32 bits unless the log spans more than 136 years.
    time_type = np.uint32 if int(log.time.max()) - since < 1 << 32 else np.int64
    counted = np.where(owned.held[order], since, log.time[order])
    latest = int(np.maximum.reduceat(counted, at[:-1])[chosen].max())

    def pairs(spans: Ints) -> tuple[Ints, tuple[NDArray[Any], ...]]:
        cells = _cells(owned, spans)
        counts = np.add.reduceat(cells.counts, cells.start)
        kept = np.arange(counts.size)
        if size is not None:  # of equally frequent terms, the earlier
            kept = np.lexsort((cells.place[cells.start], -counts, cells.row))
            begins = np.searchsorted(cells.row, np.arange(spans.size))
            kept = np.sort(kept[np.arange(kept.size) - begins[cells.row[kept]] < size])
        times = np.diff(cells.start, append=cells.counts.size)
        time = log.time[cells.event]
        decayed: Floats = np.zeros(0)
        if half_life:
            # Bounded, as every weight must be above 0, however old the occurrence is.
            left = 0.5 ** np.minimum((latest - time) / half_life, 1_000.0)
            pair = np.repeat(np.arange(times.size), times)
            decayed = np.bincount(pair, cells.counts * left).astype(np.float64)[kept]
        # A query's terms are distinct, so cells are events.
        first, last = (time[end] - since for end in (cells.start, cells.start + times - 1))
        columns = (cells.term, counts, times, first, last)
        row = np.bincount(cells.row[kept], minlength=spans.size)
        return row, (*(column[kept] for column in columns), decayed)

    rows, parts = zip(*in_parallel(pairs, [*_parts(owned, chosen)]), strict=True)
    terms, counts, times, first, last, decayed = (
        np.concatenate(some) for some in zip(*parts, strict=True)
    )
    ends = np.concatenate([[0], np.cumsum(np.concatenate(rows))]).astype(np.int64)
    events = Events(times.astype(np.uint32), first.astype(time_type), last.astype(time_type))
    return OwnerTerms(ends, terms.astype(np.int32), counts.astype(np.int32), decayed, events)


def started(log: QueryLog) -> int:
    """Return the time of the earliest event of `log`."""
    return int(log.time.min()) if len(log) else 0


def _parts(owned: OwnedEvents, spans: Ints) -> Iterator[Ints]:
    """Yield `spans` in parts of about _CELLS terms; a longer span is a part of its own."""
    (order, at), queries = owned.spans, owned.queries
    before = np.concatenate([[0], np.cumsum(np.diff(queries.at)[owned.log.query[order]])])
    cells = np.cumsum(before[at[spans + 1]] - before[at[spans]])
    marks = np.searchsorted(cells, np.arange(_CELLS, cells[-1], _CELLS), side="right")
    yield from (part for part in np.split(spans, np.unique(marks)) if part.size)


def _cells(owned: OwnedEvents, spans: Ints) -> _PairCells:
    """Return the terms of the events of `spans` that are not held out."""
    (order, at), queries = owned.spans, owned.queries
    row, place = _ranges(at[spans], at[spans + 1])
    event = order[place]
    counted = ~owned.held[event]
    row, event = row[counted], event[counted]
    query = owned.log.query[event]
    of, cell = _ranges(queries.at[query], queries.at[query + 1])
    keys = row[of] * owned.terms + queries.terms[cell]
    by_pair = np.argsort(keys, kind="stable")
    keys = keys[by_pair]
    start = np.flatnonzero(np.diff(keys, prepend=-1))
    pairs = np.divmod(keys[start], owned.terms)
    return _PairCells(*pairs, start, by_pair, queries.counts[cell[by_pair]], event[of[by_pair]])


def _ranges(starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return all numbers from each of `starts` up to its end, and which range each is of."""
    sizes = ends - starts
    of = np.repeat(np.arange(sizes.size), sizes)
    return of, np.arange(of.size) + (starts - (np.cumsum(sizes) - sizes))[of]
