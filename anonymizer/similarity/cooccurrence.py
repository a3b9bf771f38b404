"""Augmentation by co-occurrence: terms that often occur together bring people close to each other.

Zhu & Xiong (2010), section 3.2, names co-occurrence networks in addition to taxonomies, but not how
to make one. Here contexts (users, queries or documents) are sets of terms. Of n contexts, c_s hold
s, c_t hold t and c_st hold both. Two terms are linked by

    PPMI      max(0, ln(n * c_st / (c_s * c_t)))     (Church & Hanks 1990)
    strength  PPMI / -ln(c_st / n)                   (normalised: Bouma 2009), in (0, 1]

PPMI alone has no upper bound and is largest for the rarest pairs. So it is divided by the value it
would have if the two terms always stood together. That case has strength 1, so a neighbour never
outweighs the term that brings it. Pairs that meet no more often than by chance, or in fewer than
`least` contexts, are not linked. Strengths are rounded so that ties are ties. Of two tied links,
the pair met more often comes first, then the term whose name comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix, eye

from ..arrays import Floats, Ints, Numbers
from ..compiled import in_parallel
from ..model import Profiles
from .wordnet import DECIMALS, spread

# Many more shares than cores, so that no core waits long for the last one.
_SHARES = 64


@dataclass(frozen=True)
class Network:
    """Terms and the strengths of their links; a row holds a term's neighbours, never the term."""

    terms: tuple[str, ...]
    weights: csr_matrix


def learn(
    contexts: csr_matrix, terms: Sequence[str], *, neighbours: int = 5, least: int = 3
) -> Network:
    """Return the links of each term to its strongest neighbours; `contexts` hold a term or not."""
    if not contexts.has_canonical_format:
        contexts = contexts.copy()
        contexts.sum_duplicates()
    holds = contexts.data != 0
    count = np.bincount(contexts.indices[holds], minlength=contexts.shape[1])
    holds &= count[contexts.indices] >= least
    ends = np.concatenate([[0], np.cumsum(holds)])[contexts.indptr]
    columns = contexts.indices[holds].astype(np.int32)
    present = csr_matrix((np.ones(columns.size, np.int64), columns, ends), shape=contexts.shape)
    rank = np.empty(len(terms), dtype=np.int32)
    rank[sorted(range(len(terms)), key=terms.__getitem__)] = np.arange(len(terms))
    turned, own = csr_matrix(present.T), np.bincount(columns, minlength=len(terms))
    # Cut the terms into runs of about equal work: frequent terms often stand together at the front.
    work = np.cumsum(own + own.sum() / max(own.size, 1))
    cuts = np.searchsorted(work, 2 * own.sum() * np.arange(1, _SHARES) / _SHARES)
    runs = list(pairwise(np.unique([0, *cuts.tolist(), own.size]).tolist()))

    def links(run: tuple[int, int]) -> tuple[Ints, Numbers, Floats]:
        """Return the number of neighbours of each term in `run`, these neighbours and strengths."""
        together = (turned[slice(*run)] @ present).tocoo()
        term, other, both = together.row + run[0], together.col, together.data
        # Without terms that meet no more often than by chance.
        met = (term != other) & (both >= least)
        met &= contexts.shape[0] * both > own[term] * own[other]
        term, other, both = term[met], other[met], both[met]
        information = np.log(contexts.shape[0] * both / (own[term] * own[other]))
        strength = np.round(information / -np.log(both / contexts.shape[0]), DECIMALS)
        order = np.lexsort((rank[other], -both, -strength, term))
        size = np.bincount(term - run[0], minlength=run[1] - run[0])
        order = order[np.arange(order.size) - np.repeat(np.cumsum(size) - size, size) < neighbours]
        return np.minimum(size, neighbours), other[order], strength[order]

    if not runs:
        return Network((), csr_matrix((0, 0)))
    parts = zip(*in_parallel(links, runs), strict=True)
    kept, columns, strengths = (np.concatenate(part) for part in parts)
    indptr = np.concatenate([[0], np.cumsum(kept)])
    joined = csr_matrix((strengths, columns, indptr), shape=(len(terms), len(terms)))
    joined.sort_indices()
    return Network(tuple(terms), joined)


def augment_by_network(profiles: Profiles, network: Network, *, combine: str = "max") -> csr_matrix:
    """Return users x terms; each term that `network` knows brings its neighbours, by strength."""
    row = {term: at for at, term in enumerate(network.terms)}
    row_of = np.array([row.get(term, -1) for term in profiles.terms], dtype=np.int64)
    known = np.flatnonzero(row_of >= 0)
    column_of = np.full(len(network.terms), -1, dtype=np.int64)
    column_of[row_of[known]] = known
    new = np.flatnonzero(column_of < 0)
    column_of[new] = len(profiles.terms) + np.arange(new.size)
    shape = (len(profiles.terms), len(profiles.terms) + new.size)
    links = network.weights[row_of[known]].tocoo()
    cells = (links.data, (known[links.row], column_of[links.col]))
    brought = csr_matrix(csr_matrix(cells, shape=shape) + eye(*shape, format="csr"))
    return spread(profiles.weights, brought, combine)
