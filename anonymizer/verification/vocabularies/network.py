"""How far apart two terms are, and what stands above several: by WordNet or by a taxonomy.

The distance of two terms is the number of steps up to what stands above both, and down again, by
the shortest way. Terms without such a way are not relevant to each other, and a term that the
network lacks matches only itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import reduce
from typing import Any

from ..files.evidence import TAXONOMY, Parts
from ..finding import Broken
from .wordnet_files import read_nouns

Node = Any
_Above = Mapping[Node, int]  # nodes at or above a term -> steps up to them


class Network:
    """Nodes below nodes, and at which of them each term stands."""

    def __init__(
        self,
        places: Callable[[str], Sequence[Node]],
        parents: Callable[[Node], Sequence[Node]],
        name: Callable[[Node], str],
    ):
        self._places, self._parents, self.name = places, parents, name
        self._above: dict[str, _Above] = {}

    def above(self, term: str) -> _Above:
        """Return the nodes at or above `term`, and the fewest steps up to each; none if unknown."""
        if term not in self._above:
            steps: dict[Hashable, int] = dict.fromkeys(self._places(term), 0)
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
        if len(far) < len(near):
            far, near = near, far
        return min((far[up] + steps for up, steps in near.items() if up in far), default=_NO_WAY)

    def lowest(self, terms: Sequence[str]) -> str:
        """Return the name of the lowest node above all `terms`, or the term if they are one."""
        if len({*terms}) == 1:
            return terms[0]
        shared = reduce(lambda some, more: some & more, (self.above(t).keys() for t in {*terms}))
        sums = {up: sum(self.above(term)[up] for term in {*terms}) for up in shared}
        return min((far, self.name(up)) for up, far in sums.items())[1] if sums else ""


_NO_WAY = float("inf")


def network_of(parameters: Mapping[str, Any], parts: Parts) -> Network:
    """Return the network that `parameters` name; a given one is in `parts`."""
    first = parameters["senses"] == "first"
    if parameters["taxonomy"] == "given":
        if TAXONOMY not in parts:
            raise Broken("taxonomy", TAXONOMY, "is missing, though a taxonomy was given")
        parent = _read_taxonomy(parts[TAXONOMY])
        nodes = {*parent, *parent.values()}
        return Network(
            lambda term: [term] if term in nodes else [],
            lambda node: [parent[node]] if node in parent else [],
            str,
        )
    nouns = read_nouns()
    return Network(
        lambda term: nouns.senses(term)[: 1 if first else None], nouns.parents, nouns.name
    )


def _read_taxonomy(content: bytes) -> dict[str, str]:
    """Return the parent of each child in `content`, whose lines are child, tab, parent."""
    parent: dict[str, str] = {}
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as fault:
        raise Broken("taxonomy", TAXONOMY, "is no UTF-8") from fault
    if lines.pop():
        raise Broken("taxonomy", TAXONOMY, "does not end with a newline")
    for number, line in enumerate(lines, 1):
        child, *above = line.split("\t")
        if len(above) != 1 or not child or not above[0]:
            raise _fault(number, "must be a child, a tab and its parent")
        if child in parent:
            raise _fault(number, "its child has a parent already")
        parent[child] = above[0]
    number_of = {child: number for number, child in enumerate(parent, 1)}
    safe: set[str] = set()
    for child in parent:
        way, node = dict[str, None](), child
        while node in parent and node not in safe:
            if node in way:
                raise _fault(number_of[node], "closes a cycle")
            way[node] = None
            node = parent[node]
        safe.update(way)
    return parent


def _fault(number: int, line: str) -> Broken:
    return Broken("taxonomy", f"{TAXONOMY}, line {number}", line)
