"""QueryLog -> Profiles: which terms a user, or one session of a user, asked for, and how much.

    binary   1 for each distinct term (Zhu & Xiong)
    tf       how often the term occurs in the owner's query events
    tfidf    tf * ln(1 + n / df): n profiles come out, df of them have the term
    recency  each occurrence counts 2 ** (-age / 30 days), age being the time to the last event
             used of all owners that come out

The owner of a profile is a user or, with granularity "session", a session named "user#1"; a new
one starts where q.time > previous.time + gap. Sessions are cut before any query is held out. An
owner's events are taken by time, equal times in log order; owners stand in the order of their
first events in the log. Who is left out has no influence on the weights of those who stay.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .counting import TermCounter
from .model import BadInput, BadParameter, Floats, Ints, Profiles, Progress, QueryLog, Texts, silent
from .origins import Origins
from .profile_counts import (
    Mask,
    Pairs,
    QueryTerms,
    Spans,
    by_column,
    first_rows,
    held_out,
    pairs_of,
    session_spans,
    sizes,
    started,
    user_spans,
)

HALF_LIFE = 30 * 86_400  # seconds
GRANULARITIES = ("user", "session")
_AT_ONCE = 1 << 16  # queries analysed between two steps of progress

Analyse = Callable[[str], Sequence[str]]


def build_profiles(
    log: QueryLog,
    analyse: Analyse | TermCounter,
    *,
    size: int | None = None,
    users: int | None = None,
    weights: str = "binary",
    granularity: str = "user",
    gap: float = 1_800,
    test_share: float = 0.0,
    progress: Progress = silent,
    on_origins: Callable[[Origins], object] | None = None,
) -> tuple[Profiles, QueryLog]:
    """Return the profiles, and the held-out events of those users who have one.

    With a size, profiles hold the owner's most frequent terms (ties: the earlier first occurrence)
    and owners with fewer terms are left out; of the rest the first `users` stay. Progress gets the
    number of distinct queries analysed so far; `on_origins`, if given, where terms came from.
    """
    _check(
        size=size,
        users=users,
        weights=weights,
        granularity=granularity,
        gap=gap,
        test_share=test_share,
    )
    spans = user_spans(log)
    held = held_out(log, spans, test_share)
    owners = _owners(log, spans, granularity, gap)
    vocabulary = _analysed(log, held, analyse, progress)
    events = (log, owners.spans, held, vocabulary.of_query, len(vocabulary.terms))
    all_sizes = sizes(*events)
    chosen = _chosen(owners, all_sizes, size, users)
    half_life = float(HALF_LIFE) if weights == "recency" else 0.0
    pairs = pairs_of(*events, chosen, all_sizes, size, half_life, on_origins is not None)
    profiles = _weighed(pairs, weights, owners.names(log, chosen), vocabulary.terms)
    if on_origins:
        on_origins(_origins(profiles, pairs, vocabulary.terms, started(log)))
    return profiles, _part(log, held & _is_among(owners.user[chosen], log)[log.user])


def _weighed(pairs: Pairs, weights: str, users: Sequence[str], terms: Sequence[str]) -> Profiles:
    entries = (WEIGHTS[weights](pairs), pairs.terms, pairs.at)
    matrix = csr_matrix(entries, shape=(len(users), len(terms)))
    return with_sorted_terms(users, terms, matrix)


def _origins(profiles: Profiles, pairs: Pairs, terms: Sequence[str], since: int) -> Origins:
    """Return the pairs' events in the order in which the profiles have their terms."""
    number = {term: column for column, term in enumerate(profiles.terms)}
    columns = np.array([number.get(term, -1) for term in terms], dtype=np.int32)[pairs.terms]
    by_column(pairs.at, columns, pairs.events)
    return Origins(profiles.users, profiles.terms, pairs.at, columns, *pairs.events, since)


def split_by_time(log: QueryLog, test_share: float) -> tuple[QueryLog, QueryLog]:
    """Split each user's distinct queries by the time of first asking: profile part, test part.

    Of n distinct queries the last floor(test_share * n) are held out, with all their events.
    """
    _check(test_share=test_share)
    held = held_out(log, user_spans(log), test_share)
    return _part(log, ~held), _part(log, held)


