"""Phrases: several tokens that are one term, found by a walk down a tree of words.

At each token of a text, the longest run of two or more tokens that has a base form is one term.
The search goes on behind it. Stop words count as tokens here. Where no phrase starts, the token
keeps its own term.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import Ints, Numbers

_WORDS = re.compile(r"[^\W\d_]+( [^\W\d_]+)+")


class Phrases:
    """Phrases and their base forms as a tree of words; nodes and words are numbered."""

    def __init__(self, base_forms: Mapping[str, str]) -> None:
        self._number: dict[str, int] = {}
        self._below: dict[tuple[int, int], int] = {}  # node, word -> the node below
        self._phrase_at: dict[int, int] = {}  # node -> number of its phrase's base form
        numbers: dict[str, int] = {}
        for phrase, base in base_forms.items():
            # An entry with a digit or a hyphen is never a run of tokens.
            if not _WORDS.fullmatch(phrase):
                continue
            node = 0
            for word in phrase.split():
                number = self._number.setdefault(word, len(self._number))
                node = self._below.setdefault((node, number), len(self._below) + 1)
            self._phrase_at[node] = numbers.setdefault(base, len(numbers))
        self.terms = list(numbers)  # base forms

    def word(self, token: str) -> int:
        """Return the number of the word `token`, -1 if no phrase has it."""
        return self._number.get(token, -1)

    def joined(self, terms: Numbers, words: Numbers, ends: Ints) -> tuple[Numbers, Ints]:
        """Return the terms of each text with phrases joined to one term, and where each text ends.

        The tokens of all texts have `terms` and `words`. A phrase has the number of its base form.
        """
        own, numbers, made, made_ends, at = terms.tolist(), words.tolist(), [], [], 0
        for end in ends.tolist():
            while at < end:
                behind, phrase = self._longest(numbers, at, end)
                made.append(own[at] if phrase < 0 else phrase)
                at = behind
            made_ends.append(len(made))
        return np.array(made, dtype=np.int32), np.array(made_ends, dtype=np.int64)

    def _longest(self, words: Sequence[int], at: int, end: int) -> tuple[int, int]:
        """Return where the longest phrase from `at` on ends, and its number (-1: none)."""
        behind, phrase, node = at + 1, -1, 0
        for i in range(at, end):
            node = self._below.get((node, words[i]), -1)
            if node < 0:
                break
            if node in self._phrase_at:
                behind, phrase = i + 1, self._phrase_at[node]
        return behind, phrase
