"""How far a release changes belief about anything: |posterior - prior| of each row and each term.

The papers' equation (1), exactly, for an attacker who reads a term's own column (inference.py
describes this attacker and the rules). The prior is the share of all users who have the term. Terms
that a row does not hold count like those it holds.

What a row says depends on the method. Pools: the published share. Composition, and centroids of
binary profiles: the share of members. Centroids of other weights: the same, as someone with all
weights can mostly tell from their sum how many there are. A union: one member or more has the term,
with whatever weight. guarantee=every-term: a missing term belongs to nobody, or to more than
p of the members. Matched vocabularies: the share of members if the row has the term, also in a bag,
else nothing. Reduced profiles: the user has each term of the row; users without a row are in none
of these cells. Rows of any other method are read as shares of members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Floats, Ints
from ..model import Profiles, Release
from .inference import Columns, Posteriors, posteriors_of
from .linkability import QUANTILES
from .measurement import Measurement, by_group, spread

if TYPE_CHECKING:
    from ..backends.everybody import Crowd

NAME = "change of belief"


class WorstCell(NamedTuple):
    """What an attacker infers about the members of a row and a term."""

    row: str
    term: str
    posterior: float
    prior: float


class BeliefChanges(NamedTuple):
    """Changes of belief: the largest of each row, and all values with their numbers of cells."""

    largest: Floats
    values: Floats
    cells: Ints


def belief(profiles: Profiles, release: Release) -> list[Measurement]:
    """Return the largest change of belief of each row of `release`, and quantiles of all cells."""
    changes = belief_changes(*infer(profiles, release))
    return [*by_group(NAME, changes.largest, release.rows.users), *belief_of(changes)]


def belief_of(changes: BeliefChanges) -> list[Measurement]:
    """Return what all cells of `changes` say together."""
    values, cells = changes.values, changes.cells
    of_cells = spread(values, cells, QUANTILES)
    return [
        Measurement(f"{NAME}, largest", of_cells[-1]),
        Measurement(f"{NAME}, mean", float(values @ cells / cells.sum())),
        *(
            Measurement(f"{NAME}, {quantile:.0%}", value)
            for quantile, value in zip(QUANTILES, of_cells, strict=True)
        ),
    ]


def belief_changes(columns: Columns, posteriors: Posteriors) -> BeliefChanges:
    """Return the changes of belief that `posteriors` of `columns` make."""
    standing, lacking = _changes(columns, posteriors)
    values = np.concatenate([standing, lacking.ravel()])
    cells = np.concatenate([np.ones(standing.size, dtype=np.int64), columns.lacking.ravel()])
    there = cells > 0  # a value counts once for each of its cells
    values, cells = values[there], cells[there]
    # Each row's largest change, in a term that it holds or in the first that it lacks.
    begins = np.searchsorted(columns.row, np.arange(columns.sizes.size + 1))
    largest = np.zeros(columns.sizes.size)
    np.maximum.at(largest, columns.row, standing)
    orders = np.argsort(-lacking, axis=0, kind="stable")
    holds = np.zeros(lacking.shape[0], dtype=np.bool_)
    for row, kind in enumerate(columns.class_of.tolist()):
        terms = columns.term[begins[row] : begins[row + 1]]
        if terms.size == holds.size:
            continue
        holds[terms] = True
        # A row of n terms lacks one of the first n + 1.
        order = orders[: terms.size + 1, kind]
        change = lacking[order[np.argmin(holds[order])], kind]
        holds[terms] = False
        largest[row] = max(largest[row], change)
    return BeliefChanges(largest, values, cells)


def infer(
    profiles: Profiles, release: Release, everybody: Crowd | None = None
) -> tuple[Columns, Posteriors]:
    """Return what `release` publishes of `profiles`, and what an attacker infers from it.

    The profiles may be a part of `everybody`, if the rows of other parts say nothing of them.
    """
    columns = Columns(profiles, release, everybody)
    return columns, posteriors_of(columns, release)


def worst_cells(profiles: Profiles, release: Release, count: int) -> list[WorstCell]:
    """Return the `count` cells of `release` where belief changes most, as private as `profiles`."""
    columns, posteriors = infer(profiles, release)
    standing, lacking = _changes(columns, posteriors)
    prior = columns.having / columns.users
    first = np.argsort(-standing, kind="stable")[:count].tolist()
    worst = [(columns.row[at], columns.term[at], posteriors.standing[at]) for at in first]
    worst += _worst_lacking(columns, posteriors, lacking, count)
    worst.sort(key=lambda cell: (-abs(cell[2] - prior[cell[1]]), cell[0], cell[1]))
    names, terms = release.rows.users, profiles.terms
    return [
        WorstCell(names[row], terms[term], float(value), float(prior[term]))
        for row, term, value in worst[:count]
    ]


def _worst_lacking(
    columns: Columns, posteriors: Posteriors, lacking: Floats, count: int
) -> list[tuple[int, int, float]]:
    """Return the row, term and posterior of `count` cells whose row lacks the term."""
    worst: list[tuple[int, int, float]] = []
    for place in np.argsort(-lacking.ravel(), kind="stable").tolist():
        term, kind = divmod(place, columns.classes.size)
        if len(worst) >= count:
            break
        if columns.lacking[term, kind]:
            rows = np.flatnonzero(columns.class_of == kind)
            rows = np.setdiff1d(rows, columns.row[columns.term == term])
            value = float(posteriors.lacking[term, kind])
            worst += [(row, term, value) for row in rows[: count - len(worst)].tolist()]
    return worst


def _changes(columns: Columns, posteriors: Posteriors) -> tuple[Floats, Floats]:
    """Return the change of belief of each cell, and of rows of each size without a term."""
    prior = columns.having / columns.users
    standing = np.abs(posteriors.standing - prior[columns.term])
    return standing, np.abs(posteriors.lacking - prior[:, None])
