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

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ...arrays import Floats, Ints
from ...compiled import compiled
from .divergence import Compared, entropies

CHANNELS = ("exact", "plugin", "similarity", "alignment")


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
    cells = compared.cells
    at = np.searchsorted(cells.user, np.arange(compared.before.shape[0] + 1))
    information = np.zeros(cells.p.size)
    word_at = words.indptr.astype(np.int64)
    _tell(
        at, cells.document, cells.p, cells.q, word_at, words.indices.astype(np.int64), information
    )
    return information


@compiled
def _tell(
    at: Ints, document: Ints, p: Floats, q: Floats, word_at: Ints, words: Ints, information: Any
) -> None:
    """Write to `information` what each cell with q > 0 tells of the user's cells with p > 0."""
    for user in range(at.size - 1):
        low, high = at[user], at[user + 1]
        total = 0
        for cell in range(low, high):
            if p[cell] > 0:
                total += word_at[document[cell] + 1] - word_at[document[cell]]
        word, holder = np.empty(total, dtype=np.int64), np.empty(total, dtype=np.int64)
        total = 0
        for cell in range(low, high):
            if p[cell] > 0:
                for place in range(word_at[document[cell]], word_at[document[cell] + 1]):
                    word[total], holder[total] = words[place], cell
                    total += 1
        order = np.argsort(word)
        word, holder = word[order], holder[order]
        shared = np.zeros(high - low, dtype=np.int64)
        met = np.empty(high - low, dtype=np.int64)
        for cell in range(low, high):
            if q[cell] > 0:
                information[cell] = _told_by(
                    document[cell], document[low:high], p[low:high], word_at, words,
                    word, holder - low, shared, met,
                )  # fmt: skip


@compiled
def _told_by(  # noqa: PLR0913 a compiled loop
    y: int, document: Ints, p: Floats, word_at: Ints, words: Ints,
    word: Ints, holder: Ints, shared: Ints, met: Ints,
) -> float:  # fmt: skip
    """Return the bits that `y` tells; `holder` has the cell of each entry of the sorted `word`."""
    count, size = 0, word_at[y + 1] - word_at[y]
    for place in range(word_at[y], word_at[y + 1]):
        first = np.searchsorted(word, words[place])
        while first < word.size and word[first] == words[place]:
            if shared[holder[first]] == 0:
                met[count] = holder[first]
                count += 1
            shared[holder[first]] += 1
            first += 1
    total = bits = 0.0
    for cell in met[:count]:
        union = size + word_at[document[cell] + 1] - word_at[document[cell]] - shared[cell]
        total += p[cell] * shared[cell] / union
    for cell in met[:count]:
        union = size + word_at[document[cell] + 1] - word_at[document[cell]] - shared[cell]
        alike = shared[cell] / union
        bits += p[cell] * alike / total * np.log2(alike / total)
        shared[cell] = 0
    return bits
