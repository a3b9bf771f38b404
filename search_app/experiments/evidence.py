"""The rule `evidence` over all questions, as search applies it to one; and the strangers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anonymizer.arrays import Floats, Ints
from anonymizer.model import Release

from ..errors import UsageError
from ..measures.relevance import GAIN, HARM, judged
from ..search.evidence import CARES, EvidenceRule, gate_of, logarithms
from ..search.rerank import DECIMALS
from ..workspace.opening import population_of, public_of
from .facts import Facts

if TYPE_CHECKING:
    from .modes import Interests, Situation


BINS = ("0.0", "0.2", "0.4", "0.6", "0.8")  # of standing, by where each begins


class _Weighed(NamedTuple):
    """What the rule finds for all questions, before it decides how far this counts."""

    logs: Floats  # questions x documents: ln BM25
    evidence: Floats  # and the mean of t and support
    standing: Floats  # of each question


# Both cares weigh the same: what was found for a release is kept, by whose interests they are.
_known: dict[tuple[object, int], tuple[Release, _Weighed]] = {}


def by_evidence(
    interests: Callable[[Situation], Interests], care: str, *, of_rows: bool = True
) -> Callable[[Situation], Iterator[Floats]]:
    """Return a mode that orders by `interests` as far as there is evidence, with the given `care`.

    Prior and standing come from the release's rows. `of_rows` says that the interests are such
    rows, which don't stand among themselves.
    """

    def scores(situation: Situation) -> Iterator[Floats]:
        weighed = _weighed(situation, interests, of_rows)
        strength = [
            CARES[care].beta * gate_of(one, CARES[care]) for one in weighed.standing.tolist()
        ]
        yield weighed.logs + np.array(strength)[:, None] * weighed.evidence

    return scores


def _weighed(
    situation: Situation, interests: Callable[[Situation], Interests], of_rows: bool
) -> _Weighed:
    key, release = (interests, situation.depth), situation.released
    known = _known.get(key)
    if known is None or known[0] is not release:
        known = _known[key] = release, _weigh(situation, interests(situation), of_rows)
    return known[1]


def _weigh(situation: Situation, interests: Interests, of_rows: bool) -> _Weighed:
    questions, release = situation.questions, situation.released
    if questions.scores is None:
        raise UsageError("the rule evidence needs BM25's scores of the questions' pools")
    population = population_of(public_of(release))
    rule = EvidenceRule(population, situation.forward, situation.vectors)
    size = len(questions), situation.depth
    weighed = _Weighed(np.zeros(size), np.zeros(size), np.zeros(size[0]))
    rows = interests.row_of[questions.user]
    # By row and not by question: the direction of a row is prepared once.
    for row in np.unique(rows[rows >= 0]).tolist():
        weights, name = _interest(interests, row), release.rows.users[row] if of_rows else ""
        for at in np.flatnonzero(rows == row).tolist():
            hits = min(int(questions.hits[at]), situation.depth)
            bm25 = questions.scores[at, :hits]
            made = rule.scored(questions.pools[at, :hits], bm25, weights, name)
            weighed.logs[at, :hits] = logarithms(bm25)
            weighed.evidence[at, :hits] = (made.t + made.support) / 2
            weighed.standing[at] = made.standing
    return weighed


def facts_by_standing(situation: Situation, group: Callable[[Situation], Interests]) -> Facts:
    """Return the gain of rows of `group` without a gate, for questions of each standing.

    The facts are means over questions whose standing is in one of BINS, and the share of these.
    """
    questions = situation.questions
    if questions.relevant is None or questions.kind is None:
        return {}
    weighed = _weighed(situation, group, of_rows=True)
    relevant, hits = questions.relevant[:, : situation.depth], questions.hits
    full = weighed.logs + CARES["default"].beta * weighed.evidence
    keys = -np.round(full, DECIMALS)
    keys[np.arange(keys.shape[1])[None, :] >= hits[:, None]] = np.inf
    values = judged(relevant, np.argsort(keys, axis=1, kind="stable"), questions.kind)
    place = np.minimum((weighed.standing * len(BINS)).astype(np.int64), len(BINS) - 1)
    facts: Facts = {"left_plain": float((weighed.standing <= CARES["default"].start).mean())}
    for at, name in enumerate(BINS):
        some = place == at
        facts[f"share_of_standing_{name}"] = float(some.mean())
        if some.any():
            facts[f"gain_at_standing_{name}"] = float(values[GAIN][some].mean())
            facts[f"harmed_at_standing_{name}"] = float(values[HARM][some].mean())
    return facts


def _interest(interests: Interests, row: int) -> dict[str, float]:
    low, high = interests.weights.indptr[row : row + 2]
    terms = map(interests.terms.__getitem__, interests.weights.indices[low:high].tolist())
    return dict(zip(terms, interests.weights.data[low:high].tolist(), strict=True))


def strangers(groups: int, row_of: Ints, rng: np.random.Generator) -> Ints:
    """Return another of the `groups` for each user served by `row_of`; -1 where there is none."""
    drawn = rng.integers(max(groups - 1, 1), size=row_of.size)
    inside = (row_of >= 0) & (row_of < groups)
    others = np.where(inside, (row_of + 1 + drawn) % max(groups, 1), drawn)
    there = (row_of >= 0) & (groups > inside)
    return np.where(there, others, -1)
