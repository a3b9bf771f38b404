"""Why a document stands at its place: from the engine's request and the ranking alone."""
# No function here takes a user, and a profile comes only inside a request of mode `own`. So an
# explanation of a group's ranking is made of released numbers.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from anonymizer.arrays import Floats
from index.model import Pool, ScorePart

from .decisive import decisive
from .engine import Engine, Ranking
from .evidence import logarithms, support
from .explanation_words import COMMON, GROUPS, LOG, NEIGHBOURS, RANDOM, held_by, in_common, sentence
from .request import EVIDENCE, Request

NAMED = 2  # terms named as the reason


class ScoreShare(NamedTuple):
    """What a term of the profile or row adds to a document's score."""

    term: str
    weight: float  # in the profile or row
    share: float


class AddedShare(NamedTuple):
    """What something else than a term of the profile or row adds to a document's score."""

    name: str
    share: float


class DecisiveTerms(NamedTuple):
    """Terms without which a document would not have moved, and the rank it would have."""

    terms: tuple[str, ...]
    rank: int
    smallest: bool  # whether no smaller set works; False: it was not ruled out


@dataclass(frozen=True)
class PlaceExplanation:
    """A document's place in a ranking, and what brought it there."""

    document: str  # its id
    title: str
    kind: str  # none, own or group
    row: str  # the released row that ordered the pool, if one did
    users: int  # how many people share it
    found: int  # documents in the pool
    rank: int
    plain_rank: int
    score: float | None  # None: by it, the row of a group that one is not in could be computed
    ranking: str
    bm25: float
    parts: tuple[ScorePart, ...]  # of BM25
    terms: tuple[ScoreShare, ...]  # largest first; with `added` they sum to the score
    added: tuple[AddedShare, ...]  # by the rule `evidence`
    standing: float | None  # by that rule; None: of a group that one is not in
    plain: bool  # by that rule: the interests say too little, so the order is plain
    movers: tuple[str, ...]  # the terms by which it passed others, or others passed it
    without: DecisiveTerms | None  # None: it has not moved
    among: str = ""  # the population of the rule `evidence`; "": other searches
    whose: str = GROUPS  # whose interests the row has, for the middle of a sentence
    smoothed: bool = False  # the row was made from all released rows and the index
    fallback: bool = False  # the row is the mean of all groups' rows


def explain(engine: Engine, request: Request, document: str) -> PlaceExplanation | None:
    """Return why `document` (an id) stands at its place; None if it is not in the pool."""
    pool = engine.pool(request.query, request.pool, operators=request.operators)
    ids = engine.ids(pool.rows).tolist()
    if document not in ids:
        return None
    return explain_places(engine, request, pool, [ids.index(document)])[0]


def explain_places(
    engine: Engine, request: Request, pool: Pool, places: Sequence[int]
) -> list[PlaceExplanation]:
    """Return an explanation for each of the `places` of the plain order, which count from 0."""
    ranking = engine.rank(pool, request)
    rows = pool.rows[list(places)]
    made = _score_parts(engine, request, pool, ranking)
    shares, scored = made.pulls, ranking.evidence
    lucene = engine.explain(request.query, rows.tolist(), operators=request.operators)
    documents = engine.openings(rows)
    kind = "group" if request.row else "none" if request.profile is None else "own"
    row, explanations = request.row, []
    foreign = row is not None and row.foreign
    whole = kind != "none" and not foreign
    for at, parts, document in zip(places, lucene, documents, strict=True):
        rank = _rank(ranking, at)
        up = 1 if rank < at + 1 else -1
        behind = ranking.plain_ranks[rank:] - 1 if up > 0 else ranking.plain_ranks[: rank - 1] - 1
        # How much each term moved the document past others, or others past it; the sentence names
        # the terms with the largest pull.
        pull: Floats = up * (shares[at] - shares[behind[up * behind < up * at]]).sum(axis=0)
        given = zip(request.interest.items(), made.shares[at].tolist(), strict=True)
        terms = [ScoreShare(term, weight, share) for (term, weight), share in given if share]
        explanations.append(
            PlaceExplanation(
                document=document.id,
                title=document.title,
                kind=kind,
                row=row.name if row else "",
                users=row.users if row else 0,
                fallback=row is not None and row.fallback,
                found=len(pool),
                rank=rank,
                plain_rank=at + 1,
                score=None if foreign else float(ranking.scores[rank - 1]),
                ranking=request.rule.ranking,
                bm25=float(pool.scores[at]),
                parts=tuple(sorted(parts, key=lambda part: -part.score)),
                terms=() if foreign else tuple(sorted(terms, key=lambda t: (-t.share, t.term))),
                added=() if foreign else made.added_to(at),
                standing=None if foreign or scored is None else scored.standing,
                plain=scored is not None and not foreign and not scored.gate,
                movers=() if foreign else tuple(_all_named(request, pull[None])[0]),
                without=_without(engine, request, pool, made, at, pull) if whole else None,
                smoothed=request.smoothed,
                among=request.among,
            )
        )
    return explanations


