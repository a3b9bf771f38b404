"""Why a document is at its place: a page, and the part of it that opens under a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import quote

from flask import Blueprint, abort, render_template, request

from ...disclosure.disclosure import Disclosure
from ...search.explanation import PlaceExplanation
from ...search.explanation import explain as explain_place
from ...search.explanation_words import FIELDS, MANY, sentence, without_in_words
from ...search.request import EVIDENCE
from ..parameters import DOC, FRAGMENT, read_parameters
from ..question import Question, address, read_question
from ..site import Site, this_site
from ..views.answering import ask
from ..wording import kind

pages = Blueprint("why", __name__)
LINES = 6  # terms with a line of their own in the part that opens under a result
NO_QUERY = "There is nothing to explain without a search; follow “Why here?” next to a result."
NOT_FOUND = (
    "This document is not among those found. "
    "Search again with a larger pool, which may have it; or it is no longer in the index."
)


class ScoreLine(NamedTuple):
    """What a term or BM25 adds to a score."""

    name: str
    weight: str
    value: str  # to read
    exact: str
    width: str  # of its bar; the largest has 100


class ServedExplanation(NamedTuple):
    """An explanation, with the mode that served and its notices."""

    explanation: PlaceExplanation
    mode: str
    notices: tuple[str, ...]


@pages.get("/why")
def show() -> str:
    """Return the page, or its part, on why a document is at its place."""
    site = this_site()
    question = read_question(request.args, site)
    values = read_parameters(request.args, (DOC, FRAGMENT), site)
    explained, part = explain_result(site, question, values["doc"]), values["fragment"]
    why, shown = explained.explanation, site.shown(explained.mode)
    page = (why.rank - 1) // site.settings.top + 1
    alone = f"{address('why.show', question.but(), site)}&doc={quote(why.document, safe='')}"
    holder = "your profile"
    if why.kind == "group":
        holder = "the group’s smoothed row" if why.smoothed else shown.words.row
    terms = why.without.terms if why.without else ()
    return render_template(
        "why/part.html" if part else "why/show.html",
        question=question,
        notices=explained.notices,
        why=why,
        kind=kind(explained.mode),
        mode=site.name_of(explained.mode),
        holder=holder,
        sentence=sentence(why),
        without=without_in_words(why),
        all_terms=", ".join(terms)
        if len(terms) > MANY + 1
        else "",  # otherwise the sentence names all
        lines=score_lines(why, LINES if part else len(why.terms)),
        score="" if why.score is None else f"{why.score:.4f}",
        exact="" if why.score is None else repr(why.score),
        parts=bm25_lines(why),
        bm25=f"{why.bm25:.4f}",
        exact_bm25=repr(why.bm25),
        made=_made(why, shown),
        back=address("search.show", question.but(page=page), site),
        alone=alone if part else "",
    )


def explain_result(site: Site, question: Question, doc: str) -> ServedExplanation:
    """Return why `doc` is at its place, from the engine's request for `question` alone."""
    if not question.query:
        abort(400, NO_QUERY)
    # An explanation is no search of its own, so the log does not count it.
    outcome = ask(site, question, counted=False)
    answer = outcome.in_mode(question.mode)
    why = explain_place(site.modes.engine, answer.request, doc)
    if why is None:
        abort(404, NOT_FOUND)
    whose = site.words_of(answer.mode, question.user).whose
    return ServedExplanation(replace(why, whose=whose), answer.mode, outcome.notices)


def _made(why: PlaceExplanation, shown: Disclosure) -> str:
    if why.kind == "none":
        return "All this is computed from the query and the documents."
    among = ""
    if why.ranking == EVIDENCE:
        among = "By evidence, these interests are compared with those of all groups’ rows. "
        if not why.among:
            among = "By evidence, this search is compared with other searches. "
    if why.kind == "own":
        return f"{among}All this is computed from the query, the documents and your own profile."
    behind = shown.made_of(why.users, fallback=why.fallback, smoothed=why.smoothed)
    sources = "the query, the documents and the released row"
    return f"{among}All this is computed from {sources} {why.row}{behind}"


def score_lines(why: PlaceExplanation, limit: int) -> list[ScoreLine]:
    """Return what sums to the score in `why`; terms beyond the `limit` largest are one line."""
    if why.kind == "none":
        return []
    named = [(term, f"{weight:.4f}", share) for term, weight, share in why.terms[:limit]]
    rest = [share.share for share in why.terms[limit:]]
    if rest:
        named.append((f"{len(rest)} more", "", sum(rest)))
    named += [(name, "", share) for name, share in why.added]
    return _lines(named)


def bm25_lines(why: PlaceExplanation) -> list[ScoreLine]:
    """Return what each word of the query adds to BM25 in `why`, with the field it is in."""
    return _lines([(part.term, FIELDS[part.field], part.score) for part in why.parts])


def _lines(named: Sequence[tuple[str, str, float]]) -> list[ScoreLine]:
    largest = max((abs(value) for _, _, value in named), default=0) or 1
    return [
        ScoreLine(name, weight, f"{value:.4f}", repr(value), f"{100 * abs(value) / largest:.4g}")
        for name, weight, value in named
    ]
