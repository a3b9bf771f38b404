"""The modes of an experiment, by name. A mode scores the documents of every question's pool."""
# A new mode is one function and one line in MODES. The baselines keep figures honest: most of the
# gain over no personalization comes from any popular profile. Much of the rest is the person's
# own share of a small group.

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, vstack

from anonymizer.arrays import Floats, Ints
from anonymizer.families import Addition, Family, function
from anonymizer.model import Grouping, Profiles, Release
from anonymizer.rows.representative import REPRESENTATIVES, represent
from index.forward.products import LANES
from index.forward.reading import Forward, Target

from ..search.rerank import DECIMALS
from ..search.smoothing import (
    document_vectors_over,
    prior_of,
    refuse_unlike_shares,
    smoothed,
    strength_for,
    unit_columns,
)
from .data import Questions
from .evidence import by_evidence, facts_by_standing, strangers
from .facts import Facts

DRAWS = 8  # random orders of each pool
# The first of two stages picks one document in PICKED: 200 of 1,000, as the device's page does.
PICKED = 5
_AT_ONCE = 256  # questions whose documents are sorted together
_BITS = 12  # of a place in a pool
_MOST = 1000  # larger scores have no key of 63 bits in steps of 1e-12
EVIDENCE = "group-evidence"  # the mode whose questions have a standing


@dataclass(frozen=True)
class Situation:
    """What a mode may use: the questions, the profiles of their people, and the release."""

    questions: Questions
    profiles: Profiles
    release: Release | None
    forward: Forward
    vectors: str
    depth: int  # documents of each pool to score
    seed: int

    @property
    def released(self) -> Release:
        """Return the release; LookupError if there is none."""
        if self.release is None:
            raise LookupError("this mode needs a release")
        return self.release

    def rng(self, use: int) -> np.random.Generator:
        """Return a random generator that depends on the seed and on `use`."""
        # Two uses of one generator would depend on each other's number of draws.
        return np.random.default_rng([self.seed, use])


class Interests(NamedTuple):
    """Rows of weights over terms, and the row that serves each user; -1: no row."""

    weights: csr_matrix
    terms: tuple[str, ...]
    row_of: Ints


class Mode(NamedTuple):
    """How a mode scores: one matrix (questions x documents) for each of its draws."""

    scores: Callable[[Situation], Iterator[Floats]]
    needs_release: bool = False
    by_pool: bool = False  # scores of a small pool are not the first ones of a larger pool
    of_all: bool = False  # scores depend on neither release nor seed


def best_first(scores: Floats, hits: Ints) -> Ints:
    """Return the order of each row of `scores`, best first; places from `hits` on stay last."""
    # Rounded as search rounds; ties keep Lucene's order. Whole numbers are sorted several times
    # faster than scores. Their last bits are the place, so no two are equal.
    places, orders = np.arange(scores.shape[1]), np.empty(scores.shape, dtype=np.int64)
    for at in range(0, len(scores), _AT_ONCE):
        some, beyond = scores[at : at + _AT_ONCE], places >= hits[at : at + _AT_ONCE, None]
        if places.size <= 1 << _BITS and np.abs(some).max(initial=0) < _MOST:
            keys = np.rint(some * -(10.0**DECIMALS)).astype(np.int64) << _BITS
            keys[beyond] = np.iinfo(np.int64).max >> _BITS << _BITS
            orders[at : at + _AT_ONCE] = np.sort(keys | places) & ((1 << _BITS) - 1)
        else:
            keys = np.where(beyond, np.inf, -np.round(some, DECIMALS))
            orders[at : at + _AT_ONCE] = np.argsort(keys, kind="stable")
    return orders


def places_in(order: Ints) -> Ints:
    """Return the place, from 0, at which each document stands in each row of `order`."""
    places = np.empty_like(order)
    np.put_along_axis(places, order, np.arange(order.shape[1])[None, :], axis=1)
    return places


def _plain(situation: Situation) -> Iterator[Floats]:
    """Keep Lucene's order."""
    yield np.zeros((len(situation.questions), situation.depth))


