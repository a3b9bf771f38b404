"""How the query was read, plainly or with operators, and where it is read the other way."""

from __future__ import annotations

from typing import NamedTuple

from .question import Question, address
from .site import Site

PLAIN = "Quotes, + and − were read as plain words."
USED = "Quotes keep words together, + asks for a word, − leaves it out."


class Syntax(NamedTuple):
    """What to say, and the other way to read the query."""

    text: str
    other: str
    address: str


def syntax(site: Site, question: Question, endpoint: str) -> Syntax | None:
    """Say how a query was read if it could be read otherwise."""
    if not question.has_operators and question.operators == site.settings.operators:
        return None
    other = question.read_with(not question.operators)
    there = address(endpoint, other, site)
    if question.operators:
        return Syntax(USED, "Search for plain words", there)
    return Syntax(PLAIN, "Search with them", there)
