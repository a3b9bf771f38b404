"""QueryLog -> Profiles: the terms that a user, or a session of a user, searched for, weighted.

    binary   1 for each distinct term (Zhu & Xiong)
    tf       how often the term occurs in the owner's query events
    tfidf    tf * ln(1 + n / df): of the n profiles that are made, df have the term
    recency  each occurrence counts 2 ** (-age / 30 days); age is the time to the last event used
             of all owners whose profiles are made

The owner of a profile is a user or, with granularity "session", a session named "user#1". A new
session starts where q.time > previous.time + gap. Sessions are cut before queries are held out.
An owner's events are taken by time, equal times in log order. LogOwners stand in the order of their
first events in the log. LogOwners without a profile have no influence on the weights of the others.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints, Marks
from ..errors import BadInput, BadParameter
from ..model import SHORT, Profiles, Progress, QueryLog, Texts, is_short, silent
from ..terms.counting import TermCounter
from .events import (
    OwnedEvents,
    OwnerTerms,
    QueryTerms,
    Times,
    by_column,
    held_out,
    last_used,
    pairs_of,
    session_spans,
    sizes,
    started,
    user_spans,
)
from .origins import Origins

HALF_LIFE = 30 * 86_400  # seconds
GRANULARITIES = ("user", "session")
_AT_ONCE = 1 << 16  # queries analysed between two reports of progress

Analyse = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class ProfileChoices:
    """How profiles are made; with a `size`, of the most frequent terms (ties: the first met)."""

    size: int | None = None
    users: int | None = None
    weights: str = "binary"
    granularity: str = "user"
    gap: float = 1_800
    test_share: float = 0.0

    def check(self) -> None:
        """Raise BadParameter that names every wrong choice."""
        grains = ", ".join(GRANULARITIES)
        rules = {
            f"size={self.size} must be at least 1": self.size is None or self.size >= 1,
            f"users={self.users} must be at least 1": self.users is None or self.users >= 1,
            f"weights={self.weights} must be one of {', '.join(WEIGHTS)}": self.weights in WEIGHTS,
            f"granularity={self.granularity} must be one of {grains}": (
                self.granularity in GRANULARITIES
            ),
            f"gap={self.gap} must be at least 0 seconds": self.gap >= 0,
            f"test_share={self.test_share} must be at least 0 and below 1": (
                0 <= self.test_share < 1
            ),
        }
        faults = [rule for rule, kept in rules.items() if not kept]
        faults += [
            f"{name}={value} must have at most {SHORT} digits"
            for name, value in vars(self).items()
            if isinstance(value, int | float) and not is_short(value)
        ]
        if faults:
            raise BadParameter("; ".join(faults))


DEFAULTS = ProfileChoices()


class LogOwners(NamedTuple):
    """Users of a log, or their sessions, who may get a profile; in the order of spans."""

    owned: OwnedEvents
    terms: list[str]
    user: Ints  # of each owner, by the log's numbers
    first: Ints  # event of each owner in the log
    sizes: Ints  # distinct terms
    last: Ints  # time of the last event that is not held out


def build_profiles(
    log: QueryLog,
    analyse: Analyse | TermCounter,
    choices: ProfileChoices = DEFAULTS,
    *,
    progress: Progress = silent,
    on_origins: Callable[[Origins], object] | None = None,
) -> tuple[Profiles, QueryLog]:
    """Return profiles of `log` and the held-out events; `on_origins` gets the terms' origins."""
    choices.check()
    owners = owners_of(log, analyse, choices, progress)
    chosen = chosen_of(owners.first, owners.sizes, choices)
    until = int(log.time.max())
    times = times_of(started(log), until, int(owners.last[chosen].max()), choices)
    pairs = pairs_of(
        owners.owned, chosen, owners.sizes, choices.size, times, on_origins is not None
    )
    names = owner_names(owners, chosen, choices)
    profiles = profiles_of(names, owners.terms, pairs, choices)
    if on_origins:
        on_origins(origins_of(profiles, owners.terms, pairs, times.since))
    return profiles, _part(log, held_of(owners, chosen))


