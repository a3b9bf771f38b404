"""Give a term to users whom insertion left without any, at the cost of others' log size.

A log in which everybody has at most one term, shared by k, is (k,m)-anonymous for every m. So those
left without a term begin with one, together with as few others as make k, those who have the least
to lose; insertion goes on from there. Whoever is then without a term is rescued in the next round.
Users who have as much to lose stand in the order of their own terms and weights: only among those
who are alike in all does their place in the log decide, and then it is no matter who they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiled import compiled
from .histories import Histories, by_content
from .km_groups import Owners, owners_of
from .km_insertion import Kept, Score, insert
from .model import Floats, Ints

ROUNDS = 3


def rescue(
    histories: Histories, kept: Kept, score: Score, *, weights: Floats, k: int, m: int, order: Ints
) -> Kept:
    """Return a log in which more users have a term, or this one if none scores higher."""
    row, df = histories.row, np.bincount(histories.terms, minlength=histories.span)
    could = np.bincount(row[df[histories.terms] >= k], minlength=histories.users) > 0
    alike = by_content(histories.ends, histories.terms, weights)
    begun = np.full(histories.users, -1, dtype=np.int32)
    seed = np.zeros(histories.terms.size, dtype=np.bool_)
    last, best = kept, (score(kept), kept)
    for _ in range(ROUNDS):
        size = np.bincount(row, weights * last, minlength=histories.users)
        lost = could & (np.bincount(row[last], minlength=histories.users) == 0) & (begun < 0)
        wanted = np.bincount(histories.terms[lost[row]], minlength=histories.span)
        terms = np.flatnonzero((wanted > 0) & (df >= k))
        terms = terms[np.lexsort((terms, df[terms], -wanted[terms]))]
        owners = owners_of(histories, alike[np.argsort(size[alike], kind="stable")])
        if not _begin(terms, k, owners, lost, begun, seed):
            break
        last = insert(histories, k=k, m=m, order=order, start=seed, once=True)
        best = max(best, (score(last), last), key=lambda scored: scored[0])
    return kept if best[1] is kept else insert(histories, k=k, m=m, order=order, start=best[1])


@compiled
def _begin(terms: Any, k: int, owners: Owners, lost: Any, begun: Any, seed: Any) -> Any:
    """Let those lost, and whom they need, begin with a term; count the cells."""
    found = 0
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
                found += 1
    return found
