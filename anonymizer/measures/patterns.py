"""The most frequent closed patterns of sets of terms, without a least support.

A pattern is a set of terms; its support is the number of people who have all of them. It is closed
if no larger set has the same support. More frequent patterns come first, of equally frequent ones
the longer, of equally long ones the alphabetically first.

Each closed pattern but the first is reached once, from one parent of larger support, by the term
that its closure adds (prefix-preserving closure extension: Uno et al., LCM 2004). So a heap that
gives the most frequent one next can stop after as many as are wanted.

Recall and sDist say how well patterns of profiles are found again in a release. They take the top
closed ones of the profiles (O) and of the users' rows (A): each user's row counts once, and terms
count once.

Recall  sum over O of the largest |O and A| / sum over O of |O|
sDist   sum over O of the least distance from O to A / sum over O of |O|

The distance of two patterns is that of vocabularies by model 2: each term is matched with at most
one of the other pattern that is at most eps away, and each unmatched term costs omega. With
nothing released each term costs omega.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints
from ..model import Profiles, Release
from ..terms.taxonomy import Taxonomy

TOP = 100  # patterns that Recall and sDist compare
EPS = 4.0  # for releases that have none
TermSet = tuple[str, ...]


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


def retrieved(
    before: Sequence[TermSet],
    release: Release,
    taxonomy: Taxonomy,
    least_length: int,
    eps: float | None = None,
) -> tuple[float, float]:
    """Return Recall and sDist of the patterns `before`, of at least `least_length` terms.

    Terms are as far apart as in `taxonomy`. Without `eps`, it and omega are those of the `release`.
    """
    after = _patterns(release.rows, release.grouping.sizes, least_length)
    size = max(sum(map(len, before)), 1)
    common = sum(max((len({*one} & {*other}) for other in after), default=0) for one in before)
    costs = _Costs(release, taxonomy, eps)
    far = sum(min(costs.distance(one, other) for other in after or [()]) for one in before)
    return common / size, far / size


def patterns_of(profiles: Profiles, least_length: int) -> list[TermSet]:
    """Return the top patterns of `profiles` that have at least `least_length` terms."""
    return _patterns(profiles, np.ones(len(profiles), np.int64), least_length)


def _patterns(rows: Profiles, people: Ints, least_length: int) -> list[TermSet]:
    """Return the top patterns of `rows`, row i counting for `people[i]` people."""
    rows = rows.in_order()
    patterns = top_patterns(rows.weights, people, least_length)
    return [tuple(rows.terms[number] for number in one.terms) for one in patterns]


class _Costs:
    """What it costs to match a term with another one, or with none."""

    def __init__(self, release: Release, taxonomy: Taxonomy, eps: float | None) -> None:
        own, omega = release.number("eps"), release.number("omega")
        self._taxonomy = taxonomy
        self._first = release.parameters.get("senses", "first") == "first"
        self._eps = eps if eps is not None else EPS if own is None else own
        # Where eps is 0, omega is 1: else nothing would cost anything.
        self.omega = omega if eps is None and omega is not None else self._eps or 1.0
        self._above: dict[str, Mapping[int, int]] = {}
        self._known: dict[tuple[str, str], float] = {}

    def distance(self, one: TermSet, other: TermSet) -> float:
        """Return the distance of the vocabularies `one` and `other`, by model 2."""
        # It takes a quarter of a second to load, and most commands measure nothing.
        from scipy.optimize import linear_sum_assignment

        whole = self.omega * (len(one) + len(other))
        saved = np.array([[self._saved(term, another) for another in other] for term in one])
        return whole - float(saved[linear_sum_assignment(-saved)].sum()) if saved.any() else whole

    def _saved(self, term: str, other: str) -> float:
        """Return how much less it costs to match `term` with the `other` than both with none."""
        if term == other:
            return 2 * self.omega
        if (term, other) not in self._known:
            far = self._steps(term, other) if self._eps else np.inf
            self._known[term, other] = max(0.0, 2 * self.omega - far) if far <= self._eps else 0.0
        return self._known[term, other]

    def _steps(self, term: str, other: str) -> float:
        """Return the length of the shortest way up from `term` and down to the `other`."""
        far, near = self._all_above(term), self._all_above(other)
        return min((far[up] + steps for up, steps in near.items() if up in far), default=np.inf)

    def _all_above(self, term: str) -> Mapping[int, int]:
        """Return the nodes at or above `term` with the fewest steps up to each."""
        if term not in self._above:
            starts = self._taxonomy.nodes_of(term)
            self._above[term] = self._taxonomy.above(starts[:1] if self._first else starts)
        return self._above[term]
