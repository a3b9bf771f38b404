"""(k,m)-anonymous histories by insertion: terms are given to groups of users, never taken away.

Histories are empty at first, and the terms are visited in one order. Each is given to the largest
group of its owners that can have it together. There, k or more members have each combination of the
term with up to m - 1 released terms of a member. So the log is (k,m)-anonymous after every step. At
the end nothing can be put back: a group that can have a term then could have had it when the term
was visited, together with those who got it. The order of the users plays no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Ints, Marks
from ..compiled import cores, in_parallel
from ..model import Progress, silent
from .admissible import Growing, Owners, Room, give, owners_of
from .histories import Histories

Score = Callable[[Marks], tuple[float, float]]
TERMS = 4096  # terms between two reports of progress


def insert(
    histories: Histories,
    *,
    k: int,
    m: int,
    order: Ints,
    start: Marks | None = None,
    once: bool = False,
    owners: Owners | None = None,
    progress: Progress = silent,
) -> Marks:
    """Return which cells are kept when terms are visited in `order`, each for its largest group."""
    # A `start` must be (k,m)-anonymous. Its terms may gain owners late, and then these owners can
    # get terms that were visited earlier. So the order is repeated until nobody gets any more,
    # unless `once`. Progress counts the terms visited.
    owners = owners or owners_of(histories)
    span, largest = owners.starts.size - 1, int(np.diff(owners.starts).max(initial=0))
    cells, nobody = histories.terms.size, np.zeros(histories.users, dtype=np.int64)
    log = Growing(histories.ends, np.empty(cells, np.int32), nobody, np.zeros(cells, np.bool_))
    if start is not None:
        row = histories.row[start]
        sizes = np.bincount(row, minlength=histories.users)
        within = np.arange(row.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        log.released[histories.ends[row] + within] = histories.terms[start]
        log = log._replace(sizes=sizes, kept=start.copy())
    room = Room(
        np.empty(largest, dtype=np.int32),
        np.empty(largest, dtype=np.int32),
        np.zeros(span, dtype=np.int32),
        np.zeros(span, dtype=np.int64),
        np.full(span, -1, dtype=np.int32),
        np.zeros(1, dtype=np.int64),
    )
    given, done = 1, 0
    while given:
        given = 0
        for first in range(0, order.size, TERMS):
            terms = order[first : first + TERMS]
            given += give(terms, k, m, owners, log, room)
            done += terms.size
            progress(done)
        # From an empty start, one round gives all that can be given.
        if start is None or once:
            break
    kept: Marks = log.kept
    return kept


def best_of(
    histories: Histories,
    score: Score,
    orders: Sequence[Ints],
    *,
    k: int,
    m: int,
    start: Marks | None = None,
    progress: Progress = silent,
) -> Marks:
    """Return the cells kept by that one of `orders` that scores highest, the first of equals."""
    owners = owners_of(histories)

    def attempt(order: Ints) -> tuple[tuple[float, float], Marks]:
        kept = insert(histories, k=k, m=m, order=order, start=start, owners=owners)
        return score(kept), kept

    # Orders are tried on all cores at once, but compared in turn: the result is the same anywhere.
    results: list[tuple[tuple[float, float], Marks]] = []
    for tried in range(0, len(orders), cores()):
        batch = orders[tried : tried + cores()]
        results = [max([*results, *in_parallel(attempt, batch)], key=lambda result: result[0])]
        progress(tried + len(batch))
    return results[0][1]
