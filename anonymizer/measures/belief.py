"""How far a release changes belief about anything: |posterior - prior| of each row and each term.

The papers' equation (1), exactly, for whoever reads a term's own column (inferring.py says who that
is and by which rule he infers). The prior is the share of all users who have the term; terms that a
row does not hold count like those it holds.

What a row of a method says is read so. Pools: the published share. Composition, and the centroid of
profiles that only say whether: the share of members. The centroid of other weights: the same, as
who knows all weights can mostly tell from their sum how many there are. A union: that one member
or more has the term, however much of it. guarantee=every-term: a missing term is one of nobody, or
of more than p of the members. Reduced profiles: a term of theirs is the user's own; who has no row
is in none of these cells. Rows of any other method are read as shares of members.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .finding import Floats, Ints
from .inferring import (
    Columns,
    Posteriors,
    by_bounded_shares,
    by_bounded_unions,
    by_pools,
    by_reduced,
    by_shares,
    by_unions,
)
from .linkability import QUANTILES
from .measurement import Measurement, by_group

if TYPE_CHECKING:
    from ..model import Profiles, Release

NAME = "change of belief"


class WorstCell(NamedTuple):
    """What is inferred of the members of a row about a term."""

    row: str
    term: str
    posterior: float
    prior: float


def belief(profiles: Profiles, release: Release) -> list[Measurement]:
    """Measure the largest change of belief of each row, and how it is spread over all cells."""
    columns, posteriors = infer(profiles, release)
    standing, lacking = _changes(columns, posteriors)
    values = np.concatenate([standing, lacking.ravel()])
    cells = np.concatenate([np.ones(standing.size, dtype=np.int64), columns.lacking.ravel()])
    spread = _quantiles(values, cells)
    mean = float(values @ cells / cells.sum())
    return [
        *by_group(NAME, _largest(columns, standing, lacking), release.rows.users),
        Measurement(f"{NAME}, largest", spread[-1]),
        Measurement(f"{NAME}, mean", mean),
        *(
            Measurement(f"{NAME}, {quantile:.0%}", value)
            for quantile, value in zip(QUANTILES, spread, strict=True)
        ),
    ]


def infer(profiles: Profiles, release: Release) -> tuple[Columns, Posteriors]:
    """Infer from a release, by the rule that fits its method and parameters."""
    columns = Columns(profiles, release)
    rule = _RULES.get(release.method, _by_shares)
    return columns, rule(columns, release)


def worst_cells(profiles: Profiles, release: Release, count: int) -> list[WorstCell]:
    """Return the cells about which belief changes most, which are as private as the profiles."""
    columns, posteriors = infer(profiles, release)
    standing, lacking = _changes(columns, posteriors)
    prior = columns.having / columns.users
    first = np.argsort(-standing, kind="stable")[:count].tolist()
    found = [(columns.row[at], columns.term[at], posteriors.standing[at]) for at in first]
    found += _worst_lacking(columns, posteriors, lacking, count)
    found.sort(key=lambda cell: (-abs(cell[2] - prior[cell[1]]), cell[0], cell[1]))
    names, terms = release.rows.users, profiles.terms
    return [
        WorstCell(names[row], terms[term], float(value), float(prior[term]))
        for row, term, value in found[:count]
    ]


def _worst_lacking(
    columns: Columns, posteriors: Posteriors, lacking: Floats, count: int
) -> list[tuple[int, int, float]]:
    """Return the same of terms that a row lacks."""
    found: list[tuple[int, int, float]] = []
    for place in np.argsort(-lacking.ravel(), kind="stable").tolist():
        term, kind = divmod(place, columns.classes.size)
        if len(found) >= count:
            break
        if columns.lacking[term, kind]:
            rows = np.flatnonzero(columns.class_of == kind)
            rows = np.setdiff1d(rows, columns.row[columns.term == term])
            value = float(posteriors.lacking[term, kind])
            found += [(row, term, value) for row in rows[: count - len(found)].tolist()]
    return found


def _changes(columns: Columns, posteriors: Posteriors) -> tuple[Floats, Floats]:
    """Return the change of belief of each cell, and of rows of each size without a term."""
    prior = columns.having / columns.users
    standing = np.abs(posteriors.standing - prior[columns.term])
    return standing, np.abs(posteriors.lacking - prior[:, None])


def _largest(columns: Columns, standing: Floats, lacking: Floats) -> Floats:
    """Return each row's largest change, in a term that it holds or in the first that it lacks."""
    begins = np.searchsorted(columns.row, np.arange(columns.sizes.size + 1))
    largest: Floats = np.maximum.reduceat(standing, begins[:-1])
    orders = np.argsort(-lacking, axis=0, kind="stable")
    holds = np.zeros(lacking.shape[0], dtype=np.bool_)
    for row, kind in enumerate(columns.class_of.tolist()):
        terms = columns.term[begins[row] : begins[row + 1]]
        if terms.size == holds.size:
            continue
        holds[terms] = True
        order = orders[: terms.size + 1, kind]  # one of these it lacks
        change = lacking[order[np.argmin(holds[order])], kind]
        holds[terms] = False
        largest[row] = max(largest[row], change)
    return largest


def _quantiles(values: Floats, cells: Ints) -> list[float]:
    """Return quantiles of values that stand for so many cells each: the least that suffice."""
    order = np.argsort(values, kind="stable")
    order = order[cells[order] > 0]
    reached = np.cumsum(cells[order])
    at = np.searchsorted(reached, np.array(QUANTILES) * reached[-1])
    found: list[float] = values[order[np.minimum(at, order.size - 1)]].tolist()
    return found


def _by_shares(columns: Columns, _release: Release) -> Posteriors:
    return by_shares(columns)


def _of_p_linkability(columns: Columns, release: Release) -> Posteriors:
    union = release.parameters["representative"] == "union"
    if release.parameters["guarantee"] == "average":
        return by_unions(columns) if union else by_shares(columns)
    p = Fraction(str(release.parameters["p"]))
    return by_bounded_unions(columns, p) if union else by_bounded_shares(columns, p)


_RULES: dict[str, Callable[[Columns, Release], Posteriors]] = {
    "p-linkability": _of_p_linkability,
    "km-anonymity": lambda columns, _: by_reduced(columns),
    "pooled": lambda columns, _: by_pools(columns),
    "composition": _by_shares,
}
