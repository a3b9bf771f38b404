"""A person's text to a Lucene query: a bag of words or, with operators, phrases, + and -. [I/O]

A bag of words is Anserini's: each distinct term once, boosted by how often it occurs. Terms of the
title, if they count, only add to the score of what the query finds without them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple
from unicodedata import normalize

from ..model import clean
from .java import ENGLISH, analyzer, java

MOST_TERMS = 1000  # different words of a query; later ones do not count
# For Lucene, which refuses queries with more: each term in the contents and in the title.
MOST_CLAUSES = 2 * MOST_TERMS + 24
LONGEST = 200_000  # characters; Lucene takes too long for more

_PIECE = re.compile(r'(?<!\S)([+-]?)(?:"([^"]*)"|(\S+))|(\S+)')
_ORDER = {"-": 0, "+": 1, "": 2}
_OCCUR = {"+": "MUST", "-": "MUST_NOT", "": "SHOULD"}


class Exact(NamedTuple):
    """A phrase, or a word with a sign."""

    sign: str
    text: str
    terms: tuple[str, ...]


class ScoringPart(NamedTuple):
    """A part of a query that has a score of its own."""

    field: str
    term: str  # a phrase stands in quotes
    boost: float
    exact: Exact | None = None  # if it is no word of the bag


@dataclass(frozen=True)
class ParsedQuery:
    """The parts of a person's text, cut to what Lucene takes."""

    bag: str  # words without order
    analyzed: bool  # whether the bag holds terms instead of words
    exact: tuple[Exact, ...]
    cut: bool
    language: str = ENGLISH


def parse_query(text: str, *, operators: bool = False, language: str = ENGLISH) -> ParsedQuery:
    """Return the parts of `text`, which is never refused; `operators` are quotes, + and -.

    Words are analyzed as those of documents in `language`.
    """
    text = normalize("NFC", clean(text))  # as people's own documents are
    exact: tuple[Exact, ...] = ()
    cut = len(text) > LONGEST
    text, left = text[:LONGEST], MOST_TERMS
    if operators:
        text, pieces = _pieces(text)
        exact, dropped = _exact(pieces, language)
        cut |= dropped
        left -= sum(len(part.terms) for part in exact)
    # So short a text has no more terms than characters, and need not be analyzed here.
    if len(text) <= left:
        return ParsedQuery(text, False, exact, cut, language)
    tokens = _terms(text, language)
    distinct = list(dict.fromkeys(tokens))
    kept = set(distinct[:left])
    bag = " ".join(token for token in tokens if token in kept)
    return ParsedQuery(bag, True, exact, cut or len(distinct) > left, language)


def lucene_query(query: ParsedQuery, title_boost: float = 0.0) -> Any:
    """Return `query` as Lucene takes it; with a `title_boost` the title counts, too."""
    whole = _in_field("contents", query)
    if not title_boost:
        return whole
    # The title only adds to the score, so nothing is required of it.
    title = _boosted(_in_field("title", wished_of(query)), title_boost)
    return _together([("MUST", whole), ("SHOULD", title)])


def parts_of(query: ParsedQuery, title_boost: float = 0.0) -> Iterator[ScoringPart]:
    """Yield the scoring parts of `query`: a document's score is the sum of theirs."""
    wished = wished_of(query)
    for field, boost in (("contents", 1.0), ("title", title_boost)):
        if not boost:
            continue
        for term, count in bag_of(query).items():
            yield ScoringPart(field, term, count * boost)
        for part in wished.exact:
            name = f'"{" ".join(part.terms)}"' if len(part.terms) > 1 else part.terms[0]
            yield ScoringPart(field, name, boost, part)


def clauses(query: ParsedQuery, title_boost: float = 0.0) -> Iterator[tuple[ScoringPart, Any]]:
    """Yield the scoring parts of `query`, and each as Lucene takes it."""
    for part in parts_of(query, title_boost):
        if part.exact:
            wanted = _phrase(part.field, part.exact.text, query.language)
        else:
            indexed = java("org.apache.lucene.index.Term")(part.field, part.term)
            wanted = java("org.apache.lucene.search.TermQuery")(indexed)
        yield part, _boosted(wanted, part.boost)


def bag_of(query: ParsedQuery) -> dict[str, int]:
    """Return each term of the bag of `query`, and how often it stands there."""
    terms = query.bag.split(" ") if query.analyzed else _terms(query.bag, query.language)
    return {term: count for term, count in Counter(terms).items() if term}


def terms_of(word: str, language: str) -> list[str]:
    """Return the terms under which `word` of `language` is indexed: none if it is a stop word."""
    return _terms(normalize("NFC", clean(word)), language)


def _pieces(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the plain words of `text`, and its phrases and words with a sign: sign and text."""
    words, exact = [], dict[tuple[str, str], None]()
    for sign, phrase, word, rest in _PIECE.findall(text):
        if rest or (word and not sign):
            words.append(rest or word)
        elif phrase or word:
            exact[sign, phrase or word] = None
    return " ".join(words), list(exact)


def _exact(pieces: list[tuple[str, str]], language: str) -> tuple[tuple[Exact, ...], bool]:
    """Return the analyzed pieces, as far as there is room for their terms, and if any were cut."""
    # Unwanted pieces come first: if they were cut, unwanted documents would be found.
    kept, left, cut = [], MOST_TERMS, len(pieces) > MOST_TERMS
    for sign, text in sorted(pieces, key=lambda piece: _ORDER[piece[0]])[:MOST_TERMS]:
        terms = _terms(text, language)
        if len(terms) > left:
            cut = True
        elif terms:
            kept.append(Exact(sign, text, tuple(terms)))
            left -= len(terms)
    return tuple(kept), cut


def wished_of(query: ParsedQuery) -> ParsedQuery:
    """Return `query` without unwanted parts, and with nothing required."""
    exact = tuple(part._replace(sign="") for part in query.exact if part.sign != "-")
    return replace(query, exact=exact)


def _in_field(field: str, query: ParsedQuery) -> Any:
    analysis = _blanks() if query.analyzed else analyzer(query.language)
    bag = _generator().buildQuery(field, analysis, query.bag)
    if not query.exact:
        return bag
    parts = [(_OCCUR[part.sign], _phrase(field, part.text, query.language)) for part in query.exact]
    return _together([*parts, ("SHOULD", bag)])


def _together(parts: list[tuple[str, Any]]) -> Any:
    occur = java("org.apache.lucene.search.BooleanClause$Occur")
    builder = java("org.apache.lucene.search.BooleanQuery$Builder")()
    for name, query in parts:
        builder.add(query, getattr(occur, name))
    return builder.build()


def _phrase(field: str, text: str, language: str) -> Any:
    """Return the query for the words of `text` in this order; a stop word stands for any word."""
    return _builder(language).createPhraseQuery(field, text)


def _boosted(query: Any, boost: float) -> Any:
    return java("org.apache.lucene.search.BoostQuery")(query, float(boost))


def _terms(text: str, language: str) -> list[str]:
    terms = java("io.anserini.analysis.AnalyzerUtils").analyze(analyzer(language), text)
    return [str(term) for term in terms.toArray()]


@cache
def _builder(language: str) -> Any:
    return java("org.apache.lucene.util.QueryBuilder")(analyzer(language))


@cache
def _blanks() -> Any:
    return java("org.apache.lucene.analysis.core.WhitespaceAnalyzer")()


@cache
def _generator() -> Any:
    return java("io.anserini.search.query.BagOfWordsQueryGenerator")()
