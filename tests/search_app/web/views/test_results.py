"""A ranking laid out beside the plain order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np

from index.forward.texts import Opening
from index.model import Document
from search_app.search.engine import Engine, Ranking
from search_app.web.views.results import DocumentCard, Result, cards, gone, results
from search_app.web.wording import Move

# Plain order: rows 10, 11, 12, 13, 14. Here: 12, 10, 14, 11, 13.
RANKING = Ranking(
    rows=np.array([12, 10, 14, 11, 13]),
    scores=np.array([0.5, 0.4, 0.3, 0.2, 0.1]),
    plain_ranks=np.array([3, 1, 5, 2, 4]),
)
CARDS = {
    row: DocumentCard(row, f"Title {row}", "", f"doc{row}", [], f"doc{row}")
    for row in range(10, 15)
}


def test_a_page_starts_at_its_place() -> None:
    page = results(RANKING, CARDS, first=1, count=2)
    assert [(r.rank, r.plain_rank, r.card.key, r.move.text) for r in page] == [
        (2, 1, 10, "▼ 1"),
        (3, 5, 14, "▲ 2"),
    ]


def test_gone_is_what_falls_just_below_and_further_in_plain_order() -> None:
    """Of the plain ranks 1 to 3 the second stands 4th here; of 1 to 4 the fourth stands 5th."""
    assert [(g.plain_rank, g.rank, g.card.title) for g in gone(RANKING, CARDS, 3)] == [
        (2, 4, "Title 11")
    ]
    assert [(g.plain_rank, g.rank) for g in gone(RANKING, CARDS, 4)] == [(4, 5)]
    assert gone(RANKING, CARDS, 5) == []


def test_markup_escapes_what_it_takes_in() -> None:
    hostile = "<b>&\"'"
    document = Document("d", hostile, f"java {hostile}", "https://x.example/?a&b")
    engine = SimpleNamespace(openings=lambda *_: [Opening.of(document)])
    card = cards(cast(Engine, engine), [RANKING], f"java {hostile}", count=1)[12]
    assert card.heading == (
        '<a href="https://x.example/?a&amp;b" rel="noreferrer noopener">'
        "&lt;b&gt;&amp;&#34;&#39;</a>"
    )
    assert card.shown == (
        '<p class="snippet" dir="auto"><mark>java</mark> &lt;<mark>b</mark>&gt;&amp;&#34;&#39;</p>'
    )
    moved = Result(1, 2, Move("up", hostile, hostile), card, reason=hostile, why="/why?q=&doc=d")
    assert 'href="/why?q=&amp;doc=d"' in moved.because
    assert moved.because.count("&lt;b&gt;&amp;&#34;&#39;") == 2
    assert moved._replace(why="").because == ""
    assert "<b>" not in moved.chip
    assert "&lt;b&gt;&amp;" in moved.chip
