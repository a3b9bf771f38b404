"""Phrases: several tokens that are one term, found by a compiled walk down a tree of words.

At each token of a text, the longest run of two or more tokens that has a base form is one term.
The search goes on behind it. Stop words count as tokens here. Where no phrase starts, the token
keeps its own term.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Ints, Numbers
from ..compiled import compiled

_WORDS = re.compile(r"[^\W\d_]+( [^\W\d_]+)+")


class Tree(NamedTuple):
    """A hash table: keys[slot] is node * words + word + 1, and nodes[slot] is the node below."""

    keys: Ints
    nodes: Numbers
    words: int
    term: Numbers  # node -> number of its phrase's base form, -1 if it is only the start of one


class Phrases:
    """Phrases and their base forms as a tree of words."""

    def __init__(self, base_forms: Mapping[str, str]) -> None:
        self._number: dict[str, int] = {}
        below: dict[tuple[int, int], int] = {}
        ends: dict[int, int] = {}
        numbers: dict[str, int] = {}
        for phrase, base in base_forms.items():
            # An entry with a digit or a hyphen is never a run of tokens.
            if not _WORDS.fullmatch(phrase):
                continue
            node = 0
            for word in phrase.split():
                number = self._number.setdefault(word, len(self._number))
                node = below.setdefault((node, number), len(below) + 1)
            ends[node] = numbers.setdefault(base, len(numbers))
        self.terms = list(numbers)  # base forms
        # At most a quarter of the slots is used, so that searches are short.
        size, words = 1 << (4 * len(below) + 4).bit_length(), max(len(self._number), 1)
        term = np.full(len(below) + 1, -1, dtype=np.int32)
        term[list(ends)] = list(ends.values())
        self.tree = Tree(np.zeros(size, np.int64), np.zeros(size, np.int32), words, term)
        steps = np.array([(*step, node) for step, node in below.items()], np.int64).reshape(-1, 3)
        _plant(self.tree, steps)

    def word(self, token: str) -> int:
        """Return the number of the word `token`, -1 if no phrase has it."""
        return self._number.get(token, -1)


@compiled
def _slot(tree: Any, node: int, word: int) -> Any:
    """Return the slot of the step from `node` by `word`, or the free slot where it belongs."""
    mask = np.uint64(tree.keys.size - 1)
    key = np.int64(node) * tree.words + word + 1
    slot = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32) & mask
    while tree.keys[slot] and tree.keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@compiled
def _plant(tree: Any, steps: Any) -> None:
    """Put the steps down the tree into their slots."""
    for i in range(steps.shape[0]):
        slot = _slot(tree, steps[i, 0], steps[i, 1])
        tree.keys[slot] = steps[i, 0] * tree.words + steps[i, 1] + 1
        tree.nodes[slot] = steps[i, 2]


def joined(
    tree: Tree, numbers: Numbers, terms: Numbers, words: Numbers, ends: Ints
) -> tuple[Numbers, Ints]:
    """Return the terms of each text with phrases joined to one term, and where each text ends."""
    made, made_ends = np.empty_like(terms), np.empty_like(ends)
    used = _join(tree, numbers, terms, words, ends, made, made_ends)
    return made[:used], made_ends


@compiled
def _join(tree: Any, numbers: Any, own: Any, words: Any, ends: Any, new: Any, new_ends: Any) -> Any:
    """Walk through the texts token by token, and over a phrase in one step."""
    at = used = 0
    for text in range(ends.size):
        while at < ends[text]:
            behind, phrase = _longest(tree, words, at, ends[text])
            new[used] = own[at] if phrase < 0 else numbers[phrase]
            used += 1
            at = behind
        new_ends[text] = used
    return used


@compiled
def _longest(tree: Any, words: Any, at: int, end: int) -> Any:
    """Return where the longest phrase that starts at token `at` ends, and its number (-1: none)."""
    behind, phrase, node = at + 1, -1, 0
    for i in range(at, end):
        if words[i] < 0:
            break
        slot = _slot(tree, node, words[i])
        if not tree.keys[slot]:
            break
        node = tree.nodes[slot]
        if tree.term[node] >= 0:
            behind, phrase = i + 1, tree.term[node]
    return behind, phrase