def owners_of(
    log: QueryLog,
    analyse: Analyse | TermCounter,
    choices: ProfileChoices,
    progress: Progress = silent,
) -> LogOwners:
    """Return the owners in `log`, by the granularity and the test share of `choices`."""
    spans = user_spans(log)
    held = held_out(log, spans, choices.test_share)
    # With an endless gap, all events of a user are one span, and users without events have none.
    gap = choices.gap if choices.granularity == "session" else np.inf
    cut = session_spans(log, spans, gap)
    user = log.user[cut.order[cut.at[:-1]]].astype(np.int64)
    first = np.minimum.reduceat(cut.order, cut.at[:-1]).astype(np.int64)
    terms, of_query = _analysed(log, held, analyse, progress)
    owned = OwnedEvents(log, cut, held, of_query, len(terms))
    return LogOwners(owned, terms, user, first, sizes(owned), last_used(owned))


def chosen_of(first: Ints, all_sizes: Ints, choices: ProfileChoices) -> Ints:
    """Return which owners get a profile by `choices`, in the order of their `first` events.

    LogOwners have `all_sizes` terms.
    """
    if not all_sizes.any():
        raise BadInput("no query of the log holds a term; give a log with queries in words")
    in_order = np.argsort(first)
    enough = in_order[all_sizes[in_order] >= (choices.size or 1)]
    if not enough.size:
        raise BadParameter(
            f"size={choices.size} must be at most {all_sizes.max()}: no one has more terms; lower "
            "size"
        )
    if choices.users is not None and choices.users > enough.size:
        raise BadParameter(
            f"users={choices.users} must be at most {enough.size}: no more profiles have "
            f"{choices.size or 1} or more terms; lower users or size"
        )
    return enough[: choices.users]


def times_of(since: int, until: int, latest: int, choices: ProfileChoices) -> Times:
    """Return the times of a log `since` its first and `until` its last event.

    `latest` is the last event used; the weights of `choices` say whether counts decay from it.
    """
    return Times(since, until, latest, float(HALF_LIFE) if choices.weights == "recency" else 0.0)


def owner_names(owners: LogOwners, chosen: Ints, choices: ProfileChoices) -> list[str]:
    """Return the names of the `chosen` owners."""
    user = owners.user
    names = [owners.owned.log.users[number] for number in user[chosen].tolist()]
    if choices.granularity != "session":
        return names
    starts = np.flatnonzero(np.diff(user, prepend=-1))
    lengths = np.diff(np.append(starts, user.size))
    place = (np.arange(user.size) - np.repeat(starts, lengths))[chosen] + 1
    return [f"{name}#{n}" for name, n in zip(names, place.tolist(), strict=True)]


def profiles_of(
    users: Sequence[str], terms: Sequence[str], pairs: OwnerTerms, choices: ProfileChoices
) -> Profiles:
    """Return the profiles of `users` over `terms`, whose counts are `pairs`."""
    entries = (WEIGHTS[choices.weights](pairs), pairs.terms, pairs.at)
    matrix = csr_matrix(entries, shape=(len(users), len(terms)))
    return Profiles(tuple(users), tuple(terms), matrix).in_order()


def origins_of(profiles: Profiles, terms: Sequence[str], pairs: OwnerTerms, since: int) -> Origins:
    """Return the origins of `profiles`, made of `pairs` over `terms`; `pairs` are sorted."""
    number = {term: column for column, term in enumerate(profiles.terms)}
    columns = np.array([number.get(term, -1) for term in terms], dtype=np.int32)[pairs.terms]
    by_column(pairs.at, columns, pairs.events)
    return Origins(profiles.users, profiles.terms, pairs.at, columns, *pairs.events, since)


