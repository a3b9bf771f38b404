"""(k,m)-anonymous histories by insertion: terms are given to groups of users, never taken away.

From empty histories the terms are visited in one order. Each is given to all of its owners who can
have it together: those none of whose combinations of it with at most m - 1 of their released terms
stands in fewer than k of the group's histories. So the log is (k,m)-anonymous after every step, and
at the end nothing can be put back: a group that can have a term at the end could have had it when
the term was visited, together with those who got it. The order of the users plays no part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .histories import Histories
from .km_groups import Growing, Room, give
from .model import Ints, Progress, silent

Kept = NDArray[np.bool_]
TERMS = 4096  # between two reports of progress


def insert(
    histories: Histories,
    *,
    k: int,
    m: int,
    order: Ints,
    start: Kept | None = None,
    progress: Progress = silent,
) -> Kept:
    """Return which cells are kept: terms visited in order, each given to its largest group.

    The start, if any, must be (k,m)-anonymous. Its terms that are visited late may gain owners on
    whom earlier ones waited, so terms are visited again until nobody gets any.
    """
    log = _growing(histories, start)
    room = _room(histories, log)
    given, done = 1, 0
    while given:
        given = 0
        for first in range(0, order.size, TERMS):
            terms = order[first : first + TERMS]
            given += give(terms, k, m, log, room)
            done += terms.size
            progress(done)
        if start is None:
            break
    kept: Kept = log.kept
    return kept


def _growing(histories: Histories, start: Kept | None) -> Growing:
    """Return the log as it starts, and who owns what."""
    cells = np.argsort(histories.terms, kind="stable")
    counts = np.bincount(histories.terms, minlength=histories.span)
    kept = np.zeros(histories.terms.size, dtype=np.bool_) if start is None else start.copy()
    rows = histories.row
    sizes = np.bincount(rows[kept], minlength=histories.users)
    released = np.empty(histories.terms.size, dtype=np.int32)
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    released[histories.ends[rows[kept]] + within] = histories.terms[kept]
    return Growing(
        histories.ends,
        released,
        sizes,
        np.concatenate([[0], np.cumsum(counts)]),
        rows[cells].astype(np.int32),
        cells,
        kept,
    )


def _room(histories: Histories, log: Growing) -> Room:
    """Return memory for the largest group there can be."""
    most = int(np.diff(log.owner_starts).max(initial=0))
    return Room(
        np.empty(most, dtype=np.int32),
        np.empty(most, dtype=np.int64),
        np.zeros(histories.span, dtype=np.int32),
        np.zeros(histories.span, dtype=np.int64),
        np.full(histories.span, -1, dtype=np.int32),
        np.zeros(1, dtype=np.int64),
    )
