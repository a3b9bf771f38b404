"""How much is left to learn about each user: SPI and JSD of Carpineto & Romano (IIR 2018).

P(d|X) and P(d|Y) are the relative frequencies of document d in what a user has before and after
sanitization, and M is their mean. KLD(X||M) sums P(d|X) log2(P(d|X) / P(d|M)) over documents.

    JSD = KLD(X||M) / 2 + KLD(Y||M) / 2, from 0 (nothing changed) to 1 (nothing is left)
    SPI = the same sums, each document's part times its weight, 1 - (probability of being sensitive)

The paper weighs suppressed documents, too. So suppressing sensitive ones earns little, and
releasing only those can rank above releasing none. With `released` weights (ours) a document of
which Y has none weighs 1. That keeps 0 <= SPI <= JSD, but is not symmetric.

Documents are queries of a log, or terms of profiles. Both indices are high for noise of any kind:
an empty or random release has 1. So they are shown with impressions, the part that is released.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ...arrays import Floats, Ints
from ...errors import BadInput

WEIGHTS = ("paper", "released")
EMPTY = ("one", "null", "skip")


class ComparedCells(NamedTuple):
    """A cell for each user and each document that the user has before or after, by user."""

    user: Ints
    document: Ints
    before: Floats  # events
    after: Floats
    p: Floats  # the document's share of the user's events before
    q: Floats  # and after
    divergence: Floats  # the cell's part of the user's JSD


@dataclass(frozen=True)
class Compared:
    """What users have before and after sanitization: users x documents, numbers of events.

    Each user has an event before.
    """

    before: csr_matrix
    after: csr_matrix

    @cached_property
    def sizes(self) -> Floats:
        """Return the number of events of each user before."""
        return _row_sums(self.before)

    @cached_property
    def released(self) -> Floats:
        """Return the number of events of each user after."""
        return _row_sums(self.after)

    @cached_property
    def cells(self) -> ComparedCells:
        """Return all cells, with shares and divergence."""
        own, released = _keys(self.before), _keys(self.after)
        # Two ascending runs: of numpy's sorts only the stable one uses that.
        keys = np.sort(np.concatenate([own, released]), kind="stable")
        keys = keys[np.append(True, keys[1:] != keys[:-1])[: keys.size]]
        user, document = np.divmod(keys, max(1, self.before.shape[1]))
        before, after = (
            _placed(keys, own, self.before.data),
            _placed(keys, released, self.after.data),
        )
        p = before / self.sizes[user]
        q = np.divide(after, self.released[user], out=np.zeros_like(after), where=after > 0)
        m = (p + q) / 2
        # Each document's part is 0 or more; rounding can make it a hair less.
        parts = np.maximum((_times_log(p, m) + _times_log(q, m)) / 2, 0.0)
        return ComparedCells(user, document, before, after, p, q, parts)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of `values`, one for each cell, over the cells of each user."""
        sums = np.bincount(self.cells.user, weights=values, minlength=self.before.shape[0])
        return sums.astype(np.float64, copy=False)


def weights_of(
    documents: Sequence[str], compared: Compared, probabilities: Mapping[str, float] | None
) -> Floats:
    """Return 1 less the probability to be sensitive for each of `documents`; else 1.

    Those that are `compared` must have one.
    """
    weights = np.ones(len(documents))
    if probabilities is None:
        return weights
    used = np.unique(compared.cells.document).tolist()
    missing = sum(documents[at] not in probabilities for at in used)
    if missing:
        raise BadInput(
            f"{missing:,} of {len(used):,} different texts have no probability; add them to the "
            "file of --sensitivity"
        )
    weights[used] = [1.0 - probabilities[documents[at]] for at in used]
    return weights


class Divergence(NamedTuple):
    """The indices of each user; NaN for those who are skipped."""

    jsd: Floats
    spi: dict[str, Floats]  # by the weights that it uses


def divergence(compared: Compared, weights: Floats, empty: str = "one") -> Divergence:
    """Return JSD, and SPI with both kinds of weights; `weights` has one for each document.

    `empty` says what users with an empty release have: 1 (one), all of the release on an empty
    document of weight 1 (null), or nothing, as they are skipped (skip).
    """
    cells = compared.cells
    jsd = np.minimum(compared.sums(cells.divergence), 1.0)
    spi = {
        which: np.minimum(compared.sums(used * cells.divergence), jsd)
        for which, used in cell_weights(cells, weights).items()
    }
    nothing = compared.released == 0
    for values in spi.values():
        # Without a release, the formula's sums are the part of X: null adds the other half.
        null = np.minimum(0.5 + values[nothing], 1.0)
        values[nothing] = {"one": 1.0, "null": null, "skip": np.nan}[empty]
    jsd[nothing] = np.nan if empty == "skip" else 1.0
    return Divergence(jsd, spi)


def cell_weights(cells: ComparedCells, weights: Floats) -> dict[str, Floats]:
    """Return the weight of each of `cells`, by both kinds of weights of the documents."""
    paper = weights[cells.document]
    return {"paper": paper, "released": np.where(cells.q > 0, paper, 1.0)}


def mean(values: Floats, by: Floats | None = None) -> float | None:
    """Return the mean of `values` that are no NaN, weighted `by` numbers if given; or None."""
    there = ~np.isnan(values)
    if not there.any():
        return None
    return float(np.average(values[there], weights=None if by is None else by[there]))


def entropies(shares: Floats, user: Ints, users: int) -> Floats:
    """Return the entropy, in bits, of the `shares` of each `user`; they add up to 1."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    sums = np.bincount(user, weights=-shares * logs, minlength=users)
    return sums.astype(np.float64, copy=False)


def in_chunks(counts: Ints, most: int) -> Iterator[slice]:
    """Yield slices of rows with these `counts` of cells, each with at most `most` or one row."""
    ends, low = np.cumsum(counts), 0
    while low < counts.size:
        done = int(ends[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(ends, done + most, side="right")))
        yield slice(low, high)
        low = high


def _keys(counts: csr_matrix) -> Ints:
    rows = np.repeat(np.arange(counts.shape[0], dtype=np.int64), np.diff(counts.indptr))
    return rows * max(1, counts.shape[1]) + counts.indices


def _placed(among: Ints, keys: Ints, values: Floats) -> Floats:
    placed = np.zeros(among.size)
    placed[np.searchsorted(among, keys)] = values
    return placed


def _row_sums(counts: csr_matrix) -> Floats:
    return np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()


def _times_log(shares: Floats, mean_shares: Floats) -> Floats:
    ratio = np.divide(shares, mean_shares, out=np.ones_like(shares), where=shares > 0)
    return shares * np.log2(ratio)
