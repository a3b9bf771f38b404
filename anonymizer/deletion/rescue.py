"""Give a term to users who have none after insertion, at the cost of others' log size.

A log in which everybody has at most one term, shared by k, is (k,m)-anonymous for every m. So users
without a term begin with one, together with as few others as are needed for k. These others are
those with the least to lose. Insertion goes on from there. Users without a term after that wait for
the next round. Users with equal losses stand in the order of their own terms and weights. Their
place in the log decides only between users who are equal in all that counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, Ints, Marks
from ..compiled import compiled
from .admissible import Owners, owners_of
from .histories import Histories, by_content
from .insertion import Score, insert

ROUNDS = 3


def rescue(
    histories: Histories, kept: Marks, score: Score, *, weights: Floats, k: int, m: int, order: Ints
) -> Marks:
    """Return a log in which more users have a term, or `kept` if none scores higher."""
    row, df = histories.row, np.bincount(histories.terms, minlength=histories.span)
    could = np.bincount(row[df[histories.terms] >= k], minlength=histories.users) > 0
    alike = by_content(histories.ends, histories.terms, weights)
    begun = np.full(histories.users, -1, dtype=np.int32)
    seed = np.zeros(histories.terms.size, dtype=np.bool_)
    last, best = kept, (score(kept), kept)
    for _ in range(ROUNDS):
        size = np.bincount(row, weights * last, minlength=histories.users)
        lost = could & (np.bincount(row[last], minlength=histories.users) == 0) & (begun < 0)
        # Terms that most users without a term own come first.
        wanted = np.bincount(histories.terms[lost[row]], minlength=histories.span)
        terms = np.flatnonzero((wanted > 0) & (df >= k))
        terms = terms[np.lexsort((terms, df[terms], -wanted[terms]))]
        owners = owners_of(histories, alike[np.argsort(size[alike], kind="stable")])
        if not _begin(terms, k, owners, lost, begun, seed):
            break
        last = insert(histories, k=k, m=m, order=order, start=seed, once=True)
        best = max(best, (score(last), last), key=lambda scored: scored[0])
    # The rounds visited the order only once: go on until nobody gets any more.
    return kept if best[1] is kept else insert(histories, k=k, m=m, order=order, start=best[1])


@compiled
def _begin(terms: Any, k: int, owners: Owners, lost: Any, begun: Any, seed: Any) -> Any:
    """Give a first term to `lost` users, and to others to reach `k`; return the number of users."""
    begins = 0
    for term in terms:
        users = owners.users[owners.starts[term] : owners.starts[term + 1]]
        cells = owners.cells[owners.starts[term] : owners.starts[term + 1]]
        wanting, others, having = 0, 0, 0
        for user in users:
            wanting += lost[user] and begun[user] < 0
            others += not lost[user] and begun[user] < 0
            having += begun[user] == term
        others_needed = max(0, k - wanting - having)
        if wanting == 0 or others_needed > others:
            continue
        for i in range(users.size):
            if begun[users[i]] < 0 and (lost[users[i]] or others_needed > 0):
                others_needed -= not lost[users[i]]
                begun[users[i]] = term
                seed[cells[i]] = True
                begins += 1
    return begins
