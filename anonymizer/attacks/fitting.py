"""fitting: someone who holds all profiles without names tests which profile fits which row."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from .attacked import Attacked, AttackResult, Named, beyond, claimed_beyond, cohorts
from .intervals import Estimate, exact, wilson
from .reading import LEAST, View, largest_change, shares_of, true_shares

_BEST = 20  # rows that are kept for each profile
# Likelihoods are those of independent terms. As terms go together, they are far too sure.
_TOO_SURE = 5
_ROUNDS = 60


def fitting(target: Attacked) -> list[AttackResult]:
    """Return how many profiles are put into their own row, and what that tells of a named victim.

    The attacker holds all profiles of `target` without names, all rows and their numbers of people.
    A row that too many profiles fit counts for less, until each row is likely to get one profile
    for each of its people. Then each profile goes to its best row that has room, the surest profile
    first. Then the attacker learns which row is the victim's and believes of each term what
    the profiles there say. A change of belief counts as far as it is true: the smaller one of what
    the attacker believes and of what holds for the row's people. A bound on belief holds against
    this attacker where rows show their members' shares; where these are hidden, it does not.
    """
    named, promise = Named("fitting"), target.release.promise
    of_release, of_raw = (_figures(one) for one in (target, target.raw))
    holds = promise.bounds == "belief" and not promise.hides_members
    bounds = {"largest change of belief": target.p} if holds else {}
    return [
        named.result(measure, value, of_raw[measure], bounds.get(measure))
        for measure, value in of_release.items()
        if value is not None
    ]


def _figures(target: Attacked) -> dict[str, Estimate | None]:
    view, people = target.view, target.view.served
    placed, believed = _believed(target)
    right = int(np.count_nonzero(placed == view.row_of[people]))
    # What is promised holds within a cohort; fallback rows stay where nothing is promised.
    parts = [target] if target.release.promise.hides_members else cohorts(target)
    changes = (
        largest_change(
            believed if one is target else _believed(one)[1], true_shares(one.view), one.view.prior
        )
        for one in parts
    )
    claimed = csr_matrix(claimed_beyond(believed, view.prior, target.p)[view.row_of[people]])
    return {
        "members found": wilson(right, people.size),
        "largest change of belief": exact(max(changes)),
        **beyond(claimed, target.own[people], view.prior, target.rng("fitting")),
    }


def _believed(target: Attacked) -> tuple[Ints, csr_matrix]:
    """Return the row of each profile, and for each row the shares of the profiles put there."""
    view, people = target.view, target.view.served
    own = target.own[people]
    placed = assigned(view, own)
    shape = (view.sizes.size, people.size)
    there = csr_matrix((np.ones(people.size), (placed, np.arange(people.size))), shape=shape)
    return placed, shares_of(there @ own, np.bincount(placed, minlength=view.sizes.size))


def assigned(view: View, own: csr_matrix) -> Ints:
    """Return a row of `view` for each profile in `own`; no row gets more people than it serves."""
    best = np.zeros((own.shape[0], min(_BEST, view.sizes.size)), dtype=np.int64)
    values = np.zeros(best.shape)
    for people, scores in view.scores(own, whole=True):
        some = np.argpartition(-scores, best.shape[1] - 1, axis=1)[:, : best.shape[1]]
        likely = np.take_along_axis(scores, some, axis=1)
        order = np.argsort(-likely, axis=1, kind="stable")
        best[people] = np.take_along_axis(some, order, axis=1)
        values[people] = np.take_along_axis(likely, order, axis=1)
    values -= _discounts(best, values, view.sizes)[best]
    order = np.argsort(-values, axis=1, kind="stable")
    best, values = (
        np.take_along_axis(best, order, axis=1),
        np.take_along_axis(values, order, axis=1),
    )
    # A profile that fits one row far better than any other is placed before rows fill up.
    lead = values[:, 0] - values[:, min(1, best.shape[1] - 1)]
    room, placed = view.sizes.copy(), np.full(own.shape[0], -1, dtype=np.int64)
    for person in np.argsort(-lead, kind="stable").tolist():
        row = next((row for row in best[person].tolist() if room[row]), -1)
        # All rows that fit are full: any room is as good.
        placed[person] = row if row >= 0 else int(np.argmax(room))
        room[placed[person]] -= 1
    return placed


def _discounts(best: Ints, values: Floats, sizes: Ints) -> Floats:
    """Return what to take from each row's `values`, so that rows get people by their `sizes`.

    The `best` rows of each profile have these log likelihoods.
    """
    taken = np.zeros(sizes.size)
    for _ in range(_ROUNDS):
        sure = (values - taken[best]) / _TOO_SURE
        chance = np.exp(sure - sure.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        people = np.bincount(best.ravel(), chance.ravel(), sizes.size)
        taken += _TOO_SURE * np.log(np.maximum(people, LEAST) / sizes)
    return taken
