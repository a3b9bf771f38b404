"""Words of a query that no search looks for, and what was probably meant instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from anonymizer.terms.stemming import stop_words

from ...workspace.profile_choices import terms_are_words, usual_terms
from ..site import Site
from .results import Cards

NO_CARDS: Cards = MappingProxyType({})
MOST_WORDS = 12  # of a query; later ones are searched, but no page speaks of them
MOST_SLIPS = 3  # words that are looked up in the dictionary
_WORD = re.compile(r"(?<!\S)[^\w\s]*(\w(?:\S*\w)?)")
_EXACT = re.compile(r'(?<!\S)(?:[+-]?"[^"]*"|-\S+)')  # phrases, and what must not be there


class IgnoredWords(NamedTuple):
    """The words of a query that its search ignores, and a better query."""

    common: list[str]  # so common that the index has none of them
    absent: list[str]  # in no document
    meant: str = ""  # the query with terms of the index instead of absent words; "": none is near


NOTHING = IgnoredWords([], [])


def ignored(site: Site, query: str, operators: bool, known: Cards = NO_CARDS) -> IgnoredWords:
    """Return the words that a search for `query` ignores, of its first MOST_WORDS.

    Words that stand in the snippets of `known` documents need not be counted.

    What was meant comes from the index's own terms, never from queries.
    """
    # Blanks instead of an exact part keep the places of the words after it.
    text = _EXACT.sub(lambda part: " " * len(part[0]), query) if operators else query
    seen = {part.text.lower() for card in known.values() for part in card.snippet if part.marked}
    words = [
        word for word in islice(_WORD.finditer(text), MOST_WORDS) if word[1].lower() not in seen
    ]
    ignorable = stop_words(usual_terms(site.settings.language))
    common = [word for word in words if word[1].lower() in ignorable]
    rare = [word for word in words if word not in common]
    counts = site.modes.engine.document_counts([word[1] for word in rare]) if rare else []
    absent = [word for word, count in zip(rare, counts, strict=True) if count == 0]
    if not (common or absent):
        return NOTHING
    slips = absent[:MOST_SLIPS] if terms_are_words(site.settings) else []
    nearest = {word: site.modes.engine.nearest(word[1]) for word in slips}
    meant = query
    # From the last word on, so that places before it stay.
    for word, near in reversed(nearest.items()):
        start, end = word.span(1)
        meant = meant[:start] + (near or word[1]) + meant[end:]
    return IgnoredWords(
        common=_once(word[1] for word in common),
        absent=_once(word[1] for word in absent),
        meant=meant if any(nearest.values()) else "",
    )


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
