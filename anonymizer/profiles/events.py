"""Query events -> owners, held-out events and counts of terms, in compiled loops."""
# The loops walk through the events user by user; a user's go by time, equal times in log order.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints, Marks, Numbers
from ..compiled import compiled, cores, in_parallel
from ..model import QueryLog

_SHORT = 1 << 31  # events that numbers of 32 bits can count


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


class OwnerTerms(NamedTuple):
    """Pairs of an owner and a term, each once: row i has terms[at[i]:at[i + 1]]."""

    at: Ints
    terms: Numbers
    counts: Numbers
    decayed: Floats
    events: Events


class Events(NamedTuple):
    """The query events of each pair with the term; times are seconds since the log's first."""

    times: NDArray[np.unsignedinteger]
    first: NDArray[np.integer]
    last: NDArray[np.integer]


class Times(NamedTuple):
    """The times by which events are counted, of a whole log even where only a part is counted."""

    since: int  # the log's first event
    until: int  # and its last
    latest: int  # the last event used of the owners whose profiles are made
    half_life: float  # seconds after which an occurrence counts half; 0: it always counts 1


def user_spans(log: QueryLog) -> Spans:
    """Return the events of `log` in order, one span per user; it is empty without events."""
    events = np.bincount(log.user, minlength=len(log.users))
    at = np.concatenate([[0], np.cumsum(events)]).astype(np.int64)
    # Numbers of 64 bits only where they are needed, as they take twice the memory.
    narrow = log.user.size <= _SHORT
    order: Any = np.empty(log.user.size, dtype=np.int32 if narrow else np.int64)
    _by_user(log.user, at[:-1].copy(), order)
    _by_time(order, at, log.time)
    return Spans(order, at)


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
    # Of n distinct queries, in the order of their first events, these are floor(share * n).
    held = np.zeros(len(log), dtype=np.bool_)
    if share > 0:
        last_user = np.full(len(log.queries), -1, dtype=np.int32)
        place = np.empty(len(log.queries), dtype=np.int32)
        _hold_out(users.order, users.at, log.query, share, last_user, place, held)
    return held


def sizes(owned: OwnedEvents) -> Ints:
    """Return the number of distinct terms of each span of `owned`."""
    made = np.zeros(owned.spans.at.size - 1, dtype=np.int64)

    def count(share: Ints) -> None:
        last = np.full(owned.terms, -1, dtype=np.int64)
        _count_sizes(owned.spans, share, owned.log.query, owned.held, owned.queries, last, made)

    in_parallel(count, _shares(np.arange(made.size), made.size))
    return made


def last_used(owned: OwnedEvents) -> Ints:
    """Return the time of the last event of each span of `owned` that is not held out."""
    made = np.full(owned.spans.at.size - 1, -(1 << 62), dtype=np.int64)
    _last_used(owned.spans, owned.log.time, owned.held, made)
    return made


def pairs_of(
    owned: OwnedEvents,
    chosen: Ints,
    all_sizes: Ints,
    size: int | None,
    times: Times,
    with_events: bool = False,
) -> OwnerTerms:
    """Return the counted terms of the `chosen` spans; `size` keeps the most frequent of each."""
    at = row_ends(all_sizes[chosen], size)
    log, spans, held = owned.log, owned.spans, owned.held
    pairs = no_pairs(at, times, with_events)
    longest = int(all_sizes[chosen].max(initial=0))

    def fill(rows: Ints) -> None:
        place = np.empty(owned.terms, dtype=np.int64)
        last = np.full(owned.terms, -1, dtype=np.int64)
        own = _room(np.array([0, longest]), True, True, np.int64)
        events = (log.query, log.time, held, owned.queries)
        ages = (times.latest, times.half_life, times.since)
        _fill(spans, rows, chosen, *events, *ages, last, place, own, pairs)

    in_parallel(fill, _shares(np.arange(chosen.size), chosen.size))
    return pairs


def row_ends(all_sizes: Ints, size: int | None) -> Ints:
    """Return where rows of `all_sizes` terms start and end if each keeps at most `size`."""
    kept = all_sizes if size is None else np.minimum(all_sizes, size)
    return np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)


def no_pairs(at: Ints, times: Times, with_events: bool) -> OwnerTerms:
    """Return room for the pairs of rows that end `at`; events get none unless `with_events`."""
    # Seconds since the first event fit 32 bits unless the log spans more than 136 years.
    short = times.until - times.since < 1 << 32
    return _room(at, bool(times.half_life), with_events, np.uint32 if short else np.int64)


def started(log: QueryLog) -> int:
    """Return the time of the earliest event of `log`."""
    return int(log.time.min()) if len(log) else 0


def _room(at: Ints, decayed: bool, with_events: bool, time: Any) -> OwnerTerms:
    """Return room for pairs; decayed counts and events get none unless they are wanted."""
    size = int(at[-1])
    dated = size if with_events else 0
    return OwnerTerms(
        at,
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int32),
        np.empty(size if decayed else 0, dtype=np.float64),
        Events(np.empty(dated, np.uint32), np.empty(dated, time), np.empty(dated, time)),
    )


def by_column(at: Ints, columns: Numbers, events: Events) -> None:
    """Sort the `columns` of each row, and its `events` with them, in place."""
    rows = np.arange(at.size - 1)
    in_parallel(lambda share: _sort(share, at, columns, events), _shares(rows, rows.size))


def _shares(numbers: Ints, size: int) -> list[Ints]:
    """Return `numbers` cut into a share for each core, or whole if there are few."""
    return np.array_split(numbers, cores() if size > 1_000 else 1)


