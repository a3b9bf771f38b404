"""A request's parameters as one checked question, and the addresses of pages that ask it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from flask import Request, abort, current_app, request, url_for

from ..search.candidates import MOST
from ..search.request import COSINES, EVIDENCE, RANKINGS, RankingRule, rule_of
from ..settings import DEMO, PLAIN, Settings
from .parameters import LONGEST, MODE, OPERATORS, PAGE, POOL, RANKING, SIZE, read_parameters
from .site import Site
from .visitors.access import NOBODY_HERE, person

Item = TypeVar("Item")
_OPERATOR = re.compile(r'(?<!\S)(?:[+-]?"[^"]*[^\W_][^"]*"|[+-][^\W_])')  # a phrase, +must, -not
# A page has dozens of addresses, so each is built once.
_KEPT, _MOST = "veilsearch addresses", 4096
AS_WORDS = "Quotes, + and − were read as plain words."
AS_OPERATORS = "Quotes keep words together, + asks for a word, − leaves it out."


@dataclass(frozen=True)
class Question:
    """A query, the person who asks it, and how it is answered."""

    query: str
    user: str
    mode: str
    pool: int
    page: int
    cut: bool  # the query was too long; its beginning is searched
    operators: bool = False  # quotes, + and - mean something
    rule: RankingRule = COSINES
    size: int = 10  # results a page
    named: bool = True  # addresses name the person: only where people are invented

    def parameters(self, usual: Settings) -> dict[str, Any]:
        """Return the parameters that ask this question, without those at their `usual` value."""
        values = {
            "q": self.query,
            "user": self.user if self.named else "",
            "mode": self.mode if self.user else "",
            "pool": "" if self.pool == usual.pool else str(self.pool),
            "operators": "" if self.operators == usual.operators else str(int(self.operators)),
            "ranking": "" if self.rule == rule_of(usual) else self.rule.ranking,
            "page": "" if self.page == 1 else str(self.page),
        }
        return {name: value for name, value in values.items() if value}

    def but(self, **changes: Any) -> Question:
        """Return this question with `changes`, from its first page unless they name another."""
        return replace(self, **{"page": 1, **changes})


def read_question(arguments: Mapping[str, str], site: Site, *, sized: bool = False) -> Question:
    """Return the question in `arguments` to `site`; refuse all that is wrong in one sentence.

    If it is `sized`, they choose how many results a page has; else the settings do.
    """
    user = person(site, arguments)
    read = (POOL, PAGE, MODE, RANKING, OPERATORS, *([SIZE] if sized else ()))
    values = read_parameters(arguments, read, site)
    mode, pool, page = values["mode"], values["pool"], values["page"]
    if site.access == PLAIN and mode not in ("", "none"):
        abort(403, NOBODY_HERE)
    size = values.get(SIZE.name, site.settings.top)
    pages = -(-pool // size)
    if page > pages:
        abort(400, f"page={page} must be a whole number from 1 to {pages}")
    # Control characters become blanks, and unpaired surrogates, which UTF-8 can't encode.
    signs = ((c, unicodedata.category(c) in ("Cc", "Cs")) for c in arguments.get("q", ""))
    query = "".join(" " if odd else c for c, odd in signs).strip()
    return Question(
        query=query[:LONGEST].strip(),
        user=user,
        mode=mode or site.modes.usual_mode(user),
        pool=pool,
        page=page,
        cut=len(query) > LONGEST,
        operators=values["operators"],
        rule=site.rule._replace(ranking=values["ranking"]),
        size=size,
        named=site.access == DEMO,
    )


def link(endpoint: str, **values: Any) -> str:
    """Return the address of the page at `endpoint`, as Flask's url_for does."""
    # Values may be of somebody's search, so of these only names of our own files are remembered.
    if values and endpoint != "assets.file":
        return url_for(endpoint, **values)
    known: dict[tuple[Any, ...], str] = current_app.extensions.setdefault(_KEPT, {})
    # url_for puts the request's own root before the path.
    key = (request.script_root, endpoint, *sorted(values.items()))
    if key not in known:
        if len(known) >= _MOST:
            known.clear()
        known[key] = url_for(endpoint, **values)
    return known[key]


def paging(page: int, last: int, address_of: Callable[[int], str]) -> dict[str, str]:
    """Return the addresses of the pages before and after `page` that there are, up to `last`."""
    wanted = {"first": 1, "previous": page - 1, "next": page + 1, "last": last}
    return {name: address_of(at) for name, at in wanted.items() if 1 <= at <= last and at != page}


def part_of(items: Sequence[Item], page: int, size: int, what: str) -> tuple[Sequence[Item], int]:
    """Return the `page` of `items`, of `size` each, and the number of the last one.

    A page after the last one is refused, as a page of `what`.
    """
    last = max(1, -(-len(items) // size))
    if page > last:
        abort(404, f"There is no such page of {what}; the last one is {last}.")
    return items[size * (page - 1) : size * page], last


def address(endpoint: str, question: Question, site: Site) -> str:
    """Return the address of the page at `endpoint` that asks `question`."""
    query = urlencode(question.parameters(site.settings))
    return f"{link(endpoint)}?{query}" if query else link(endpoint)


def device_address(question: Question, site: Site) -> str:
    """Return the address where a device asks `question` with its own profile; "" if closed."""
    if not site.on_device:
        return ""
    pool = min(question.pool, MOST)
    nameless = replace(question, user="", pool=pool, page=1)
    return address("device.show", nameless, site)


class Syntax(NamedTuple):
    """A sentence on how the query was read, and a link to the other reading."""

    text: str
    other: str
    address: str


def syntax(site: Site, question: Question, endpoint: str) -> Syntax | None:
    """Return how the query of `question` was read; None where it has one reading only."""
    if not _OPERATOR.search(question.query) and question.operators == site.settings.operators:
        return None
    other = question.but(operators=not question.operators)
    there = address(endpoint, other, site)
    if question.operators:
        return Syntax(AS_OPERATORS, "Search for plain words", there)
    return Syntax(AS_WORDS, "Search with them", there)


_ORDERS = {
    COSINES.ranking: (
        "All by likeness",
        "All results are ordered by how alike they are to the interests (cosine), as in the "
        "papers.",
    ),
    EVIDENCE: (
        "Only on evidence",
        "A result moves only as far as the interests, beyond what everybody shares, fit this "
        "search; otherwise the order is plain.",
    ),
}


class RankingChoice(NamedTuple):
    """A way in which interests can order the pool."""

    name: str
    meaning: str
    address: str
    chosen: bool


def rankings(site: Site, question: Question, endpoint: str) -> list[RankingChoice]:
    """Return the ways to order the pool of `question`, as choices of the page at `endpoint`."""
    if not question.user:
        return []
    there = {
        ranking: question.but(rule=question.rule._replace(ranking=ranking)) for ranking in RANKINGS
    }
    return [
        RankingChoice(
            *_ORDERS[ranking], address(endpoint, other, site), other.rule == question.rule
        )
        for ranking, other in there.items()
    ]


def counts(sent: Request) -> bool:
    """Return whether `sent` is a person's search: no HEAD request and not from another site."""
    return sent.method == "GET" and sent.headers.get("Sec-Fetch-Site") != "cross-site"
