"""The search page: one ranking, and how close the others come."""

from __future__ import annotations

from flask import Blueprint, abort, render_template, request

from ...disclosure.numbers import two_decimals
from ...measures.precision import DEPTH
from ..question import address, counts, device_address, rankings, read_question, syntax
from ..site import this_site
from ..views.answering import ask
from ..views.dial import given_away
from ..views.ignored import ignored
from ..views.results import StoredText, because, cards, results, stored
from ..wording import fitting, kind

pages = Blueprint("search", __name__)
NO_DOCUMENT = "There is no such document in the index."


@pages.get("/")
def show() -> str:
    """Return the start page, or a page of results."""
    site = this_site()
    question = read_question(request.args, site)
    if not question.query:
        return render_template("search/start.html", question=question, given=given_away(site))
    outcome = ask(site, question, counts(request))
    answer = outcome.in_mode(question.mode)
    size = site.settings.top
    first = size * (question.page - 1)
    known = cards(
        site.modes.engine, [answer.ranking], question.query, first=first, count=size, opens=True
    )
    words = ignored(site, question.query, question.operators, known)
    reasons = because(site, question, answer, first=first, count=size)
    shown = site.shown(answer.mode)
    # Figures of a group say nothing of a person who is not in it.
    own_row = answer.row and not answer.foreign
    facts = shown.ranking_facts(answer.users, fallback=answer.fallback) if own_row else []
    documents, page = len(answer.ranking), question.page
    before, after = question.but(page=page - 1), question.but(page=page + 1)
    close = {mode: other.precision for mode, other in outcome.answers.items()}
    tabs = [
        (mode, kind(mode), site.name_of(mode), two_decimals(measured.ap if measured else None))
        for mode, measured in close.items()
    ]
    # Of somebody without a profile, or who paused, there is the plain order alone.
    choice = bool(question.user) and len(tabs) > 1
    return render_template(
        "search/results.html",
        question=question,
        mode=answer.mode,
        kind=kind(answer.mode),
        notices=outcome.notices,
        syntax=syntax(site, question, "search.show"),
        words=words,
        meant=words.meant and address("search.show", question.but(query=words.meant), site),
        milliseconds=outcome.milliseconds,
        results=results(answer.ranking, known, first=first, count=size, because=reasons),
        tabs=tabs if choice else [],
        measured=choice and any(close.values()),
        first=min(first + 1, documents),
        last=min(first + size, documents),
        found=documents,
        depth=min(DEPTH, documents),
        previous=address("search.show", before, site) if page > 1 else "",
        next=address("search.show", after, site) if first + size < documents else "",
        comparison=address("compare.show", question, site),
        device=device_address(question, site),
        unit=shown.words.unit,
        rankings=rankings(site, question, "search.show") if choice else [],
        fit=fitting(answer, site.words_of(answer.mode, question.user).whose),
        facts=facts,
    )


@pages.get("/documents/<path:doc>")
def document(doc: str) -> str:
    """Return the page of the document `doc`: its text, as the index keeps it."""
    return render_template("search/document.html", document=text_of(doc))


def text_of(doc: str) -> StoredText:
    """Return what is shown of the document `doc`; refuse ids that the index does not have."""
    document = this_site().modes.engine.document(doc)
    return stored(document) if document else abort(404, NO_DOCUMENT)
