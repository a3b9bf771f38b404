"""The rule `evidence`: a result moves only where an interest fits a search better than others do.

    score(d) = ln BM25(d) + beta * gate * (t(d) + support(d)) / 2

`prior` is the mean of the rows of a population, each weighted by its people. An interest counts
only by its direction u away from the prior. t(d) says by how many standard deviations d . u is above
that of a random document. support(d) is the mean t of the documents of the pool that are most like
d. `standing` is the share of the population's rows whose direction is less close to the pool. `gate`
is 0 up to some standing, and 1 at a standing of 1. With a gate of 0 the order is the plain one.

The rule reads the pool, the corpus, the population and one interest; it knows no person. Sums are
added one by one, so that `web/static/evidence.js` gets the same scores, to the last bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from anonymizer.arrays import Floats, Ints
from anonymizer.model import Profiles
from index.forward.reading import Forward, Neighbours, length_of

from .rerank import DECIMALS

NEAR = 8  # documents that support one
BEST, SEEN = 10, 100  # closeness: the mean of the BEST largest products among the first SEEN
SAMPLE = 4000  # documents that stand for a random one
OTHERS = 500  # rows of a population that an interest is compared with
NOTHING = 1e-12  # a length or a spread that counts as 0; and a BM25 score of 0 or less counts as it
_POOLS, _DIRECTIONS = 16, 512  # kept in memory


class Care(NamedTuple):
    """How far evidence moves a result, and from which standing on."""

    beta: float
    start: float


CARES = {"default": Care(0.15, 0.6), "careful": Care(0.05, 0.75)}


class Population(NamedTuple):
    """Rows of weights that an interest stands among, and how many people share each."""

    rows: Profiles  # names and weights
    people: Ints


class Direction(NamedTuple):
    """An interest's direction away from the prior, at columns of the index."""

    columns: Ints
    weights: Floats
    mean: float  # of its product with a random document, and the standard deviation;
    spread: float  # 0: the interest says nothing of its own


class Scored(NamedTuple):
    """A pool scored for one interest; documents in the pool's order."""

    scores: Floats
    t: Floats
    support: Floats
    standing: float
    gate: float  # 0: the plain order
    strength: float  # beta times gate


class _Pool(NamedTuple):
    """What all interests share of one pool."""

    neighbours: Neighbours
    closeness: Floats  # of each row that an interest is compared with, ascending,
    of_name: Mapping[str, float]  # and by name


