"""How far apart two terms are, and what stands above several: by WordNet or by a taxonomy.

The distance of two terms is the number of steps up to what stands above both, and down again, by
the shortest way. Terms without such a way are not relevant to each other, and a term that the
network lacks matches only itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ..files.evidence import TAXONOMY, Parts
from ..finding import Broken
from .wordnet_files import read_nouns

Node = Any


class TermNetwork:
    """Nodes below nodes, and at which of them each term stands, the most common sense first."""

    def __init__(
        self,
        places: Callable[[str], Sequence[Node]],
        parents: Callable[[Node], Sequence[Node]],
        word: Callable[[Node], str],
        *,
        every_sense: bool = False,
    ):
        self._places, self._parents, self.word = places, parents, cache(word)
        self._most = None if every_sense else 1
        self._above: dict[str, Mapping[Node, int]] = {}

    def above(self, term: str) -> Mapping[Node, int]:
        """Return the nodes at or above `term`, and the fewest steps up to each; none if unknown."""
        if term not in self._above:
            steps: dict[Node, int] = dict.fromkeys(self._places(term)[: self._most], 0)
            edge = [*steps]
            while edge:
                new = {up: steps[node] + 1 for node in edge for up in self._parents(node)}
                edge = [up for up in new if up not in steps]
                steps |= {up: new[up] for up in edge}
            self._above[term] = steps
        return self._above[term]

    def distance(self, one: str, other: str) -> float:
        """Return the distance of `one` from the `other` term; infinite if there is no way."""
        if one == other:
            return 0.0
        far, near = self.above(one), self.above(other)
        ways = (far[up] + steps for up, steps in near.items() if up in far)
        return float(min(ways, default=float("inf")))

    def closest(self, terms: Sequence[str]) -> str:
        """Return the word of the node above all `terms` with the fewest steps to all of them.

        Each different term counts once; of equal nodes the first by its word. A single term stays
        itself.
        """
        first, *others = {*terms}
        if not others:
            return first
        ways = [self.above(term) for term in (first, *others)]
        shared = {*ways[0]}.intersection(*ways)
        sums = ((sum(way[node] for way in ways), self.word(node)) for node in shared)
        return min(sums, default=(0, ""))[1]

    def way_up(self, term: str) -> list[Node]:
        """Return the nodes from `term` up, by the first sense and first parents."""
        way, nodes = list[Node](), self._places(term)
        while nodes:
            way.append(nodes[0])
            nodes = self._parents(nodes[0])
        return way


def network_of(parameters: Mapping[str, Any], parts: Parts) -> TermNetwork:
    """Return the network that `parameters` name; a given one is in `parts`."""
    if parameters["taxonomy"] == "given":
        if TAXONOMY not in parts:
            raise Broken("taxonomy", TAXONOMY, "is missing, though a taxonomy was given")
        parent = _read_taxonomy(parts[TAXONOMY])
        nodes = {*parent, *parent.values()}
        return TermNetwork(
            lambda term: [term] if term in nodes else [],
            lambda node: [parent[node]] if node in parent else [],
            str,
        )
    if TAXONOMY in parts:
        raise Broken("taxonomy", TAXONOMY, "is there, though none was given; remove the file")
    nouns = read_nouns()
    every = parameters["senses"] == "closest"
    return TermNetwork(nouns.senses, nouns.parents, nouns.name, every_sense=every)


def _read_taxonomy(content: bytes) -> dict[str, str]:
    """Return the parent of each child in `content`, whose lines are child, tab, parent."""
    parent: dict[str, str] = {}
    try:
        *lines, rest = content.decode().split("\n")
    except UnicodeDecodeError as fault:
        raise Broken("taxonomy", TAXONOMY, "is no UTF-8") from fault
    for number, line in enumerate([*lines, *[rest] * bool(rest)], 1):
        child, *above = line.split("\t")
        if len(above) != 1 or not child or not above[0]:
            raise _fault(number, "must be a child, a tab and its parent")
        if child in parent:
            raise _fault(number, "its child has a parent already")
        parent[child] = above[0]
    tops: set[str] = set()  # of these the way up is known to end
    for number, child in enumerate(parent, 1):
        way, node = set[str](), child
        while node in parent and node not in tops:
            if node in way:
                raise _fault(number, "its way up never ends, so there is a cycle")
            way.add(node)
            node = parent[node]
        tops |= way
    return parent


def _fault(number: int, line: str) -> Broken:
    return Broken("taxonomy", f"{TAXONOMY}, line {number}", line)
