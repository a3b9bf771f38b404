"""Rankings for machines: what the pages show, as records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import cast

import numpy as np
from flask import Blueprint, request

from ..engine import Ranking
from ..evaluation import Precision as Measured
from ..explanation import as_json
from ..modes import Answer
from ..snippet import Part
from . import records
from .answering import ask
from .operations import operation
from .parameters import DOC, MIX, MODE, OPERATORS, PAGE, POOL, QUERY, USER
from .question import Question, read_question
from .results import Cards, cards, gone, results
from .site import Site, this_site
from .why import told_of

pages = Blueprint("api", __name__, url_prefix="/api/v1")
ASKED = (QUERY, USER, MODE, POOL, MIX, OPERATORS, PAGE)
COMPARED = (QUERY, USER, POOL, MIX, OPERATORS)
EXPLAINED = (QUERY, DOC, USER, MODE, POOL, MIX, OPERATORS)
SHOWN = 10


@pages.get("/search")
@operation(*ASKED, required=("q",), refusals=(404,), example={"q": "java", "pool": "50"})
def search() -> records.SearchAnswer:
    """Search, and order what is found in one mode.

    The answer is a page of the ranking that the search page shows. Such a search is not written
    to the log of average precision and is not kept in anybody’s list of searches.
    """
    site = this_site()
    return search_answer(site, read_question(request.args, site))


def search_answer(site: Site, question: Question) -> records.SearchAnswer:
    """Answer a question with a page of one ranking."""
    outcome = ask(site, question, counted=False)
    answer, size = outcome.in_mode(question.mode), site.settings.top
    found, first = len(answer.ranking), size * (question.page - 1)
    known = cards(site.modes.engine, [answer.ranking], question.query, first=first, count=size)
    return {
        "query": question.query,
        "mode": answer.mode,
        "pool": question.pool,
        "mix": question.mix,
        "operators": question.operators,
        "page": question.page,
        "pages": -(-found // size),
        "found": found,
        "milliseconds": outcome.milliseconds,
        "notices": list(outcome.notices),
        "precision": precision(answer.precision),
        "row": shared_row(answer),
        "sent": sent(answer),
        "results": hits(site, answer.ranking, known, first, size),
    }


@pages.get("/compare")
@operation(*COMPARED, required=("q",), refusals=(404,), example={"q": "java", "pool": "50"})
def compare() -> records.Comparison:
    """Answer a query in every mode over one pool, side by side.

    Without a person there is only the plain order. Such a search is not written to the log of
    average precision and is not kept in anybody’s list of searches.
    """
    site = this_site()
    return comparison(site, read_question(request.args, site))


def comparison(site: Site, question: Question) -> records.Comparison:
    """Answer a question with the first documents of every ranking."""
    outcome = ask(site, question, counted=False)
    answers = list(outcome.answers.values())
    rankings = [answer.ranking for answer in answers]
    known = cards(site.modes.engine, rankings, question.query, count=SHOWN)
    return {
        "query": question.query,
        "pool": question.pool,
        "mix": question.mix,
        "operators": question.operators,
        "found": len(rankings[0]),
        "milliseconds": outcome.milliseconds,
        "notices": list(outcome.notices),
        "columns": [_column(site, answer, known) for answer in answers],
    }


def _column(site: Site, answer: Answer, known: Cards) -> records.Column:
    names = site.modes.engine.ids
    fallen = gone(answer.ranking, known, SHOWN)
    fallen_ids = names(np.array([each.card.key for each in fallen], dtype=np.int64)).tolist()
    agreement = answer.agreement
    return {
        "mode": answer.mode,
        "name": site.name_of(answer.mode),
        "sees": site.sees(answer),
        "precision": precision(answer.precision),
        "agreement": cast(records.Agreement, asdict(agreement)) if agreement else None,
        "row": shared_row(answer),
        "sent": sent(answer),
        "results": hits(site, answer.ranking, known, 0, SHOWN),
        "gone": [
            {"id": name, "title": each.card.title, "plain_rank": each.plain_rank, "rank": each.rank}
            for each, name in zip(fallen, fallen_ids, strict=True)
        ],
    }


@pages.get("/explain")
@operation(*EXPLAINED, required=("q", "doc"), refusals=(404,), example={"pool": "50"})
def explain() -> records.Explanation:
    """Explain why a document stands where it stands.

    What the words of the query and the terms of the profile or row give to its score, and the
    smallest set of terms without which it would not have moved.
    """
    site = this_site()
    question = read_question(request.args, site)
    told = told_of(site, question, request.args["doc"])
    found = {"mode": told.mode, "notices": list(told.notices), **as_json(told.explanation)}
    return cast(records.Explanation, found)


def hits(site: Site, ranking: Ranking, known: Cards, first: int, count: int) -> list[records.Hit]:
    """List the documents at some places of a ranking."""
    ids = site.modes.engine.ids(ranking.rows[first : first + count]).tolist()
    found = results(ranking, known, first=first, count=count)
    return [
        {
            "rank": result.rank,
            "plain_rank": result.plain_rank,
            "score": float(ranking.scores[result.rank - 1]),
            "id": name,
            "title": result.card.title,
            "url": result.card.link,
            "source": result.card.source,
            "snippet": "".join(part.text for part in result.card.snippet),
            "marks": marks(result.card.snippet),
        }
        for result, name in zip(found, ids, strict=True)
    ]


def marks(parts: Sequence[Part]) -> list[records.Mark]:
    """Tell where the marked parts of a snippet stand in it."""
    ends = np.cumsum([len(part.text) for part in parts]).tolist()
    return [
        {"start": end - len(part.text), "end": end}
        for part, end in zip(parts, ends, strict=True)
        if part.marked
    ]


def precision(measured: Measured | None) -> records.Precision | None:
    """Tell how close a ranking comes to the own profile’s."""
    return cast(records.Precision, asdict(measured)) if measured else None


def shared_row(answer: Answer) -> records.SharedRow | None:
    """Tell which released row served."""
    return {"name": answer.row, "users": answer.users} if answer.row else None


def sent(answer: Answer) -> records.Sent:
    """Tell by their hash which bytes the engine was told."""
    told = answer.request.as_bytes()
    return {"bytes": len(told), "sha256": sha256(told).hexdigest()}
