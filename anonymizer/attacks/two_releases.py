"""two-releases: someone who reads two releases of some of the same people compares their rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Ints
from ..errors import BadParameter
from .attacked import (
    BEST,
    Attacked,
    AttackResult,
    GuessedCells,
    Named,
    beyond,
    claimed_beyond,
    paired,
    right_guesses,
)
from .intervals import Estimate, mean, wilson
from .reading import LEAST, View, cells_at, inside

_ALIKE = 0.5  # cosine of two rows that may be one, before and after a change


def two_releases(target: Attacked) -> list[AttackResult]:
    """Return what the second release of `target` adds to the first, for people who stand in both.

    The attacker has learnt both rows of a victim, and knows how many people have each term and how
    many each row serves. Both rows are read by columns, as if they were independent given the term.
    So a term that one of them lacks is out. Someone whose two rows share no other person is alone
    in them. The attacker also compares rows before and after a change, without knowing anybody: if
    a row and the one most like it differ by one person, the difference of their sums is taken for
    that person's profile. A single-person row that is gone, or new, is taken for the profile.
    """
    if target.second is None:
        raise BadParameter("two-releases needs another release of the people: --second RELEASE")
    both = (_figures(one) for one in (target, target.raw))
    return paired(Named("two-releases"), *both)


def _figures(target: Attacked) -> dict[str, Estimate | None]:
    second = target.second
    if second is None:
        return {}
    first, other = target.view, replace(target, release=second).view
    people = np.flatnonzero((first.row_of >= 0) & (other.row_of >= 0))
    if not people.size:
        return {}
    pairs = first.row_of[people] * other.sizes.size + other.row_of[people]
    _, kind, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    values: dict[str, Estimate | None] = {
        "people whose two rows share nobody else": wilson(
            int(np.count_nonzero(counts[kind] == 1)), people.size
        )
    }
    victims = target.drawn(people)
    own, rng = target.own[victims], target.rng("two releases")
    one_row, two_rows = (_chances(first, other, victims, at) for at in ("one", "both"))
    for name, chances in (("one row", one_row), ("both rows", two_rows)):
        claims = beyond(claimed_beyond(chances, first.prior, target.p), own, first.prior, rng)
        values |= {f"{name}: {measure}": value for measure, value in claims.items()}
        person = np.repeat(np.arange(victims.size), np.diff(chances.indptr))
        has = cells_at(own, person, chances.indices)
        cells = GuessedCells(victims.size, person, first.prior[chances.indices], has)
        for best in BEST:
            right = right_guesses(cells, chances.data, best)
            values[f"{name}: precision of the {best} best guesses"] = mean(right, rng)
    return values | _changed(target, first, other)


def _chances(first: View, other: View, victims: Ints, which: str) -> csr_matrix:
    """Return people x terms: the chance that each of `victims` has a term, if a row has it."""
    rows = csr_matrix(first.rows[first.row_of[victims]])
    if which == "one":
        return rows
    there = csr_matrix(other.rows[other.row_of[victims]])
    kept = csr_matrix(rows.multiply(there > 0))
    kept.sort_indices()
    also = csr_matrix(there.multiply(kept > 0))
    also.sort_indices()
    # Each row multiplies the odds of the prior, which must count once.
    prior = inside(first.prior[kept.indices])
    one, two = (inside(part.data) for part in (kept, also))
    odds = one / (1 - one) * (two / (1 - two)) / (prior / (1 - prior))
    return csr_matrix((odds / (1 + odds), kept.indices, kept.indptr), shape=kept.shape)


# -- before and after a change ---------------------------------------------------------------------


def _changed(target: Attacked, first: View, other: View) -> dict[str, Estimate | None]:
    """Return how much of the profiles of people in only one release their difference shows."""
    gone = np.flatnonzero((first.row_of >= 0) & (other.row_of < 0))
    new = np.flatnonzero((first.row_of < 0) & (other.row_of >= 0))
    values = []
    for people, before, after in ((gone, first, other), (new, other, first)):
        if people.size:
            victims = target.drawn(people)
            guesses = _differences(before, after, np.unique(before.row_of[victims]))
            values += [
                _likeness(guesses.get(int(before.row_of[one])), target.own[one].indices)
                for one in victims.tolist()
            ]
    if not values:
        return {}
    return {"who left or came: profile shown": mean(np.array(values), target.rng("changes"))}


def _differences(before: View, after: View, rows: Ints) -> dict[int, Ints]:
    """Return the terms that each of `rows` lost with the one person who is not `after` any more."""
    scaled = [_unit(one.rows) for one in (before, after)]
    alike = csr_matrix(scaled[0][rows] @ scaled[1].T)
    guesses = {}
    for number, row in enumerate(rows.tolist()):
        own = before.rows[row].toarray()[0] * before.sizes[row]
        if before.sizes[row] == 1:
            guesses[row] = np.flatnonzero(own)
            continue
        likeness = alike[number].toarray()[0]
        twin = int(np.argmax(likeness))
        if likeness[twin] > _ALIKE and after.sizes[twin] == before.sizes[row] - 1:
            rest = after.rows[twin].toarray()[0] * after.sizes[twin]
            guesses[row] = np.flatnonzero(own - rest > 0.5)
    return guesses


def _unit(rows: csr_matrix) -> csr_matrix:
    length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return csr_matrix(rows.multiply(1 / np.maximum(length, LEAST)[:, None]))


def _likeness(guess: Ints | None, own: Ints) -> float:
    """Return the share of terms of `guess` or `own` that are of both; 0 without a guess."""
    if guess is None:
        return 0.0
    return np.intersect1d(guess, own).size / np.union1d(guess, own).size