def _shuffled(situation: Situation) -> Iterator[Floats]:
    """Order at random."""
    rng = situation.rng(1)
    for _ in range(DRAWS):
        yield rng.random((len(situation.questions), situation.depth))


def _by(interests: Callable[[Situation], Interests]) -> Callable[[Situation], Iterator[Floats]]:
    """Return a mode that orders by the cosine with the interests that `interests` gives."""

    def scores(situation: Situation) -> Iterator[Floats]:
        yield cosines(situation, interests(situation))

    return scores


def cosines(situation: Situation, interests: Interests) -> Floats:
    """Return, as questions x documents, the cosine of each document with its `interests`."""
    forward, questions = situation.forward, situation.questions
    columns = forward.columns(interests.terms)
    scores = np.zeros((len(questions), situation.depth))
    rows = interests.row_of[questions.user]
    # By row and not by question, as the target vector of a row serves all its questions. Several
    # rows at once, as their questions find many of the same documents.
    used = np.unique(rows[rows >= 0]).tolist()
    for at in range(0, len(used), LANES):
        some = used[at : at + LANES]
        served = [np.flatnonzero(rows == row) for row in some]
        pools = [questions.pools[few, : situation.depth] for few in served]
        targets = list[Target]()
        for row in some:
            low, high = interests.weights.indptr[row : row + 2]
            own = columns[interests.weights.indices[low:high]]
            weights = interests.weights.data[low:high]
            targets.append(forward.target(own, weights, situation.vectors))
        made = forward.cosines_with_each([pool[pool >= 0] for pool in pools], targets)
        for few, pool, of_row in zip(served, pools, made, strict=True):
            part = np.zeros(pool.shape)
            part[pool >= 0] = of_row
            scores[few] = part
    return scores


def _own(situation: Situation) -> Interests:
    profiles = situation.profiles
    return Interests(profiles.weights, profiles.terms, np.arange(len(profiles)))


