"""A person's text to a Lucene query: a bag of words or, where asked, phrases, + and -. [I/O]

A bag of words is Anserini's: each distinct term once, boosted by how often it is asked. Terms of
the title, if they count, only add to the score of what the query finds without them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from .java import analyzer, java
from .model import clean

MOST_TERMS = 1000
MOST_CLAUSES = 2 * MOST_TERMS + 24  # for Lucene: each term in the contents and in the title
LONGEST = 200_000  # characters: more take Lucene longer than anybody waits

_PIECE = re.compile(r'(?<!\S)([+-]?)(?:"([^"]*)"|(\S+))|(\S+)')
_ORDER = {"-": 0, "+": 1, "": 2}
_OCCUR = {"+": "MUST", "-": "MUST_NOT", "": "SHOULD"}


class Exact(NamedTuple):
    """A phrase, or a word with a sign."""

    sign: str
    text: str
    terms: tuple[str, ...]


class Clause(NamedTuple):
    """A part of a query that scores by itself."""

    field: str
    term: str
    query: Any


@dataclass(frozen=True)
class Asked:
    """What a text asks for, cut to what Lucene takes."""

    bag: str  # words without order
    analyzed: bool  # the bag holds terms already
    exact: tuple[Exact, ...]
    cut: bool


def ask(text: str, *, operators: bool = False) -> Asked:
    """Read a text; quotes, + and - mean something only if operators do. No text is refused."""
    text = clean(text)
    exact: tuple[Exact, ...] = ()
    cut = len(text) > LONGEST
    text, left = text[:LONGEST], MOST_TERMS
    if operators:
        text, pieces = _pieces(text)
        exact, dropped = _exact(pieces)
        cut |= dropped
        left -= sum(len(each.terms) for each in exact)
    if len(text) <= left:
        return Asked(text, False, exact, cut)
    tokens = _terms(text)
    distinct = list(dict.fromkeys(tokens))
    kept = set(distinct[:left])
    bag = " ".join(token for token in tokens if token in kept)
    return Asked(bag, True, exact, cut or len(distinct) > left)


def lucene_query(asked: Asked, title_boost: float = 0.0) -> Any:
    """Return the whole query as Lucene takes it."""
    whole = _in_field("contents", asked)
    if not title_boost:
        return whole
    title = _boosted(_in_field("title", _wished(asked)), title_boost)
    return _together([("MUST", whole), ("SHOULD", title)])


def clauses(asked: Asked, title_boost: float = 0.0) -> Iterator[Clause]:
    """Return all that scores, one by one: the sum over a found document is its score."""
    counts = Counter(asked.bag.split(" ") if asked.analyzed else _terms(asked.bag))
    wished = _wished(asked)
    for field, boost in (("contents", 1.0), ("title", title_boost)):
        if not boost:
            continue
        for term, count in counts.items():
            if term:
                yield Clause(field, term, _boosted(_exactly(field, term), count * boost))
        for each in wished.exact:
            name = f'"{" ".join(each.terms)}"' if len(each.terms) > 1 else each.terms[0]
            yield Clause(field, name, _boosted(_phrase(field, each.text), boost))


def _pieces(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Part plain words from phrases and from words with a sign: sign and text."""
    words, exact = [], dict[tuple[str, str], None]()
    for sign, phrase, word, rest in _PIECE.findall(text):
        if rest or (word and not sign):
            words.append(rest or word)
        elif phrase or word:
            exact[sign, phrase or word] = None
    return " ".join(words), list(exact)


def _exact(pieces: list[tuple[str, str]]) -> tuple[tuple[Exact, ...], bool]:
    """Analyze pieces while there is room for their terms; what is unwanted goes first."""
    kept, left, cut = [], MOST_TERMS, len(pieces) > MOST_TERMS
    for sign, text in sorted(pieces, key=lambda piece: _ORDER[piece[0]])[:MOST_TERMS]:
        terms = _terms(text)
        if len(terms) > left:
            cut = True
        elif terms:
            kept.append(Exact(sign, text, tuple(terms)))
            left -= len(terms)
    return tuple(kept), cut


def _wished(asked: Asked) -> Asked:
    """Leave out what is unwanted, and let nothing be required."""
    exact = tuple(each._replace(sign="") for each in asked.exact if each.sign != "-")
    return Asked(asked.bag, asked.analyzed, exact, asked.cut)


def _in_field(field: str, asked: Asked) -> Any:
    analysis = _blanks() if asked.analyzed else analyzer()
    bag = _generator().buildQuery(field, analysis, asked.bag)
    if not asked.exact:
        return bag
    parts = [(_OCCUR[each.sign], _phrase(field, each.text)) for each in asked.exact]
    return _together([*parts, ("SHOULD", bag)])


def _together(parts: list[tuple[str, Any]]) -> Any:
    occur = java("org.apache.lucene.search.BooleanClause$Occur")
    builder = java("org.apache.lucene.search.BooleanQuery$Builder")()
    for name, query in parts:
        builder.add(query, getattr(occur, name))
    return builder.build()


def _phrase(field: str, text: str) -> Any:
    """Return what stands in this order; the gap of a stop word is one of any word."""
    return _builder().createPhraseQuery(field, text)


def _exactly(field: str, term: str) -> Any:
    found = java("org.apache.lucene.index.Term")(field, term)
    return java("org.apache.lucene.search.TermQuery")(found)


def _boosted(query: Any, boost: float) -> Any:
    return java("org.apache.lucene.search.BoostQuery")(query, float(boost))


def _terms(text: str) -> list[str]:
    found = java("io.anserini.analysis.AnalyzerUtils").analyze(analyzer(), text)
    return [str(term) for term in found.toArray()]


@cache
def _builder() -> Any:
    return java("org.apache.lucene.util.QueryBuilder")(analyzer())


@cache
def _blanks() -> Any:
    return java("org.apache.lucene.analysis.core.WhitespaceAnalyzer")()


@cache
def _generator() -> Any:
    return java("io.anserini.search.query.BagOfWordsQueryGenerator")()
