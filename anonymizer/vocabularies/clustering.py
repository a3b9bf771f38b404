"""SSC: clusters of vocabularies that mean alike (Liu & Wang 2010, algorithm 1), exactly.

The first vocabulary opens a cluster, and k - 1 times the one nearest to the centre joins. Those
that are left join the cluster of the least distance per member. Of equally near vocabularies the
first one in order joins, and of equally near clusters the oldest one is joined.

Exact, as every vocabulary has a bound that its distance can't be below: each occurrence saves at
most what the best bag would save. Vocabularies are matched in the order of their bounds, until the
next bound is above the least distance.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints, Marks, Numbers
from ..compiled import compiled
from ..model import Progress, silent
from ..similarity.term_distances import TermDistances
from .bags import Bags
from .centres import Centre, Costs, cleared, joined, opened, savings_of
from .matching import GIVEN_UP, best_matching
from .partial import may_lack, partly_joined

_CROWDED = 0.8  # a new pool is made when a smaller share of its vocabularies is waiting
_NO_LIMIT = 1 << 62


class Cluster(NamedTuple):
    """The numbers of vocabularies, in the order in which they joined, and their centre."""

    members: list[int]
    centre: Centre


class _Pool(NamedTuple):
    """The vocabularies that wait, in order; some may have left since the pool was made."""

    number: Ints  # of each vocabulary
    at: Ints
    classes: Numbers  # of the terms of vocabulary i: classes[at[i] : at[i + 1]]
    counts: Ints
    sizes: Ints
    person: Ints
    waits: Marks


def costs_of(omega: float, *, most_pairs: bool) -> Costs:
    """Return the costs of a matching with `omega`, by model 1 if it takes `most_pairs`."""
    share = Fraction(str(omega))
    return Costs(share.numerator, share.denominator, most_pairs)


def distance(one: int, other: int, bags: Bags, distances: TermDistances, costs: Costs) -> Fraction:
    """Return how far vocabularies `one` and `other` of `bags` are apart."""
    cut = slice(bags.at[one], bags.at[one + 1])
    centre = opened(bags.terms[cut], bags.counts[cut], distances)
    slot = np.full(distances.classes, -1, dtype=np.int32)
    number = np.array([other])
    pool = pool_of(bags, distances, number)
    far = _distance_to(centre, pool, 0, costs, slot)
    return Fraction(far, costs.scale)


def cluster(
    bags: Bags,
    distances: TermDistances,
    costs: Costs,
    k: int,
    order: Ints,
    *,
    least: int | None = None,
    matchings: int | None = None,
    progress: Progress = silent,
) -> list[Cluster]:
    """Return clusters of `k` people or more, who are taken in `order`.

    With `least` a bag stays in a centre if at least this number of them can match it, else all do.
    A vocabulary joins no cluster that has its person already, so some may stand in none. With
    `matchings` a search matches at most this number of vocabularies, those of the best bounds.
    """
    work = _Unclustered(bags, distances, costs, order, matchings or _NO_LIMIT, (k, least))
    clusters = []
    while work.people >= k:
        clusters.append(work.grown())
        progress(k)
    for number in work.rest():
        work.join_closest(number, clusters)
        progress(1)
    return clusters


class _Unclustered:
    """The vocabularies that are in no cluster yet."""

    def __init__(
        self, bags: Bags, distances: TermDistances, costs: Costs, order: Ints, matchings: int,
        people: tuple[int, int | None],
    ) -> None:  # fmt: skip
        self._bags, self._distances, self._costs = bags, distances, costs
        self._slot = np.full(distances.classes, -1, dtype=np.int32)
        self._matchings, (self._k, self._least) = matchings, people
        self._pool = pool_of(bags, distances, order)
        self._first, self._waiting = 0, order.size
        self._of_person = np.bincount(bags.person)
        self.people = int(np.count_nonzero(self._of_person))  # who have a vocabulary that waits
        self._barred = np.zeros(self._of_person.size, dtype=np.bool_)  # who are in the cluster

    def grown(self) -> Cluster:
        """Return the next cluster, of k vocabularies."""
        # Every search would still look at vocabularies that have a cluster.
        if self._waiting < _CROWDED * self._pool.number.size:
            self._pool = pool_of(self._bags, self._distances, self._pool.number[self._pool.waits])
            self._first = 0
        while not self._pool.waits[self._first]:
            self._first += 1
        members = [self._taken(self._first)]
        centre = opened(*self._own(members[0]), self._distances)
        while len(members) < self._k:
            large = _large(centre, self._costs, int(self._pool.sizes.max()))
            at = _nearest(
                centre, self._pool, self._costs, large, self._slot, self._barred, self._matchings
            )
            members.append(self._taken(at))
            centre = self._joined(centre, members[-1])
        self._barred[self._bags.person[members]] = False
        return Cluster(members, centre)

    def rest(self) -> list[int]:
        """Return the numbers of those who still wait, in order."""
        rest: list[int] = self._pool.number[self._pool.waits].tolist()
        return rest

    def join_closest(self, number: int, clusters: list[Cluster]) -> None:
        """Let vocabulary `number` join the closest of `clusters` without its person, if any."""
        person = self._bags.person[number]
        pool = pool_of(self._bags, self._distances, np.array([number]))
        least: Fraction | None = None
        closest = -1
        for at, (members, centre) in enumerate(clusters):
            # Two sessions of a person in one row would hide one person less.
            if person in self._bags.person[members]:
                continue
            # An empty centre still costs, for each member, what stays unmatched.
            far = Fraction(_distance_to(centre, pool, 0, self._costs, self._slot), len(members))
            if least is None or far < least:
                least, closest = far, at
        if closest >= 0:
            members, centre = clusters[closest]
            clusters[closest] = Cluster([*members, number], self._joined(centre, number))

    def _taken(self, at: int) -> int:
        """Return the number of the vocabulary at `at` of the pool, which waits no more."""
        self._pool.waits[at] = False
        person = self._pool.person[at]
        self._waiting -= 1
        self._of_person[person] -= 1
        self.people -= int(not self._of_person[person])
        self._barred[person] = True
        return int(self._pool.number[at])

    def _own(self, number: int) -> tuple[Numbers, Ints]:
        cut = slice(self._bags.at[number], self._bags.at[number + 1])
        return self._bags.terms[cut], self._bags.counts[cut]

    def _joined(self, centre: Centre, number: int) -> Centre:
        """Return `centre` after vocabulary `number` joined."""
        terms, counts = self._own(number)
        classes = self._distances.class_of[terms]
        large = _large(centre, self._costs, int(counts.sum()))
        savings = savings_of(centre, self._costs, large, self._slot)
        _, flow, bags, columns = best_matching(
            savings, centre.stand, classes, counts, 0, terms.size, 0
        )
        cleared(savings)
        if absent := may_lack(max(self._k, centre.terms.shape[1] + 1), self._least):
            own = terms, counts
            return partly_joined(centre, flow, bags, columns, own, self._distances, absent)
        after: Centre = joined(centre, flow, bags, columns, terms, self._distances)
        return after


def pool_of(bags: Bags, distances: TermDistances, numbers: Ints) -> _Pool:
    """Return the vocabularies `numbers` of `bags`, in this order."""
    sizes = np.diff(bags.at)[numbers]
    at = np.concatenate([[0], np.cumsum(sizes)])
    places = np.arange(at[-1]) + np.repeat(bags.at[numbers] - at[:-1], sizes)
    classes, counts = distances.class_of[bags.terms[places]], bags.counts[places]
    waits = np.ones(numbers.size, dtype=np.bool_)
    return _Pool(numbers, at, classes, counts, bags.sizes[numbers], bags.person[numbers], waits)


def _large(centre: Centre, costs: Costs, size: int) -> int:
    """Return a weight of a pair that counts more than all distances of a matching together."""
    if not costs.most_pairs:
        return 0
    farthest = int(centre.sums.max(initial=0)) * costs.scale
    return farthest * min(size, int(centre.stand.sum())) + 1 + farthest


def _distance_to(centre: Centre, pool: _Pool, at: int, costs: Costs, slot: Numbers) -> int:
    """Return how far the vocabulary at `at` of `pool` is from `centre`, in units of `costs`."""
    large = _large(centre, costs, int(pool.sizes[at]))
    savings = savings_of(centre, costs, large, slot)
    saved = _saved(savings, centre, pool, at, costs, large, 0)
    cleared(savings)
    members = centre.terms.shape[1]
    far: int = costs.omega * members * (int(centre.stand.sum()) + int(pool.sizes[at])) - int(saved)
    return far


@compiled
def _saved(savings: Any, centre: Any, pool: Any, at: int, costs: Any, large: int, need: int) -> Any:
    """Return what the best matching takes off the distance of the vocabulary at `at` of `pool`.

    If it can't be `need`, it may be GIVEN_UP.
    """
    low, high = pool.at[at], pool.at[at + 1]
    least = 0 if costs.most_pairs else need
    total = best_matching(savings, centre.stand, pool.classes, pool.counts, low, high, least)[0]
    if not costs.most_pairs or total <= 0:
        return total
    pairs = (total + large - 1) // large
    full = 2 * costs.omega * centre.terms.shape[1]
    return pairs * full - (pairs * large - total)


@compiled
def _nearest(
    centre: Any, pool: Any, costs: Any, large: int, slot: Any, barred: Any, matchings: int
) -> int:
    """Return the place in `pool` of the vocabulary that is nearest to `centre`."""
    savings = savings_of(centre, costs, large, slot)
    full = 2 * costs.omega * centre.terms.shape[1]
    size = centre.stand.sum()
    bounds = np.full(pool.number.size, _NO_LIMIT, dtype=np.int64)
    first = -1
    for at in range(pool.number.size):
        if not pool.waits[at] or barred[pool.person[at]]:
            continue
        most = np.int64(0)
        for place in range(pool.at[at], pool.at[at + 1]):
            own = slot[pool.classes[place]]
            if own >= 0:
                most += savings.best[own] * min(pool.counts[place], savings.room[own])
        most = min(most, full * min(size, pool.sizes[at]))
        bounds[at] = full // 2 * (size + pool.sizes[at]) - most
        if first < 0 or bounds[at] < bounds[first]:
            first = at
    paid = full // 2 * (size + pool.sizes[first])
    closest, least = first, paid - _saved(savings, centre, pool, first, costs, large, 0)
    hopeful = np.flatnonzero(bounds <= least)
    matched = 1
    for at in hopeful[np.argsort(bounds[hopeful], kind="mergesort")]:
        if bounds[at] > least or matched >= matchings:
            break
        if at == first or (bounds[at] == least and at > closest):
            continue
        paid = full // 2 * (size + pool.sizes[at])
        need = paid - least + (at > closest)
        saved = _saved(savings, centre, pool, at, costs, large, need)
        matched += 1
        if saved != GIVEN_UP and saved >= need:
            closest, least = at, paid - saved
    cleared(savings)
    return closest