def _two_stages(
    pick: Callable[[Situation], Iterator[Floats]],
) -> Callable[[Situation], Iterator[Floats]]:
    """Return a mode in which the own profile reorders the best documents that `pick` finds."""

    def scores(situation: Situation) -> Iterator[Floats]:
        own = np.round(cosines(situation, _own(situation)), DECIMALS)
        hits = np.minimum(situation.questions.hits, situation.depth)
        for first in pick(situation):
            picked = places_in(best_first(first, hits)) < -(-hits // PICKED)[:, None]
            # No cosine is above 1: with 2 added, picked documents come before all others.
            yield np.where(picked, 2 + own, first)

    return scores


def _everybodys(representative: str) -> Callable[[Situation], Interests]:
    """Return interests that serve everybody by one row made of all profiles."""

    def interests(situation: Situation) -> Interests:
        profiles = situation.profiles
        together = Grouping(np.zeros(len(profiles), dtype=np.int64))
        weights = REPRESENTATIVES[representative](profiles, together)
        return Interests(weights, profiles.terms, together.group_of)

    return interests


def _group(situation: Situation) -> Interests:
    release = situation.released
    return Interests(release.rows.weights, release.rows.terms, _row_of(situation))


def facts_of_standing(situation: Situation) -> Facts:
    """Return what the rows of `situation` gain without a gate, by the standing of questions."""
    return facts_by_standing(situation, _group)


def _smoothed(situation: Situation) -> Interests:
    """Return the released rows, smoothed with public data alone."""
    release, rows = situation.released, situation.released.rows
    refuse_unlike_shares(release.promise, release.parameters, rows.weights)
    columns = unit_columns(document_vectors_over(situation.forward, rows.terms))
    prior = prior_of(rows.weights, release.grouping.sizes)
    strength = strength_for(release.promise, release.parameters.get("p"))
    vectors = smoothed(rows.weights, prior, columns, strength)
    return Interests(csr_matrix(vectors), rows.terms, _row_of(situation))


def _stranger(situation: Situation) -> Interests:
    """Serve each asker by the row of another group, drawn at random."""
    release = situation.released
    row_of = strangers(release.groups, _row_of(situation), situation.rng(3))
    return Interests(release.rows.weights, release.rows.terms, row_of)


def random_groups(situation: Situation) -> Interests:
    """Return interests from random groups as large as those of `situation`, by the same rules."""
    profiles, given = situation.profiles, situation.released.parameters
    row_of = _row_of(situation)
    served = np.flatnonzero(row_of >= 0)
    # A permutation of who is in which group keeps the sizes of all groups.
    drawn = Grouping(situation.rng(2).permutation(row_of[served]))
    limit = situation.released.number("p") if given.get("guarantee") == "every-term" else None
    representative = str(given.get("representative", "centroid"))
    rows = represent(profiles.some(served), drawn, representative, most_share=limit)
    row_of[served] = drawn.group_of
    return Interests(rows.weights, rows.terms, row_of)


def _left_out(situation: Situation) -> Interests:
    """Return for each person who searches the group's row made of the other members alone."""
    # Only terms of the released row: what `guarantee` suppresses must not come back here.
    release, profiles = situation.released, situation.profiles
    groups = _row_of(situation)
    askers = np.unique(situation.questions.user)
    askers = askers[groups[askers] >= 0]
    make = REPRESENTATIVES[str(release.parameters.get("representative", "centroid"))]
    column = {term: at for at, term in enumerate(profiles.terms)}
    released = np.array([column[term] for term in release.rows.terms], dtype=np.int64)
    row_of = np.full(len(profiles), -1, dtype=np.int64)
    parts: list[csr_matrix] = []
    for user in askers.tolist():
        members = np.flatnonzero(groups == groups[user])
        others = members[members != user]
        if others.size:
            row_of[user] = len(parts)
            kept = released[release.rows.slice(int(groups[user]))[0]]
            row = make(profiles.some(others), Grouping(np.zeros(others.size, dtype=np.int64)))
            stays = np.isin(row.indices, kept)
            ends = np.array([0, np.count_nonzero(stays)])
            parts.append(csr_matrix((row.data[stays], row.indices[stays], ends), shape=row.shape))
    rows = vstack(parts, "csr") if parts else csr_matrix((0, len(profiles.terms)))
    return Interests(rows, profiles.terms, row_of)


def _row_of(situation: Situation) -> Ints:
    """Return the released row that serves each user of the profiles; -1 for no row."""
    release, profiles = situation.released, situation.profiles
    if release.users == profiles.users:
        # A copy, as callers write to it.
        return release.row_of_user.copy()
    rows = dict(zip(release.users, release.row_of_user.tolist(), strict=True))
    return np.array([rows.get(user, -1) for user in profiles.users], dtype=np.int64)


_OURS: dict[str, Mode] = {
    "none": Mode(_plain, of_all=True),
    "random": Mode(_shuffled),
    "own": Mode(_by(_own), of_all=True),
    "average": Mode(_by(_everybodys("centroid")), of_all=True),
    "union": Mode(_by(_everybodys("union")), of_all=True),
    "random-groups": Mode(_by(random_groups), needs_release=True),
    "group": Mode(_by(_group), needs_release=True),
    "left-out": Mode(_by(_left_out), needs_release=True),
    "smoothed": Mode(_by(_smoothed), needs_release=True),
    "stranger": Mode(_by(_stranger), needs_release=True),
    "own-evidence": Mode(by_evidence(_own, "default", of_rows=False), needs_release=True),
    "own-careful": Mode(by_evidence(_own, "careful", of_rows=False), needs_release=True),
    EVIDENCE: Mode(by_evidence(_group, "default"), needs_release=True),
    "group-careful": Mode(by_evidence(_group, "careful"), needs_release=True),
    "stranger-evidence": Mode(by_evidence(_stranger, "default"), needs_release=True),
    "two-stages": Mode(_two_stages(_by(_group)), needs_release=True, by_pool=True),
    "two-stages-smoothed": Mode(_two_stages(_by(_smoothed)), needs_release=True, by_pool=True),
    "two-stages-plain": Mode(_two_stages(_plain), by_pool=True),
}


def _adopted(given: object, addition: Addition) -> Mode:
    scores = function(given, addition)
    return Mode(lambda situation: iter([scores(situation)]), needs_release=True)


MODES: Family[Mode] = Family("veilsearch.modes", _OURS, _adopted)
