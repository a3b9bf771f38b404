"""Exchanges of people between clusters, which keep the sizes and let matched centres save more.

A matched bag of l terms saves, for each pair of these, 2 omega less their distance. This over l - 1
is what the bag is worth: omega for each occurrence that it keeps, less how far they are apart. Two
people of different clusters are exchanged as long as both clusters together are worth more then.
Where some need not match, a bag of fewer is worth what it saves over l - 1, too, and so less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays import Floats, Ints
from ..compiled import compiled
from ..similarity.term_distances import TermDistances
from .bags import Bags
from .centres import NOBODY, Centre, Costs, cleared, joined, opened, savings_of
from .clustering import Cluster, pool_of
from .matching import GIVEN_UP, best_matching
from .partial import may_lack, partly_joined

_AT_ONCE = 1_000  # vocabularies: of each two of them a number is kept
_ALL = 1 << 30  # more people than a cluster has
_LEAST = 1e-9  # a smaller share of what clusters are worth is rounding


def annealed(
    bags: Bags,
    distances: TermDistances,
    costs: Costs,
    clusters: Sequence[Cluster],
    rng: np.random.Generator,
    least: int | None = None,
) -> list[Cluster]:
    """Return clusters of the sizes of `clusters`, never worth less; `rng` decides who begins.

    With `least` this number of people must match a bag, else all.
    In large populations people trade places only between clusters that were made about when theirs
    was. There no single exchange helps any more.
    """
    costs, after = costs._replace(most_pairs=False, whole=least or _ALL), list[Cluster]()
    for some in _runs(clusters):
        # Somebody alone matches all of their own.
        alone = len(some) == 1 or min(len(cluster.members) for cluster in some) == 1
        after += some if alone else _Exchanges(bags, distances, costs, some, least).done(rng)
    return after


def worth(centre: Centre, costs: Costs) -> float:
    """Return what the matched bags of `centre` are worth, in units of `costs`."""
    members = centre.terms.shape[1]
    return float(_held(centre, costs, min(costs.whole, members)) / max(members - 1, 1))


def _held(centre: Centre, costs: Costs, least: int) -> int:
    """Return what those bags of `centre` save that at least `least` people match."""
    members = (centre.terms != NOBODY).sum(axis=1)
    pairs = costs.omega * members * (members - 1) - costs.scale * centre.within
    return int((pairs * centre.stand)[members >= least].sum())


def _runs(clusters: Sequence[Cluster]) -> Iterator[list[Cluster]]:
    """Yield runs of `clusters`, of at most _AT_ONCE vocabularies unless one cluster has more."""
    run, size = list[Cluster](), 0
    for cluster in clusters:
        if run and size + len(cluster.members) > _AT_ONCE:
            yield run
            run, size = [], 0
        run.append(cluster)
        size += len(cluster.members)
    yield run


class _Exchanges:
    """Clusters, and for each of their vocabularies what its cluster would be worth with others.

    Vocabularies are numbered through here. `most[a, b]` is what a's cluster is worth at most with b
    in place of a; it is exactly that where `known`.
    """

    def __init__(
        self, bags: Bags, distances: TermDistances, costs: Costs, clusters: Sequence[Cluster],
        least: int | None,
    ) -> None:  # fmt: skip
        self._costs, self._distances, self._bags, self._fewest = costs, distances, bags, least
        self._slot = np.full(distances.classes, -1, dtype=np.int32)
        self._pool = pool_of(bags, distances, np.concatenate([c.members for c in clusters]))
        size = self._pool.number.size
        sizes = [len(cluster.members) for cluster in clusters]
        ends = np.cumsum(sizes)
        self._members = [
            list(range(end - size, end)) for end, size in zip(ends, sizes, strict=True)
        ]
        self._of = np.repeat(np.arange(len(clusters)), sizes)
        self._centres = [cluster.centre for cluster in clusters]
        self._worth = np.array([worth(centre, costs) for centre in self._centres])
        self._rests: list[Any] = [None] * size  # of each one the centre of the others
        self._most = np.full((size, size), -np.inf)
        self._known = np.zeros((size, size), dtype=np.bool_)
        for number in range(size):
            self._renew(number)

    def done(self, rng: np.random.Generator) -> list[Cluster]:
        """Return the clusters when no exchange helps any more; `rng` decides who is first."""
        changed = True
        while changed:
            changed = False
            for one in rng.permutation(self._of.size).tolist():
                other = self._best(one)
                if other >= 0:
                    self._exchange(one, other)
                    changed = True
        return [
            Cluster(self._pool.number[members].tolist(), centre)
            for members, centre in zip(self._members, self._centres, strict=True)
        ]

    def _best(self, one: int) -> int:
        """Return who helps most in exchange for `one`; -1 if nobody does."""
        most, known, of = self._most, self._known, self._of
        before = (self._worth[of[one]] + self._worth[of]) * (1 + _LEAST)
        before[of == of[one]] = np.inf
        hopeful = np.flatnonzero((most[one] + most[:, one] > before) & ~known[one])
        self._look(one, hopeful, before[hopeful] - most[hopeful, one])
        while True:
            gain = most[one] + most[:, one] - before
            other = int(np.argmax(gain))
            if gain[other] <= 0:
                return -1
            if known[other, one]:
                return other
            self._look(other, np.array([one]), before[[other]] - most[one, other])

    def _look(self, one: int, others: Ints, needs: Floats) -> None:
        """Find what the cluster of `one` is worth with each of `others` in place of `one`.

        A worth that can't reach its number in `needs` is only bounded.
        """
        if not others.size:
            return
        rest = self._rests[one]
        span, held = rest.terms.shape[1], _held(rest, self._costs, self._costs.whole)
        least = np.maximum(np.floor(needs * span) - held, 0).astype(np.int64)
        totals = _totals(rest, self._pool, others, least, self._costs, self._slot)
        self._known[one, others] = totals != GIVEN_UP
        self._most[one, others] = (np.where(totals != GIVEN_UP, totals, least - 1) + held) / span

    def _exchange(self, one: int, other: int) -> None:
        """Let `one` and `other` change places."""
        here, there = int(self._of[one]), int(self._of[other])
        for new, old, at in ((other, one, here), (one, other, there)):
            self._members[at] = [*(m for m in self._members[at] if m != old), new]
            self._centres[at] = self._joined(self._rests[old], new, len(self._members[at]))
            self._worth[at] = worth(self._centres[at], self._costs)
            self._of[new] = at
        self._trade(one, other)
        mine, theirs = self._members[here], self._members[there]
        if len(mine) == len(theirs) == 2:
            # What the others were left with has changed places as well.
            self._trade(mine[0], theirs[0])
            return
        for number in [*mine[:-1], *theirs[:-1]]:
            self._renew(number)

    def _trade(self, one: int, other: int) -> None:
        """Exchange what is known of the clusters that `one` and `other` leave."""
        for known in (self._most, self._known):
            known[[one, other]] = known[[other, one]]
        self._rests[one], self._rests[other] = self._rests[other], self._rests[one]

    def _renew(self, number: int) -> None:
        """Bound again what the cluster of `number` is worth with each other one in place."""
        members = self._members[self._of[number]]
        first, *others = (m for m in members if m != number)
        rest = opened(*self._own(first), self._distances)
        for other in others:
            rest = self._joined(rest, other, len(members))
        self._rests[number] = rest
        most = _bounds(rest, self._pool, self._costs, self._slot)
        most += _held(rest, self._costs, self._costs.whole)
        self._most[number] = most / rest.terms.shape[1]
        self._known[number] = False
        barred = np.isin(self._pool.person, self._pool.person[[first, *others]])
        self._most[number, barred] = -np.inf

    def _own(self, number: int) -> tuple[Any, Ints]:
        at = self._pool.number[number]
        cut = slice(self._bags.at[at], self._bags.at[at + 1])
        return self._bags.terms[cut], self._bags.counts[cut]

    def _joined(self, rest: Centre, number: int, members: int) -> Any:
        """Return `rest` after vocabulary `number` joined; the cluster has a number of `members`."""
        own = self._own(number)
        flow, bags, columns = _best(rest, *own, self._distances, self._costs, self._slot)
        if absent := may_lack(members, self._fewest):
            return partly_joined(rest, flow, bags, columns, own, self._distances, absent)
        return joined(rest, flow, bags, columns, own[0], self._distances)


@compiled
def _best(
    rest: Any, terms: Any, counts: Any, distances: Any, costs: Any, slot: Any
) -> tuple[Any, Any, Any]:
    """Return how the vocabulary with `counts` of `terms` matches centre `rest` best."""
    savings = savings_of(rest, costs, 0, slot)
    classes = distances.class_of[terms]
    _, flow, bags, columns = best_matching(savings, rest.stand, classes, counts, 0, terms.size, 0)
    cleared(savings)
    return flow, bags, columns


@compiled
def _bounds(rest: Any, pool: Any, costs: Any, slot: Any) -> Any:
    """Return for each vocabulary of `pool` the most that `rest` with it can save."""
    savings = savings_of(rest, costs, 0, slot)
    tops = np.zeros(rest.stand.size, dtype=np.int64)
    for place in range(savings.bag.size):
        tops[savings.bag[place]] = max(tops[savings.bag[place]], savings.weight[place])
    full = (tops * rest.stand).sum()
    bounds = np.empty(pool.number.size, dtype=np.int64)
    for at in range(pool.number.size):
        most = np.int64(0)
        for place in range(pool.at[at], pool.at[at + 1]):
            own = slot[pool.classes[place]]
            if own >= 0:
                most += savings.best[own] * min(pool.counts[place], savings.room[own])
        bounds[at] = min(most, full)
    cleared(savings)
    return bounds


@compiled
def _totals(rest: Any, pool: Any, others: Any, least: Any, costs: Any, slot: Any) -> Any:
    """Return what `rest` with each of `others` saves, or GIVEN_UP if below `least` of it."""
    savings = savings_of(rest, costs, 0, slot)
    totals = np.empty(others.size, dtype=np.int64)
    for at in range(others.size):
        low, high = pool.at[others[at]], pool.at[others[at] + 1]
        totals[at] = best_matching(
            savings, rest.stand, pool.classes, pool.counts, low, high, least[at]
        )[0]
    cleared(savings)
    return totals
