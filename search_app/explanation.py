"""Why a document stands where it stands: from what the engine was told and the ranking alone.

Nothing here has a place for a user, and a profile comes only inside a request of mode `own`: what
is said of a group's ranking is made of released numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.model import Document, Part, Pool

from . import rerank
from .decisive import decisive
from .engine import Engine, Ranking
from .explanation_words import in_common, sentence, whose
from .request import Request

Floats = NDArray[np.float64]
NAMED = 2  # terms named as the reason


class Share(NamedTuple):
    """What a term of the profile or row gives to a document's score."""

    term: str
    weight: float  # in the profile or row
    share: float


class Without(NamedTuple):
    """Terms without which a document would not have moved, and the rank it would have."""

    terms: tuple[str, ...]
    rank: int
    smallest: bool  # no smaller set would do; else that was not ruled out


@dataclass(frozen=True)
class Explanation:
    """A document's place in a ranking, and what brought it there."""

    document: str  # its id
    title: str
    kind: str  # none, own or group
    row: str  # the released row that served, if one did
    users: int  # how many people it stands for
    found: int  # documents in the pool
    rank: int
    plain_rank: int
    score: float
    mix: float
    bm25: float
    parts: tuple[Part, ...]  # of BM25
    terms: tuple[Share, ...]  # largest first; they and the next one sum to the score
    bm25_share: float
    movers: tuple[str, ...]  # the terms by which it passed others, or others it
    without: Without | None  # none: it has not moved
    lone: bool = False  # the row is of one person, whom it is what is left of
    smoothed: bool = False  # the row is made of all released rows and of the index
    spare: bool = False  # the row is no group's, but the mean of all groups'


def explain(engine: Engine, request: Request, document: str) -> Explanation | None:
    """Explain the place of a document, if it is in the pool."""
    pool = engine.pool(request.query, request.pool, operators=request.operators)
    ids = engine.ids(pool.rows).tolist()
    if document not in ids:
        return None
    return explain_places(engine, request, pool, [ids.index(document)])[0]


def explain_places(
    engine: Engine, request: Request, pool: Pool, places: Sequence[int]
) -> list[Explanation]:
    """Explain where the documents at some places of the plain order, from 0, have come to stand."""
    ranking = engine.rank(pool, request)
    rows = pool.rows[list(places)]
    shares = engine.contributions(pool.rows, request.interest)
    lucene = engine.explain(request.query, rows.tolist(), operators=request.operators)
    nothing = np.zeros(rows.size)
    documents = engine.documents(Ranking(rows, nothing, rows), 0, rows.size)
    return [
        _explanation(engine, request, pool, ranking, shares, at, parts, document)
        for at, parts, document in zip(places, lucene, documents, strict=True)
    ]


def _explanation(
    engine: Engine,
    request: Request,
    pool: Pool,
    ranking: Ranking,
    shares: Floats,
    at: int,
    parts: Sequence[Part],
    document: Document,
) -> Explanation:
    rank = _rank(ranking, at)
    pull = _pull(ranking, shares, at)
    kind = "group" if request.row else "none" if request.profile is None else "own"
    without = None
    if kind != "none":
        without = _without(engine, request, pool, shares, at, pull)
    return Explanation(
        document=document.id,
        title=document.title,
        kind=kind,
        row=request.row.name if request.row else "",
        users=request.row.users if request.row else 0,
        spare=request.row is not None and request.row.spare,
        found=len(pool),
        rank=rank,
        plain_rank=at + 1,
        score=float(ranking.scores[rank - 1]),
        mix=request.mix,
        bm25=float(pool.scores[at]),
        parts=tuple(sorted(parts, key=lambda part: -part.score)),
        terms=_terms(request, shares[at]),
        bm25_share=(1 - request.mix) * float(rerank.scaled(pool.scores)[at]),
        movers=_named(request.interest, pull),
        without=without,
        smoothed=request.smoothed,
    )


def _rank(ranking: Ranking, at: int) -> int:
    return int(np.flatnonzero(ranking.plain_ranks == at + 1)[0]) + 1


