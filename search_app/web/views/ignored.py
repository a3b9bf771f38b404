"""Words of a query that no search looks for, and what was probably meant instead."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from ..site import Site

MOST_WORDS = 12  # of a query; later ones are searched, but no page speaks of them
MOST_SLIPS = 3  # words that are looked up in the dictionary
_WORD = re.compile(r"(?<!\S)[^\w\s]*(\w(?:\S*\w)?)")
_EXACT = re.compile(r'(?<!\S)(?:[+-]?"[^"]*"|-\S+)')  # phrases, and what must not be there


class IgnoredWords(NamedTuple):
    """The words of a query that its search ignores, and a better query."""

    common: list[str]  # so common that the index has none of them
    absent: list[str]  # in no document
    meant: str = ""  # the query with terms of the index instead of absent words; "": none is near


def ignored(site: Site, query: str, operators: bool) -> IgnoredWords:
    """Return the words that a search for `query` ignores, of its first MOST_WORDS.

    What was meant comes from the index's own terms, never from queries.
    """
    # Blanks instead of an exact part keep the places of the words after it.
    text = _EXACT.sub(lambda part: " " * len(part[0]), query) if operators else query
    words = list(islice(_WORD.finditer(text), MOST_WORDS))
    counts = site.modes.engine.document_counts([word[1] for word in words])
    numbered = list(zip(words, counts, strict=True))
    absent = [word for word, count in numbered if count == 0]
    nearest = {word: site.modes.engine.nearest(word[1]) for word in absent[:MOST_SLIPS]}
    meant = query
    # From the last word on, so that places before it stay.
    for word, near in reversed(nearest.items()):
        start, end = word.span(1)
        meant = meant[:start] + (near or word[1]) + meant[end:]
    return IgnoredWords(
        common=_once(word[1] for word, count in numbered if count is None),
        absent=_once(word[1] for word in absent),
        meant=meant if any(nearest.values()) else "",
    )


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
