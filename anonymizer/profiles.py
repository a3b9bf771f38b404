"""QueryLog -> Profiles: which terms a user, or one session of a user, asked for, and how much.

    binary   1 for each distinct term (Zhu & Xiong)
    tf       how often the term occurs in the owner's query events
    tfidf    tf * ln(1 + n / df): n profiles come out, df of them have the term
    recency  each occurrence counts 2 ** (-age / 30 days), age being the time to the last event used

The owner of a profile is a user or, with granularity "session", a session named "user#1"; a new
one starts where q.time > previous.time + gap. Sessions are cut before any query is held out. An
owner's events are taken by time, equal times in log order; owners stand in the order of their
first events in the log. Who is left out has no influence on the weights of those who stay.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .model import BadInput, BadParameter, Floats, Ints, Profiles, Progress, QueryLog, silent

HALF_LIFE = 30 * 86_400  # seconds
_OLDEST = 1_000  # half-lives; much older occurrences would weigh 0

Analyse = Callable[[str], Sequence[str]]
Mask = NDArray[np.bool_]


def build_profiles(
    log: QueryLog,
    analyse: Analyse,
    *,
    size: int | None = None,
    users: int | None = None,
    weights: str = "binary",
    granularity: str = "user",
    gap: float = 1_800,
    test_share: float = 0.0,
    progress: Progress = silent,
) -> tuple[Profiles, QueryLog]:
    """Return the profiles, and the held-out events of those users who have one.

    With a size, profiles hold the owner's most frequent terms (ties: the earlier first
    occurrence) and owners with fewer terms are left out; of the rest the first `users` stay.
    Progress gets the number of distinct queries analysed so far.
    """
    _check(
        size=size,
        users=users,
        weights=weights,
        granularity=granularity,
        gap=gap,
        test_share=test_share,
    )
    owners = GRANULARITIES[granularity](log, gap)
    held = _held_out(log, test_share)
    order = _by_user_and_time(log)
    used = order[~held[order]]
    asked, queries = _numbered([log.query[event] for event in used.tolist()])
    vocabulary = _analysed(queries, analyse, progress)
    pairs = _counted(owners.of_event[used], log.time[used], asked, vocabulary)
    chosen = _chosen(owners, pairs, size, users)
    pairs = _top(_restricted(pairs, chosen, len(owners.names)), size)
    entries = (WEIGHTS[weights](pairs), (pairs["owner"], pairs["term"]))
    matrix = csr_matrix(entries, shape=(chosen.size, len(vocabulary.terms)))
    names = [owners.names[owner] for owner in chosen.tolist()]
    profiles = with_sorted_terms(names, vocabulary.terms, matrix)
    return profiles, _part(log, held & np.isin(log.user, owners.user[chosen]))


def split_by_time(log: QueryLog, test_share: float) -> tuple[QueryLog, QueryLog]:
    """Split each user's distinct queries by the time of first asking: profile part, test part.

    Of n distinct queries the last floor(test_share * n) are held out, with all their events.
    """
    _check(test_share=test_share)
    held = _held_out(log, test_share)
    return _part(log, ~held), _part(log, held)


def with_sorted_terms(users: Sequence[str], terms: Sequence[str], weights: csr_matrix) -> Profiles:
    """Build profiles whose terms are numbered in sorted order; terms nobody has are dropped."""
    by_name = sorted(np.unique(weights.indices).tolist(), key=terms.__getitem__)
    column = np.zeros(len(terms), dtype=np.int64)
    column[by_name] = np.arange(len(by_name))
    entries = (weights.data, column[weights.indices], weights.indptr)
    matrix = csr_matrix(entries, shape=(len(users), len(by_name)))
    return Profiles(tuple(users), tuple(terms[number] for number in by_name), matrix)


@dataclass(frozen=True)
class _Owners:
    """Those who get a profile, in the order of their first events in the log."""

    names: Sequence[str]
    of_event: Ints
    user: Ints  # owner -> user


def _by_session(log: QueryLog, gap: float) -> _Owners:
    order = _by_user_and_time(log)
    user, time = log.user[order], log.time[order]
    starts = np.ones(order.size, dtype=np.bool_)
    starts[1:] = (user[1:] != user[:-1]) | (time[1:] > time[:-1] + gap)
    session = np.empty(order.size, dtype=np.int64)
    session[order] = np.cumsum(starts) - 1
    user_of_session = user[starts]
    places = zip(user_of_session.tolist(), _ranks(user_of_session).tolist(), strict=True)
    names = [f"{log.users[number]}#{place + 1}" for number, place in places]
    return _in_order_of_appearance(log, session, names)


def _in_order_of_appearance(log: QueryLog, owner: Ints, names: Sequence[str]) -> _Owners:
    present, first, of_event = np.unique(owner, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    in_order = [names[number] for number in present[order].tolist()]
    return _Owners(in_order, rank[of_event], log.user[first[order]])


GRANULARITIES: dict[str, Callable[[QueryLog, float], _Owners]] = {
    "user": lambda log, _gap: _in_order_of_appearance(log, log.user, log.users),
    "session": _by_session,
}


@dataclass(frozen=True)
class _Vocabulary:
    """The terms of distinct queries: query i has numbers[at[i]:at[i + 1]]."""

    terms: list[str]
    numbers: Ints
    at: Ints

    def occurrences(self, asked: Ints) -> tuple[Ints, Ints]:
        """Return which event and which term, for every occurrence in the events' order."""
        lengths = np.diff(self.at)[asked]
        event = np.repeat(np.arange(asked.size), lengths)
        within = np.arange(event.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return event, self.numbers[self.at[asked][event] + within]


# Every owner and term that go together, once; first ranks the pairs by their first occurrence.
_PAIR = np.dtype(
    [("owner", "i8"), ("term", "i8"), ("count", "i8"), ("first", "i8"), ("decayed", "f8")]
)
Pairs = NDArray[np.void]


def _tfidf(pairs: Pairs) -> Floats:
    profiles = np.unique(pairs["owner"]).size
    having = np.bincount(pairs["term"])[pairs["term"]]
    weights: Floats = pairs["count"] * np.log(1 + profiles / having)
    return weights


WEIGHTS: dict[str, Callable[[Pairs], Floats]] = {
    "binary": lambda pairs: np.ones(pairs.size),
    "tf": lambda pairs: pairs["count"].astype(np.float64),
    "tfidf": _tfidf,
    "recency": lambda pairs: pairs["decayed"],
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


def _numbered(queries: Sequence[str]) -> tuple[Ints, list[str]]:
    """Return each event's query as a number, and the distinct queries."""
    number: dict[str, int] = {}
    asked = np.fromiter((number.setdefault(q, len(number)) for q in queries), np.int64)
    return asked, list(number)


def _by_user_and_time(log: QueryLog) -> Ints:
    return np.lexsort((log.time, log.user))


def _held_out(log: QueryLog, share: float) -> Mask:
    """Mark the events of each user's last distinct queries."""
    order = _by_user_and_time(log)
    asked, queries = _numbered(log.query)
    key = (log.user * len(queries) + asked)[order]
    pair, first, pair_of = np.unique(key, return_index=True, return_inverse=True)
    by_first = np.argsort(first)  # users one after the other, their queries by time
    user = pair[by_first] // max(len(queries), 1)
    distinct = np.bincount(user)[user]
    kept = distinct - np.floor(distinct * share + 1e-9)  # 100 * 0.29 is 28.999999999999996
    held_pair = np.zeros(pair.size, dtype=np.bool_)
    held_pair[by_first] = _ranks(user) >= kept
    held = np.zeros(order.size, dtype=np.bool_)
    held[order] = held_pair[pair_of]
    return held


def _ranks(groups: Ints) -> Ints:
    """Count 0, 1, 2 ... within each run of equal numbers."""
    starts = _starts(groups)
    lengths = np.diff(np.append(starts, groups.size))
    return np.arange(groups.size) - np.repeat(starts, lengths)


def _starts(groups: Ints) -> Ints:
    return np.flatnonzero(np.diff(groups, prepend=-1))


def _part(log: QueryLog, which: Mask) -> QueryLog:
    """Return some events of a log, and only the users who have one."""
    rows = np.flatnonzero(which)
    users, user = np.unique(log.user[rows], return_inverse=True)
    names = tuple(log.users[number] for number in users.tolist())
    queries = tuple(log.query[row] for row in rows.tolist())
    return QueryLog(names, user, queries, log.time[rows], log.clicks[rows])


def _analysed(queries: Sequence[str], analyse: Analyse, progress: Progress) -> _Vocabulary:
    number: dict[str, int] = {}
    numbers = array("q")
    at = array("q", [0])
    for done, query in enumerate(queries, 1):
        numbers.extend([number.setdefault(term, len(number)) for term in analyse(query)])
        at.append(len(numbers))
        progress(done)
    return _Vocabulary(list(number), np.array(numbers), np.array(at))


def _counted(owner: Ints, time: Ints, asked: Ints, vocabulary: _Vocabulary) -> Pairs:
    """Count each owner's terms; owners, times and queries are those of the events."""
    event, term = vocabulary.occurrences(asked)
    if not event.size:
        raise BadInput("no query of the log holds a term; give a log with queries in words")
    key = owner[event] * len(vocabulary.terms) + term
    order = np.argsort(key, kind="stable")
    starts = _starts(key[order])
    half_lives = np.minimum((time.max() - time) / HALF_LIFE, _OLDEST)
    pairs = np.empty(starts.size, dtype=_PAIR)
    pairs["first"] = order[starts]
    pairs["owner"] = owner[event[pairs["first"]]]
    pairs["term"] = term[pairs["first"]]
    pairs["count"] = np.diff(starts, append=order.size)
    pairs["decayed"] = np.add.reduceat(np.exp2(-half_lives)[event[order]], starts)
    return pairs


def _chosen(owners: _Owners, pairs: Pairs, size: int | None, users: int | None) -> Ints:
    """Return who gets a profile: the first `users` owners with at least `size` terms."""
    terms = np.bincount(pairs["owner"], minlength=len(owners.names))
    enough = np.flatnonzero(terms >= (size or 1))
    if not enough.size:
        raise BadParameter(
            f"size={size} must be at most {terms.max()}: no one has more terms; lower size"
        )
    if users is not None and users > enough.size:
        raise BadParameter(
            f"users={users} must be at most {enough.size}: only so many have {size or 1} or more "
            "terms; lower users or size"
        )
    return enough[:users]


def _restricted(pairs: Pairs, chosen: Ints, owners: int) -> Pairs:
    """Keep the chosen owners' pairs, and renumber the owners."""
    row = np.full(owners, -1)
    row[chosen] = np.arange(chosen.size)
    kept: Pairs = pairs[row[pairs["owner"]] >= 0]
    kept["owner"] = row[kept["owner"]]
    return kept


def _top(pairs: Pairs, size: int | None) -> Pairs:
    """Keep each owner's most frequent terms, the earlier one where two are as frequent."""
    ordered: Pairs = pairs[np.lexsort((pairs["first"], -pairs["count"], pairs["owner"]))]
    return ordered if size is None else ordered[_ranks(ordered["owner"]) < size]