def _terms(request: Request, shares: Floats) -> tuple[Share, ...]:
    interest = request.interest.items()
    given = zip(interest, (request.mix * shares).tolist(), strict=True)
    terms = [Share(term, weight, share) for (term, weight), share in given if share]
    return tuple(sorted(terms, key=lambda each: (-each.share, each.term)))


def _pull(ranking: Ranking, shares: Floats, at: int) -> Floats:
    """Return how much each term moved a document past others, or others past it."""
    rank = _rank(ranking, at)
    up = 1 if rank < at + 1 else -1
    behind = ranking.plain_ranks[rank:] - 1 if up > 0 else ranking.plain_ranks[: rank - 1] - 1
    passed = behind[up * behind < up * at]
    pull: Floats = up * (shares[at] - shares[passed]).sum(axis=0)
    return pull


def _named(interest: Mapping[str, float], values: Floats) -> tuple[str, ...]:
    best = np.argsort(-values, kind="stable")[:NAMED]
    terms = list(interest)
    return tuple(terms[place] for place in best.tolist() if values[place] > 0)


def _without(
    engine: Engine, request: Request, pool: Pool, shares: Floats, at: int, pull: Floats
) -> Without | None:
    terms = list(request.interest)
    weights = np.fromiter(request.interest.values(), np.float64, len(terms))

    def rank_without(numbers: Sequence[int]) -> int:
        less = leave_out(request, {terms[number] for number in numbers})
        return _rank(engine.rank(pool, less), at)

    found = decisive(shares, weights, rerank.scaled(pool.scores), request.mix, at, rank_without)
    if found is None:
        return None
    named = sorted(found.terms, key=lambda number: (-float(pull[number]), terms[number]))
    return Without(tuple(terms[number] for number in named), found.rank, found.proven)


def leave_out(request: Request, terms: set[str]) -> Request:
    """Return the request as it would be without some terms of the profile or row."""
    rest = {term: weight for term, weight in request.interest.items() if term not in terms}
    if request.row is not None:
        return replace(request, row=replace(request.row, weights=rest))
    return replace(request, profile=rest)


def reasons(
    engine: Engine,
    request: Request,
    ranking: Ranking,
    first: int = 0,
    count: int = 10,
    *,
    lone: bool = False,
) -> list[str]:
    """Say of each document of a page which terms have the largest shares of its cosine.

    lone: the row is of one person.
    """
    rows = ranking.rows[first : first + count]
    if not request.interest:
        return [""] * rows.size
    shares = engine.contributions(rows, request.interest)
    held = whose("group" if request.row else "own", lone, request.smoothed)
    return [in_common(named, held) for named in _all_named(request.interest, shares)]


def _all_named(interest: Mapping[str, float], shares: Floats) -> list[list[str]]:
    """Name the terms with the largest shares of each row, equal ones in the interest's order."""
    terms, left = list(interest), shares.copy()
    each = np.arange(len(left))
    named: list[list[str]] = [[] for _ in each]
    for _ in range(min(NAMED, len(terms))):
        best = left.argmax(axis=1)
        for row, (place, share) in enumerate(
            zip(best.tolist(), left[each, best].tolist(), strict=True)
        ):
            named[row] += [terms[place]] * (share > 0)
        left[each, best] = 0
    return named


def as_json(explanation: Explanation) -> dict[str, Any]:
    """Return all of an explanation as JSON has it, its sentence first."""
    e = explanation
    return {
        "sentence": sentence(e),
        **{"id": e.document, "title": e.title, "kind": e.kind},
        **{"row": e.row or None, "users": e.users or None, "found": e.found, "mix": e.mix},
        **{"rank": e.rank, "plain_rank": e.plain_rank, "score": e.score},
        "terms": [share._asdict() for share in e.terms],
        "bm25": {"score": e.bm25, "share": e.bm25_share, "parts": [vars(p) for p in e.parts]},
        "without": {**e.without._asdict(), "terms": list(e.without.terms)} if e.without else None,
    }
