"""Distances of terms: by WordNet, and by drawn networks against a naive twin."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from anonymizer.similarity.term_distances import term_distances
from anonymizer.terms.taxonomy import Taxonomy, noun_taxonomy
from anonymizer.terms.wordnet import WordNet

# Counted by hand along the first senses: dog and cat are two steps below carnivore.
KNOWN = {("dog", "cat"): 4, ("car", "auto"): 0, ("car", "truck"): 2, ("wine", "beer"): 3}


@pytest.mark.parametrize("eps", [0, 2, 4, 6])
def test_wordnets_nouns(eps: int, wordnet: WordNet) -> None:
    """Synonyms are at distance 0, but at eps=0 only identical words match."""
    terms = sorted({term for pair in KNOWN for term in pair} | {"quickly", "xyzzy"})
    table = term_distances(terms, noun_taxonomy(wordnet), eps, every_sense=False)
    for (one, other), steps in KNOWN.items():
        expected = steps if eps and steps <= eps else -1
        assert table.between(terms.index(one), terms.index(other)) == expected
    for at in range(len(terms)):
        assert table.between(at, at) == 0
    alone = [terms.index("quickly"), terms.index("xyzzy")]
    near = [(one, other) for one in alone for other in range(len(terms)) if one != other]
    assert {table.between(*pair) for pair in near} == {-1}


def drawn(rng: np.random.Generator, nodes: int) -> tuple[Taxonomy, list[list[int]]]:
    """Draw nodes with up to two parents, and two senses of each term."""
    parents = [
        sorted({int(node) for node in rng.integers(0, at, rng.integers(0, 3))}) if at else []
        for at in range(nodes)
    ]
    senses = [[int(node) for node in rng.permutation(nodes)[:2]] for _ in range(nodes)]
    flat = np.array([node for some in parents for node in some], dtype=np.int64)
    at = np.cumsum([0, *map(len, parents)], dtype=np.int64)
    return Taxonomy(flat, at, lambda term: senses[int(term)], str), senses


def climbs(tree: Taxonomy, starts: list[int]) -> dict[int, int]:
    """Return the steps up to each node above `starts`, by every way."""
    steps: dict[int, int] = {}
    ways = [(node, 0) for node in starts]
    while ways:
        node, far = ways.pop()
        if far < steps.get(node, far + 1):
            steps[node] = far
            ways += [(parent, far + 1) for parent in tree.parents_of(node)]
    return steps


@pytest.mark.parametrize("every_sense", [False, True])
def test_drawn_networks(every_sense: bool) -> None:
    """The shortest way over a common node above, within eps, between all pairs of terms."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        tree, senses = drawn(rng, int(rng.integers(2, 14)))
        eps, count = int(rng.integers(1, 6)), len(senses)
        table = term_distances([*map(str, range(count))], tree, eps, every_sense=every_sense)
        up = [climbs(tree, own if every_sense else own[:1]) for own in senses]
        for one, other in product(range(count), repeat=2):
            ways = [up[one][node] + up[other][node] for node in up[one] if node in up[other]]
            least = min(ways, default=eps + 1)
            assert table.between(one, other) == (least if least <= eps else -1)
