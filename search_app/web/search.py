"""The search page: one ranking, and how the others would do."""

from __future__ import annotations

from typing import Any, NamedTuple

from flask import Blueprint, render_template, request

from .answering import Outcome, ask
from .facts import privacy_facts
from .question import Question, address, counts, device_address, read_question
from .results import because, cards, results
from .site import Site, this_site
from .syntax import syntax
from .wording import kind, two_decimals

pages = Blueprint("search", __name__)


class Tab(NamedTuple):
    """A mode to switch to, with its average precision for this query."""

    mode: str
    kind: str  # whose colour it has
    name: str
    chosen: bool
    ap: str


class Paging(NamedTuple):
    """Where in the ranking the page stands."""

    first: int
    last: int
    found: int
    previous: str
    next: str


@pages.get("/")
def show() -> str:
    """Show the start page, or a page of results."""
    site = this_site()
    question = read_question(request.args, site)
    if not question.query:
        return render_template("search/start.html", question=question)
    outcome = ask(site, question, counts(request))
    return render_template("search/results.html", **_view(site, question, outcome))


def _view(site: Site, question: Question, outcome: Outcome) -> dict[str, Any]:
    answer = outcome.in_mode(question.mode)
    size = site.settings.top
    first = size * (question.page - 1)
    known = cards(site.modes.engine, [answer.ranking], question.query, first=first, count=size)
    told = because(site, question, answer, first=first, count=size)
    return {
        "question": question,
        "mode": kind(answer.mode),
        "notices": outcome.notices,
        "syntax": syntax(site, question, "search.show"),
        "milliseconds": outcome.milliseconds,
        "results": results(answer.ranking, known, first=first, count=size, because=told),
        "tabs": _tabs(site, question, outcome, answer.mode),
        "paging": _paging(site, question, len(answer.ranking)),
        "comparison": address("compare.show", question, site),
        "device": device_address(question, site),
        "facts": privacy_facts(site.facts_of(answer.mode), answer.users, spare=answer.spare)
        if answer.row
        else [],
    }


def _tabs(site: Site, question: Question, outcome: Outcome, shown: str) -> list[Tab]:
    if not question.user:
        return []
    return [
        Tab(mode, kind(mode), site.name_of(mode), mode == shown, two_decimals(_ap(outcome, mode)))
        for mode in outcome.answers
    ]


def _ap(outcome: Outcome, mode: str) -> float | None:
    answer = outcome.answers.get(mode)
    return answer.precision.ap if answer and answer.precision else None


def _paging(site: Site, question: Question, found: int) -> Paging:
    size, page = site.settings.top, question.page
    before, after = question.on_page(page - 1), question.on_page(page + 1)
    return Paging(
        first=min(size * (page - 1) + 1, found),
        last=min(size * page, found),
        found=found,
        previous=address("search.show", before, site) if page > 1 else "",
        next=address("search.show", after, site) if size * page < found else "",
    )
