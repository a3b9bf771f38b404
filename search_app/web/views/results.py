"""Pages of rankings, prepared for templates; each document is read and cut only once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import numpy as np
from markupsafe import Markup

from index.forward.texts import Opening
from index.model import Document

from ...search.engine import Engine, Ranking
from ...search.explanation import reasons
from ...search.modes import Answer
from ...search.snippet import READ, SIZE, SnippetPart, snippet, stems
from ..escaping import escaped, filled
from ..question import Question, address, link
from ..site import Site
from ..wording import Move, move, moved_because

# noreferrer: a page's address has the query, which other sites must not learn.
_LINKED = '<a href="{}" rel="noreferrer noopener">{}</a>'
LONGEST_TEXT = 100_000  # characters of a document that its page shows
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")  # the same in an address
# Browsers resolve the steps . and .. before they send an address, so these ids have none.
_LINKABLE = re.compile(r"(?!/)(?!(.*/)?\.\.?(/|$)).+")
# Texts of documents are put into these by `filled`, which escapes them.
_MARKED, _NOTHING = "<mark>{}</mark>", Markup()
_SHOWN = '<p class="snippet" dir="auto">{}</p>'
_REASON = '<span dir="auto">{}</span> '
_BECAUSE = (
    '<p class="reason">{}<a class="why" href="{}">Why here?<span class="unseen"> {}</span></a></p>'
)
_MOVED = '<span class="move {}" role="img" aria-label="{}" title="{}">{}</span>'


class DocumentCard(NamedTuple):
    """What is shown of a document at any place."""

    key: int  # its row: the same document has the same key in every column
    title: str
    link: str
    source: str
    snippet: list[SnippetPart]
    id: str  # the document's own
    # Made once, because the same document can be in several columns.
    heading: Markup = _NOTHING  # the title, with a link to the document
    shown: Markup = _NOTHING  # the snippet
    where: Markup = _NOTHING  # the source


class StoredText(NamedTuple):
    """A document as its page shows it."""

    id: str
    title: str
    url: str  # where it comes from, if that is safe to link to
    text: str
    characters: int  # of the whole text


class Result(NamedTuple):
    """A document at its rank."""

    rank: int
    plain_rank: int
    move: Move
    card: DocumentCard
    reason: str = ""  # what it shares with the interests that order it
    why: str = ""  # the address that explains its place

    @property
    def because(self) -> Markup:
        """Return the reason and a link to more; empty where no reasons are given."""
        if not self.why:
            return _NOTHING
        text = moved_because(self.rank, self.plain_rank, self.reason)
        reason = filled(_REASON, text) if text else _NOTHING
        return filled(_BECAUSE, reason, self.why, self.card.title)

    @property
    def chip(self) -> Markup:
        """Return how it moved, for the eye and for screen readers."""
        return _chip(self.move)


class Because(NamedTuple):
    """A short reason for each document of a page, and the address of longer ones."""

    reasons: list[str]
    page: str


class GoneDocument(NamedTuple):
    """A document of the first plain ranks that fell below the ranks shown."""

    plain_rank: int
    rank: int
    card: DocumentCard


Cards = Mapping[int, DocumentCard]


def cards(
    engine: Engine,
    rankings: Sequence[Ranking],
    query: str,
    *,
    first: int = 0,
    count: int = 10,
    size: int = SIZE,
    opens: bool = False,
) -> Cards:
    """Return the documents at `count` places after `first` of any of the `rankings`.

    If it `opens`, a title without a web address leads to the document's page here.
    """
    page = own_pages() if opens else ""
    rows = np.unique(np.concatenate([r.rows[first : first + count] for r in rankings]))
    pairs = zip(rows.tolist(), engine.openings(rows), strict=True)
    wanted = stems(query)
    return {row: card(row, opening, wanted, size, page) for row, opening in pairs}


def card(
    row: int, opening: Opening, wanted: Set[str], size: int = SIZE, page: str = ""
) -> DocumentCard:
    """Return what is shown of a document at `row`, with a snippet of about `size` characters.

    It shows words with one of the `wanted` stems.

    Where it has no web address, its title leads to `page` and its id, if there is a page.
    """
    url = web_address(opening.url)
    title = title_of(opening)
    source = f"{urlsplit(url).hostname} · {opening.id}" if url else opening.id
    parts = snippet(opening.text(READ * size), wanted, size)
    return DocumentCard(
        key=row,
        title=title,
        link=url,
        source=source,
        snippet=parts,
        id=opening.id,
        heading=filled(_LINKED, url, title) if url else _opened(page, opening.id, title),
        shown=filled(_SHOWN, _marked(parts)),
        where=filled("{}", source),
    )


def stored(document: Document) -> StoredText:
    """Return what is shown of `document` on a page of its own: at most LONGEST_TEXT characters."""
    text = document.text
    url = web_address(document.url)
    return StoredText(document.id, title_of(document), url, text[:LONGEST_TEXT], len(text))


def _marked(parts: list[SnippetPart]) -> Markup:
    """Return the text of a snippet with the query's words marked."""
    texts = (_MARKED.format(escaped(text)) if marked else escaped(text) for text, marked in parts)
    return Markup("".join(texts))  # noqa: S704


