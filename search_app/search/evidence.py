"""The rule `evidence`: a result moves only where an interest fits a search better than others do.

    score(d) = ln BM25(d) + beta * gate * (t(d) + support(d)) / 2

`prior` is the mean of the rows of a population, each weighted by its people. An interest counts
only by its direction u away from the prior. t(d) says by how many standard deviations d . u is
above that of a random document. support(d) is the mean t of the documents of the pool that are most
like d. `standing` is the share of the population's rows whose direction is less close to the pool.
`gate` is 0 up to some standing, and 1 at a standing of 1. With a gate of 0 the order is plain.

The rule reads the pool, the corpus, the population and one interest; it knows no person. Sums are
added one by one, so that `web/static/evidence.js` gets the same scores, to the last bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from anonymizer.arrays import Floats, Ints
from anonymizer.model import Profiles
from index.forward.closeness import PoolCloseness, VectorCloseness
from index.forward.products import (
    along,
    away_from,
    column_products,
    largest,
    means_around,
    moved,
)
from index.forward.reading import DocumentVectors, Forward, Neighbours, Target
from index.model import Whole

from .rerank import DECIMALS, PreparedInterests, PreparedPools

NEAR = 8  # documents that support one
BEST, SEEN = 10, 100  # closeness: the mean of the BEST largest products among the first SEEN
SAMPLE = 4000  # documents that stand for a random one
SEARCHES = 200  # that a population of rows is replaced by
OTHERS = 500  # rows of a population that an interest is compared with
NOTHING = 1e-12  # a length or a spread that counts as 0; and a BM25 score of 0 or less counts as it
ALONE = Neighbours(np.zeros((0, NEAR), np.int64), np.zeros((0, NEAR)))  # nothing is near
_POOLS = 16  # kept in memory


class Care(NamedTuple):
    """How far evidence moves a result, and from which standing on."""

    beta: float
    start: float


CARES = {"default": Care(0.15, 0.6), "careful": Care(0.05, 0.75)}


class RowPopulation(NamedTuple):
    """Rows of weights that an interest stands among, and how many people share each."""

    rows: Profiles  # names and weights
    people: Ints


class Direction(NamedTuple):
    """An interest's direction away from what is common: (interest - factor * common) / length."""

    places: Ints  # of its terms that the index has,
    columns: Ints  # their columns,
    factors: Floats  # and their weights, by which documents' counts are multiplied
    away: Floats  # the weight of each of its terms beyond what is common
    factor: float
    length: float
    mean: float  # of its product with a random document, and the standard deviation;
    spread: float  # 0: the interest says nothing of its own
    searches: Floats  # how close it is to searches for anything, ascending; empty among rows


class Scored(NamedTuple):
    """A pool scored for one interest; documents in the pool's order."""

    scores: Floats
    t: Floats
    support: Floats  # 0 in the plain order
    standing: float
    gate: float  # 0: the plain order
    strength: float  # beta times gate


class _OfPool(NamedTuple):
    """What all interests share of one pool."""

    rows: Ints  # checked
    close: PoolCloseness | None  # to the rows that an interest is compared with, if there are any


