"""Rankings as JSON: what the search pages show."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import cast

import numpy as np
from flask import Blueprint, request

from ...measures.precision import PoolPrecision
from ...search.explanation import as_json
from ...search.modes import Answer
from ...search.snippet import SnippetPart
from ..pages.search import text_of
from ..pages.why import explain_result
from ..parameters import DOC, MODE, OPERATORS, PAGE, POOL, QUERY, RANKING, SIZE, USER
from ..question import Question, read_question
from ..site import Site, this_site
from ..views.answering import Outcome, ask
from ..views.ignored import ignored
from ..views.results import Cards, DocumentCard, cards, gone, own_page, own_pages, results
from ..views.suggestions import suggestions
from .described import records
from .described.operations import Operation
from .described.schema import Record, record_of

pages = Blueprint("api", __name__, url_prefix="/api/v1")
SEARCHED = (QUERY, USER, MODE, POOL, RANKING, OPERATORS, SIZE, PAGE)
COMPARED = (QUERY, USER, POOL, RANKING, OPERATORS)
EXPLAINED = (QUERY, DOC, USER, MODE, POOL, RANKING, OPERATORS)
SHOWN = 10


@pages.get("/search")
@Operation(SEARCHED, required=("q",), refusals=(404,), example={"q": "java", "pool": "50"})
def search() -> records.SearchAnswerJson:
    """Return a page of results, ordered in one mode.

    It is a page of the ranking that the search page shows. For many results choose a pool and a
    size that are large enough: each page searches again. Such a search is not written to the
    log of average precision and is not kept in any person’s list of searches.
    """
    site = this_site()
    question = read_question(request.args, site, sized=True)
    outcome = ask(site, question, counted=False)
    answer, size = outcome.in_mode(question.mode), question.size
    first = size * (question.page - 1)
    known = cards(site.modes.engine, [answer.ranking], question.query, first=first, count=size)
    words = ignored(site, question.query, question.operators, known)
    return {
        **searched(question, outcome, outcome.notices),
        "mode": answer.mode,
        "page": question.page,
        "pages": -(-len(answer.ranking) // size),
        "ignored": record_of(records.IgnoredWordsJson, words),
        "precision": precision(answer.precision),
        "evidence": evidence(answer),
        "row": shared_row(answer),
        "sent": sent(answer),
        "results": hits(answer, known, first, size),
    }


@pages.get("/compare")
@Operation(COMPARED, required=("q",), refusals=(404,), example={"q": "java", "pool": "50"})
def compare() -> records.ComparisonJson:
    """Return the rankings of one pool in every mode, side by side.

    Without a person there is only the plain order. Such a search is not written to the log of
    average precision and is not kept in any person’s list of searches.
    """
    site = this_site()
    question = read_question(request.args, site)
    outcome = ask(site, question, counted=False)
    answers = list(outcome.answers.values())
    rankings = [answer.ranking for answer in answers]
    known = cards(site.modes.engine, rankings, question.query, count=SHOWN)
    columns = [_column(site, answer, known) for answer in answers]
    return {**searched(question, outcome, outcome.notices), "columns": columns}


def searched(question: Question, outcome: Outcome, notices: Sequence[str]) -> records.SearchedJson:
    """Return how every answer to `question` begins: with its `outcome`, and the `notices` on it."""
    return {
        "query": question.query,
        "pool": question.pool,
        "ranking": question.rule.ranking,
        "operators": question.operators,
        "found": len(outcome.answers["none"].ranking),
        "milliseconds": outcome.milliseconds,
        "notices": list(notices),
    }


def _column(site: Site, answer: Answer, known: Cards) -> records.ColumnJson:
    agreement = answer.agreement
    return {
        "mode": answer.mode,
        "name": site.name_of(answer.mode),
        "sees": site.sees(answer),
        "precision": precision(answer.precision),
        "agreement": record_of(records.AgreementJson, agreement) if agreement else None,
        "evidence": evidence(answer),
        "row": shared_row(answer),
        "sent": sent(answer),
        "results": hits(answer, known, 0, SHOWN),
        "gone": [
            record_of(records.GoneJson, result, id=result.card.id, title=result.card.title)
            for result in gone(answer.ranking, known, SHOWN)
        ],
    }


@pages.get("/explain")
@Operation(EXPLAINED, required=("q", "doc"), refusals=(404,), example={"pool": "50"})
def explain() -> records.ExplanationJson:
    """Return why a document has its rank.

    The answer lists what the words of the query and the terms of the profile or row add to the
    score. It names the smallest set of terms without which the document would not have moved.
    """
    site = this_site()
    question = read_question(request.args, site)
    served = explain_result(site, question, request.args["doc"])
    fields = {"mode": served.mode, "notices": list(served.notices), **as_json(served.explanation)}
    return cast(records.ExplanationJson, fields)


@pages.get("/suggest")
@Operation((QUERY,), required=("q",), example={"q": "ja"})
def suggest() -> records.SuggestionsJson:
    """Return what a query that is being typed may become, by terms and titles of the index alone.

    Nobody’s queries or profiles are read, and nothing is logged.
    """
    return {"queries": suggestions(this_site(), request.args["q"])}


@pages.get("/documents/<path:doc>")
@Operation(in_path=(DOC,), refusals=(404,))
def document_text(doc: str) -> records.DocumentJson:
    """Return a document of the index, as its page shows it.

    It is neither logged nor kept who opens which document.
    """
    return record_of(records.DocumentJson, text_of(doc))


def hits(answer: Answer, known: Cards, first: int, count: int) -> list[records.HitJson]:
    """Return `count` documents of `answer` after the `first`, with their cards in `known`.

    By scores, the row of a group that the person is not in could be computed.
    """
    ranking, page = answer.ranking, own_pages()
    return [
        document(
            records.HitJson,
            result.card,
            page=own_page(page, result.card.id),
            rank=result.rank,
            plain_rank=result.plain_rank,
            score=None if answer.foreign else float(ranking.scores[result.rank - 1]),
        )
        for result in results(ranking, known, first=first, count=count)
    ]


def document(kind: type[Record], card: DocumentCard, **given: object) -> Record:
    """Return a record of type `kind` about the document of `card`, with the `given` fields."""
    given |= {"url": card.link, "marks": marks(card.snippet)}
    return record_of(kind, card, snippet="".join(part.text for part in card.snippet), **given)


def marks(parts: Sequence[SnippetPart]) -> list[records.MarkJson]:
    """Return the places of the marked `parts` of a snippet, in characters."""
    ends = np.cumsum([len(part.text) for part in parts]).tolist()
    return [
        {"start": end - len(part.text), "end": end}
        for part, end in zip(parts, ends, strict=True)
        if part.marked
    ]


def precision(measured: PoolPrecision | None) -> records.PrecisionJson | None:
    """Return the scores `measured` for a ranking against the own profile’s; None if none were."""
    return record_of(records.PrecisionJson, measured) if measured else None


def evidence(answer: Answer) -> records.EvidenceJson | None:
    """Return what the rule `evidence` found for `answer`; None if it did not rank."""
    if answer.plain is None:
        return None
    return {"standing": answer.standing, "plain": answer.plain}


def shared_row(answer: Answer) -> records.SharedRowJson | None:
    """Return the released row behind `answer`; None if none served."""
    return {"name": answer.row, "users": answer.users} if answer.row else None


def sent(answer: Answer) -> records.SentJson | None:
    """Return size and hash of what the engine received for `answer`; None if it is not to be seen.

    Of the row of a group that they are not in, a person sees the order only.
    """
    if answer.foreign:
        return None
    # The hash is the same for all who share a row and ask the same.
    content = answer.request.as_bytes()
    return {"bytes": len(content), "sha256": sha256(content).hexdigest()}
