"""The analysis of text into terms, which is the same for queries, profiles and documents."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Protocol

import numpy as np

from ..arrays import Marks

# Lucene's English stop words.
_STOP_WORDS = """
a an and are as at be but by for if in into is it no not of on or such
that the their then there these they this to was will with
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
_LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_AND_DIGITS = re.compile(r"[^\W_]+")


class Vocabulary(Protocol):
    """Anything that knows the base forms of words, as WordNet does."""

    def base_form(self, word: str) -> str | None:
        """Return the base form of `word`, None if the word is unknown."""


@cache
def _table(runs: re.Pattern[str]) -> Marks:
    # A compiled loop can't use a pattern, but it can look a code point up.
    table = np.zeros(sys.maxunicode + 1, dtype=np.bool_)
    for run in runs.finditer("".join(map(chr, range(table.size)))):
        table[run.start() : run.end()] = True
    return table


class WordAnalysis:
    """Text -> terms: each token itself, without stop words.

    With `digits`, tokens are runs of letters and digits, and stop words stay: section 5.1 of
    Burghardt et al., whose most frequent term is "or". Their letters are A-Z, À-Ö, Û-Ý, ß-ö and
    ü-ž. Here a letter is what Unicode calls one: ø, ù and ú, too, which they take for blanks.
    """

    def __init__(self, *, digits: bool = False):
        self._runs = _LETTERS_AND_DIGITS if digits else _LETTERS
        self._stop_words: frozenset[str] = frozenset() if digits else STOP_WORDS

    @property
    def characters(self) -> Marks:
        """Return a table of all code points: True for those that tokens are made of."""
        return _table(self._runs)

    def terms(self, text: str) -> list[str]:
        """Return the terms of `text` in order, a repeated one each time."""
        tokens = self._runs.findall(text.lower())
        return [token for token in tokens if token not in self._stop_words]

    def term(self, token: str) -> str:
        """Return the term of `token`, '' where it has none."""
        return "" if token in self._stop_words else token


class Analysis:
    """Text -> terms: the base form of each token that the vocabulary knows."""

    @property
    def characters(self) -> Marks:
        """Return a table of all code points: True for those that tokens are made of."""
        return _table(_LETTERS)

    def __init__(self, vocabulary: Vocabulary, stop_words: frozenset[str] = STOP_WORDS):
        self._base_forms = _BaseForms(vocabulary, stop_words)

    def terms(self, text: str) -> list[str]:
        """Return the terms of `text` in order, a repeated one each time."""
        base_forms = self._base_forms
        terms = [base_forms[token] for token in _LETTERS.findall(text.lower())]
        return [term for term in terms if term]

    def term(self, token: str) -> str:
        """Return the term of `token`, '' where it has none."""
        return self._base_forms[token]


class _BaseForms(dict[str, str]):
    """A cache of base forms: token -> term, '' where there is none."""

    def __init__(self, vocabulary: Vocabulary, stop_words: frozenset[str]):
        super().__init__(dict.fromkeys(stop_words, ""))
        self._vocabulary = vocabulary

    def __missing__(self, token: str) -> str:
        term = self._vocabulary.base_form(token) or ""
        # Bounded: a corpus of typos must not fill the memory.
        if len(self) < 1_000_000:
            self[token] = term
        return term