def without_robots(log: QueryLog, *, robots: int = 100, gap: float = 1_800) -> tuple[QueryLog, int]:
    """Leave out users having a session with more than `robots` query events; count them."""
    if robots < 1:
        raise BadParameter(f"robots={robots} must be at least 1")
    _check(gap=gap)
    spans = session_spans(log, user_spans(log), gap)
    long = np.flatnonzero(np.diff(spans.at) > robots)
    dropped = _is_among(log.user[spans.order[spans.at[long]]], log)
    return _part(log, ~dropped[log.user]), int(np.count_nonzero(dropped))


def with_sorted_terms(users: Sequence[str], terms: Sequence[str], weights: csr_matrix) -> Profiles:
    """Build profiles whose terms are numbered in sorted order; terms nobody has are dropped."""
    had = np.flatnonzero(np.bincount(weights.indices, minlength=len(terms)))
    by_name = sorted(had.tolist(), key=terms.__getitem__)
    column = np.zeros(len(terms), dtype=np.int32)
    column[by_name] = np.arange(len(by_name))
    entries = (weights.data, column[weights.indices], weights.indptr)
    matrix = csr_matrix(entries, shape=(len(users), len(by_name)))
    return Profiles(tuple(users), tuple(terms[number] for number in by_name), matrix)


@dataclass(frozen=True)
class _Owners:
    """Those who may get a profile, an owner a span."""

    spans: Spans
    user: Ints
    in_order: Ints  # owners in the order of their first events in the log
    has_sessions: bool

    def names(self, log: QueryLog, chosen: Ints) -> list[str]:
        """Name some owners: the user, or the user's n-th session."""
        names = [log.users[user] for user in self.user[chosen].tolist()]
        if not self.has_sessions:
            return names
        place = _ranks(self.user)[chosen] + 1
        return [f"{name}#{n}" for name, n in zip(names, place.tolist(), strict=True)]


def _owners(log: QueryLog, users: Spans, granularity: str, gap: float) -> _Owners:
    # No gap is longer than the endless one: a user's events are one span, and none is empty.
    spans = session_spans(log, users, gap if granularity == "session" else np.inf)
    user = log.user[spans.order[spans.at[:-1]]].astype(np.int64)
    return _Owners(spans, user, np.argsort(first_rows(spans)), granularity == "session")


def _is_among(users: NDArray[np.integer], log: QueryLog) -> Mask:
    among = np.zeros(len(log.users), dtype=np.bool_)
    among[users] = True
    return among


@dataclass(frozen=True)
class _Vocabulary:
    """The terms by number, and which ones each distinct query has."""

    terms: list[str]
    of_query: QueryTerms


def _tfidf(pairs: Pairs) -> Floats:
    having = np.bincount(pairs.terms)[pairs.terms]
    weights: Floats = pairs.counts.astype(np.float64) * np.log(1 + (pairs.at.size - 1) / having)
    return weights


WEIGHTS: dict[str, Callable[[Pairs], Floats]] = {
    "binary": lambda pairs: np.ones(pairs.terms.size),
    "tf": lambda pairs: pairs.counts.astype(np.float64),
    "tfidf": _tfidf,
    "recency": lambda pairs: pairs.decayed,
}


def _check(
    *,
    size: int | None = None,
    users: int | None = None,
    weights: str = "binary",
    granularity: str = "user",
    gap: float = 0,
    test_share: float = 0,
) -> None:
    grains = ", ".join(GRANULARITIES)
    rules = {
        f"size={size} must be at least 1": size is None or size >= 1,
        f"users={users} must be at least 1": users is None or users >= 1,
        f"weights={weights} must be one of {', '.join(WEIGHTS)}": weights in WEIGHTS,
        f"granularity={granularity} must be one of {grains}": granularity in GRANULARITIES,
        f"gap={gap} must be at least 0 seconds": gap >= 0,
        f"test_share={test_share} must be at least 0 and below 1": 0 <= test_share < 1,
    }
    faults = [rule for rule, kept in rules.items() if not kept]
    if faults:
        raise BadParameter("; ".join(faults))


