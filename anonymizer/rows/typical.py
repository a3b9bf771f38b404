"""Typical vocabularies: what a cluster publishes for each bag of matched terms.

majority     the term of the bag that is closest to the others; of equal ones, that of who joined
             first
bags         all terms of the bag, in sorted order, joined by |
generalize   the node that is above all terms of the bag and closest to them; of equal ones, the
             first by name
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Ints
from ..errors import Unsatisfiable
from ..model import Profiles, Slot, row_names

if TYPE_CHECKING:
    from ..similarity.term_distances import TermDistances
    from ..terms.taxonomy import Taxonomy

Bag = tuple[int, ...]  # a term of each member, in the order in which they joined
Typical = Callable[[Bag], str]
# Of a row: who is in it, and for each slot the published term, and pairs of a user and a term.
Published = tuple[Sequence[int], Iterable[tuple[str, Sequence[tuple[int, int]]]]]


class SlotRows(NamedTuple):
    """Rows that publish slots, and who has which; an empty row is dropped."""

    rows: Profiles
    users: tuple[str, ...]
    row_of_user: Ints
    slots: tuple[Slot, ...]


def slot_rows(profiles: Profiles, published: Iterable[Published]) -> SlotRows:
    """Return rows of what is `published`: each term as often as there are slots of it.

    Users and terms are numbers of `profiles`. Rows stand by their terms and weights.
    """
    made = []
    for members, bags in published:
        own = sorted(
            (term, tuple((profiles.users[u], profiles.terms[t]) for u, t in pairs))
            for term, pairs in bags
        )
        if own:
            content = sorted(Counter(term for term, _ in own).items())
            # The order in which rows were made would tell who came first, so of equal rows a hash
            # of what is private decides.
            made.append((content, hashlib.sha256(repr(own).encode()).digest(), members, own))
    if not made:
        raise Unsatisfiable(
            "no row would have a term; take a smaller k, more people, or another taxonomy"
        )
    made.sort(key=lambda row: row[:2])
    row_of = np.full(len(profiles), -1, dtype=np.int64)
    for at, (_, _, members, _) in enumerate(made):
        row_of[list(members)] = at
    names = row_names(len(made), set(profiles.users))
    weights = {
        name: {term: float(times) for term, times in content}
        for name, (content, *_) in zip(names, made, strict=True)
    }
    slots = tuple(Slot(at, *slot) for at, (*_, own) in enumerate(made) for slot in own)
    served = np.flatnonzero(row_of >= 0)
    users = tuple(profiles.users[user] for user in served.tolist())
    return SlotRows(Profiles.from_rows(weights), users, row_of[served], slots)


def majority(terms: Sequence[str], distances: TermDistances) -> Typical:
    """Return the function that names a bag by the one of `terms` that is closest to the others."""

    @cache
    def closest(bag: Bag) -> str:
        sums = {term: sum(distances.between(term, other) for other in bag) for term in bag}
        return terms[min(sums, key=sums.__getitem__)]

    return closest


def whole_bag(terms: Sequence[str]) -> Typical:
    """Return the function that names a bag by all of its `terms`."""
    return lambda bag: "|".join(sorted({terms[term] for term in bag}))


def general(terms: Sequence[str], taxonomy: Taxonomy, nodes: Sequence[tuple[int, ...]]) -> Typical:
    """Return the function that names a bag by the closest node above its `terms`, at `nodes`."""

    @cache
    def above(bag: Bag) -> str:
        if len(set(bag)) == 1:
            return terms[bag[0]]
        climbs = [taxonomy.above(nodes[term]) for term in {*bag}]
        common = set.intersection(*map(set, climbs))
        sums = {node: sum(climb[node] for climb in climbs) for node in common}
        return min((far, taxonomy.name_of(node)) for node, far in sums.items())[1]

    return above
