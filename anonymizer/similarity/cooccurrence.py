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

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, eye

from ..arrays import Numbers
from ..compiled import compiled, in_parallel
from ..errors import BadInput, BadParameter
from ..model import Profiles
from .wordnet import COMBINE, DECIMALS, spread

MOST_NEIGHBOURS = 1000
# Many more shares than cores, so that no core waits long for the last one.
_SHARES = 64


@dataclass(frozen=True)
class Network:
    """Terms and the strengths of their links; a row holds a term's neighbours, never the term."""

    terms: tuple[str, ...]
    weights: csr_matrix

    def __post_init__(self) -> None:
        size = len(self.terms)
        if self.weights.shape != (size, size):
            form = " x ".join(map(str, self.weights.shape))
            raise BadInput(f"links are {form} but there are {size} terms; give a row for each term")
        if len(set(self.terms)) != size:
            twice = size - len(set(self.terms))
            raise BadInput(f"{twice} terms occur twice in the network; each must occur once")


def learn(
    contexts: csr_matrix, terms: Sequence[str], *, neighbours: int = 5, least: int = 3
) -> Network:
    """Return the links of each term to its strongest neighbours; `contexts` hold a term or not."""
    faults = {
        f"neighbours={neighbours} must be 1 to {MOST_NEIGHBOURS}": (
            1 <= neighbours <= MOST_NEIGHBOURS
        ),
        f"least={least} must be at least 1": least >= 1,
    }
    if not all(faults.values()):
        raise BadParameter("; ".join(fault for fault, holds in faults.items() if not holds))
    if contexts.shape[1] != len(terms):
        raise BadInput(
            f"contexts have {contexts.shape[1]} columns but there are {len(terms)} terms; give "
            "a column for each term"
        )
    if not contexts.has_canonical_format:
        contexts = contexts.copy()
        contexts.sum_duplicates()
    holds = contexts.data != 0
    count = np.bincount(contexts.indices[holds], minlength=contexts.shape[1])
    holds &= count[contexts.indices] >= least
    ends = np.concatenate([[0], np.cumsum(holds)])[contexts.indptr]
    columns = contexts.indices[holds].astype(np.int32)
    present = csr_matrix((np.ones(columns.size, np.int8), columns, ends), shape=contexts.shape)
    rank = np.empty(len(terms), dtype=np.int32)
    rank[sorted(range(len(terms)), key=terms.__getitem__)] = np.arange(len(terms))
    turned = present.tocsc()
    layout = (turned.indptr, turned.indices, present.indptr, present.indices)
    # Cut the terms into runs of about equal work: frequent terms often stand together at the front.
    count = np.diff(turned.indptr)
    work = np.cumsum(count + count.sum() / max(count.size, 1))
    cuts = np.searchsorted(work, 2 * count.sum() * np.arange(1, _SHARES) / _SHARES)
    runs = list(pairwise(np.unique([0, *cuts.tolist(), count.size]).tolist()))

    def links(run: tuple[int, int]) -> tuple[NDArray[np.int64], Numbers, NDArray[Any]]:
        """Return the number of neighbours of each term in `run`, these neighbours and strengths."""
        room = (run[1] - run[0], min(neighbours, rank.size))
        kept = np.zeros(room[0], dtype=np.int64)
        columns, strengths = np.empty(room, dtype=np.int32), np.empty(room)
        _find(*run, layout, rank, least, kept, columns, strengths)
        used = np.arange(room[1]) < kept[:, None]
        return kept, columns[used], strengths[used]

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
    if combine not in COMBINE:
        raise BadParameter(f"combine={combine} must be one of {', '.join(COMBINE)}")
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


@compiled
def _find(
    low: int, high: int, layout: Any, rank: Any, least: int, kept: Any, columns: Any, strengths: Any
) -> None:
    """Count the terms that each term meets in contexts, and keep the strongest links."""
    contexts_at, contexts, terms_at, terms = layout
    together = np.zeros(rank.size, dtype=np.int32)
    met = np.empty(rank.size, dtype=np.int32)
    for term in range(low, high):
        size = 0
        for i in range(contexts_at[term], contexts_at[term + 1]):
            for j in range(terms_at[contexts[i]], terms_at[contexts[i] + 1]):
                if together[terms[j]] == 0:
                    met[size] = terms[j]
                    size += 1
                together[terms[j]] += 1
        own, row = contexts_at[term + 1] - contexts_at[term], term - low
        for i in range(size):
            other = met[i]
            both = together[other]
            if other != term and both >= least:
                count = contexts_at[other + 1] - contexts_at[other]
                strength = _strength(terms_at.size - 1, own, count, both)
                if strength > 0:
                    kept[row] = _insert(
                        other, strength, together, rank, columns[row], strengths[row], kept[row]
                    )
        together[met[:size]] = 0


@compiled
def _strength(n: int, own: int, other: int, both: int) -> float:
    """Return the normalised PPMI of two terms, rounded; 0 if they meet no more than by chance."""
    if n * both <= own * other:
        return 0.0
    information = math.log((n * both) / (own * other)) / -math.log(both / n)
    return float(np.rint(information * 10.0**DECIMALS) / 10.0**DECIMALS)


@compiled
def _insert(
    term: int, strength: float, together: Any, rank: Any, columns: Any, strengths: Any, size: int
) -> Any:
    """Insert a neighbour among the strongest in order, and return how many there are."""
    place = size
    while place > 0:
        one = columns[place - 1]
        if strength < strengths[place - 1] or (
            strength == strengths[place - 1]
            and (-together[one], rank[one]) < (-together[term], rank[term])
        ):
            break
        place -= 1
        if place + 1 < columns.size:
            columns[place + 1], strengths[place + 1] = one, strengths[place]
    if place < columns.size:
        columns[place], strengths[place] = term, strength
    return min(size + 1, columns.size)
