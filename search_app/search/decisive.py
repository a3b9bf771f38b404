"""The smallest set of terms without which a document would not have moved.

Without some terms, a cosine is the sum of the other terms' shares, times length(interest) /
length(rest). By the rule `evidence`, a score is the sum of the shares and of a part that no term of
the interest changes. A document that moved up must fall back: without the terms, at least the
documents before it in the plain order must beat it. A document that moved down must rise likewise.
Each other document is on the wished side or has a deficit, and removing a term gives it a gain.

The search tries all sets of 1 term, then of 2, 3 and so on. A branch of the search has removed some
terms and has m more to remove. It is skipped if even the m terms with the largest gains, each gain
divided by the deficit, can mend too few documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from anonymizer.arrays import Floats, Ints

from .rerank import DECIMALS

RankWithout = Callable[[Sequence[int]], int]

WORK = 120_000_000  # numbers that a search may read: about half a second
_NODE = 15_000  # what one step costs in addition, counted in numbers read
# Values this close may be equal after rounding to 12 decimals; only ranking again can say.
_ROUNDING = 3e-12
_NOISE = 4e-15  # sums this close are equal
# A weight below this share of the interest's length drowns in the noise of sums: the search still
# runs, but its result counts as not proven.
_SPAN = 1e-6


class Decisive(NamedTuple):
    """Terms by number, the rank without them, and whether surely no smaller set works."""

    terms: tuple[int, ...]
    rank: int
    proven: bool


class _Rest(NamedTuple):
    """The interest without some terms: these terms, and the sums of the rest."""

    out: tuple[int, ...]  # the removed terms
    sums: Floats  # by how much each document is on the wished side of the one explained


class _OverWork(Exception):
    """The search has used up its work."""


def decisive(
    shares: Floats,
    weights: Floats,
    base: Floats,
    at: int,
    rank_without: RankWithout | None,
    work: int = WORK,
) -> Decisive | None:
    """Return the smallest set for the document at `at` in plain order; None if there is none.

    `shares` are documents x terms, documents in plain order, and `base` is what no term changes.
    The result is checked with `rank_without`. None: shares and `base` are the ranking itself; else
    they are cosines with an interest of `weights`, which are 0 where `base` is not.
    """
    search = _Search(shares, weights, base, at)
    rank_without = rank_without or search.rank
    rank = rank_without(())
    if rank == at + 1:
        return None
    search.turn(1 if rank < at + 1 else -1)
    # First with ranks computed from the shares, which is fast. They may differ from the real
    # ranking in the last digits; then again with real rankings.
    for ranks in (search.rank, rank_without):
        search.rank_without = ranks
        chosen, proven = search.smallest(work)
        if search.holds(rank := rank_without(chosen)):
            return Decisive(tuple(chosen), rank, proven)
    # Where the neighbours of a document move it, no terms of its own may be enough.
    return None


class _Search:
    def __init__(self, shares: Floats, weights: Floats, base: Floats, at: int) -> None:
        self.at, self.base = at, base
        self.rank_without: RankWithout = self.rank
        self.shares = np.ascontiguousarray(shares.T)  # terms x documents, like all arrays below
        self.squares = (weights / (np.abs(weights).max(initial=0) or 1)) ** 2
        self.squares /= self.squares.sum() or 1
        self.fine = bool(self.squares[self.squares > 0].min(initial=1) >= _SPAN**2)
        self.work = 1 << 62

    def turn(self, up: int) -> None:
        """Look for terms without which the document falls (`up` is 1) or rises (-1)."""
        at, count = self.at, self.base.size
        self.up = up
        self.lifts = up * (self.shares - self.shares[:, at : at + 1])
        self.gains = np.maximum(-self.lifts, 0)
        before = np.arange(count) < at
        wins_ties = before if up > 0 else ~before
        wins_ties[at] = False
        self.least = np.where(wins_ties, -_ROUNDING, _NOISE) - up * (self.base - self.base[at])
        self.needed = at if up > 0 else count - 1 - at
        self.terms = np.flatnonzero((self.gains > 0).any(axis=1))

    def smallest(self, work: int) -> tuple[list[int], bool]:
        """Return the smallest set that `work` allows to find, and whether it is proven smallest."""
        known = self._some()
        self.work = work
        try:
            for size in range(1, len(known)):
                if terms := self._within(self._rest(()), self.terms, size):
                    return terms, self.fine
            return known, self.fine
        except _OverWork:
            return known, False

    def rank(self, out: Sequence[int]) -> int:
        """Return the document's rank without the terms `out`, computed from the shares."""
        keep = self._keep(out)
        length = np.sqrt(float(keep @ self.squares)) or 1
        values = np.round(self.base + keep @ self.shares / length, DECIMALS)
        own = values[self.at]
        return 1 + int((values > own).sum() + (values[: self.at] == own).sum())

    def holds(self, rank: int) -> bool:
        """Return whether the document, at `rank`, would not have moved."""
        return self.up * (rank - self.at - 1) >= 0

    def _does(self, terms: Sequence[int]) -> bool:
        return self.holds(self.rank_without(terms))

    def _some(self) -> list[int]:
        """Return a set that works and needs each of its terms, taking the largest gains first."""
        chosen: list[int] = []
        left = self.terms
        while left.size and not self._does(chosen):
            mended, lacking = self._mended(self._rest(chosen), left)
            order = np.argsort(-mended, kind="stable")
            # Fewer terms than these can't be enough.
            few = 1 + int(np.searchsorted(np.cumsum(mended[order]), lacking))
            chosen += left[order[:few]].tolist()
            left = left[order[few:]]
        if not self._does(chosen):
            chosen = list(range(len(self.shares)))
        # Put terms back while the set still works without them; the last chosen one first.
        shrunk = True
        while shrunk:
            shrunk = False
            for term in reversed(chosen):
                fewer = [other for other in chosen if other != term]
                if self._does(fewer):
                    chosen, shrunk = fewer, True
        return chosen

    def _within(self, rest: _Rest, left: Ints, more: int) -> list[int] | None:
        """Search the sets of `rest.out` and `more` of the terms `left`; None if none works."""
        if more == 1:
            return self._last(rest, left)
        mended, lacking = self._mended(rest, left)
        order = np.argsort(-mended, kind="stable")
        left, sums = left[order], np.concatenate(([0.0], np.cumsum(mended[order])))
        for first in range(left.size - more + 1):
            if sums[first + more] - sums[first] < lacking - 1e-6:
                break
            term = int(left[first])
            less = _Rest((*rest.out, term), rest.sums - self.lifts[term])
            if terms := self._within(less, left[first + 1 :], more - 1):
                return terms
        return None

    def _mended(self, rest: _Rest, left: Ints) -> tuple[Floats, int]:
        """Return how many documents each term of `left` can mend, and how many must be mended."""
        deficits = self.least - rest.sums
        bad = np.flatnonzero(deficits >= 0)
        self._spend(left.size * bad.size)
        gains = self.gains[left][:, bad]
        np.divide(gains, np.maximum(deficits[bad], 1e-300), out=gains)
        mended: Floats = np.minimum(gains, 1, out=gains).sum(axis=1)
        return mended, int(self.needed - (deficits.size - bad.size))

    def _last(self, rest: _Rest, left: Ints) -> list[int] | None:
        """Try each term of `left` as the last one to remove."""
        self._spend(left.size * rest.sums.size)
        leads = rest.sums - self.lifts[left]
        good = (leads > self.least).sum(axis=1)
        for term in left[good >= self.needed].tolist():
            self._spend(10 * rest.sums.size)
            if self._does([*rest.out, term]):
                return [*rest.out, term]
        return None

    def _rest(self, out: Sequence[int]) -> _Rest:
        keep = self._keep(out)
        return _Rest(tuple(out), keep @ self.lifts)

    def _keep(self, out: Sequence[int]) -> Floats:
        keep = np.ones(len(self.shares))
        keep[list(out)] = 0
        return keep

    def _spend(self, numbers: int) -> None:
        self.work -= numbers + _NODE
        if self.work < 0:
            raise _OverWork