@compiled
def _by_user(user: Any, free: Any, order: Any) -> None:
    """Sort events by user, each user's in log order."""
    for event in range(user.size):
        order[free[user[event]]] = event
        free[user[event]] += 1


@compiled
def _reorder(values: Any, order: Any) -> None:
    """Put `values` in `order`, in place."""
    # To assign one slice to another would compile for a second: numba words an error of its own.
    before = values.copy()
    for i in range(order.size):
        values[i] = before[order[i]]


@compiled
def _by_time(order: Any, at: Any, time: Any) -> None:
    """Sort each user's events by time; equal times stay in log order."""
    for span in range(at.size - 1):
        # Most logs are in order of time: then there is nothing to sort.
        own = order[at[span] : at[span + 1]]
        sorted_already = True
        for i in range(1, own.size):
            sorted_already = sorted_already and time[own[i - 1]] <= time[own[i]]
        if not sorted_already:
            _reorder(own, np.argsort(time[own], kind="mergesort"))


@compiled
def _hold_out(
    order: Any, at: Any, query: Any, share: float, last_user: Any, place: Any, held: Any
) -> None:
    """Number each user's distinct queries by time, and mark all events of the last ones."""
    for user in range(at.size - 1):
        distinct = 0
        for i in range(at[user], at[user + 1]):
            text = query[order[i]]
            if last_user[text] != user:
                last_user[text], place[text] = user, distinct
                distinct += 1
        # The small addend repairs products such as 100 * 0.29, which is 28.999999999999996.
        kept = distinct - np.floor(distinct * share + 1e-9)
        for i in range(at[user], at[user + 1]):
            held[order[i]] = place[query[order[i]]] >= kept


@compiled
def _count_sizes(
    spans: Any, share: Any, query: Any, held: Any, queries: Any, last: Any, made: Any
) -> None:
    """Count the distinct terms of a share of the spans."""
    for span in share:
        for i in range(spans.at[span], spans.at[span + 1]):
            event = spans.order[i]
            if held[event]:
                continue
            for at in range(queries.at[query[event]], queries.at[query[event] + 1]):
                term = queries.terms[at]
                if last[term] != span:
                    last[term] = span
                    made[span] += 1


@compiled
def _last_used(spans: Any, time: Any, held: Any, made: Any) -> None:
    """Note the time of each span's last event that is not held out."""
    for span in range(made.size):
        for i in range(spans.at[span], spans.at[span + 1]):
            if not held[spans.order[i]]:
                made[span] = max(made[span], time[spans.order[i]])


@compiled
def _fill(  # noqa: PLR0913 a compiled loop
    spans: Any,
    rows: Any,
    chosen: Any,
    query: Any,
    time: Any,
    held: Any,
    queries: Any,
    latest: int,
    half_life: float,
    since: int,
    last: Any,
    place: Any,
    own: Any,
    pairs: Any,
) -> None:
    """Count the terms of some rows; a row's terms stand in the order of their first occurrence."""
    for row in rows:
        span, size = chosen[row], 0
        for i in range(spans.at[span], spans.at[span + 1]):
            event = spans.order[i]
            if held[event]:
                continue
            decay = _decay(latest - time[event], half_life)
            for at in range(queries.at[query[event]], queries.at[query[event] + 1]):
                term = queries.terms[at]
                if last[term] != row:
                    last[term], place[term] = row, size
                    own.terms[size], own.counts[size], own.decayed[size] = term, 0, 0
                    own.events.times[size], own.events.first[size] = 0, time[event] - since
                    size += 1
                own.counts[place[term]] += queries.counts[at]
                own.decayed[place[term]] += queries.counts[at] * decay
                # A query's terms are distinct, so this counts events.
                own.events.times[place[term]] += 1
                own.events.last[place[term]] = time[event] - since
        _keep(own, size, pairs, pairs.at[row], pairs.at[row + 1])


@compiled
def _decay(age: int, half_life: float) -> float:
    """Return which share of an occurrence is left at `age`; 0 if nothing decays."""
    # Bounded, as every weight of a profile must be above 0, however old the occurrence is.
    return 0.5 ** min(age / half_life, 1_000.0) if half_life else 0.0


@compiled
def _keep(own: Any, size: int, pairs: Any, low: int, high: int) -> None:
    """Keep the most frequent terms of a row; of equally frequent ones, the earlier."""
    if high - low == size:
        kept = np.arange(size)
    else:
        # A stable sort: terms of equal counts stay in the order of their first occurrence.
        kept = np.argsort(-own.counts[:size], kind="mergesort")[: high - low]
    for i in range(kept.size):
        pairs.terms[low + i] = own.terms[kept[i]]
        pairs.counts[low + i] = own.counts[kept[i]]
        if pairs.decayed.size:
            pairs.decayed[low + i] = own.decayed[kept[i]]
        if pairs.events.times.size:
            pairs.events.times[low + i] = own.events.times[kept[i]]
            pairs.events.first[low + i] = own.events.first[kept[i]]
            pairs.events.last[low + i] = own.events.last[kept[i]]


@compiled
def _sort(rows: Any, at: Any, columns: Any, events: Any) -> None:
    """Sort some rows by column."""
    for row in rows:
        low, high = at[row], at[row + 1]
        order = np.argsort(columns[low:high], kind="mergesort")
        _reorder(columns[low:high], order)
        _reorder(events.times[low:high], order)
        _reorder(events.first[low:high], order)
        _reorder(events.last[low:high], order)
