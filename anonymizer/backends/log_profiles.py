"""Profiles of a log in parts: what is done in each part, and what is done once with all of them.

    each part:  events ─▶ owners ─▶ a summary       then: counts of the chosen owners' terms
    once:                           who is chosen,  then: weights, which need everybody's counts
                                    and all times

A profile's weights come from its owner's events, and from two facts of the whole log: how many of
the chosen owners have a term (tfidf), and when their last event was (recency). So the result is
that of one machine to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints
from ..model import Profiles, QueryLog
from ..profiles.building import (
    Analyse,
    LogOwners,
    ProfileChoices,
    chosen_of,
    held_of,
    origins_of,
    owner_names,
    owners_of,
    profiles_of,
    times_of,
    without_robots,
)
from ..profiles.events import OwnerTerms, Times, no_pairs, pairs_of, row_ends
from ..profiles.origins import Origins
from ..terms.counting import TermCounter
from .log_pieces import Content, PartRead, of_users, part_of_log

_NEVER = (1 << 62, -(1 << 62))


class PartSummary(NamedTuple):
    """What everybody's profiles depend on, of one part."""

    read: PartRead
    dropped: int | None  # robots
    left: int  # events
    span: tuple[int, int]  # times of the first and the last event
    first: Ints  # place of each owner's first event
    sizes: Ints
    last: Ints


class PartOwners(NamedTuple):
    """The owners in a part; None without events."""

    summary: PartSummary
    owners: LogOwners | None
    places: Ints  # of the events


class ChosenOwners(NamedTuple):
    """Who gets a profile: in each part these owners, which are these rows of the profiles."""

    at: Ints  # where rows start and end
    times: Times
    owners: list[Ints]
    rows: list[Ints]


class HeldOut(NamedTuple):
    """An event that is held out, and its place in the log."""

    place: int
    event: tuple[str, str, int, int]


class PartCounts(NamedTuple):
    """The counted terms of the chosen owners of a part, over the part's own terms."""

    rows: Ints
    users: list[str]
    terms: list[str]
    pairs: OwnerTerms
    held: list[HeldOut]


class PartChoices(NamedTuple):
    """How profiles are made in each part."""

    choices: ProfileChoices
    robots: int | None
    analyse: Callable[[], Analyse | TermCounter]  # a new one for each part
    with_events: bool


def owners_in_part(dealt: Iterable[Content], how: PartChoices) -> PartOwners:
    """Return the owners in the part whose lines were `dealt`."""
    folding, read = part_of_log(dealt)
    log, places, dropped = folding.log(), folding.places, None if how.robots is None else 0
    if how.robots is not None and len(log):
        kept, dropped = without_robots(log, robots=how.robots, gap=how.choices.gap)
        log, places = kept, of_users(log, places, kept)
    nothing = np.zeros(0, dtype=np.int64)
    summary = PartSummary(read, dropped, len(log), _NEVER, nothing, nothing, nothing)
    if not len(log):
        return PartOwners(summary, None, places)
    owners = owners_of(log, how.analyse(), how.choices)
    span = (int(log.time.min()), int(log.time.max()))
    first = places[owners.first]
    summary = summary._replace(span=span, first=first, sizes=owners.sizes, last=owners.last)
    return PartOwners(summary, owners, places)


def chosen_owners(parts: Sequence[PartSummary], choices: ProfileChoices) -> ChosenOwners:
    """Return the owners of all `parts` who get a profile by `choices`."""
    first, sizes, last = (
        np.concatenate(column) for column in zip(*(part[4:] for part in parts), strict=True)
    )
    chosen = chosen_of(first, sizes, choices)
    spans = [part.span for part in parts]
    since, until = min(low for low, _ in spans), max(high for _, high in spans)
    times = times_of(since, until, int(last[chosen].max()), choices)
    # Rows stand in the order of the whole log, so those of a part lie among all others.
    ends = np.cumsum([part.first.size for part in parts])
    part_of = np.searchsorted(ends, chosen, side="right")
    rows = [np.flatnonzero(part_of == part) for part in range(len(parts))]
    starts = ends - [part.first.size for part in parts]
    owners = [chosen[own] - start for own, start in zip(rows, starts.tolist(), strict=True)]
    return ChosenOwners(row_ends(sizes[chosen], choices.size), times, owners, rows)


def counts_in_part(
    part: PartOwners, chosen: Ints, rows: Ints, times: Times, how: PartChoices
) -> PartCounts | None:
    """Return the counted terms of the `chosen` owners of `part`, who are `rows` of the profiles."""
    owners = part.owners
    if owners is None:
        return None
    choices = how.choices
    pairs = pairs_of(owners.owned, chosen, owners.sizes, choices.size, times, how.with_events)
    # A part met many terms that none of the chosen has; only the others travel.
    used = np.unique(pairs.terms)
    terms = [owners.terms[number] for number in used.tolist()]
    pairs = pairs._replace(terms=np.searchsorted(used, pairs.terms).astype(np.int32))
    log, held = owners.owned.log, list[HeldOut]()
    for event in np.flatnonzero(held_of(owners, chosen)).tolist():
        fields = (log.users[log.user[event]], log.text(event), log.time[event], log.clicks[event])
        held.append(HeldOut(int(part.places[event]), (*fields[:2], *map(int, fields[2:]))))
    return PartCounts(rows, owner_names(owners, chosen, choices), terms, pairs, held)


def united_counts(
    parts: Iterable[PartCounts | None], chosen: ChosenOwners, how: PartChoices
) -> tuple[Profiles, QueryLog, Origins | None]:
    """Return profiles, held-out events and origins from the counts of all `parts`, one by one."""
    pairs = no_pairs(chosen.at, chosen.times, how.with_events)
    users, number = [""] * (chosen.at.size - 1), dict[str, int]()
    held: list[HeldOut] = []
    for part in parts:
        if part is None:
            continue
        for row, user in zip(part.rows.tolist(), part.users, strict=True):
            users[row] = user
        columns = [number.setdefault(term, len(number)) for term in part.terms]
        own = part.pairs._replace(terms=np.array(columns, dtype=np.int32)[part.pairs.terms])
        shift = chosen.at[part.rows] - own.at[:-1]
        place = np.repeat(shift, np.diff(own.at)) + np.arange(own.terms.size)
        for whole, some in zip(_columns(pairs), _columns(own), strict=True):
            if whole.size:
                whole[place] = some
        held += part.held
    terms = [*number]
    profiles = profiles_of(users, terms, pairs, how.choices)
    origins = origins_of(profiles, terms, pairs, chosen.times.since) if how.with_events else None
    return profiles, QueryLog.from_events(event for _, event in sorted(held)), origins


def _columns(pairs: OwnerTerms) -> tuple[NDArray[Any], ...]:
    return (pairs.terms, pairs.counts, pairs.decayed, *pairs.events)
