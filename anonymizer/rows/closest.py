"""A person in no release -> the released row closest to their own profile, and the reason.

The choice is made where the profile is. Who answers the search learns no more than the row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from ..errors import BadInput
from ..model import Profiles

# Cosines are compared to this many decimals, so that rounding does not decide between equal rows.
DECIMALS = 12


class Contribution(NamedTuple):
    """What one term adds to a cosine."""

    term: str
    share: float


@dataclass(frozen=True)
class Choice:
    """The row closest to a profile; its contributions sum to the cosine before rounding."""

    row: int | None  # None: no row has a term of the profile, or the cosine rounds to 0
    cosine: float
    runner_up: float | None  # the next row's cosine; None: there is only one row
    rows: int  # number of rows to choose from
    terms: int  # number of terms of the profile
    unknown: int  # number of these that are in no row
    contributions: tuple[Contribution, ...]  # largest first


def nearest(choices: Sequence[Choice], unknown: int) -> tuple[int, Choice]:
    """Return the place in `choices`, each among other rows, of the closest row, and the choice.

    That choice is among all rows. Of the profile's terms, `unknown` are in none of them.
    """
    best = max(range(len(choices)), key=lambda at: (choices[at].cosine, -at))
    others = [choice.cosine for at, choice in enumerate(choices) if at != best]
    others += [choice.runner_up for choice in choices if choice.runner_up is not None]
    rows, alone = sum(choice.rows for choice in choices), max(others, default=None)
    return best, replace(choices[best], rows=rows, runner_up=alone, unknown=unknown)


def closest_row(profile: Mapping[str, float], rows: Profiles) -> Choice:
    """Return the choice of the row whose cosine with `profile` is largest; ties: the lowest row."""
    if not len(rows):
        raise BadInput("there is no row to choose from; make a release of at least one")
    if not profile:
        raise BadInput("the profile has no term; give it at least one")
    if not all(math.isfinite(weight) and weight > 0 for weight in profile.values()):
        raise BadInput("every weight of the profile must be a finite number above 0")
    known = [(column, term) for column, term in enumerate(rows.terms) if term in profile]
    columns, terms = [column for column, _ in known], [term for _, term in known]
    # Divided by the power of 2 above the largest weight: exact, and no square overflows.
    exponent = math.frexp(max(profile.values()))[1]
    own = {term: math.ldexp(weight, -exponent) for term, weight in profile.items()}
    cells = rows.weights
    exponents = np.frexp(np.maximum.reduceat(cells.data, cells.indptr[:-1]))[1]
    data = np.ldexp(cells.data, np.repeat(-exponents, np.diff(cells.indptr)))
    weights = csr_matrix((data, cells.indices, cells.indptr), shape=cells.shape)
    shared = weights[:, columns]
    ours = np.array([own[term] for term in terms])
    # The product sums the squares of each row in the order of its terms.
    squares = csr_matrix((data * data, cells.indices, cells.indptr), shape=cells.shape)
    lengths: Floats = np.sqrt(squares @ np.ones(cells.shape[1]))
    lengths *= math.sqrt(math.fsum(weight * weight for weight in own.values()))
    cosines = np.round(shared @ ours / lengths, DECIMALS)
    best = int(np.argmax(cosines))
    alone = float(np.max(np.delete(cosines, best))) if len(rows) > 1 else None
    unknown = len(profile) - int(np.count_nonzero(shared.getnnz(axis=0)))
    if cosines[best] == 0:
        return Choice(None, 0.0, alone, len(rows), len(profile), unknown, ())
    shares = shared[best].toarray()[0] * ours / lengths[best]
    present: Ints = np.flatnonzero(shares)
    named = [Contribution(terms[at], float(shares[at])) for at in present.tolist()]
    why = tuple(sorted(named, key=lambda one: (-one.share, one.term)))
    return Choice(best, float(cosines[best]), alone, len(rows), len(profile), unknown, why)
