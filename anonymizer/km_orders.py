"""In which orders insertion visits the terms for a target, and what the target counts.

The log size is the sum of the weights kept; users are those with a term left; fis counts how often
a combination of m terms, all of them frequent then, stands in a kept history; bid, clicks,
impressions and revenue sum the weights kept times the value of an occurrence. No order is the best
on every log, so several are tried.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import comb

from .compiled import compiled, cores, in_parallel
from .histories import Histories
from .km_groups import owners_of
from .km_insertion import Kept, Score, best_of
from .km_rescue import rescue
from .model import Floats, Ints, Progress, silent


class Worth(NamedTuple):
    """What cells are worth to a target."""

    target: str
    weights: Floats  # of each cell
    values: Floats | None  # term -> value of an occurrence, of targets that have one


def most_kept(
    histories: Histories,
    worth: Worth,
    *,
    k: int,
    m: int,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Kept:
    """Return which cells are kept by the order, of those to try, that is the best for the target.

    For users, those left without a term are rescued too. Progress counts the orders tried.
    """
    score, tried = score_of(histories, worth, m), orders(histories, worth, k=k, rng=rng)
    kept = best_of(histories, score, tried, k=k, m=m, progress=progress)
    if worth.target == "users":
        kept = rescue(histories, kept, score, weights=worth.weights, k=k, m=m, order=tried[0])
    return kept


def give_back(
    histories: Histories,
    start: Kept,
    worth: Worth,
    *,
    k: int,
    m: int,
    rng: np.random.Generator,
) -> Kept:
    """Return which cells are kept when terms are given back to an anonymous log, to groups at once.

    Each order that may suit the target is tried, and what it counts as most is kept.
    """
    tried = orders(histories, worth, k=k, rng=rng)
    return best_of(histories, score_of(histories, worth, m), tried, k=k, m=m, start=start)


def orders(histories: Histories, worth: Worth, *, k: int, rng: np.random.Generator) -> list[Ints]:
    """Return the orders to try for a target; equal terms stand by number.

    Values, which may be 0, are of one occurrence of each term.
    """
    target, weights, values = worth
    if target == "random":
        return [rng.permutation(histories.span)]
    tf: Floats = np.bincount(histories.terms, weights, histories.span).astype(np.float64)
    df = np.bincount(histories.terms, minlength=histories.span).astype(np.float64)
    each, both = tf / np.maximum(df, 1), np.sqrt(df * tf)
    partners = frequent_partners(histories, k).astype(np.float64)
    spread, mean = partners * np.sqrt(each), np.sqrt(partners * tf)
    if values is not None:
        some = np.sqrt(values)
        firsts = [tf * values, df * values, both * values]
        firsts += [spread * values, spread * some, mean * some]
        return [np.lexsort((-mean, -first)) for first in firsts]
    if target == "users":
        firsts = [df, mean]
    elif target == "fis":
        firsts = [partners, spread, mean, df]
    else:
        firsts = [spread, mean, partners, partners * each]
    return [np.argsort(-first, kind="stable") for first in firsts]


def score_of(histories: Histories, worth: Worth, m: int) -> Score:
    """Return what tells how much of what the target counts is kept, and then of log size."""
    target, weights, values = worth
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
