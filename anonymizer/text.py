"""The one analysis of text: queries, profiles and documents all pass through here."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

# Lucene's English stop words.
_STOP_WORDS = """
a an and are as at be but by for if in into is it no not of on or such
that the their then there these they this to was will with
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
_LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_AND_DIGITS = re.compile(r"[^\W_]+")


class Vocabulary(Protocol):
    """Whatever knows the base forms of words; WordNet does."""

    def base_form(self, word: str) -> str | None:
        """Return the base form of a known word."""
        ...


def tokens(text: str) -> list[str]:
    """Split text into lower-case runs of letters without stop words."""
    return [token for token in _LETTERS.findall(text.lower()) if token not in STOP_WORDS]


@cache
def letters() -> NDArray[np.bool_]:
    """Return a table of all code points: is it a letter, as tokens are made of?"""
    return _table(_LETTERS)


@cache
def _table(runs: re.Pattern[str]) -> NDArray[np.bool_]:
    table = np.zeros(sys.maxunicode + 1, dtype=np.bool_)
    for run in runs.finditer("".join(map(chr, range(table.size)))):
        table[run.start() : run.end()] = True
    return table


class Words:
    """Text -> terms: each token itself, stop words left out.

    With digits tokens are runs of letters and digits and none is left out: section 5.1 of Burghardt
    et al., whose most frequent term is "or". They take À-Ö, Û-Ý, ß-ö and ü-ž for letters beside
    A-Z; here a letter is what Unicode calls so, as ø, ù and ú are, which they take for blanks.
    """

    def __init__(self, *, digits: bool = False):
        self._runs = _LETTERS_AND_DIGITS if digits else _LETTERS
        self._stop_words: frozenset[str] = frozenset() if digits else STOP_WORDS

    @property
    def characters(self) -> NDArray[np.bool_]:
        """Return a table of all code points: are tokens made of it?"""
        return _table(self._runs)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text, every occurrence in order."""
        found = self._runs.findall(text.lower())
        return [token for token in found if token not in self._stop_words]

    def term(self, token: str) -> str:
        """Return a token's term, '' where it has none."""
        return "" if token in self._stop_words else token


class Analysis:
    """Text -> terms: each token's base form, tokens unknown to the vocabulary left out."""

    @property
    def characters(self) -> NDArray[np.bool_]:
        """Return a table of all code points: are tokens made of it?"""
        return letters()

    def __init__(self, vocabulary: Vocabulary):
        self._base_forms = _BaseForms(vocabulary)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text, every occurrence in order."""
        base_forms = self._base_forms
        found = [base_forms[token] for token in _LETTERS.findall(text.lower())]
        return [term for term in found if term]

    def term(self, token: str) -> str:
        """Return a token's term, '' where it has none."""
        return self._base_forms[token]


class _BaseForms(dict[str, str]):
    """A memory of base forms: token -> term, '' where there is none."""

    def __init__(self, vocabulary: Vocabulary):
        super().__init__(dict.fromkeys(STOP_WORDS, ""))
        self._vocabulary = vocabulary

    def __missing__(self, token: str) -> str:
        term = self._vocabulary.base_form(token) or ""
        if len(self) < 1_000_000:  # a corpus of typos must not fill the memory
            self[token] = term
        return term