def held_of(owners: LogOwners, chosen: Ints) -> Marks:
    """Return which events are held out of the users who have a `chosen` owner among `owners`."""
    log = owners.owned.log
    return owners.owned.held & _is_among(owners.user[chosen], log)[log.user]


def without_robots(log: QueryLog, *, robots: int = 100, gap: float = 1_800) -> tuple[QueryLog, int]:
    """Return `log` without users of a session with over `robots` query events, and their number."""
    if robots < 1:
        raise BadParameter(f"robots={robots} must be at least 1")
    ProfileChoices(gap=gap).check()
    spans = session_spans(log, user_spans(log), gap)
    long = np.flatnonzero(np.diff(spans.at) > robots)
    dropped = _is_among(log.user[spans.order[spans.at[long]]], log)
    return _part(log, ~dropped[log.user]), int(np.count_nonzero(dropped))


def without_people(log: QueryLog, users: Collection[str]) -> QueryLog:
    """Return `log` without the events of `users`."""
    kept = np.array([user not in users for user in log.users], dtype=np.bool_)
    return _part(log, kept[log.user])


def _is_among(users: NDArray[np.integer], log: QueryLog) -> Marks:
    among = np.zeros(len(log.users), dtype=np.bool_)
    among[users] = True
    return among


def _tfidf(pairs: OwnerTerms) -> Floats:
    having = np.bincount(pairs.terms)[pairs.terms]
    weights: Floats = pairs.counts.astype(np.float64) * np.log(1 + (pairs.at.size - 1) / having)
    return weights


WEIGHTS: dict[str, Callable[[OwnerTerms], Floats]] = {
    "binary": lambda pairs: np.ones(pairs.terms.size),
    "tf": lambda pairs: pairs.counts.astype(np.float64),
    "tfidf": _tfidf,
    "recency": lambda pairs: pairs.decayed,
}


def _part(log: QueryLog, which: Marks) -> QueryLog:
    """Return the events of `log` that `which` marks, and only the users who have one."""
    users = np.flatnonzero(np.bincount(log.user[which], minlength=len(log.users)))
    number = np.zeros(len(log.users), dtype=np.int32)
    number[users] = np.arange(users.size)
    names = tuple(log.users[user] for user in users.tolist())
    # The texts are shared, not copied; but an empty part must not keep all of them in memory.
    queries = log.queries if users.size else Texts.of([])
    rest = (queries, log.time[which], log.clicks[which])
    return QueryLog(names, number[log.user[which]], log.query[which], *rest)


def _analysed(
    log: QueryLog, held: Marks, analyse: Analyse | TermCounter, progress: Progress
) -> tuple[list[str], QueryTerms]:
    """Return all terms, and those of each distinct query of the events that are not held out."""
    used = np.zeros(len(log.queries), dtype=np.bool_)
    used[log.query[~held]] = True
    numbers = np.flatnonzero(used)
    columns = counts = lengths = np.empty(0, dtype=np.int32)
    if isinstance(analyse, TermCounter):
        batches = []
        for low in range(0, numbers.size, _AT_ONCE):
            some = analyse.count_packed(log.queries, numbers[low : low + _AT_ONCE])
            batches.append((some.columns, some.tf, np.diff(some.ends, prepend=0)))
            progress(min(low + _AT_ONCE, numbers.size))
        terms = analyse.terms
        if batches:
            columns, counts, lengths = map(np.concatenate, zip(*batches, strict=True))
    else:
        number: dict[str, int] = {}
        parts = array("i"), array("i"), array("q")
        for done, query in enumerate(numbers.tolist(), 1):
            counted = Counter(analyse(log.queries.text(query)))
            parts[0].extend([number.setdefault(term, len(number)) for term in counted])
            parts[1].extend(counted.values())
            parts[2].append(len(counted))
            progress(done)
        terms = list(number)
        columns, counts, lengths = map(np.array, parts)
    of_query = np.zeros(used.size + 1, dtype=np.int64)
    of_query[numbers + 1] = lengths
    return terms, QueryTerms(columns, counts, np.cumsum(of_query))
