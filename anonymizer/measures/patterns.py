"""The most frequent closed patterns of sets of terms, without a least support.

A pattern is a set of terms; its support is the number of people who have all of them. It is closed
if no larger set has the same support. More frequent patterns come first, of equally frequent ones
the longer, of equally long ones the alphabetically first.

Each closed pattern but the first is reached once, from one parent of larger support, by the term
that its closure adds (prefix-preserving closure extension: Uno et al., LCM 2004). So a heap that
gives the most frequent one next can stop after as many as are wanted.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints

TOP = 100  # patterns that Recall and sDist compare


class Pattern(NamedTuple):
    """A closed pattern: its terms by number, ascending, and how many people have all of them."""

    terms: tuple[int, ...]
    support: int


class _Branch(NamedTuple):
    """A closed pattern with the terms that may extend it, the most frequent first."""

    rows: Ints  # the distinct rows that have all terms of the pattern
    inside: Ints  # its terms
    added: Ints  # these further terms, later than the one by which it was reached
    supports: Ints  # the support with each of `added`


def top_patterns(
    sets: csr_matrix, people: Ints, least_length: int = 1, count: int = TOP
) -> list[Pattern]:
    """Return the `count` most frequent closed patterns of at least `least_length` terms.

    Row i of `sets` is the set of its columns that are not 0, and stands for `people[i]` people.
    Columns are in alphabetical order.
    """
    patterns: list[Pattern] = []
    for pattern in _closed(csr_matrix(sets, dtype=bool), people):
        if len(pattern.terms) >= least_length:
            patterns.append(pattern)
            if len(patterns) == count:
                break
    return patterns


def _closed(sets: csr_matrix, people: Ints) -> Iterator[Pattern]:
    """Yield all closed patterns in their order."""
    columns = sets.tocsc()
    # An entry is a pattern, or a branch whose next extension is to be looked at. A branch comes
    # before patterns of its support, as it may hold longer ones.
    heap: list[tuple[int, int, int, tuple[int, ...], int, int]] = []
    branches: list[_Branch] = []

    def advance(branch: int, at: int) -> None:
        supports = branches[branch].supports
        if at < supports.size:
            heapq.heappush(heap, (-int(supports[at]), -1, 0, (), branch, at))

    def meet(rows: Ints, last: int, before: Ints) -> None:
        """Take up the closure of `before` with the term `last`, which `rows` have."""
        counts = np.bincount(
            sets[rows].indices, np.repeat(people[rows], np.diff(sets.indptr)[rows]), sets.shape[1]
        ).astype(np.int64)
        support = int(people[rows].sum())
        inside = np.flatnonzero(counts == support) if support else np.zeros(0, np.int64)
        # Else it is reached from another parent, by an earlier term.
        if np.array_equal(inside[inside < last], before[before < last]):
            counts[inside] = 0
            added = last + 1 + np.flatnonzero(counts[last + 1 :])
            order = added[np.argsort(-counts[added], kind="stable")]
            branches.append(_Branch(rows, inside, order, counts[order]))
            terms = tuple(inside.tolist())
            heapq.heappush(heap, (-support, 0, -len(terms), terms, len(branches) - 1, 0))

    meet(np.flatnonzero(people > 0), -1, np.zeros(0, np.int64))
    while heap:
        support, kind, _, terms, number, at = heapq.heappop(heap)
        branch = branches[number]
        if kind == 0:
            if terms:
                yield Pattern(terms, -support)
            advance(number, 0)
            continue
        last = int(branch.added[at])
        having = columns.indices[columns.indptr[last] : columns.indptr[last + 1]]
        meet(np.intersect1d(branch.rows, having, assume_unique=True), last, branch.inside)
        advance(number, at + 1)