class EvidenceRule:
    """The rule over one population and one index: prepared once, shared by threads.

    In bulk: `made = EvidenceRule(population, forward)`, then for each query and interest
    `made.scored(pool.rows, pool.scores, interest, name)`. The interest of a released row goes with
    the row's `name`, so that it is not compared with itself; for an own profile there is no name.
    `rerank.order(scored.scores)` gives the places of the pool, best first. What is the same for
    several interests in one pool is computed once, if their calls follow each other.
    Without a population (None), all is made of the corpus: what is common are the documents' terms,
    and an interest stands among its own closeness to other searches.
    """

    def __init__(
        self, population: RowPopulation | None, forward: Forward, vectors: str = "tfidf"
    ) -> None:
        self._population, self._forward, self._vectors = population, forward, vectors
        self._pools = PreparedPools[_OfPool](_POOLS)
        self._neighbours = PreparedPools[Neighbours](_POOLS)
        self._directions = PreparedInterests[Direction]()
        self._targets = PreparedInterests[Target]()

    @property
    def of_rows(self) -> bool:
        """Return whether rows say what is common, and not the corpus."""
        return self._population is not None

    @cached_property
    def sample(self) -> Ints:
        """Return the documents that stand for a random one, ascending."""
        size = self._forward.documents
        drawn = np.random.default_rng(0).choice(size, min(SAMPLE, size), replace=False)
        return np.sort(drawn).astype(np.int64)

    @cached_property
    def sampled(self) -> DocumentVectors:
        """Return the vectors of the sample, each document's terms in the order of their numbers."""
        made = self._forward.vectors(self.sample, self._vectors)
        counts = _counts(made)
        counts.sort_indices()
        return made._replace(places=counts.indices.astype(np.int64), counts=counts.data.astype(int))

    @cached_property
    def common(self) -> dict[str, float]:
        """Return what is common, by term: the population's mean row, or shares of documents."""
        if self._population is not None:
            rows, people = self._population
            mean = csr_matrix(rows.weights).T @ (people / max(people.sum(), 1))
            return dict(zip(rows.terms, mean.tolist(), strict=True))
        made = self.sampled
        having = np.bincount(made.places, minlength=len(made.terms)) / max(self.sample.size, 1)
        return dict(zip(made.terms, having.tolist(), strict=True))

    @cached_property
    def searches(self) -> Ints:
        """Return searches for anything: places in the sample, SEEN each; -1 where it has fewer."""
        return searches_in(self.sampled)

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
        pool = self._pools.of(rows, self._pool_of)
        vector, common = (direction.columns, direction.factors), self._common_in_all
        scale = direction.factor, direction.length, direction.mean, direction.spread
        best, form = (SEEN, BEST), self._vectors
        t, near = self._forward.projections_away(pool.rows, vector, common, scale, best, form)
        if pool.close is None:
            compared = direction.searches.size
            closer = int(np.searchsorted(direction.searches, near))
        else:
            places, others = self._others
            # An interest is not compared with itself.
            place = places.get(name, -1)
            compared = len(places) - (place >= 0)
            closer = others.closer(pool.close, near, place)
        stands = closer / compared if compared else 0.0
        # Where others fit as well, the interest says nothing of this search.
        gate = gate_of(stands, care)
        # Likeness costs most, and the plain order needs none.
        around = self.neighbours(rows) if gate else ALONE
        strength = care.beta * gate
        scores, held = moved(logs, t, *around, strength)
        return Scored(scores, t, held, stands, gate, strength)

    def clear(self) -> None:
        """Keep no interest, and no pool of a search."""
        for kept in (self._directions, self._targets, self._pools, self._neighbours):
            kept.clear()

    def closeness_of(self, rows: Ints) -> Floats:
        """Return how close the population's rows are to the pool `rows`, ascending."""
        return np.sort(self._others[1].of(rows[:SEEN])) if self.of_rows else np.zeros(0)

    def settle(self) -> None:
        """Prepare what searches of a server share, which takes some time."""
        if self.of_rows:
            self._others[1].settle()

    def neighbours(self, rows: Ints) -> Neighbours:
        """Return the documents of the pool `rows` that support each of them."""
        return self._neighbours.of(rows, self._near_of)

    def shares(self, rows: Ints, interest: Mapping[str, float]) -> Floats:
        """Return what each term of `interest` adds to t of each document: rows x terms."""
        return self._forward.contributions(rows, self._targets.of(interest, self._away_of))

    def _away_of(self, interest: Mapping[str, float]) -> Target:
        """Return the weights of `interest` beyond what is common, in units of t."""
        made = self.direction(interest)
        away = made.away[made.places] / (made.length * made.spread or 1)
        factors = away * self._forward.idf_at(made.columns, self._vectors)
        return Target(len(interest), made.places, made.columns, factors, 1.0, self._vectors)

    def direction(self, interest: Mapping[str, float]) -> Direction:
        """Return the direction of `interest`; the same mapping object is prepared only once."""
        return self._directions.of(interest, self._direction)

    def _direction(self, interest: Mapping[str, float]) -> Direction:
        common, factor = self.common, 1.0
        if self._population is None:
            shared = [weight * common.get(term, 0.0) for term, weight in interest.items()]
            factor = ordered_sum(shared) / (self._square or 1)
        weights = np.fromiter(interest.values(), np.float64, len(interest))
        terms = list(interest)
        columns = self._forward.columns(terms)
        shares, place_of, place_at = self._shares
        places = place_at[columns]
        for at in np.flatnonzero(columns < 0).tolist():
            places[at] = place_of.get(terms[at], -1)
        # What is common stands in one order, and an interest in any.
        away, length = away_from(weights, places, shares, factor)
        some = np.flatnonzero(columns >= 0)
        columns = columns[some]
        factors = weights[some] * self._forward.idf_at(columns, self._vectors)
        none = np.zeros(0)
        if not interest or length <= NOTHING:
            return Direction(some, columns, factors, away, factor, length, 0.0, 0.0, none)
        counts, place_at = self._by_column
        vector, lengths = (place_at[columns], factors), self.sampled.norms
        common_there = self._common_in_sample
        products, mean, spread = along(counts, vector, lengths, common_there, factor, length)
        spread, near = spread if spread > NOTHING else 0.0, none
        if self._population is None and self.searches.size:
            # The last place, -1, is that of no document.
            near = np.sort(closeness(np.append(products, -np.inf)[self.searches]))
        return Direction(some, columns, factors, away, factor, length, mean, spread, near)

    @cached_property
    def _shares(self) -> tuple[Floats, dict[str, int], Ints]:
        """Return what is common as numbers, and the place of each term and column among them."""
        shares = np.fromiter(self.common.values(), np.float64, len(self.common))
        columns, places = self._forward.columns(list(self.common)), np.arange(shares.size)
        place_at = np.full(len(self._forward.terms) + 1, -1)  # the last: that of no column
        place_at[columns[columns >= 0]] = places[columns >= 0]
        return shares, {term: place for place, term in enumerate(self.common)}, place_at

    @cached_property
    def _square(self) -> float:
        return ordered_sum([share * share for share in self.common.values()])

    @cached_property
    def _common_factors(self) -> tuple[Ints, Floats]:
        """Return the columns of what is common, and what documents' counts there count."""
        columns = self._forward.columns(list(self.common))
        some = np.flatnonzero(columns >= 0)
        factors = self._shares[0][some] * self._forward.idf_at(columns[some], self._vectors)
        return columns[some], factors

    @cached_property
    def _common_in_all(self) -> Floats:
        """Return each document's product with what is common."""
        every, nothing = np.arange(self._forward.documents), np.zeros(self._forward.documents)
        vector, as_they_are, form = self._common_factors, (0.0, 1.0, 0.0, 1.0), self._vectors
        away = self._forward.projections_away(every, vector, nothing, as_they_are, (0, 0), form)
        return away[0]

    @cached_property
    def _common_in_sample(self) -> Floats:
        counts, place_at = self._by_column
        columns, factors = self._common_factors
        return column_products(*counts, place_at[columns], factors, self.sampled.norms)

    @cached_property
    def _by_column(self) -> tuple[tuple[Whole, Whole, Whole], Ints]:
        """Return the counts of the sample over its terms, and the place of each column there."""
        made = self.sampled
        counts = _counts(made).tocsc()
        places = np.full(len(self._forward.terms), -1)
        places[self._forward.columns(made.terms)] = np.arange(len(made.terms))
        # Small numbers stay in the processor's cache.
        some = (
            np.min_scalar_type(values.max(initial=0)) for values in (counts.indices, made.counts)
        )
        row, value = some
        parts = counts.indptr, counts.indices.astype(row), counts.data.astype(value)
        return parts, places

    def _pool_of(self, rows: Ints) -> _OfPool:
        rows = self._forward.checked(rows)
        return _OfPool(rows, self._others[1].prepared(rows[:SEEN]) if self.of_rows else None)

    def _near_of(self, rows: Ints) -> Neighbours:
        return self._forward.neighbours(rows, NEAR)

    @cached_property
    def _others(self) -> tuple[dict[str, int], VectorCloseness]:
        """Return the rows to compare with: their places, and their directions."""
        rows = self._population.rows if self._population else Profiles.from_rows({})
        chosen = list(range(len(rows)))
        if len(rows) > OTHERS:
            digest = [hashlib.sha256(name.encode()).digest() for name in rows.users]
            chosen = sorted(sorted(chosen, key=digest.__getitem__)[:OTHERS])
        weights, shares = csr_matrix(rows.weights)[chosen], self._shares[0]
        lengths = np.array([np.linalg.norm(one.toarray()[0] - shares) for one in weights])
        over = np.divide(1, lengths, out=np.zeros(len(chosen)), where=lengths > NOTHING)
        columns = self._forward.columns(rows.terms)
        cells = weights.tocoo()
        known = columns[cells.col] >= 0
        at, row = columns[cells.col[known]], cells.row[known]
        factors = cells.data[known] * over[row] * self._forward.idf_at(at, self._vectors)
        units = csc_matrix((factors, (row, at)), (len(chosen), len(self._forward.terms)))
        places = {rows.users[row]: at for at, row in enumerate(chosen)}
        common = self._common_in_all
        return places, VectorCloseness(self._forward, units, over, common, BEST, self._vectors)