class _ScoreParts(NamedTuple):
    """The scores of a pool, taken apart; documents in plain order."""

    shares: Floats  # documents x terms: what each term of the interest adds
    added: tuple[tuple[str, Floats], ...]  # what else adds to the scores, by name
    pulls: Floats  # as `shares`, with what terms add through a document's neighbours
    base: Floats  # the score without `pulls`

    def added_to(self, at: int) -> tuple[AddedShare, ...]:
        return tuple(AddedShare(name, float(shares[at])) for name, shares in self.added)


def _score_parts(engine: Engine, request: Request, pool: Pool, ranking: Ranking) -> _ScoreParts:
    scored, interest = ranking.evidence, request.interest
    if scored is None or request.rule.ranking != EVIDENCE:
        shares = engine.contributions(pool.rows, interest)
        return _ScoreParts(shares, (), shares, np.zeros(len(pool)))
    made, half = engine.evidence(request.among), scored.strength / 2
    of_t = made.shares(pool.rows, interest)
    direction, near = made.direction(interest), made.neighbours(pool.rows)
    random = direction.mean / direction.spread if direction.spread else 0.0
    added = {
        LOG: logarithms(pool.scores),
        NEIGHBOURS: half * scored.support,
        COMMON: half * (scored.t + random - of_t.sum(axis=1)),
        RANDOM: np.full(len(pool), -half * random),
    }
    through = np.zeros_like(of_t)
    for term in np.flatnonzero(of_t.any(axis=0)).tolist():
        through[:, term] = support(of_t[:, term], near)
    pulls = half * (of_t + through)
    scores = np.empty(len(pool))
    scores[ranking.plain_ranks - 1] = ranking.scores
    return _ScoreParts(half * of_t, tuple(added.items()), pulls, scores - pulls.sum(axis=1))


def _rank(ranking: Ranking, at: int) -> int:
    return int(np.flatnonzero(ranking.plain_ranks == at + 1)[0]) + 1


def _without(
    engine: Engine, request: Request, pool: Pool, made: _ScoreParts, at: int, pull: Floats
) -> DecisiveTerms | None:
    terms = list(request.interest)
    weights = np.fromiter(request.interest.values(), np.float64, len(terms))

    def rank_without(numbers: Sequence[int]) -> int:
        less = without_terms(request, {terms[number] for number in numbers})
        return _rank(engine.rank(pool, less), at)

    if made.added:
        # The population stays as it is, so a term is taken out of the scores and not of the row.
        smallest = decisive(made.pulls, np.zeros(len(terms)), made.base, at, None)
    else:
        smallest = decisive(made.pulls, weights, made.base, at, rank_without)
    if smallest is None:
        return None
    named = sorted(smallest.terms, key=lambda number: (-float(pull[number]), terms[number]))
    return DecisiveTerms(tuple(terms[number] for number in named), smallest.rank, smallest.proven)


def without_terms(request: Request, terms: set[str]) -> Request:
    """Return `request` without `terms` of its profile or row."""
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
    whose: str = GROUPS,
) -> list[str]:
    """Return the terms with the largest shares of the score for `count` documents from `first`."""
    # `whose` says whose interests a row has, such as "your group's".
    rows = ranking.rows[first : first + count]
    scored = ranking.evidence
    foreign = request.row is not None and request.row.foreign
    if foreign or not request.interest or (scored is not None and not scored.gate):
        return [""] * rows.size
    if scored is None:
        shares = engine.contributions(rows, request.interest)
    else:
        shares = engine.evidence(request.among).shares(rows, request.interest)
    held = held_by("group" if request.row else "own", whose, request.smoothed)
    return [in_common(named, held) for named in _all_named(request, shares)]


def _all_named(request: Request, shares: Floats) -> list[list[str]]:
    """Return the terms of `request` with the largest shares in each row of `shares`."""
    terms, left = list(request.interest), shares.copy()
    rows = np.arange(len(left))
    named: list[list[str]] = [[] for _ in rows]
    for _ in range(min(NAMED, len(terms))):
        best = left.argmax(axis=1)
        shares_of_best = zip(named, best.tolist(), left[rows, best].tolist(), strict=True)
        for names, place, share in shares_of_best:
            names.extend([terms[place]] * (share > 0))
        left[rows, best] = 0
    return named


def as_json(explanation: PlaceExplanation) -> dict[str, Any]:
    """Return `explanation` as JSON has it, its sentence first."""
    e = explanation
    return {
        "sentence": sentence(e),
        **{"id": e.document, "title": e.title, "kind": e.kind},
        **{"row": e.row or None, "users": e.users or None, "found": e.found},
        **{"ranking": e.ranking, "standing": e.standing, "plain": e.plain},
        **{"rank": e.rank, "plain_rank": e.plain_rank, "score": e.score},
        "terms": [share._asdict() for share in e.terms],
        "added": [share._asdict() for share in e.added],
        "bm25": {"score": e.bm25, "parts": [vars(p) for p in e.parts]},
        "without": {**e.without._asdict(), "terms": list(e.without.terms)} if e.without else None,
    }
