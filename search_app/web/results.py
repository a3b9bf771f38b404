"""Pages of rankings, ready to be shown; each document is read and cut once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import numpy as np
from markupsafe import Markup, escape

from index.model import Document

from ..engine import Engine, Ranking
from ..explanation import reasons
from ..modes import Answer
from ..snippet import SIZE, Part, snippet
from .question import Question, address
from .site import Site
from .wording import Move, move, moved_because

_LINKED = Markup('<a href="%s" rel="noreferrer noopener">%s</a>')
_MARKED, _NOTHING = Markup("<mark>%s</mark>"), Markup()  # what they take in they escape
_SHOWN = Markup('<p class="snippet" dir="auto">%s</p>')
_REASON = Markup('<span dir="auto">%s</span> ')
_BECAUSE = Markup(
    '<p class="reason">%s<a class="why" href="%s">Why here?<span class="unseen"> %s</span></a></p>'
)
_MOVED = Markup(
    '<span class="move {0.kind}" role="img" aria-label="{0.label}" title="{0.label}">'
    "{0.text}</span>"
)


class Card(NamedTuple):
    """What is shown of a document wherever it stands."""

    key: int  # its row: the same document has the same key in every column
    title: str
    link: str
    source: str
    snippet: list[Part]
    id: str  # the document's own
    heading: Markup = _NOTHING  # the title, linked where there is somewhere to go
    shown: Markup = _NOTHING  # the snippet
    where: Markup = _NOTHING  # the source; all three are made once, in however many columns


class Result(NamedTuple):
    """A document at its rank."""

    rank: int
    plain_rank: int
    move: Move
    card: Card
    reason: str = ""  # what it shares with the interests that order it
    why: str = ""  # where its place is explained

    @property
    def because(self) -> Markup:
        """Return the reason and where to read more; nothing where no reasons are given."""
        if not self.why:
            return _NOTHING
        told = moved_because(self.rank, self.plain_rank, self.reason)
        reason = _REASON % told if told else _NOTHING
        return _BECAUSE % (reason, self.why, self.card.title)

    @property
    def chip(self) -> Markup:
        """Return how it moved, for the eye and for the ear."""
        return _chip(self.move)


class Because(NamedTuple):
    """A short reason for each document of a page, and where longer ones are given."""

    reasons: list[str]
    page: str


class Gone(NamedTuple):
    """A document of the first plain ranks that fell below the ranks shown."""

    plain_rank: int
    rank: int
    card: Card


Cards = Mapping[int, Card]


def cards(
    engine: Engine,
    rankings: Sequence[Ranking],
    query: str,
    *,
    first: int = 0,
    count: int = 10,
    size: int = SIZE,
) -> Cards:
    """Read the documents that stand at some places of any of the rankings."""
    rows = np.unique(np.concatenate([r.rows[first : first + count] for r in rankings]))
    unordered = Ranking(rows, np.zeros(rows.size), np.zeros(rows.size, dtype=np.int64))
    documents = engine.documents(unordered, 0, rows.size)
    return {
        row: _card(row, document, query, size)
        for row, document in zip(rows.tolist(), documents, strict=True)
    }


def _card(row: int, document: Document, query: str, size: int) -> Card:
    link = web_address(document.url)
    title = document.title.strip() or document.id.strip() or "Untitled"
    source = f"{urlsplit(link).hostname} · {document.id}" if link else document.id
    parts = snippet(document.text, query, size)
    return Card(
        key=row,
        title=title,
        link=link,
        source=source,
        snippet=parts,
        id=document.id,
        heading=_LINKED % (link, title) if link else escape(title),
        shown=_SHOWN % _NOTHING.join(_MARKED % text if marked else text for text, marked in parts),
        where=escape(source),
    )


@lru_cache(maxsize=10_000)
def _chip(move: Move) -> Markup:
    return _MOVED.format(move)


def web_address(url: str) -> str:
    """Return an address that is safe to link to, or nothing."""
    try:
        parts = urlsplit(url.strip())
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return ""
    return url.strip() if known else ""


def because(
    site: Site, question: Question, answer: Answer, *, first: int = 0, count: int = 10
) -> Because:
    """Give the reasons for a page of an answer."""
    lone = site.lone(answer.mode) is not None
    told = reasons(site.modes.engine, answer.request, answer.ranking, first, count, lone=lone)
    return Because(told, address("why.show", question.in_mode(answer.mode), site))


def results(
    ranking: Ranking,
    known: Cards,
    *,
    first: int = 0,
    count: int = 10,
    shown: int | None = None,
    because: Because | None = None,
) -> list[Result]:
    """Lay out a page of a ranking; beyond the plain ranks shown a document counts as new."""
    page = slice(first, first + count)
    places = zip(ranking.rows[page].tolist(), ranking.plain_ranks[page].tolist(), strict=True)
    found = [
        Result(rank, plain_rank, move(rank, plain_rank, shown), known[row])
        for rank, (row, plain_rank) in enumerate(places, first + 1)
    ]
    return _with_reasons(found, because) if because else found


def _with_reasons(found: list[Result], because: Because) -> list[Result]:
    return [
        result._replace(reason=reason, why=f"{because.page}&doc={quote(result.card.id, safe='')}")
        for result, reason in zip(found, because.reasons, strict=True)
    ]


def gone(ranking: Ranking, known: Cards, shown: int) -> list[Gone]:
    """List the first plain documents that a ranking has moved below the ranks shown."""
    at = np.flatnonzero(ranking.plain_ranks <= shown)
    at = at[at >= shown]
    at = at[np.argsort(ranking.plain_ranks[at])]
    return [
        Gone(int(ranking.plain_ranks[place]), place + 1, known[int(ranking.rows[place])])
        for place in at.tolist()
    ]
