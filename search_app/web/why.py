"""Why a document stands where it stands: a page, and the part of it that opens under a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import quote

from flask import Blueprint, abort, render_template, request

from ..explanation import Explanation, Without
from ..explanation import explain as explain_place
from ..explanation_words import FIELDS, MANY, sentence, without_in_words
from .answering import ask
from .parameters import DOC, FRAGMENT, read_parameters
from .question import Question, address, read_question
from .site import Site, this_site
from .wording import count, kind

pages = Blueprint("why", __name__)
LINES = 6  # terms with a line of their own in the part that opens under a result
NO_QUERY = "There is nothing to explain without a search; follow “Why here?” beside a result."
NOT_FOUND = (
    "This document is not among those found. "
    "Search again: with a larger pool it may be, or it is no longer in the index."
)


class Line(NamedTuple):
    """What a term or BM25 gives to a score: to read, exactly, and as a part of the largest."""

    name: str
    weight: str
    value: str
    exact: str
    width: str  # of 100


class Told(NamedTuple):
    """An explanation and what to tell beside it."""

    explanation: Explanation
    mode: str  # that served
    notices: tuple[str, ...]


@pages.get("/why")
def show() -> str:
    """Show why a document stands where it stands."""
    site = this_site()
    question = read_question(request.args, site)
    asked = read_parameters(request.args, (DOC, FRAGMENT), site)
    told = told_of(site, question, asked["doc"])
    template = "why/part.html" if asked["fragment"] else "why/show.html"
    return render_template(template, **_view(site, question, told, whole=not asked["fragment"]))


def explain(site: Site, question: Question, doc: str) -> Explanation:
    """Explain the place of a document in the answer to a question; 404 where it is not."""
    return told_of(site, question, doc).explanation


def told_of(site: Site, question: Question, doc: str) -> Told:
    """Explain from what the engine was told for a question, and from nothing else."""
    if not question.query:
        abort(400, NO_QUERY)
    outcome = ask(site, question, counted=False)
    answer = outcome.in_mode(question.mode)
    found = explain_place(site.modes.engine, answer.request, doc)
    if found is None:
        abort(404, NOT_FOUND)
    lone = site.lone(answer.mode) is not None
    return Told(replace(found, lone=lone), answer.mode, outcome.notices)


def _view(site: Site, question: Question, told: Told, whole: bool) -> dict[str, Any]:
    found = told.explanation
    page = (found.rank - 1) // site.settings.top + 1
    return {
        "question": question,
        "notices": told.notices,
        "why": found,
        "kind": kind(told.mode),
        "mode": site.name_of(told.mode),
        "holder": _holder(found),
        "sentence": sentence(found),
        "without": without_in_words(found),
        "all_terms": _all_terms(found.without),
        "lines": score_lines(found, len(found.terms) if whole else LINES),
        "score": f"{found.score:.4f}",
        "exact": repr(found.score),
        "parts": bm25_lines(found),
        "bm25": f"{found.bm25:.4f}",
        "exact_bm25": repr(found.bm25),
        "made": _made(found),
        "back": address("search.show", question.on_page(page), site),
        "alone": "" if whole else _alone(site, question, found),
    }


def _alone(site: Site, question: Question, found: Explanation) -> str:
    """Return the address of the page that shows an explanation alone."""
    return f"{address('why.show', question.on_page(1), site)}&doc={quote(found.document, safe='')}"


def _holder(found: Explanation) -> str:
    if found.kind == "group":
        group = "the group’s smoothed row" if found.smoothed else "the group’s row"
        return "the released row" if found.lone else group
    return "your profile"


def _made(found: Explanation) -> str:
    """Say what an explanation is made of."""
    if found.kind == "none":
        return "All this is made of the query and the documents."
    if found.kind == "own":
        return "All this is made of the query, the documents and your own profile."
    row = f"All this is made of the query, the documents and the released row {found.row}"
    if found.lone:
        return f"{row}, which is what a deletion has left of one person’s own terms."
    if found.users == 1:
        return f"{row}. That row is one person’s own profile: it hides nothing."
    people = count(found.users, "person", "people")
    whose = f"the mean of all groups’ rows, {people}’s" if found.spare else f"which {people} share"
    if found.smoothed:
        return (
            f"{row}, {whose}, smoothed by all released rows and by which terms stand "
            "together in the documents; of nobody’s own profile."
        )
    return f"{row}, {whose}; of nobody’s own profile."


def score_lines(found: Explanation, most: int) -> list[Line]:
    """List what sums to the score; terms beyond the largest are one line."""
    if found.kind == "none":
        return []
    named = [(term, f"{weight:.4f}", share) for term, weight, share in found.terms[:most]]
    rest = [share.share for share in found.terms[most:]]
    if rest:
        named.append((f"{len(rest)} more", "", sum(rest)))
    if found.mix < 1:
        named.append(("BM25 of the query", "", found.bm25_share))
    return _lines(named)


def bm25_lines(found: Explanation) -> list[Line]:
    """List what the words of the query give to BM25; in place of a weight, where they are."""
    return _lines([(part.term, FIELDS[part.field], part.score) for part in found.parts])


def _lines(named: Sequence[tuple[str, str, float]]) -> list[Line]:
    largest = max((abs(value) for _, _, value in named), default=0) or 1
    return [
        Line(name, weight, f"{value:.4f}", repr(value), f"{100 * abs(value) / largest:.4g}")
        for name, weight, value in named
    ]


def _all_terms(without: Without | None) -> str:
    """Name all the terms where the sentence names the first of them only."""
    if without is None or len(without.terms) <= MANY + 1:
        return ""
    return ", ".join(without.terms)