def _counts(sample: DocumentVectors) -> csr_matrix:
    starts = np.concatenate(([0], sample.ends))
    shape = (sample.ends.size, len(sample.terms))
    return csr_matrix((sample.counts.astype(float), sample.places, starts), shape)


def searches_in(sample: DocumentVectors) -> Ints:
    """Return what SEARCHES searches find in `sample`, the best first; -1: nothing more.

    A search is for two terms of a document. One that finds fewer than BEST documents is skipped.
    """
    size, rng = sample.ends.size, np.random.default_rng(1)
    starts, counts = np.concatenate(([0], sample.ends)), _counts(sample).tocsc()
    finds: list[Ints] = []
    for document in rng.integers(0, max(size, 1), 10 * SEARCHES).tolist() if size else ():
        terms = sample.places[starts[document] : starts[document + 1]]
        if terms.size < 2 or len(finds) == SEARCHES:
            continue
        worth = np.zeros(size)
        for term in rng.choice(terms, 2, replace=False).tolist():
            part = slice(counts.indptr[term], counts.indptr[term + 1])
            having, tf = counts.indices[part], counts.data[part]
            worth[having] += sample.weights[term] * tf / (tf + 1)
        best = np.argsort(-worth, kind="stable")[:SEEN]
        best = best[worth[best] > 0]
        if best.size >= BEST:
            finds.append(np.pad(best, (0, SEEN - best.size), constant_values=-1))
    return np.array(finds, dtype=np.int64).reshape(-1, SEEN)


