"""Supports of pairs: how many users have both terms, kept up to date while terms are deleted."""
# Only pairs that k or more users have at the beginning get a number. Supports only fall, so no
# other pair can become frequent. Each user has a triangle of the numbers of their pairs. For
# larger combinations, a pair also has the list of its users, from which their other terms are
# counted.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints, Numbers
from ..compiled import compiled
from .histories import Histories

# Bytes for the pairs of all users' terms; beyond them, the greedy algorithm is refused.
LIMIT = 8_000_000_000
NONE = -1  # the number of a pair that too few users have
# numba would compile a function again for each literal argument, but not for these numbers.
ZERO, TWO, THREE, FOUR = (np.int64(number) for number in (0, 2, 3, 4))


class Supports(NamedTuple):
    """Histories without terms that fewer than k users have, and the users who share their pairs."""

    ends: Ints
    terms: Numbers
    deleted: Ints  # cell -> the pass it was deleted in, 0 while it is kept
    base: Ints  # user -> where their triangle of pairs starts
    pair: Numbers  # user's pair -> its number
    support: Numbers  # pair -> users who have both terms now; not kept up to date below k
    first: Ints  # pair -> where the list of its users starts (as long as its support)
    owner: Numbers  # such lists, each ascending
    changed: Ints  # pair -> the last visit at which its support fell
    frequent: Ints  # size, term -> frequent combinations it is in; for size 1 its own support


def supports_of(histories: Histories, k: int, m: int) -> Supports:
    """Return the supports of terms and pairs in `histories`, whose terms all have `k` users."""
    ends, terms, span = histories
    sizes = np.diff(ends)
    base = np.concatenate(([0], np.cumsum(sizes * (sizes - 1) // 2)))
    # A numbered pair stands in k or more triangles, so there are at most this many.
    pairs, lists = int(base[-1]) // k + 1, m > 2
    frequent = np.zeros((m + 1, span), dtype=np.int64)
    frequent[1] = np.bincount(terms, minlength=span)
    # Parts of these arrays that are never written to take no memory.
    log = Supports(
        ends,
        terms,
        np.zeros(terms.size, dtype=np.int64),
        base,
        np.empty(int(base[-1]), dtype=np.int32),
        np.empty(pairs, dtype=np.int32),
        np.empty(pairs if lists else 0, dtype=np.int64),
        np.empty(int(base[-1]) if lists else 0, dtype=np.int32),
        np.zeros(pairs if lists else 0, dtype=np.int64),
        frequent,
    )
    row = histories.row.astype(np.int32)
    cells = np.argsort(terms, kind="stable")
    _number_pairs(log, row, cells, np.concatenate(([0], np.cumsum(frequent[1]))), k, lists)
    return log


@compiled
def _number_pairs(log: Any, row: Any, cells: Any, starts: Any, k: int, lists: bool) -> None:
    """Give a number to each pair that k or more users have, first term by first term."""
    span = starts.size - 1
    count, touched = np.zeros(span, dtype=np.int32), np.empty(span, dtype=np.int64)
    number = np.empty(span, dtype=np.int32)
    pairs, owners = 0, 0
    for term in range(span):
        mine = cells[starts[term] : starts[term + 1]]
        met = _meet(mine, row, log, count, touched)
        for i in range(met):
            other = touched[i]
            number[other] = NONE
            if count[other] >= k:
                number[other] = pairs
                log.support[pairs] = count[other]
                log.frequent[2, term] += 1
                log.frequent[2, other] += 1
                if lists:
                    log.first[pairs] = owners
                    owners += count[other]
                pairs += 1
            count[other] = 0
        _write(mine, row, log, number, count, lists)
        for i in range(met):
            count[touched[i]] = 0


@compiled
def _meet(mine: Any, row: Any, log: Any, count: Any, touched: Any) -> Any:
    """Count the later terms of a term's users; return how many different ones there are."""
    met = 0
    for cell in mine:
        for j in range(cell + 1, log.ends[row[cell] + 1]):
            other = log.terms[j]
            if count[other] == 0:
                touched[met] = other
                met += 1
            count[other] += 1
    return met


@compiled
def _write(mine: Any, row: Any, log: Any, number: Any, count: Any, lists: bool) -> None:
    """Write the numbers of a term's pairs into its users' triangles, and list these users."""
    for cell in mine:
        user = row[cell]
        start, last = log.ends[user], log.ends[user + 1]
        offset = place_of(log.base[user], start, last - start, cell, 0)
        for j in range(cell + 1, last):
            other = log.terms[j]
            pair = number[other]
            log.pair[offset + j] = pair
            if lists and pair >= 0:
                log.owner[log.first[pair] + count[other]] = user
                count[other] += 1


@compiled
def place_of(base: int, start: int, size: int, low: int, high: int) -> Any:
    """Return where the pair of the cells `low` and `high` stands in a user's triangle at `base`."""
    at = low - start
    return base + at * (2 * size - at - 1) // 2 + high - low - 1


@compiled
def pairs_of(user: int, i: int, low: int, end: int, k: int, log: Any, work: Any, made: Any) -> None:
    """Note in `made` the numbers of the pairs of cell `i` with others, NONE below k users."""
    start, base, triangle, support = log.ends[user], log.base[user], log.pair, log.support
    size, cells, alive = log.ends[user + 1] - start, work.cells, work.alive
    cell = cells[i]
    for j in range(low, min(i, end)):
        if alive[j]:
            pair = triangle[place_of(base, start, size, cells[j], cell)]
            made[j] = pair if pair >= 0 and support[pair] >= k else NONE
    offset = place_of(base, start, size, cell, 0)
    for j in range(max(low, i + 1), end):
        if alive[j]:
            pair = triangle[offset + cells[j]]
            made[j] = pair if pair >= 0 and support[pair] >= k else NONE


@compiled
def lose_from_list(user: int, pair: int, first: Any, owner: Any, support: Any) -> None:
    """Take `user` from the list of a `pair`, which stays ascending."""
    low = first[pair]
    last = low + support[pair] - 1
    # The list is ascending: find the user by halving, then close the gap.
    least, end = low, last
    while least < end:
        middle = (least + end) >> 1
        if owner[middle] < user:
            least = middle + 1
        else:
            end = middle
    for i in range(least, last):
        owner[i] = owner[i + 1]
