"""The three rankings of one pool side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

from flask import Blueprint, render_template, request

from ..evaluation import DEPTH, Precision
from ..modes import MODES, Answer
from .answering import Outcome, ask
from .facts import privacy_facts
from .question import Question, address, counts, read_question
from .results import Gone, Result, cards, gone, results
from .site import Site, this_site
from .syntax import syntax
from .wording import MODE_NAMES, sees

pages = Blueprint("compare", __name__)
SHOWN = 10
SNIPPET = 120
POOLS = (50, 100, 200, 500, 1000)


class Column(NamedTuple):
    """One mode's ranking."""

    mode: str
    name: str
    sees: str
    precision: Precision | None
    results: list[Result]
    gone: list[Gone]
    more: str  # where the whole ranking is shown; nowhere if this is the whole


class Choice(NamedTuple):
    """Another pool to compare over."""

    pool: int
    address: str
    chosen: bool


@pages.get("/compare")
def show() -> str:
    """Show the rankings side by side."""
    site = this_site()
    question = read_question(request.args, site)
    if not question.query:
        return render_template("search/start.html", question=question)
    outcome = ask(site, question, counts(request))
    return render_template("compare/show.html", **_view(site, question, outcome))


def _view(site: Site, question: Question, outcome: Outcome) -> dict[str, Any]:
    group = outcome.answers.get("group")
    people = group.users if group else None
    found = len(outcome.answers["none"].ranking)
    return {
        "question": question,
        "notices": outcome.notices,
        "syntax": syntax(site, question, "compare.show"),
        "milliseconds": outcome.milliseconds,
        "found": found,
        "depth": min(DEPTH, found),
        "shown": min(SHOWN, found),
        "columns": _columns(site, question, outcome, people),
        "pools": _pools(site, question),
        "facts": privacy_facts(site.facts, people) if group else [],
    }


def _columns(site: Site, question: Question, outcome: Outcome, people: int | None) -> list[Column]:
    answers = [outcome.answers[mode] for mode in MODES if mode in outcome.answers]
    known = cards(
        site.modes.engine,
        [answer.ranking for answer in answers],
        question.query,
        count=SHOWN,
        size=SNIPPET,
    )
    return [
        Column(
            mode=answer.mode,
            name=MODE_NAMES[answer.mode],
            sees=sees(answer.mode, people),
            precision=answer.precision,
            results=results(answer.ranking, known, count=SHOWN, shown=SHOWN),
            gone=gone(answer.ranking, known, SHOWN),
            more=_whole(site, question, answer),
        )
        for answer in answers
    ]


def _whole(site: Site, question: Question, answer: Answer) -> str:
    if len(answer.ranking) <= SHOWN:
        return ""
    return address("search.show", question.in_mode(answer.mode), site)


def _pools(site: Site, question: Question) -> list[Choice]:
    return [
        Choice(pool, address("compare.show", question.over(pool), site), pool == question.pool)
        for pool in sorted({*POOLS, question.pool})
    ]
