"""The orders in which insertion visits terms for a target, and what the target counts.

The log size is the sum of the weights kept, and `users` counts users with a term left. `fis` counts
the combinations of m terms in each kept history; all of these are frequent. bid, clicks,
impressions and revenue sum the weights kept times the value of an occurrence.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import comb

from ..arrays import Floats, Ints, Marks
from ..compiled import compiled, cores, in_parallel
from ..model import Progress, silent
from .admissible import owners_of
from .histories import Histories
from .insertion import Score, best_of
from .rescue import rescue


class Worth(NamedTuple):
    """What cells are worth to a target."""

    target: str
    weights: Floats  # of each cell
    values: Floats | None  # term -> value of an occurrence, at least 0; None for other targets


def most_kept(
    histories: Histories,
    worth: Worth,
    *,
    k: int,
    m: int,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Marks:
    """Return which cells of `histories` the best order keeps; target users rescues empty ones."""
    score, tried = score_of(histories, worth, m), orders(histories, worth, k=k, rng=rng)
    kept = best_of(histories, score, tried, k=k, m=m, progress=progress)
    if worth.target == "users":
        kept = rescue(histories, kept, score, weights=worth.weights, k=k, m=m, order=tried[0])
    return kept


def give_back(
    histories: Histories, start: Marks, worth: Worth, *, k: int, m: int, rng: np.random.Generator
) -> Marks:
    """Return which cells are kept when terms go back to groups from `start` in the best order."""
    tried = orders(histories, worth, k=k, rng=rng)
    return best_of(histories, score_of(histories, worth, m), tried, k=k, m=m, start=start)


def orders(histories: Histories, worth: Worth, *, k: int, rng: np.random.Generator) -> list[Ints]:
    """Return the orders to try for the target of `worth`; equal terms stand by number."""
    target, weights, values = worth
    if target == "random":
        return [rng.permutation(histories.span)]
    # No order is the best on every log, so several are tried.
    tf: Floats = np.bincount(histories.terms, weights, histories.span).astype(np.float64)
    df = np.bincount(histories.terms, minlength=histories.span).astype(np.float64)
    per_user, both = tf / np.maximum(df, 1), np.sqrt(df * tf)
    partners = frequent_partners(histories, k).astype(np.float64)
    spread, mean = partners * np.sqrt(per_user), np.sqrt(partners * tf)
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
        firsts = [spread, mean, partners, partners * per_user]
    return [np.argsort(-first, kind="stable") for first in firsts]


def score_of(histories: Histories, worth: Worth, m: int) -> Score:
    """Return the function that scores kept cells by the target of `worth`, then by log size."""
    target, weights, values = worth
    row = histories.row

    def score(kept: Marks) -> tuple[float, float]:
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
    """Return for each term how many terms, itself included, `k` or more of its owners have."""
    owners = owners_of(histories)
    partners = np.zeros(histories.span, dtype=np.int64)
    frequent = np.flatnonzero(np.diff(owners.starts) >= k)

    def count(terms: Ints) -> None:
        _count_partners(terms, k, histories.ends, histories.terms, owners, partners)

    in_parallel(count, [frequent[share :: cores()] for share in range(cores())])
    return partners


@compiled
def _count_partners(terms: Any, k: int, ends: Any, cells: Any, owners: Any, partners: Any) -> None:
    counts = np.zeros(partners.size, dtype=np.int32)
    for term in terms:
        users = owners.users[owners.starts[term] : owners.starts[term + 1]]
        for user in users:
            for i in range(ends[user], ends[user + 1]):
                counts[cells[i]] += 1
                partners[term] += counts[cells[i]] == k
        for user in users:
            for i in range(ends[user], ends[user + 1]):
                counts[cells[i]] = 0
