"""The smallest set of terms without which a document would not have moved.

Without some terms a cosine is the sum of the other terms' shares, times the length of the whole
interest by that of the rest. A document that moved up must again be beaten by as many others as in
the plain order; one that moved down must be beaten by as few. Each other document is as wished or
not: what lacks to that is its deficit, and what leaving out a term gives to it is the term's gain.
Sets of 1, 2, 3 ... terms are searched, whole sizes at a time. Of the sets that hold what is left
out already and m more terms, none does if even the m terms with the largest gains, counted in
deficits, mend too few documents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .rerank import DECIMALS

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
RankWithout = Callable[[Sequence[int]], int]

WORK = 120_000_000  # numbers looked at: about half a second
_NODE = 15_000  # numbers that one step costs beside those it looks at
_ROUNDING = 3e-12  # values this near may be the same when rounded
_NOISE = 4e-15  # sums this near are the same
_SPAN = 1e-6  # what a weight must be of all, lest sums of the others drown in noise


class Decisive(NamedTuple):
    """Terms by number, the rank without them, and whether no smaller set would do."""

    terms: tuple[int, ...]
    rank: int
    proven: bool


class _Rest(NamedTuple):
    """What is left of the interest: the terms left out, the others' sums and squared length."""

    out: tuple[int, ...]
    sums: Floats  # a document's lead over the one explained, as far as it is wished
    square: float


class _OverWork(Exception):
    """The search took as many steps as it may."""


def decisive(
    shares: Floats,
    weights: Floats,
    bm25: Floats,
    mix: float,
    at: int,
    rank_without: RankWithout,
    work: int = WORK,
) -> Decisive | None:
    """Find the smallest set for the document at a place of the plain order; None: it stays.

    Shares are documents x terms, documents in plain order; BM25 is scaled as the ranking has it.
    The rank without some terms is asked for before anything is claimed.
    """
    rank = rank_without(())
    if rank == at + 1:
        return None
    search = _Search(shares, weights, bm25, mix, at, 1 if rank < at + 1 else -1)
    for each in (search.rank, rank_without):  # as the shares say; should that err, as asked
        search.rank_without = each
        known, proven = search.smallest(work)
        if search.holds(rank := rank_without(known)):
            break
    return Decisive(tuple(known), rank, proven)


