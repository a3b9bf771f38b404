"""Logs that fit on a page, and (k,m)-anonymity asked of each combination in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np

from anonymizer.arrays import Marks
from anonymizer.deletion.histories import Histories

Log = Sequence[set[int]]


def histories_from(rows: Log, span: int = 0) -> Histories:
    """Lay out rows; without a span the largest term is the last."""
    span = span or max(chain(*rows), default=-1) + 1
    ends = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    cells = list(chain.from_iterable(map(sorted, rows)))
    return Histories(ends, np.array(cells, dtype=np.int32), span)


def rows_of(histories: Histories, kept: Marks) -> list[set[int]]:
    return [
        set(histories.terms[low:high][kept[low:high]].tolist())
        for low, high in pairwise(histories.ends.tolist())
    ]


def cells_in(histories: Histories, rows: Log) -> Marks:
    pairs = zip(histories.row.tolist(), histories.terms.tolist(), strict=True)
    return np.array([term in rows[user] for user, term in pairs], dtype=np.bool_)


def support(rows: Iterable[Collection[int]], combination: Iterable[int]) -> int:
    """Count the rows that a combination of terms stands in."""
    wanted = {*combination}
    return sum(wanted <= {*row} for row in rows)


def is_anonymous(rows: Collection[Collection[Any]], k: int, m: int) -> bool:
    """Tell, by the definition, whether rows are (k,m)-anonymous."""
    ordered, sizes = [sorted(row) for row in rows], range(1, m + 1)
    found = Counter(c for row in ordered for size in sizes for c in combinations(row, size))
    return all(support >= k for support in found.values())


def can_be_put_back(rows: Log, released: Log, k: int, m: int) -> bool:
    """Return whether any group of users, of all there are, could have a deleted term back."""
    for term in set().union(*rows):
        lost = [user for user, row in enumerate(rows) if term in row - released[user]]
        for size in range(1, len(lost) + 1):
            for group in combinations(lost, size):
                added = [row | {term} if u in group else row for u, row in enumerate(released)]
                if is_anonymous(added, k, m):
                    return True
    return False


def uneven_rows(rng: np.random.Generator) -> list[set[int]]:
    """Draw a small log, some of its histories empty, its terms of uneven frequency."""
    users, span = int(rng.integers(1, 14)), int(rng.integers(1, 10))
    chance = rng.uniform(0.05, 1.0, span) * rng.uniform(0.5, 1.2)
    return [set(np.flatnonzero(rng.random(span) < chance).tolist()) for _ in range(users)]


def draw_rows(rng: np.random.Generator, users: int = 11, span: int = 8) -> list[set[int]]:
    """Draw at most so many users, each of whom has a term with the same probability or none."""
    share = rng.uniform(0.3, 0.95)
    draws = [rng.random(span) < share for _ in range(int(rng.integers(1, users + 1)))]
    return [set(np.flatnonzero(draw).tolist()) if rng.random() < 0.95 else set() for draw in draws]


def crowd(users: int, terms: int, seed: int) -> Histories:
    """Draw users with few to many terms, some of which nearly everybody has."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, terms + 1) ** 0.9
    rows = [
        set(rng.choice(terms, int(rng.geometric(0.08)), p=share / share.sum()).tolist())
        for _ in range(users)
    ]
    return histories_from(rows, terms)
