"""The modes of an experiment, by name: each scores the documents of every question's pool.

A new mode is one function and one line in MODES. Beside the group's row stand the baselines that an
honest figure shows: most of the gain over no personalization comes from any popular profile, and
much of the rest is the person's own share of a small group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.bounded_shares import fraction_of
from anonymizer.measures.inferring import Columns
from anonymizer.model import Grouping, Profiles, Release
from anonymizer.representative import REPRESENTATIVES, represent
from index.forward import Forward

from ..corpus_terms import document_vectors_over
from ..errors import UsageError
from ..rerank import DECIMALS
from ..smoothing import prior_of, refuse_unlike_shares, smoothed, strength_for, unit_columns
from .data import Questions
from .orders import best_first, places_in
from .outcomes import Floats, Ints

DRAWS = 8  # random orders of each pool
PICKED = 5  # of so many documents one is picked for the second of two stages: 200 of 1,000


@dataclass(frozen=True)
class Situation:
    """What a mode may use: the questions, whom they come from, and what was released."""

    questions: Questions
    profiles: Profiles
    release: Release | None
    forward: Forward
    vectors: str
    depth: int  # documents of each pool that are asked for
    seed: int

    @property
    def released(self) -> Release:
        """Return the release; modes that need none never ask."""
        if self.release is None:
            raise LookupError("this mode needs a release")
        return self.release

    def rng(self, use: int) -> np.random.Generator:
        """Return a generator of its own for each use."""
        return np.random.default_rng([self.seed, use])


class Interests(NamedTuple):
    """Rows of weights over terms, and which of them speaks for each user; -1: none does."""

    weights: csr_matrix
    terms: tuple[str, ...]
    row_of: Ints


class Mode(NamedTuple):
    """How a mode scores: one matrix, questions x documents, for each of its draws."""

    scores: Callable[[Situation], Iterator[Floats]]
    needs_release: bool = False
    by_pool: bool = False  # a smaller pool is scored otherwise than as the beginning of a larger


def _plain(situation: Situation) -> Iterator[Floats]:
    """Keep Lucene's order."""
    yield np.zeros((len(situation.questions), situation.depth))


def _shuffled(situation: Situation) -> Iterator[Floats]:
    """Order at random."""
    rng = situation.rng(1)
    for _ in range(DRAWS):
        yield rng.random((len(situation.questions), situation.depth))


def _by(
    interests: Callable[[Situation], Interests],
) -> Callable[[Situation], Iterator[Floats]]:
    """Order by the cosine with somebody's interests."""

    def scores(situation: Situation) -> Iterator[Floats]:
        yield cosines(situation, interests(situation))

    return scores


def cosines(situation: Situation, interests: Interests) -> Floats:
    """Return questions x documents: how like the asker's interests each document is."""
    forward, questions = situation.forward, situation.questions
    columns = forward.columns(interests.terms)
    found = np.zeros((len(questions), situation.depth))
    rows = interests.row_of[questions.user]
    for row in np.unique(rows[rows >= 0]).tolist():
        low, high = interests.weights.indptr[row : row + 2]
        own = columns[interests.weights.indices[low:high]]
        target = forward.target(own, interests.weights.data[low:high], situation.vectors)
        asked = np.flatnonzero(rows == row)
        pools, part = questions.pools[asked, : situation.depth], found[asked]
        inside = pools >= 0
        part[inside] = forward.cosines(pools[inside], target)
        found[asked] = part
    return found


def _own(situation: Situation) -> Interests:
    profiles = situation.profiles
    return Interests(profiles.weights, profiles.terms, np.arange(len(profiles)))