def _opened(page: str, name: str, title: str) -> Markup:
    there = own_page(page, name) if page else ""
    return filled('<a href="{}">{}</a>', there, title) if there else filled("{}", title)


def own_pages() -> str:
    """Return what the addresses begin with of the documents' pages here."""
    return link("search.document", doc="-").removesuffix("-")


def own_page(page: str, name: str) -> str:
    """Return the address below `page` of the document `name`; "" if no address leads there."""
    if _PLAIN_ID.fullmatch(name):
        return f"{page}{name}"
    return f"{page}{quote(name)}" if _LINKABLE.fullmatch(name) else ""


def title_of(document: Document | Opening) -> str:
    """Return what to call `document`: its title, or else its id."""
    return document.title.strip() or document.id.strip() or "Untitled"


@lru_cache(maxsize=10_000)
def _chip(move: Move) -> Markup:
    return filled(_MOVED, move.kind, move.label, move.label, move.text)


def web_address(url: str) -> str:
    """Return `url` if it is safe to link to, else an empty text."""
    # It comes from the corpus, so it can be any text, such as a script (javascript:…).
    try:
        parts = urlsplit(url.strip())
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        return ""
    return url.strip() if known else ""


def because(
    site: Site, question: Question, answer: Answer, *, first: int = 0, count: int = 10
) -> Because:
    """Return the reasons for the page of `answer` that has `count` documents after `first`."""
    whose = site.words_of(answer.mode, question.user).whose
    texts = reasons(site.modes.engine, answer.request, answer.ranking, first, count, whose=whose)
    return Because(texts, address("why.show", question.but(mode=answer.mode), site))


def results(
    ranking: Ranking,
    known: Cards,
    *,
    first: int = 0,
    count: int = 10,
    shown: int | None = None,
    because: Because | None = None,
) -> list[Result]:
    """Return a page of `ranking`; documents from beyond the first `shown` plain ranks are new."""
    page = slice(first, first + count)
    places = zip(ranking.rows[page].tolist(), ranking.plain_ranks[page].tolist(), strict=True)
    page_results = [
        Result(rank, plain_rank, move(rank, plain_rank, shown), known[row])
        for rank, (row, plain_rank) in enumerate(places, first + 1)
    ]
    if not because:
        return page_results
    return [
        result._replace(reason=reason, why=f"{because.page}&doc={quote(result.card.id, safe='')}")
        for result, reason in zip(page_results, because.reasons, strict=True)
    ]


def gone(ranking: Ranking, known: Cards, shown: int) -> list[GoneDocument]:
    """Return the first `shown` plain documents that `ranking` has moved below that rank."""
    at = np.flatnonzero(ranking.plain_ranks <= shown)
    at = at[at >= shown]
    at = at[np.argsort(ranking.plain_ranks[at])]
    return [
        GoneDocument(int(ranking.plain_ranks[place]), place + 1, known[int(ranking.rows[place])])
        for place in at.tolist()
    ]