class _Search:
    def __init__(
        self,
        shares: Floats,
        weights: Floats,
        bm25: Floats,
        mix: float,
        at: int,
        up: int,
    ) -> None:
        self.up, self.at, self.mix, self.bm25 = up, at, mix, bm25
        self.rank_without: RankWithout = self.rank
        self.shares = np.ascontiguousarray(shares.T)  # terms x documents, as all below
        self.lifts = np.ascontiguousarray(up * mix * (shares - shares[at]).T)
        self.gains = np.maximum(-self.lifts, 0)
        self.base = up * (1 - mix) * (bm25 - bm25[at])
        self.squares = (weights / (np.abs(weights).max(initial=0) or 1)) ** 2
        self.squares /= self.squares.sum() or 1
        self.fine = bool(self.squares[self.squares > 0].min(initial=1) >= _SPAN**2)
        before = np.arange(len(bm25)) < at
        wins_ties = before if up > 0 else ~before
        wins_ties[at] = False
        self.least = np.where(wins_ties, -_ROUNDING, _NOISE)
        self.needed = at if up > 0 else len(bm25) - 1 - at
        self.work = 1 << 62
        moves = mix < 1  # without a term all others count more, where BM25 counts too
        self.terms = np.flatnonzero(moves | (self.gains > 0).any(axis=1))

    def smallest(self, work: int) -> tuple[list[int], bool]:
        """Return the smallest set found with so much work, and whether none is smaller."""
        known = self._some()
        self.work = work
        try:
            for size in range(1, len(known)):
                if found := self._within(self._rest(()), self.terms, size):
                    return found, self.fine
            return known, self.fine
        except _OverWork:
            return known, False

    def rank(self, out: Sequence[int]) -> int:
        """Rank again without some terms."""
        keep = self._keep(out)
        length = np.sqrt(float(keep @ self.squares)) or 1
        cosines = np.round(keep @ self.shares / length, DECIMALS)
        values = np.round(self.mix * cosines + (1 - self.mix) * self.bm25, DECIMALS)
        own = values[self.at]
        return 1 + int((values > own).sum() + (values[: self.at] == own).sum())

    def holds(self, rank: int) -> bool:
        """Tell whether at a rank the document would not have moved."""
        return self.up * (rank - self.at - 1) >= 0

    def _does(self, terms: Sequence[int]) -> bool:
        return self.holds(self.rank_without(terms))

    def _some(self) -> list[int]:
        """Return a set that does and of which no term can be left out: those of largest gain."""
        chosen: list[int] = []
        left = self.terms
        while left.size and not self._does(chosen):
            mended, lacking = self._mended(self._rest(chosen), left, 1)
            order = np.argsort(-mended, kind="stable")
            few = 1 + int(np.searchsorted(np.cumsum(mended[order]), lacking))  # no fewer would do
            chosen += left[order[:few]].tolist()
            left = left[order[few:]]
        if not self._does(chosen):
            chosen = list(range(len(self.squares)))
        return self._without_spare(chosen)

    def _without_spare(self, chosen: list[int]) -> list[int]:
        """Put terms back as long as the others do: of those last chosen, the first to go."""
        spare = True
        while spare:
            spare = False
            for term in reversed(chosen):
                fewer = [other for other in chosen if other != term]
                if self._does(fewer):
                    chosen, spare = fewer, True
        return chosen

    def _within(self, rest: _Rest, left: Ints, more: int) -> list[int] | None:
        """Search the sets of what is left out already and so many more of the terms left."""
        if more == 1:
            return self._last(rest, left)
        mended, lacking = self._mended(rest, left, more)
        order = np.argsort(-mended, kind="stable")
        left, sums = left[order], np.concatenate(([0.0], np.cumsum(mended[order])))
        for first in range(left.size - more + 1):
            if sums[first + more] - sums[first] < lacking - 1e-6:
                break
            less = self._less(rest, int(left[first]))
            if found := self._within(less, left[first + 1 :], more - 1):
                return found
        return None

    def _mended(self, rest: _Rest, left: Ints, more: int) -> tuple[Floats, int]:
        """Return how many documents each term mends at best, and how many must be mended."""
        taken = np.sort(self.squares[left])[-more:].sum()
        most, least = np.sqrt(rest.square), np.sqrt(max(rest.square - taken, 0))
        deficits = self.least - rest.sums - np.maximum(self.base * most, self.base * least)
        bad = np.flatnonzero(deficits >= 0)
        self._spend(left.size * bad.size)
        gains = self.gains[left][:, bad]
        np.divide(gains, np.maximum(deficits[bad], 1e-300), out=gains)
        mended: Floats = np.minimum(gains, 1, out=gains).sum(axis=1)
        return mended, int(self.needed - (deficits.size - bad.size))

    def _last(self, rest: _Rest, left: Ints) -> list[int] | None:
        """Try each term left as the last one."""
        self._spend(left.size * rest.sums.size)
        found = rest.sums - self.lifts[left]
        if self.base.any():
            lengths = np.sqrt(np.maximum(rest.square - self.squares[left], 0))
            found += np.where(lengths > 0, lengths, 1)[:, None] * self.base
        good = (found > self.least).sum(axis=1)
        for term in left[good >= self.needed].tolist():
            self._spend(10 * rest.sums.size)
            if self._does([*rest.out, term]):
                return [*rest.out, term]
        return None

    def _rest(self, out: Sequence[int]) -> _Rest:
        keep = self._keep(out)
        return _Rest(tuple(out), keep @ self.lifts, float(keep @ self.squares))

    def _less(self, rest: _Rest, term: int) -> _Rest:
        sums, square = rest.sums - self.lifts[term], rest.square - float(self.squares[term])
        return _Rest((*rest.out, term), sums, max(square, 0))

    def _keep(self, out: Sequence[int]) -> Floats:
        keep = np.ones(len(self.squares))
        keep[list(out)] = 0
        return keep

    def _spend(self, numbers: int) -> None:
        self.work -= numbers + _NODE
        if self.work < 0:
            raise _OverWork
