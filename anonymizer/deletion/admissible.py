"""Which of a term's owners can have it together, so that a log stays (k,m)-anonymous.

Groups that can are closed under union: if a group has what a member's combinations need, a larger
group has it, too. So the largest group is unique. To find it, members with a combination that fewer
than k members share are thrown out, again and again, in any order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints, Marks, Numbers
from ..compiled import compiled
from .histories import Histories


class Owners(NamedTuple):
    """Cells by term, and the users who own them."""

    starts: Ints  # term -> where its owners start
    users: Numbers
    cells: Numbers  # in the same places, the cells in the histories


class Growing(NamedTuple):
    """A log to which terms are added: what each user has so far."""

    starts: Ints  # user -> where their released terms start
    released: Numbers  # terms, in the order in which they were given
    sizes: Ints  # user -> how many they have
    kept: Marks  # cell of the histories -> whether it is released


class Room(NamedTuple):
    """Memory that one search after the other uses."""

    members: Numbers
    cells: Numbers  # of the members
    counts: Numbers  # term -> how many members have it; all 0 between searches
    changed: Ints  # term -> the last round in which a member who has it was thrown out
    numbers: Numbers  # term -> its number in a round, -1 if it has none
    rounds: Ints  # the number of the round, as the only entry


class Round(NamedTuple):
    """The members' terms that must be looked at, numbered from the rarest among them."""

    members: int  # number of members
    counts: Ints  # number -> how many members have it, ascending
    at_least: Ints  # count -> the first number that has this count or more
    rows: Numbers  # numbers, member by member, ascending
    ends: Ints  # member -> where their row ends
    places: Numbers  # number by number, the places in rows where it stands
    holders: Numbers  # in the same order, the members
    living: Marks  # member -> whether they are not marked to be thrown out
    tallies: Numbers  # for one more term, and for two, number -> count; all 0 between uses


def owners_of(histories: Histories, users: Ints | None = None) -> Owners:
    """Return who owns which term of `histories`; a term's owners ascend or are in `users` order."""
    starts = np.zeros(histories.span + 1, dtype=np.int64)
    np.cumsum(np.bincount(histories.terms, minlength=histories.span), out=starts[1:])
    owners = Owners(
        starts,
        np.empty(histories.terms.size, dtype=np.int32),
        np.empty(histories.terms.size, dtype=np.int32),
    )
    order = np.arange(histories.users) if users is None else users
    _list_owners(order, histories.ends, histories.terms, starts[:-1].copy(), owners)
    return owners


@compiled
def _list_owners(order: Any, ends: Any, terms: Any, at: Any, owners: Any) -> None:
    for user in order:
        for cell in range(ends[user], ends[user + 1]):
            owners.users[at[terms[cell]]] = user
            owners.cells[at[terms[cell]]] = cell
            at[terms[cell]] += 1


@compiled
def give(terms: Any, k: int, m: int, owners: Any, log: Any, room: Any) -> Any:
    """Give each of `terms`, one after the other, to its largest group; return the cells given."""
    given = 0
    for term in terms:
        if owners.starts[term + 1] - owners.starts[term] >= k:
            given += _give_one(term, k, m, owners, log, room)
    return given


@compiled
def _give_one(term: int, k: int, m: int, owners: Any, log: Any, room: Any) -> Any:
    having, size = _gather(term, owners, log, room)
    if having == size:
        return 0
    if m > 1:
        _count_terms(size, log, room)
        room.rounds[0] += 1
        # Each member thrown out lowers counts, so both checks go on until neither finds anyone.
        size = _thin_by_terms(having, size, k, log, room)
        whole = True
        while m > 2 and size > having and size > k:
            before = size
            size = _thin_by_combinations(having, size, k, m - 1, whole, log, room)
            if size == before:
                break
            size = _thin_by_terms(having, size, k, log, room)
            whole = False
        for member in room.members[:size]:
            for i in range(log.starts[member], log.starts[member] + log.sizes[member]):
                room.counts[log.released[i]] = 0
    if size < k:
        return 0
    for i in range(having, size):
        member = room.members[i]
        log.released[log.starts[member] + log.sizes[member]] = term
        log.sizes[member] += 1
        log.kept[room.cells[i]] = True
    return size - having