def _ranks(groups: Ints) -> Ints:
    """Count 0, 1, 2 ... within each run of equal numbers."""
    starts = _starts(groups)
    lengths = np.diff(np.append(starts, groups.size))
    return np.arange(groups.size) - np.repeat(starts, lengths)


def _starts(groups: Ints) -> Ints:
    return np.flatnonzero(np.diff(groups, prepend=-1))


def _part(log: QueryLog, which: Mask) -> QueryLog:
    """Return some events of a log, and only the users who have one."""
    users = np.flatnonzero(np.bincount(log.user[which], minlength=len(log.users)))
    number = np.zeros(len(log.users), dtype=np.int32)
    number[users] = np.arange(users.size)
    names = tuple(log.users[user] for user in users.tolist())
    queries = log.queries if users.size else Texts.of([])  # nothing must not hold them all
    rest = (queries, log.time[which], log.clicks[which])
    return QueryLog(names, number[log.user[which]], log.query[which], *rest)


def _analysed(
    log: QueryLog, held: Mask, analyse: Analyse | TermCounter, progress: Progress
) -> _Vocabulary:
    """Analyse each distinct query of the events that are not held out, once."""
    asked = np.zeros(len(log.queries), dtype=np.bool_)
    asked[log.query[~held]] = True
    numbers = np.flatnonzero(asked)
    if isinstance(analyse, TermCounter):
        terms, columns, counts, lengths = _counted(log, numbers, analyse, progress)
    else:
        terms, columns, counts, lengths = _counted_one_by_one(log, numbers, analyse, progress)
    if not columns.size:
        raise BadInput("no query of the log holds a term; give a log with queries in words")
    of_query = np.zeros(asked.size + 1, dtype=np.int64)
    of_query[numbers + 1] = lengths
    return _Vocabulary(terms, QueryTerms(columns, counts, np.cumsum(of_query)))


_Counted = tuple[list[str], NDArray[np.int32], NDArray[np.int32], Ints]


def _counted(log: QueryLog, numbers: Ints, counter: TermCounter, progress: Progress) -> _Counted:
    columns, counts, lengths = [], [], []
    for low in range(0, numbers.size, _AT_ONCE):
        some = counter.count_packed(log.queries, numbers[low : low + _AT_ONCE])
        columns.append(some.columns)
        counts.append(some.tf)
        lengths.append(np.diff(some.ends, prepend=0))
        progress(min(low + _AT_ONCE, numbers.size))
    return counter.terms, _joined(columns), _joined(counts), _joined(lengths)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)


def _counted_one_by_one(
    log: QueryLog, numbers: Ints, analyse: Analyse, progress: Progress
) -> _Counted:
    number: dict[str, int] = {}
    columns, counts, lengths = array("i"), array("i"), array("q")
    for done, query in enumerate(numbers.tolist(), 1):
        found = Counter(analyse(log.queries.text(query)))
        columns.extend([number.setdefault(term, len(number)) for term in found])
        counts.extend(found.values())
        lengths.append(len(found))
        progress(done)
    arrays = (np.array(columns, np.int32), np.array(counts, np.int32), np.array(lengths, np.int64))
    return list(number), *arrays


def _chosen(owners: _Owners, all_sizes: Ints, size: int | None, users: int | None) -> Ints:
    """Return who gets a profile: the first `users` owners with at least `size` terms."""
    enough = owners.in_order[all_sizes[owners.in_order] >= (size or 1)]
    if not enough.size:
        raise BadParameter(
            f"size={size} must be at most {all_sizes.max()}: no one has more terms; lower size"
        )
    if users is not None and users > enough.size:
        raise BadParameter(
            f"users={users} must be at most {enough.size}: only so many have {size or 1} or more "
            "terms; lower users or size"
        )
    return enough[:users]