def ordered_sum(values: Sequence[float] | Floats) -> float:
    """Return the sum of `values`, added from the smallest on, whatever order they come in."""
    return total(np.sort(np.array(values, dtype=np.float64)))


def total(values: Floats) -> float:
    """Return the sum of `values`, added one by one, as a browser adds them."""
    return float(np.add.accumulate(values)[-1]) if values.size else 0.0


def logarithms(bm25: NDArray[np.floating]) -> Floats:
    """Return ln of the scores `bm25`; a score that is not above NOTHING counts as NOTHING."""
    logs: Floats = np.log(np.maximum(bm25, NOTHING, dtype=np.float64))
    return logs


def closeness(products: Floats) -> Floats:
    """Return for each row of `products` with a pool the mean of its BEST largest; 0 of none."""
    close: Floats = np.round(largest(products[:, :SEEN], BEST), DECIMALS)
    return close


def gate_of(stands: float, care: Care) -> float:
    """Return how much evidence counts at the standing `stands`, from 0 to 1."""
    return min(max((stands - care.start) / (1 - care.start), 0.0), 1.0)


def support(t: Floats, neighbours: Neighbours) -> Floats:
    """Return the mean of `t` over each document's `neighbours`, weighted by their cosines."""
    return means_around(t, *neighbours)
