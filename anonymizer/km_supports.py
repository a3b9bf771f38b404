"""Supports: how many users have two terms, kept up to date while terms are deleted.

Only pairs that k or more users have at the beginning get a number; supports only fall, so no
other pair ever counts again. Each user has a triangle of the numbers of their pairs. For larger
combinations a pair also has the list of its users; what they have besides is counted from there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .compiled import compiled
from .histories import Histories

LIMIT = 8_000_000_000  # bytes for the pairs of all users' terms
NONE = -1  # the number of a pair that too few users have
# Handed on, these are plain numbers: numba compiles a function anew for each literal it is given.
ZERO, TWO, THREE, FOUR = (np.int64(number) for number in (0, 2, 3, 4))


class Supports(NamedTuple):
    """Histories without the terms that fewer than k users have, and who shares their pairs."""

    ends: Any
    terms: Any
    deleted: Any  # cell -> the pass it was deleted in, 0 while it is kept
    base: Any  # user -> where their triangle of pairs starts
    pair: Any  # user's pair -> its number
    support: Any  # pair -> users who have both terms now; not kept up to date below k
    first: Any  # pair -> where the list of its users starts (as long as its support)
    owner: Any  # such lists, each ascending
    changed: Any  # pair -> the last visit at which its support fell
    frequent: Any  # size, term -> frequent combinations it is in; for size 1 its own support


def bytes_for(histories: Histories, m: int) -> int:
    """Return how much memory the pairs of all users' terms will take."""
    sizes = np.diff(histories.ends)
    return int((sizes * (sizes - 1) // 2).sum()) * (8 if m > 2 else 4)


def supports_of(histories: Histories, k: int, m: int) -> Supports:
    """Count terms and pairs of histories whose terms have k or more users each."""
    ends, terms, span = histories
    sizes = np.diff(ends)
    base = np.concatenate(([0], np.cumsum(sizes * (sizes - 1) // 2)))
    most, lists = int(base[-1]) // k + 1, m > 2
    frequent = np.zeros((m + 1, span), dtype=np.int64)
    frequent[1] = np.bincount(terms, minlength=span)
    # What is never written to takes no memory.
    log = Supports(
        ends,
        terms,
        np.zeros(terms.size, dtype=np.int64),
        base,
        np.empty(int(base[-1]), dtype=np.int32),
        np.empty(most, dtype=np.int32),
        np.empty(most if lists else 0, dtype=np.int64),
        np.empty(int(base[-1]) if lists else 0, dtype=np.int32),
        np.zeros(most if lists else 0, dtype=np.int64),
        frequent,
    )
    row = histories.row.astype(np.int32)
    cells = np.argsort(terms, kind="stable")
    _number_pairs(log, row, cells, np.concatenate(([0], np.cumsum(frequent[1]))), k, lists)
    return log


@compiled
def _number_pairs(log: Any, row: Any, cells: Any, starts: Any, k: int, lists: bool) -> None:
    """Give a number to each pair of k or more users, first term by first term."""
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
    """Count which later terms the users of a term have; return how many terms these are."""
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
    """Return where in a user's triangle, of a base, the pair of two of their cells stands."""
    at = low - start
    return base + at * (2 * size - at - 1) // 2 + high - low - 1


@compiled
def pairs_of(
    user: int, i: int, low: int, high: int, k: int, log: Any, work: Any, pairs: Any
) -> None:
    """Note for a cell at hand the numbers of its pairs with others, NONE below k users."""
    start, base, triangle, support = log.ends[user], log.base[user], log.pair, log.support
    size, cells, alive = log.ends[user + 1] - start, work.cells, work.alive
    cell = cells[i]
    for j in range(low, min(i, high)):
        if alive[j]:
            pair = triangle[place_of(base, start, size, cells[j], cell)]
            pairs[j] = pair if pair >= 0 and support[pair] >= k else NONE
    offset = place_of(base, start, size, cell, 0)
    for j in range(max(low, i + 1), high):
        if alive[j]:
            pair = triangle[offset + cells[j]]
            pairs[j] = pair if pair >= 0 and support[pair] >= k else NONE


@compiled
def lose_from_list(user: int, pair: int, first: Any, owner: Any, support: Any) -> None:
    """Take a user from the list of a pair."""
    low = first[pair]
    last = low + support[pair] - 1
    least, most = low, last
    while least < most:
        middle = (least + most) >> 1
        if owner[middle] < user:
            least = middle + 1
        else:
            most = middle
    for i in range(least, last):
        owner[i] = owner[i + 1]