def _two_stages(
    pick: Callable[[Situation], Iterator[Floats]],
) -> Callable[[Situation], Iterator[Floats]]:
    """Let the best of another order be ordered by the own profile, as on the own device.

    What is not picked stays behind in that order.
    """

    def scores(situation: Situation) -> Iterator[Floats]:
        own = np.round(cosines(situation, _own(situation)), DECIMALS)
        hits = np.minimum(situation.questions.hits, situation.depth)
        for first in pick(situation):
            picked = places_in(best_first(first, hits)) < -(-hits // PICKED)[:, None]
            yield np.where(picked, 2 + own, first)  # no cosine is above 1

    return scores


def _everybodys(representative: str) -> Callable[[Situation], Interests]:
    """Serve everybody by one row made of all profiles."""

    def interests(situation: Situation) -> Interests:
        profiles = situation.profiles
        together = Grouping(np.zeros(len(profiles), dtype=np.int64))
        weights = REPRESENTATIVES[representative](profiles, together)
        return Interests(weights, profiles.terms, together.group_of)

    return interests


def _group(situation: Situation) -> Interests:
    release = situation.released
    return Interests(release.rows.weights, release.rows.terms, _row_of(situation))


def _smoothed(situation: Situation) -> Interests:
    """Serve by the released rows smoothed: a row of vectors for each, from public data alone."""
    release, rows = situation.released, situation.released.rows
    refuse_unlike_shares(release.method, release.parameters, rows.weights)
    columns = unit_columns(document_vectors_over(situation.forward, rows.terms))
    prior = prior_of(rows.weights, release.grouping.sizes)
    vectors = smoothed(
        rows.weights, prior, columns, strength_for(release.method, release.parameters.get("p"))
    )
    return Interests(csr_matrix(vectors), rows.terms, _row_of(situation))


def clipped_rows(situation: Situation) -> Interests:
    """Serve by the released rows with each share, 0 included, brought within p of the prior."""
    release, rows = situation.released, situation.released.rows
    p = _bound_on_shares(release, "clipped")
    prior = prior_of(rows.weights, release.grouping.sizes)
    near = np.clip(rows.weights.toarray(), prior - p, prior + p)
    return Interests(csr_matrix(near), rows.terms, _row_of(situation))


def suppressed_rows(situation: Situation) -> Interests:
    """Serve by the paper's rows without the cells whose share is more than p off the prior."""
    release, rows = situation.released, situation.released.rows
    given = release.parameters
    if release.method != "p-linkability" or given.get("guarantee") != "average":
        raise UsageError("mode suppressed needs a release of p-linkability, guarantee=average")
    p = fraction_of(_bound_on_shares(release, "suppressed"))
    cells = Columns(situation.profiles, release)
    sizes, users = cells.sizes[cells.row], cells.users
    off = np.abs(cells.members * users - cells.having[cells.term] * sizes)  # times sizes and users
    weights = csr_matrix(rows.weights, copy=True)
    weights.data[off * p.denominator > p.numerator * sizes * users] = 0
    weights.eliminate_zeros()
    return Interests(weights, rows.terms, _row_of(situation))


def _bound_on_shares(release: Release, mode: str) -> float:
    """Return the p of a release whose rows are shares; refuse any other."""
    refuse_unlike_shares(release.method, release.parameters, release.rows.weights)
    p = release.parameters.get("p")
    if p is None:
        raise UsageError(f"mode {mode} needs a release with a p")
    return float(p)


def random_groups(situation: Situation) -> Interests:
    """Serve by random groups of the release's sizes, whose rows are made by its own rules.

    They are drawn of those who have a row; who was left out is served by nobody here too.
    """
    profiles, given = situation.profiles, situation.released.parameters
    row_of = _row_of(situation)
    served = np.flatnonzero(row_of >= 0)
    drawn = Grouping(situation.rng(2).permutation(row_of[served]))
    most = given.get("p") if given.get("guarantee") == "every-term" else None
    representative = str(given.get("representative", "centroid"))
    rows = represent(_some(profiles, served), drawn, representative, most_share=most)
    row_of[served] = drawn.group_of
    return Interests(rows.weights, rows.terms, row_of)


def _left_out(situation: Situation) -> Interests:
    """Serve each asker by the group's row as it is without their own profile.

    It is made of the other members by the release's representative, over the terms of its row.
    Who has no others is served by nobody.
    """
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
            parts.append(_made(make, profiles, others, kept))
    stacked = _stacked(parts, len(profiles.terms))
    return Interests(stacked, profiles.terms, row_of)


def _made(
    make: Callable[[Profiles, Grouping], csr_matrix], profiles: Profiles, rows: Ints, kept: Ints
) -> csr_matrix:
    """Return the representative of some users, over some terms only."""
    row = make(_some(profiles, rows), Grouping(np.zeros(rows.size, dtype=np.int64)))
    stays = np.isin(row.indices, kept)
    ends = np.array([0, np.count_nonzero(stays)])
    return csr_matrix((row.data[stays], row.indices[stays], ends), shape=row.shape)


def _some(profiles: Profiles, rows: Ints) -> Profiles:
    users = tuple(profiles.users[row] for row in rows.tolist())
    return Profiles(users, profiles.terms, profiles.weights[rows])


def _stacked(parts: list[csr_matrix], terms: int) -> csr_matrix:
    if not parts:
        return csr_matrix((0, terms))
    indices = np.concatenate([part.indices for part in parts])
    data = np.concatenate([part.data for part in parts])
    ends = np.cumsum([0, *(part.nnz for part in parts)])
    return csr_matrix((data, indices, ends), shape=(len(parts), terms))


def _row_of(situation: Situation) -> Ints:
    """Return the released row that serves each user of the profiles; -1 where none does."""
    release, profiles = situation.released, situation.profiles
    if release.users == profiles.users:
        return release.row_of_user.copy()
    rows = dict(zip(release.users, release.row_of_user.tolist(), strict=True))
    return np.array([rows.get(user, -1) for user in profiles.users], dtype=np.int64)


MODES: dict[str, Mode] = {
    "none": Mode(_plain),
    "random": Mode(_shuffled),
    "own": Mode(_by(_own)),
    "average": Mode(_by(_everybodys("centroid"))),
    "union": Mode(_by(_everybodys("union"))),
    "random-groups": Mode(_by(random_groups), needs_release=True),
    "group": Mode(_by(_group), needs_release=True),
    "left-out": Mode(_by(_left_out), needs_release=True),
    "smoothed": Mode(_by(_smoothed), needs_release=True),
    "clipped": Mode(_by(clipped_rows), needs_release=True),
    "suppressed": Mode(_by(suppressed_rows), needs_release=True),
    "two-stages": Mode(_two_stages(_by(_group)), needs_release=True, by_pool=True),
    "two-stages-smoothed": Mode(_two_stages(_by(_smoothed)), needs_release=True, by_pool=True),
    "two-stages-plain": Mode(_two_stages(_plain), by_pool=True),
}
