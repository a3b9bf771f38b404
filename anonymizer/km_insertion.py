"""(k,m)-anonymous histories by insertion: terms are given to groups of users, never taken away.

From empty histories the terms are visited in one order. Each is given to all of its owners who can
have it together: those none of whose combinations of it with at most m - 1 of their released terms
stands in fewer than k of the group's histories. So the log is (k,m)-anonymous after every step, and
at the end nothing can be put back: a group that can have a term at the end could have had it when
the term was visited, together with those who got it. The order of the users plays no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .compiled import cores, in_parallel
from .histories import MOST_TERMS, Histories
from .km_groups import Growing, Owners, Room, give, owners_of
from .model import BadParameter, Ints, Progress, silent

Kept = NDArray[np.bool_]
Score = Callable[[Kept], tuple[float, float]]
TERMS = 4096  # between two reports of progress


def insert(
    histories: Histories,
    *,
    k: int,
    m: int,
    order: Ints,
    start: Kept | None = None,
    once: bool = False,
    owners: Owners | None = None,
    progress: Progress = silent,
) -> Kept:
    """Return which cells are kept: terms visited in order, each given to its largest group.

    The start, if any, must be (k,m)-anonymous. Terms of it that are visited late may gain owners
    for whom earlier ones waited, so the order is gone through until nobody gets any more, unless it
    is to be gone through only once. Progress counts the terms visited.
    """
    _check(histories, k, m, order, start)
    owners = owners or owners_of(histories)
    log, room = _growing(histories, start), _room(owners)
    given, done = 1, 0
    while given:
        given = 0
        for first in range(0, order.size, TERMS):
            terms = order[first : first + TERMS]
            given += give(terms, k, m, owners, log, room)
            done += terms.size
            progress(done)
        if start is None or once:
            break
    kept: Kept = log.kept
    return kept


def best_of(
    histories: Histories,
    score: Score,
    orders: Sequence[Ints],
    *,
    k: int,
    m: int,
    start: Kept | None = None,
    progress: Progress = silent,
) -> Kept:
    """Insert in each of the orders and return what scores highest, the first of equals.

    Progress counts the orders tried.
    """
    owners = owners_of(histories)

    def attempt(order: Ints) -> tuple[tuple[float, float], Kept]:
        kept = insert(histories, k=k, m=m, order=order, start=start, owners=owners)
        return score(kept), kept

    tried, best = 0, None
    while tried < len(orders):
        batch = orders[tried : tried + cores()]
        for found in in_parallel(attempt, batch):
            if best is None or found[0] > best[0]:
                best = found
        tried += len(batch)
        progress(tried)
    if best is None:
        raise BadParameter("there must be at least one order to try")
    return best[1]


def _check(histories: Histories, k: int, m: int, order: Ints, start: Kept | None) -> None:
    if k < 1:
        raise BadParameter(f"k={k} must be at least 1")
    if not 1 <= m <= MOST_TERMS:
        raise BadParameter(f"m={m} must be from 1 to {MOST_TERMS}")
    if order.size and not 0 <= order.min() <= order.max() < histories.span:
        raise BadParameter(f"an order must be of terms from 0 to {histories.span - 1}")
    if start is not None and start.size != histories.terms.size:
        raise BadParameter(f"the start must tell of {histories.terms.size} cells, not {start.size}")


def _growing(histories: Histories, start: Kept | None) -> Growing:
    """Return the log as it starts."""
    cells = histories.terms.size
    if start is None:
        nobody = np.zeros(histories.users, dtype=np.int64)
        released, kept = np.empty(cells, dtype=np.int32), np.zeros(cells, dtype=np.bool_)
        return Growing(histories.ends, released, nobody, kept)
    row = histories.row[start]
    sizes = np.bincount(row, minlength=histories.users)
    within = np.arange(row.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    released = np.empty(cells, dtype=np.int32)
    released[histories.ends[row] + within] = histories.terms[start]
    return Growing(histories.ends, released, sizes, start.copy())


def _room(owners: Owners) -> Room:
    """Return memory for the largest group there can be."""
    span, most = owners.starts.size - 1, int(np.diff(owners.starts).max(initial=0))
    return Room(
        np.empty(most, dtype=np.int32),
        np.empty(most, dtype=np.int32),
        np.zeros(span, dtype=np.int32),
        np.zeros(span, dtype=np.int64),
        np.full(span, -1, dtype=np.int32),
        np.zeros(1, dtype=np.int64),
    )