@compiled
def _gather(term: int, owners: Any, log: Any, room: Any) -> Any:
    """List the owners, first those who have the term already; return their number and all's."""
    having, size = 0, 0
    for kept in (True, False):
        for i in range(owners.starts[term], owners.starts[term + 1]):
            if log.kept[owners.cells[i]] == kept:
                room.members[size], room.cells[size] = owners.users[i], owners.cells[i]
                size += 1
                having += kept
    return having, size


@compiled
def _count_terms(size: int, log: Any, room: Any) -> None:
    for member in room.members[:size]:
        for i in range(log.starts[member], log.starts[member] + log.sizes[member]):
            room.counts[log.released[i]] += 1


@compiled
def _thin_by_terms(having: int, size: int, k: int, log: Any, room: Any) -> Any:
    """Throw out members with a term that fewer than k members have; return how many stay."""
    again = True
    while again and size >= k:
        again, left = False, having
        for at in range(having, size):
            if _has_rare_term(room.members[at], k, log, room):
                again |= _throw_out(room.members[at], k, log, room)
            else:
                room.members[left], room.cells[left] = room.members[at], room.cells[at]
                left += 1
        size = left
    return size


@compiled
def _has_rare_term(member: int, k: int, log: Any, room: Any) -> Any:
    """Return whether fewer than k members have one of these terms."""
    first = log.starts[member]
    # From the end: terms that were given last are mostly the rarest.
    for i in range(first + log.sizes[member] - 1, first - 1, -1):
        if room.counts[log.released[i]] < k:
            return True
    return False


@compiled
def _throw_out(member: int, k: int, log: Any, room: Any) -> Any:
    """Take a member out of the counts; return whether a term's count falls below k by that."""
    fresh = False
    for i in range(log.starts[member], log.starts[member] + log.sizes[member]):
        term = log.released[i]
        room.counts[term] -= 1
        room.changed[term] = room.rounds[0]
        fresh |= room.counts[term] == k - 1
    return fresh


@compiled
def _thin_by_combinations(
    having: int, size: int, k: int, longest: int, whole: bool, log: Any, room: Any
) -> Any:
    """Throw out members with a combination that fewer than k share; return how many stay."""
    # Combinations have at most `longest` terms. After a round over all of them, one can fall short
    # only if a member who was thrown out since then had each of its terms.
    now = _new_round(size, longest, whole, log, room)
    room.rounds[0] += 1
    first, thrown = 0, 0
    for number in range(now.counts.size):
        count = now.counts[number]
        # From here on few members lack a term, so k or more have any combination of such terms.
        if count + (longest - 1) * (count - size) >= k:
            break
        last = first + count
        places, holders = now.places[first:last], now.holders[first:last]
        thrown += _thin_holders(places, holders, k, longest - 1, now)
        if longest > 2:
            thrown += _thin_within(places, holders, k, now)
        first = last
    if thrown == 0:
        return size
    left = having
    for at in range(having, size):
        if now.living[at]:
            room.members[left], room.cells[left] = room.members[at], room.cells[at]
            left += 1
        else:
            _throw_out(room.members[at], k, log, room)
    return left


@compiled
def _new_round(size: int, longest: int, whole: bool, log: Any, room: Any) -> Any:
    """Return the numbered terms to look at, laid out by number and by member."""
    terms, ends = _list_terms(size, whole, log, room)
    counts, at_least = _number_by_count(terms, size, room)
    holders = np.empty(ends[-1], dtype=np.int32)
    at = np.cumsum(counts) - counts
    for member in range(size):
        user = room.members[member]
        for i in range(log.starts[user], log.starts[user] + log.sizes[user]):
            number = room.numbers[log.released[i]]
            if number >= 0:
                holders[at[number]] = member
                at[number] += 1
    for term in terms:
        room.numbers[term] = -1
    rows, places = np.empty(holders.size, dtype=np.int32), np.empty(holders.size, dtype=np.int32)
    at, entry = ends[:-1].copy(), 0
    for number in range(counts.size):
        for _ in range(counts[number]):
            member = holders[entry]
            rows[at[member]], places[entry] = number, at[member]
            at[member] += 1
            entry += 1
    living = np.ones(size, dtype=np.bool_)
    tallies = np.zeros((longest, counts.size), dtype=np.int32)
    return Round(size, counts, at_least, rows, ends[1:], places, holders, living, tallies)