class Evidence:
    """The rule over one population and one index: prepared once, shared by threads.

    In bulk: `made = Evidence(population, forward)`, then for each query and interest
    `made.scored(pool.rows, pool.scores, interest, name)`. The interest of a released row goes with
    the row's `name`, so that it does not stand beside itself; for an own profile there is no name.
    `rerank.order(scored.scores)` gives the places of the pool, best first. What is the same for
    several interests in one pool is computed once, if their calls follow each other.
    """

    def __init__(self, population: Population, forward: Forward, vectors: str = "tfidf") -> None:
        self._population, self._forward, self._vectors = population, forward, vectors
        people = population.people / max(population.people.sum(), 1)
        self.prior: Floats = csr_matrix(population.rows.weights).T @ people
        self._columns = forward.columns(population.rows.terms)
        self._pool = lru_cache(_POOLS)(self._pool_of)
        self._known: dict[int, tuple[Mapping[str, float], Direction]] = {}

    @cached_property
    def terms(self) -> dict[str, float]:
        """Return the prior by term."""
        return dict(zip(self._population.rows.terms, self.prior.tolist(), strict=True))

    @cached_property
    def sample(self) -> Ints:
        """Return the documents that stand for a random one, ascending."""
        size = self._forward.documents
        drawn = np.random.default_rng(0).choice(size, min(SAMPLE, size), replace=False)
        return np.sort(drawn).astype(np.int64)

    def scored(
        self,
        rows: Ints,
        bm25: NDArray[np.floating],
        interest: Mapping[str, float],
        name: str = "",
        care: Care = CARES["default"],
    ) -> Scored:
        """Return the pool of documents `rows` with scores `bm25`, scored for `interest`.

        `name` is the interest's own row in the population; "": it is none of its rows.
        """
        logs = logarithms(bm25)
        direction = self.direction(interest)
        if not direction.spread or not rows.size:
            nothing = np.zeros(rows.size)
            return Scored(np.round(logs, DECIMALS), nothing, nothing, 0.0, 0.0, 0.0)
        products = self._products(rows, direction)
        t: Floats = (products - direction.mean) / direction.spread
        pool = self._pool(rows.tobytes())
        held = support(t, pool.neighbours)
        stands = standing(closeness(products[None])[0], pool.closeness, pool.of_name.get(name))
        gate = gate_of(stands, care)
        strength = care.beta * gate
        scores: Floats = np.round(logs + strength * (t + held) / 2, DECIMALS)
        return Scored(scores, t, held, stands, gate, strength)

    def closeness_of(self, rows: Ints) -> Floats:
        """Return how close the population's rows are to the pool `rows`, ascending."""
        return self._pool(rows.tobytes()).closeness

    def neighbours(self, rows: Ints) -> Neighbours:
        """Return the documents of the pool `rows` that support each of them."""
        return self._pool(rows.tobytes()).neighbours

    def direction(self, interest: Mapping[str, float]) -> Direction:
        """Return the direction of `interest`; the same mapping object is prepared only once."""
        known = self._known.get(id(interest))
        if known is not None and known[0] is interest:
            return known[1]
        made = self._direction(interest)
        if len(self._known) >= _DIRECTIONS:
            self._known.clear()
        self._known[id(interest)] = interest, made
        return made

    def _direction(self, interest: Mapping[str, float]) -> Direction:
        away = {term: interest.get(term, 0.0) - prior for term, prior in self.terms.items()}
        away |= {term: weight for term, weight in interest.items() if term not in away}
        weights = np.fromiter(away.values(), np.float64, len(away))
        length = length_of(weights)
        columns = self._forward.columns(list(away))
        known = np.flatnonzero(columns >= 0)
        if length <= NOTHING:
            return Direction(columns[known], np.zeros(known.size), 0.0, 0.0)
        some = Direction(columns[known], weights[known] / length, 0.0, 0.0)
        products = self._products(self.sample, some)
        mean = total(products) / max(products.size, 1)
        spread = float(np.sqrt(total((products - mean) ** 2) / max(products.size, 1)))
        return some._replace(mean=mean, spread=spread if spread > NOTHING else 0.0)

    def _products(self, rows: Ints, direction: Direction) -> Floats:
        return self._forward.projections(rows, direction.columns, direction.weights, self._vectors)

    def _pool_of(self, key: bytes) -> _Pool:
        rows = np.frombuffer(key, np.int64)
        names, matrix = self._others
        places = self._places
        first = rows[:SEEN]
        products = self._forward.projections_of_many(first, places, matrix, self._vectors)
        near = closeness(np.ascontiguousarray(products.T))
        of_name = dict(zip(names, near.tolist(), strict=True))
        return _Pool(self._forward.neighbours(rows, NEAR), np.sort(near), of_name)

    @cached_property
    def _places(self) -> Ints:
        places = np.full(len(self._forward.terms), -1)
        known = np.flatnonzero(self._columns >= 0)
        places[self._columns[known]] = np.arange(known.size)
        return places

    @cached_property
    def _others(self) -> tuple[list[str], Floats]:
        """Return the rows to compare with: names, and terms x rows with what counts multiply."""
        rows = self._population.rows
        chosen = list(range(len(rows)))
        if len(rows) > OTHERS:
            digest = [hashlib.sha256(name.encode()).digest() for name in rows.users]
            chosen = sorted(sorted(chosen, key=digest.__getitem__)[:OTHERS])
        away = rows.weights[chosen].toarray() - self.prior
        lengths = np.linalg.norm(away, axis=1, keepdims=True)
        units = np.divide(away, lengths, out=np.zeros_like(away), where=lengths > NOTHING)
        known = np.flatnonzero(self._columns >= 0)
        factors = self._forward.idf_at(self._columns[known], self._vectors)
        matrix = np.ascontiguousarray((units[:, known] * factors).T)
        return [rows.users[at] for at in chosen], matrix


def total(values: Floats) -> float:
    """Return the sum of `values`, added one by one, as a browser adds them."""
    return float(np.add.accumulate(values)[-1]) if values.size else 0.0


def logarithms(bm25: NDArray[np.floating]) -> Floats:
    """Return ln of the scores `bm25`; a score that is not above NOTHING counts as NOTHING."""
    logs: Floats = np.log(np.maximum(bm25.astype(np.float64), NOTHING))
    return logs


def closeness(products: Floats) -> Floats:
    """Return for each row of `products` with a pool the mean of its BEST first ones."""
    seen = products[:, :SEEN]
    best = np.sort(seen, axis=1)[:, ::-1][:, :BEST]
    sums = np.add.accumulate(best, axis=1)[:, -1]
    close: Floats = np.round(sums / best.shape[1], DECIMALS)
    return close


def standing(own: float, others: Floats, among: float | None = None) -> float:
    """Return the share of `others`, ascending, that are smaller than `own`.

    `among` is the closeness of the interest's own row where it is one of `others`.
    """
    smaller = int(np.searchsorted(others, own))
    compared = others.size
    if among is not None:
        compared -= 1
        smaller -= among < own
    return smaller / compared if compared else 0.0


def gate_of(stands: float, care: Care) -> float:
    """Return how much evidence counts at the standing `stands`, from 0 to 1."""
    return min(max((stands - care.start) / (1 - care.start), 0.0), 1.0)


def support(t: Floats, neighbours: Neighbours) -> Floats:
    """Return the mean of `t` over each document's `neighbours`, weighted by their cosines."""
    sums, weights = np.zeros(t.size), np.zeros(t.size)
    for places, cosines in zip(neighbours.places.T, neighbours.cosines.T, strict=True):
        sums += cosines * t[places]
        weights += cosines
    return np.divide(sums, weights, out=np.zeros(t.size), where=weights > NOTHING)
