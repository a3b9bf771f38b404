"""LG (He & Naughton 2009): nodes are expanded as long as k people agree.

All who know a root begin with it. In a part, that node is expanded whose expansion takes off most
loss. Its members go to the set of children that they hold. The members of sets of fewer than k
people keep the node. If they are fewer than k, the first members of the largest set join them that
can do without these. If no set can, the node is not expanded.

An occurrence below a node loses (terms below it - 1), and a suppressed one as much as at a root of
all terms. A term at an expanded node itself is suppressed: a row with the node would count twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..model import Progress, silent
from ..terms.taxonomy import Taxonomy
from .bags import Bags

Held = list[tuple[int, int]]  # a term and how often, of those of a member below a node
Sets = dict[tuple[int, ...], list[int]]  # children -> who holds them, in order
_TOP = -1  # above several roots; no row publishes it


class Part(NamedTuple):
    """People whose terms are replaced by the same nodes."""

    members: list[int]
    nodes: tuple[int, ...]
    held: list[dict[int, Held]]  # by number of a vocabulary: what it has below each node


class _Expansion(NamedTuple):
    """What becomes of a part if a node is expanded."""

    gain: int
    sets: Sets
    keepers: list[int]


class Trees:
    """The way from a root down to each term, by first senses and first parents."""

    def __init__(self, terms: Sequence[str], taxonomy: Taxonomy) -> None:
        self._ways = [taxonomy.way_up(term)[::-1] for term in terms]
        self._name_of = taxonomy.name_of
        roots = {way[0] for way in self._ways if way}
        if len(roots) > 1:
            self._ways = [[_TOP, *way] if way else [] for way in self._ways]
        self._depth = {node: at for way in self._ways for at, node in enumerate(way)}
        below = [node for way in self._ways for node in way]
        self._below = dict(zip(*np.unique(below, return_counts=True), strict=True))
        self.all_terms = sum(map(bool, self._ways))

    def root(self, term: int) -> int | None:
        """Return the root above `term`, or None if the taxonomy lacks it."""
        return next(iter(self._ways[term]), None)

    def child(self, node: int, term: int) -> int | None:
        """Return the child of `node` that is above `term`, or None if the term is at the node."""
        return next(iter(self._ways[term][self._depth[node] + 1 :]), None)

    def below(self, node: int) -> int:
        """Return how many terms are at or below `node`."""
        return int(self._below[node])

    def name(self, node: int) -> str:
        """Return the word of `node`, or "" if no row publishes it."""
        return "" if node == _TOP else self._name_of(node)


def generalized(bags: Bags, trees: Trees, k: int, *, progress: Progress = silent) -> Iterator[Part]:
    """Yield the parts of `bags`, each of k people or more; those without a known term have none."""
    held = [_held(bags, number, trees) for number in range(bags.sizes.size)]
    known = [number for number, own in enumerate(held) if own]
    if _people(known, bags) < k:
        return
    root = next(iter(held[known[0]]))
    waiting: list[tuple[Part, dict[int, _Expansion]]] = [(Part(known, (root,), held), {})]
    while waiting:
        part, tried = waiting.pop()
        # If nobody left a part, what was tried of its other nodes is still true.
        for node in part.nodes:
            if node not in tried:
                tried[node] = _expansion(node, part.members, held, bags, trees, k)
        node = max(part.nodes, key=lambda node: tried[node].gain, default=_TOP)
        if not part.nodes or tried[node].gain <= 0:
            progress(len(part.members))
            yield part
            continue
        _, sets, keepers = tried.pop(node)
        others = tuple(other for other in part.nodes if other != node)
        for children, members in sets.items():
            for number in members:
                held[number] |= _split(held[number].pop(node), node, trees)
            alone = len(members) == len(part.members)
            part_of = Part(members, (*others, *children), held)
            waiting.append((part_of, tried if alone else {}))
        if keepers:
            waiting.append((part._replace(members=keepers), {}))


def _held(bags: Bags, number: int, trees: Trees) -> dict[int, Held]:
    """Return the known terms of vocabulary `number`, below their root."""
    cut = slice(bags.at[number], bags.at[number + 1])
    own: dict[int, Held] = {}
    for term, count in zip(bags.terms[cut].tolist(), bags.counts[cut].tolist(), strict=True):
        root = trees.root(term)
        if root is not None:
            own.setdefault(root, []).append((term, count))
    return own


def _people(members: Collection[int], bags: Bags) -> int:
    return len({int(bags.person[number]) for number in members})


def _split(own: Held, node: int, trees: Trees) -> dict[int, Held]:
    """Return what of `own`, which is below `node`, is below each of its children."""
    parts: dict[int, Held] = {}
    for term, count in own:
        child = trees.child(node, term)
        if child is not None:
            parts.setdefault(child, []).append((term, count))
    return parts


def _expansion(
    node: int,
    members: Sequence[int],
    held: Sequence[dict[int, Held]],
    bags: Bags,
    trees: Trees,
    k: int,
) -> _Expansion:
    """Return what becomes of `members` if `node` is expanded; no gain: it can't be."""
    sets: Sets = {}
    gains: dict[int, int] = {}
    for number in members:
        own = held[number][node]
        parts = _split(own, node, trees)
        kept = sum(count for part in parts.values() for _, count in part)
        lost = sum(count for _, count in own) - kept
        gains[number] = kept * trees.below(node) - lost * (trees.all_terms - trees.below(node))
        for child, part in parts.items():
            gains[number] -= trees.below(child) * sum(count for _, count in part)
        sets.setdefault(tuple(sorted(parts)), []).append(number)
    small = [one for one, own in sets.items() if not one or _people(own, bags) < k]
    keepers = sorted(chain.from_iterable(sets.pop(one) for one in small))
    if keepers and not _filled(keepers, sets, bags, k):
        return _Expansion(0, {}, [])
    gain = sum(gains[number] for own in sets.values() for number in own)
    return _Expansion(gain, sets, keepers)


def _filled(keepers: list[int], sets: Sets, bags: Bags, k: int) -> bool:
    """Let members of one of `sets` join the `keepers`, who are too few; return whether any can.

    It is the largest set that has k people without them. Its first members go.
    """
    for one in sorted(sets, key=lambda one: -len(sets[one])):
        own, taken = sets[one], 0
        while _people([*keepers, *own[:taken]], bags) < k and taken < len(own):
            taken += 1
        if _people([*keepers, *own[:taken]], bags) >= k <= _people(own[taken:], bags):
            keepers[:] = sorted([*keepers, *own[:taken]])
            sets[one] = own[taken:]
            return True
    return False


def slots_of(
    part: Part, trees: Trees, *, whole: bool
) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the word of each published node of `part`, with pairs of a member and a term.

    A `whole` slot holds all that is below the node; else each holds one occurrence of each member.
    """
    for node in part.nodes:
        word = trees.name(node)
        if not word:
            continue
        below = [
            [(number, term) for term, count in part.held[number][node] for _ in range(count)]
            for number in part.members
        ]
        if whole:
            yield word, [*chain.from_iterable(below)]
        else:
            yield from ((word, list(pairs)) for pairs in zip(*below, strict=False))