@compiled
def _list_terms(size: int, whole: bool, log: Any, room: Any) -> Any:
    """Return the terms to look at, and where those of each member end (0 first)."""
    terms, listed = np.empty(16, dtype=np.int32), 0
    ends = np.zeros(size + 1, dtype=np.int64)
    for member in range(size):
        user, count = room.members[member], 0
        for i in range(log.starts[user], log.starts[user] + log.sizes[user]):
            term = log.released[i]
            # A term of all members leaves any combination as frequent as it is without the term.
            if (whole or room.changed[term] == room.rounds[0]) and room.counts[term] < size:
                count += 1
                if room.numbers[term] < 0:
                    room.numbers[term] = 0
                    if listed == terms.size:
                        terms = np.append(terms, np.empty_like(terms))
                    terms[listed] = term
                    listed += 1
        ends[member + 1] = ends[member] + count
    return terms[:listed].copy(), ends


@compiled
def _number_by_count(terms: Any, size: int, room: Any) -> Any:
    """Number terms by how many members have them; return the counts, and where each begins."""
    at_least = np.zeros(size + 2, dtype=np.int64)
    for term in terms:
        at_least[room.counts[term] + 1] += 1
    at_least = np.cumsum(at_least)
    counts, at = np.empty(terms.size, dtype=np.int64), at_least.copy()
    for term in terms:
        count = room.counts[term]
        room.numbers[term] = at[count]
        counts[at[count]] = count
        at[count] += 1
    return counts, at_least


@compiled
def _thin_holders(places: Any, holders: Any, k: int, further: int, now: Any) -> Any:
    """Mark those holders of some terms who have one more that fewer than k share; count them."""
    # Combinations have at most `further` more terms. If fewer than k holders are unmarked, nobody
    # is marked now: a holder of the same terms was marked, so the next round looks at these again.
    tally, limit = now.tallies[further - 1], _tally(places, holders, k, further, now)
    thrown = 0
    for entry in range(holders.size):
        if now.living[holders[entry]]:
            for i in range(places[entry] + 1, now.ends[holders[entry]]):
                if now.rows[i] >= limit:
                    break
                if tally[now.rows[i]] < k:
                    now.living[holders[entry]] = False
                    thrown += 1
                    break
    _clear(places, holders, limit, tally, now)
    return thrown


@compiled
def _tally(places: Any, holders: Any, k: int, further: int, now: Any) -> Any:
    """Count the unmarked holders by the terms after a place, up to a limit; return the limit."""
    count, tally = 0, now.tallies[further - 1]
    for holder in holders:
        count += now.living[holder]
    if count < k:
        return 0
    # Few members lack a term from the limit on: `further` of these terms leave k holders or more.
    limit = now.at_least[max(0, now.members - (count - k) // further)]
    for entry in range(holders.size):
        if now.living[holders[entry]]:
            for i in range(places[entry] + 1, now.ends[holders[entry]]):
                if now.rows[i] >= limit:
                    break
                tally[now.rows[i]] += 1
    return limit


@compiled
def _clear(places: Any, holders: Any, limit: int, tally: Any, now: Any) -> None:
    for entry in range(holders.size):
        for i in range(places[entry] + 1, now.ends[holders[entry]]):
            if now.rows[i] >= limit:
                break
            tally[now.rows[i]] = 0


@compiled
def _thin_within(places: Any, holders: Any, k: int, now: Any) -> Any:
    """Mark holders of some terms with two more that fewer than k share; return their number."""
    limit, tally = _tally(places, holders, k, 2, now), now.tallies[1]
    ends = np.cumsum(tally[:limit])
    at = ends - tally[:limit]
    _clear(places, holders, limit, tally, now)
    inner_places = np.empty(ends[-1] if limit else 0, dtype=np.int32)
    inner_holders, starts = np.empty_like(inner_places), at.copy()
    for entry in range(holders.size):
        if now.living[holders[entry]]:
            for i in range(places[entry] + 1, now.ends[holders[entry]]):
                number = now.rows[i]
                if number >= limit:
                    break
                inner_places[at[number]], inner_holders[at[number]] = i, holders[entry]
                at[number] += 1
    thrown = 0
    for number in range(limit):
        first, last = starts[number], at[number]
        if last - first >= k:
            thrown += _thin_holders(inner_places[first:last], inner_holders[first:last], k, 1, now)
    return thrown
