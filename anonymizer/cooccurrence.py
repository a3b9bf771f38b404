"""Augmentation by term co-occurrence: who asked for one term is close to who asked for the other.

Zhu & Xiong (2010), section 3.2, names co-occurrence networks beside taxonomies, and leaves open
how one is made. Here: contexts (users, queries or documents) are sets of terms; of n contexts c_s
hold s, c_t hold t, c_st hold both. Two terms are linked by

    PPMI      max(0, ln(n * c_st / (c_s * c_t)))     (Church & Hanks 1990)
    strength  PPMI / -ln(c_st / n)                   (normalised: Bouma 2009), in (0, 1]

PPMI alone has no upper bound and is largest for the rarest pairs; divided by what it would be if
the two never stood apart, 1 means exactly that, so a neighbour never outweighs the term that
brings it. Pairs that meet by chance or less often than that, or in fewer than `least` contexts,
are no links. Strengths are rounded so that ties are ties: then the pair met more often is first,
then the term whose name is first.
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

from .augment import COMBINE, DECIMALS, spread
from .compiled import compiled, in_parallel
from .model import BadInput, BadParameter, Profiles

Numbers = NDArray[np.int32]

MOST_NEIGHBOURS = 1000
_SHARES = 64  # enough that no core waits long for the last one


@dataclass(frozen=True)
class Network:
    """Terms and the strengths of their links; a row holds a term's neighbours, never itself."""

    terms: tuple[str, ...]
    weights: csr_matrix

    def __post_init__(self) -> None:
        size = len(self.terms)
        if self.weights.shape != (size, size):
            shape = " x ".join(map(str, self.weights.shape))
            raise BadInput(f"links are {shape} but there are {size} terms; give one row a term")
        if len(set(self.terms)) != size:
            twice = size - len(set(self.terms))
            raise BadInput(f"{twice} terms stand twice in the network; each must stand once")


def learn(
    contexts: csr_matrix, terms: Sequence[str], *, neighbours: int = 5, least: int = 3
) -> Network:
    """Link each term to its strongest neighbours; of the contexts only presence counts."""
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
            "one column a term"
        )
    present = _present(contexts, least)
    rank = np.empty(len(terms), dtype=np.int32)
    rank[sorted(range(len(terms)), key=terms.__getitem__)] = np.arange(len(terms))
    links = _Links(present, rank, neighbours, least)
    return Network(tuple(terms), _joined(in_parallel(links.of, links.shares), len(terms)))


def augment_by_network(profiles: Profiles, network: Network, *, combine: str = "max") -> csr_matrix:
    """Return users x (their terms, then terms only the network has), with neighbours added.

    A term keeps its weight and brings each neighbour with weight * strength; a term the network
    does not know stays itself.
    """
    if combine not in COMBINE:
        raise BadParameter(f"combine={combine} must be one of {', '.join(COMBINE)}")
    return spread(profiles.weights, _brought(profiles.terms, network), combine)


def _brought(terms: Sequence[str], network: Network) -> csr_matrix:
    """Return what each term of the profiles brings: itself, and its neighbours."""
    row = {term: at for at, term in enumerate(network.terms)}
    row_of = np.array([row.get(term, -1) for term in terms], dtype=np.int64)
    known = np.flatnonzero(row_of >= 0)
    column_of = np.full(len(network.terms), -1, dtype=np.int64)
    column_of[row_of[known]] = known
    new = np.flatnonzero(column_of < 0)
    column_of[new] = len(terms) + np.arange(new.size)
    shape = (len(terms), len(terms) + new.size)
    links = network.weights[row_of[known]].tocoo()
    cells = (links.data, (known[links.row], column_of[links.col]))
    return csr_matrix(csr_matrix(cells, shape=shape) + eye(*shape, format="csr"))


def _present(contexts: csr_matrix, least: int) -> csr_matrix:
    """Keep of each context the terms that enough contexts hold, each once, without numbers."""
    if not contexts.has_canonical_format:
        contexts = contexts.copy()
        contexts.sum_duplicates()
    holds = contexts.data != 0
    count = np.bincount(contexts.indices[holds], minlength=contexts.shape[1])
    holds &= count[contexts.indices] >= least
    ends = np.concatenate([[0], np.cumsum(holds)])[contexts.indptr]
    columns = contexts.indices[holds].astype(np.int32)
    return csr_matrix((np.ones(columns.size, np.int8), columns, ends), shape=contexts.shape)


class _Links:
    """Contexts by term and terms by context: all that is needed to find a term's neighbours."""

    def __init__(self, present: csr_matrix, rank: Numbers, most: int, least: int):
        turned = present.tocsc()
        self._contexts = (turned.indptr, turned.indices, present.indptr, present.indices)
        self._rank, self._most, self._least = rank, most, least

    @property
    def shares(self) -> list[tuple[int, int]]:
        """Cut the terms into runs of like work: often the first terms are the frequent ones."""
        count = np.diff(self._contexts[0])
        work = np.cumsum(count + count.sum() / max(count.size, 1))
        cuts = np.searchsorted(work, 2 * count.sum() * np.arange(1, _SHARES) / _SHARES)
        return list(pairwise(np.unique([0, *cuts.tolist(), count.size]).tolist()))

    def of(self, share: tuple[int, int]) -> tuple[NDArray[np.int64], Numbers, NDArray[Any]]:
        """Return, for a run of terms, how many neighbours each has, which, and how strong."""
        room = (share[1] - share[0], min(self._most, self._rank.size))
        kept = np.zeros(room[0], dtype=np.int64)
        columns, strengths = np.empty(room, dtype=np.int32), np.empty(room)
        _find(*share, *self._contexts, self._rank, self._least, kept, columns, strengths)
        used = np.arange(room[1]) < kept[:, None]
        return kept, columns[used], strengths[used]


@compiled
def _find(
    low: int,
    high: int,
    contexts_at: Any,
    contexts: Any,
    terms_at: Any,
    terms: Any,
    rank: Any,
    least: int,
    kept: Any,
    columns: Any,
    strengths: Any,
) -> None:
    """Count with whom each term stands together, and keep the strongest."""
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
    """Return the normalised PPMI of two terms, rounded."""
    if n * both <= own * other:
        return 0.0
    information = math.log((n * both) / (own * other)) / -math.log(both / n)
    return float(np.rint(information * 10.0**DECIMALS) / 10.0**DECIMALS)


@compiled
def _insert(
    term: int, strength: float, together: Any, rank: Any, columns: Any, strengths: Any, size: int
) -> Any:
    """Put a neighbour where it belongs among the strongest, and return how many there are."""
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


def _joined(parts: Sequence[tuple[Any, Any, Any]], terms: int) -> csr_matrix:
    """Put the runs' neighbours together, in each row by number."""
    if not parts:
        return csr_matrix((terms, terms))
    kept, columns, strengths = (np.concatenate(part) for part in zip(*parts, strict=True))
    indptr = np.concatenate([[0], np.cumsum(kept)])
    joined = csr_matrix((strengths, columns, indptr), shape=(terms, terms))
    joined.sort_indices()
    return joined
