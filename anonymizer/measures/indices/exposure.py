"""Profile exposure level (PEL): how much of a user's entropy the release gives away, in percent.

PEL = 100 I(X;Y) / H(X). The paper does not say how p(x|y) is estimated, so that is a named channel:

exact       a released query tells itself: 100 times the share of released events whose query is
            one of the user's, so always 100 for a part of the log
plugin      p(x|y) = [x = y] in the paper's equation 4: the mean of log2(1 / p(x)) over released
            events, over H(X). It can exceed 100, and rises when a query more frequent than the
            rest is removed
similarity  p(x|y) is proportional to p(x) times the Jaccard index of the words of x and y; where
            nothing is alike it is p(x), and y tells nothing
alignment   the method's own way: each event before is kept or erased. What was added is ignored

With H(X) = 0, one query only, there is nothing to give away, and PEL is undefined (NaN). An empty
release has PEL 0.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ...arrays import Floats
from .divergence import Compared, entropies, in_chunks

CHANNELS = ("exact", "plugin", "similarity", "alignment")
_PAIRS = 1 << 22  # of a released and an own document, compared at once


def exposures(compared: Compared, words: csr_matrix | None = None) -> dict[str, Floats]:
    """Return PEL of each user by channel; `words` marks the words of each document.

    Without `words`, there is no channel similarity.
    """
    cells, users = compared.cells, compared.before.shape[0]
    entropy = entropies(cells.p, cells.user, users)
    own = cells.p > 0
    surprise = -np.log2(cells.p, out=np.zeros_like(cells.p), where=own)
    # An erased event still shows how frequent erased ones are.
    gone = cells.before - np.minimum(cells.before, cells.after)
    erased = compared.sums(gone)
    among = np.divide(gone, erased[cells.user], out=np.zeros_like(gone), where=gone > 0)
    uncertain = erased / compared.sizes * entropies(among, cells.user, users)
    bits = {
        "exact": compared.sums(np.where(own, cells.q, 0.0)) * entropy,
        "plugin": compared.sums(cells.q * surprise),
        "alignment": np.maximum(entropy - uncertain, 0.0),
    }
    if words is not None:
        bits["similarity"] = compared.sums(cells.q * _information(compared, words))
    # Of one query alone the entropy is 0, which rounding might hide.
    alone = np.diff(compared.before.indptr) < 2
    scale = np.where(alone, np.nan, 100.0) / np.where(alone, 1.0, entropy)
    return {channel: bits[channel] * scale for channel in CHANNELS if channel in bits}


def _information(compared: Compared, words: csr_matrix) -> Floats:
    """Return what each released document tells of the user's own by similarity, in bits."""
    cells, information = compared.cells, np.zeros(compared.cells.p.size)
    # Words of different users are different columns, so that the product has pairs of one user.
    numbers = np.diff(words.indptr)[cells.document]
    held = words[cells.document]
    keys, columns = np.unique(
        np.repeat(cells.user, numbers) * words.shape[1] + held.indices, return_inverse=True
    )
    shape = (cells.p.size, keys.size)
    held = csr_matrix((np.ones(columns.size), columns, held.indptr), shape=shape)
    own, released = np.flatnonzero(cells.p), np.flatnonzero(cells.q)
    holders, theirs = held[own].T.tocsr(), held[released]
    pairs = np.asarray(theirs @ np.diff(holders.indptr)).astype(np.int64)
    for some in in_chunks(pairs, _PAIRS):
        shared = theirs[some] @ holders
        y = np.repeat(released[some], np.diff(shared.indptr))
        x = own[shared.indices]
        alike = shared.data / (numbers[y] + numbers[x] - shared.data)
        total = np.bincount(y, weights=alike * cells.p[x], minlength=information.size)
        ratio = alike / total[y]
        bits = cells.p[x] * ratio * np.log2(ratio)
        information += np.bincount(y, weights=bits, minlength=information.size)
    return information
