"""In which orders insertion visits the terms for a target, and what the target counts.

The log size is the sum of the weights kept; users are those with a term left; fis counts how often
a combination of m terms, all of them frequent then, stands in a kept history; bid, clicks,
impressions and revenue sum the weights kept times the value of an occurrence. No order is the best
on every log, so several are tried.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import comb

from .compiled import compiled, cores, in_parallel
from .histories import Histories
from .km_groups import owners_of
from .km_insertion import Kept, Score
from .model import Floats, Ints


def orders(
    histories: Histories,
    target: str,
    *,
    tf: Floats,
    values: Floats | None,
    k: int,
    rng: np.random.Generator,
) -> list[Ints]:
    """Return the orders to try for a target; equal terms stand by number.

    A term's weights sum to tf. Values, if any, are of one occurrence of each term: of targets that
    count no value, there are none.
    """
    if target == "random":
        return [rng.permutation(histories.span)]
    df = np.bincount(histories.terms, minlength=histories.span).astype(np.float64)
    partners = frequent_partners(histories, k).astype(np.float64)
    spread, mean = partners * np.sqrt(tf / np.maximum(df, 1)), np.sqrt(partners * tf)
    if values is not None:
        firsts = [values * tf, values * spread, values * mean, values * np.sqrt(df * tf)]
        return [np.lexsort((-mean, -first)) for first in firsts]
    if target == "users":
        firsts = [df, spread]
    elif target == "fis":
        firsts = [spread, partners, mean, df]
    else:
        firsts = [spread, mean, df, np.sqrt(df * tf)]
    return [np.argsort(-first, kind="stable") for first in firsts]


def score_of(
    histories: Histories, target: str, *, weights: Floats, values: Floats | None, m: int
) -> Score:
    """Return what tells how much of what the target counts is kept, and then of log size."""
    row = histories.row

    def score(kept: Kept) -> tuple[float, float]:
        size = float(weights[kept].sum())
        if values is not None:
            return float((weights[kept] * values[histories.terms[kept]]).sum()), size
        left = np.bincount(row[kept], minlength=histories.users)
        if target == "users":
            return float(np.count_nonzero(left)), size
        if target == "fis":
            return float(comb(left, m).sum()), size
        return size, float(np.count_nonzero(left))

    return score


def frequent_partners(histories: Histories, k: int) -> Ints:
    """Count for each term the terms, itself included, that k or more of its owners have."""
    owners = owners_of(histories)
    found = np.zeros(histories.span, dtype=np.int64)
    frequent = np.flatnonzero(np.diff(owners.starts) >= k)

    def count(terms: Ints) -> None:
        _count_partners(terms, k, histories.ends, histories.terms, owners, found)

    in_parallel(count, [frequent[share :: cores()] for share in range(cores())])
    return found


@compiled
def _count_partners(terms: Any, k: int, ends: Any, cells: Any, owners: Any, found: Any) -> None:
    counts = np.zeros(found.size, dtype=np.int32)
    for term in terms:
        users = owners.users[owners.starts[term] : owners.starts[term + 1]]
        for user in users:
            for i in range(ends[user], ends[user + 1]):
                counts[cells[i]] += 1
                found[term] += counts[cells[i]] == k
        for user in users:
            for i in range(ends[user], ends[user + 1]):
                counts[cells[i]] = 0
