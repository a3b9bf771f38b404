"""How good an order is by relevance of its own, and what it harms, against the plain order.

Relevance of its own comes from no profile: somebody, or the town's truth, says which documents of a
pool are relevant to a query. AP is the mean precision at the ranks of the relevant documents of the
pool. nDCG@10 (Järvelin and Kekäläinen 2002) gains 1 for each of them among the first ten. A query
is harmed if its AP falls by more than .01 below the plain order's.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from anonymizer.arrays import Floats, Ints, Marks

FIRST = 10  # ranks that nDCG looks at
SEEN = 100  # documents by which a query is kept
LEAST, MOST = 2, 0.9  # relevant documents among these, and their share of them
HARMED, MUCH = 0.01, 0.05  # falls of AP
KINDS = ("in", "off")  # a query is of the asker's interests, or of somebody else's
# Different ways to sum the same shares differ in the last digits: a fall of .01 must stay one.
_DECIMALS = 12

AP, NDCG, GAIN, HARM, HARM_MUCH, LOST = (
    *("AP by relevance", "nDCG@10", "gain"),
    *("harmed", "harmed_much", "lost"),
)
BY_KIND = tuple(f"{name} {kind}" for kind in KINDS for name in (GAIN, HARM))
RELEVANCE = (AP, NDCG, GAIN, HARM, HARM_MUCH, LOST, *BY_KIND)


def relevant_precision(relevant: Marks) -> Floats:
    """Return the AP of each order; `relevant` marks its documents, best first, on its last axis."""
    ranks = np.arange(1, relevant.shape[-1] + 1)
    precisions = np.where(relevant, relevant.cumsum(-1) / ranks, 0.0).sum(-1)
    return _divided(precisions, relevant.sum(-1))


def relevant_gain(relevant: Marks) -> Floats:
    """Return the nDCG@10 of each order, whose relevant documents are marked best first."""
    discounts = 1 / np.log2(np.arange(2, FIRST + 2))
    shown = relevant[..., :FIRST] @ discounts[: relevant.shape[-1]]
    ideal = np.concatenate([[0.0], discounts.cumsum()])
    return _divided(shown, ideal[np.minimum(relevant.sum(-1), FIRST)])


def is_kept(relevant: Marks, hits: Ints) -> Marks:
    """Return which queries tell orders apart: rows of `relevant`, in the plain order, of `hits`.

    At least 2 and at most 90 % of the first 100 documents must be relevant.
    """
    among = relevant[:, :SEEN].sum(1)
    kept: Marks = (among >= LEAST) & (among <= MOST * np.minimum(hits, SEEN))
    return kept


def judged(relevant: Marks, orders: Ints, kind: Ints) -> Mapping[str, Floats]:
    """Return each measure of RELEVANCE, query by query.

    `relevant` marks documents in the plain order, queries x documents. `orders` lists their places
    in that order, best first. `kind` is each query's place in KINDS, which may be -1: of no kind.
    """
    ours = np.take_along_axis(relevant, orders, axis=1)
    ap = np.round(relevant_precision(ours), _DECIMALS)
    gain = np.round(ap - np.round(relevant_precision(relevant), _DECIMALS), _DECIMALS)
    values = {
        AP: ap,
        NDCG: np.round(relevant_gain(ours), _DECIMALS),
        GAIN: gain,
        HARM: (gain < -HARMED).astype(np.float64),
        HARM_MUCH: (gain < -MUCH).astype(np.float64),
        LOST: np.where(gain < -HARMED, -gain, 0.0),
    }
    # Defined for queries of one kind only; means skip the others.
    kinds = {
        f"{name} {one}": np.where(kind == at, values[name], np.nan)
        for at, one in enumerate(KINDS)
        for name in (GAIN, HARM)
    }
    return {**values, **kinds}


def _divided(sums: Floats, counts: Ints | Floats) -> Floats:
    out = np.full(np.shape(sums), np.nan)
    ratios: Floats = np.divide(sums, counts, out=out, where=np.asarray(counts) > 0)
    return ratios
