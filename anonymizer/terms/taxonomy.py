"""Taxonomies: which term or synset lies below which, from WordNet's nouns or from a file [I/O].

    Wine<TAB>Alcohol          each line is a child and its parent
    Alcohol<TAB>Edibles       a term may be any node, also an inner one

A file is a tree, or several: a node has at most one parent. Only equal spelling joins a term and a
node. WordNet's nouns may have several parents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from ..arrays import Ints
from ..errors import BadInput
from ..storage.records import plain_errors
from .wordnet import WordNet

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Taxonomy:
    """Nodes with their parents, and the nodes of each term."""

    parents: Ints  # end to end: node i has parents[at[i] : at[i + 1]]
    at: Ints
    nodes_of: Callable[[str], Sequence[int]]  # of a term, the most common sense first
    name_of: Callable[[int], str]  # as a release publishes a node
    pairs: Pairs = ()  # child and parent of each line of a file

    def parents_of(self, node: int) -> list[int]:
        """Return the parents of `node`."""
        parents: list[int] = self.parents[self.at[node] : self.at[node + 1]].tolist()
        return parents

    def way_up(self, term: str) -> list[int]:
        """Return the nodes from `term` to a root, by its first sense and first parents."""
        way, nodes = list[int](), list(self.nodes_of(term)[:1])
        while nodes:
            way.append(nodes[0])
            nodes = self.parents_of(nodes[0])
        return way

    def above(self, starts: Sequence[int]) -> dict[int, int]:
        """Return the nodes at or above `starts`, with the fewest steps up to each."""
        steps = dict.fromkeys(starts, 0)
        queue = [*starts]
        for node in queue:
            for parent in self.parents_of(node):
                if parent not in steps:
                    steps[parent] = steps[node] + 1
                    queue.append(parent)
        return steps


def noun_taxonomy(wordnet: WordNet) -> Taxonomy:
    """Return the nouns of `wordnet`: a node is a synset.

    Its name is the first of its words that means it before all else. If none does, the name is its
    first word with the number of this sense, like matter#3. So no two nodes share a name.
    """
    parents, at = wordnet.noun_parents
    count = at.size - 1

    def nodes_of(term: str) -> list[int]:
        return [synset for synset in wordnet.senses(term) if synset < count]

    @cache
    def name_of(node: int) -> str:
        words = [word.lower() for word in wordnet.lemmas(node)]
        sense = f"{words[0]}#{nodes_of(words[0]).index(node) + 1}"
        return next((word for word in words if nodes_of(word)[0] == node), sense)

    return Taxonomy(parents, at, nodes_of, name_of)


def read_taxonomy(path: Path) -> Taxonomy:
    """Return the taxonomy in the file `path`."""
    with plain_errors(path, "read"):
        text = path.read_bytes().decode("utf-8-sig")
    try:
        return taxonomy_of(_pairs(text))
    except ValueError as fault:
        raise BadInput(f"{path}, {fault}") from fault


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield child and parent of each line of `text`."""
    for number, line in enumerate(text.rstrip("\r\n").split("\n"), 1):
        names = [name.strip() for name in line.split("\t")]
        if len(names) != 2 or not all(names):
            raise ValueError(f"line {number}: must be a child, a tab and its parent")
        yield names[0], names[1]


def taxonomy_of(pairs: Iterator[tuple[str, str]]) -> Taxonomy:
    """Return the taxonomy of `pairs` of child and parent; ValueError names the first wrong one."""
    number: dict[str, int] = {}
    parent: dict[int, int] = {}
    above: list[int] = []  # a node -> one that is above it, or itself if it has no parent
    lines: list[tuple[str, str]] = []
    for line, (child, over) in enumerate(pairs, 1):
        low, high = (number.setdefault(name, len(number)) for name in (child, over))
        above += range(len(above), len(number))
        if parent.get(low, high) != high:
            raise ValueError(f"line {line}: {child} has another parent already; it may have one")
        if low in parent:
            continue  # the same line again
        # A child without a parent is the top of its own tree. If it is the parent's top, too, the
        # line would close a circle.
        if _top(high, above) == low:
            raise ValueError(f"line {line}: {child} is above {over} already, so this is a cycle")
        parent[low] = above[low] = high
        lines.append((child, over))
    names = [*number]
    counts = [node in parent for node in range(len(names))]
    return Taxonomy(
        np.array([parent[node] for node in sorted(parent)], dtype=np.int64),
        np.cumsum([0, *counts], dtype=np.int64),
        lambda term: [number[term]] if term in number else [],
        names.__getitem__,
        tuple(lines),
    )


def _top(node: int, above: list[int]) -> int:
    """Return the top of the tree of `node`; on the way, `above` is made shorter."""
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node
