"""The search page: one ranking, and how close the others come."""

from __future__ import annotations

import re
from functools import partial

from flask import Blueprint, abort, render_template, request

from ...disclosure.disclosure import RankingFacts
from ...disclosure.numbers import two_decimals
from ...measures.precision import DEPTH
from ...settings import DEMO
from ..parameters import FIND, PAGE, TO, read_parameters
from ..question import (
    Question,
    address,
    counts,
    device_address,
    link,
    paging,
    part_of,
    rankings,
    read_question,
    syntax,
)
from ..site import Site, this_site
from ..views.answering import ask
from ..views.dial import first_page
from ..views.ignored import ignored
from ..views.results import StoredText, because, cards, results, stored
from ..wording import fitting, kind

pages = Blueprint("search", __name__)
NO_DOCUMENT = "There is no such document in the index."
A_PAGE = 48  # people
_FIND = 100  # characters of a filter


@pages.get("/")
def show() -> str:
    """Return the start page, or a page of results."""
    site = this_site()
    question = read_question(request.args, site)
    if not question.query:
        return render_template("search/start.html", question=question, **first_page(site))
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
    figures = RankingFacts([])
    if own_row:
        figures = shown.facts_of_ranking(question.user, answer.users, fallback=answer.fallback)
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
        figures=figures,
    )


@pages.get("/people")
def people() -> str:
    """Return the page of the people who can be chosen, by name or interest."""
    site = this_site()
    if site.access != DEMO:
        abort(404, "There is no list of people here.")
    values = read_parameters(request.args, (FIND, TO, PAGE), site)
    find, to = values["find"].strip()[:_FIND], values["to"]
    question = read_question({**request.args.to_dict(), "page": ""}, site)
    word = re.compile(rf"\b{re.escape(find)}", re.IGNORECASE)
    matching = [user for user, label in site.people.items() if word.search(label)]
    shown, last = part_of(matching, values["page"], A_PAGE, "people")
    likes = [label.partition(" · ")[2] for label in site.people.values()]
    kept = {**question.parameters(site.settings), "to": to}
    at_page = partial(link, "search.people", **kept, **({"find": find} if find else {}))
    return render_template(
        "search/everybody.html",
        kept=kept,
        find=find,
        number=len(site.people),
        found=len(matching),
        interests=sorted({*", ".join(likes).split(", ")} - {""}),
        people=[(_choosing(site, question, to, user), site.people[user]) for user in shown],
        page=values["page"],
        pages=last,
        paging=paging(values["page"], last, lambda at: at_page(page=at)),
    )


def _choosing(site: Site, question: Question, to: str, user: str) -> str:
    """Return the address where `user` is chosen for the page `to`, to ask the same question."""
    if to == "me":
        return link("me.show", user=user)
    # Who was nobody had the plain order; a person gets what is usual for them.
    mode = question.mode if question.user else ""
    return address(f"{to}.show", question.but(user=user, mode=mode), site)


@pages.get("/documents/<path:doc>")
def document(doc: str) -> str:
    """Return the page of the document `doc`: its text, as the index keeps it."""
    return render_template("search/document.html", document=text_of(doc))


def text_of(doc: str) -> StoredText:
    """Return what is shown of the document `doc`; refuse ids that the index does not have."""
    document = this_site().modes.engine.document(doc)
    return stored(document) if document else abort(404, NO_DOCUMENT)
