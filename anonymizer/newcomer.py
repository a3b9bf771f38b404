"""A person in no release -> the released row closest to their own profile, and why that one.

The choice is made where the profile is. Whoever answers the search learns no more than the row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from .model import BadInput, Floats, Ints, Profiles

DECIMALS = 12  # to which cosines are compared, so that ties are ties


class Contribution(NamedTuple):
    """What one term gives to a cosine."""

    term: str
    share: float


@dataclass(frozen=True)
class Choice:
    """The row closest to a profile; its contributions sum to the cosine before rounding."""

    row: int | None  # None: no row has a term of the profile, or none that counts
    cosine: float
    runner_up: float | None  # the next row's cosine; None: there is one row
    rows: int  # that there were to choose from
    terms: int  # of the profile
    unknown: int  # of these, in no row
    contributions: tuple[Contribution, ...]  # largest first


def closest_row(profile: Mapping[str, float], rows: Profiles) -> Choice:
    """Return the row of the largest cosine with a profile; ties: the lowest row."""
    _check(profile, rows)
    known = [(column, term) for column, term in enumerate(rows.terms) if term in profile]
    columns, terms = [column for column, _ in known], [term for _, term in known]
    own = _scaled_profile(profile)
    weights = _scaled(rows.weights)
    shared = weights[:, columns]
    ours = np.array([own[term] for term in terms])
    lengths = _lengths(weights) * math.sqrt(math.fsum(weight * weight for weight in own.values()))
    cosines = np.round(shared @ ours / lengths, DECIMALS)
    best = int(np.argmax(cosines))
    alone = float(np.max(np.delete(cosines, best))) if len(rows) > 1 else None
    unknown = len(profile) - int(np.count_nonzero(shared.getnnz(axis=0)))
    if cosines[best] == 0:
        return Choice(None, 0.0, alone, len(rows), len(profile), unknown, ())
    why = _contributions(shared[best].toarray()[0] * ours / lengths[best], terms)
    return Choice(best, float(cosines[best]), alone, len(rows), len(profile), unknown, why)


def _check(profile: Mapping[str, float], rows: Profiles) -> None:
    if not len(rows):
        raise BadInput("there is no row to choose from; make a release of at least one")
    if not profile:
        raise BadInput("the profile has no term; give it at least one")
    if not all(math.isfinite(weight) and weight > 0 for weight in profile.values()):
        raise BadInput("every weight of the profile must be a finite number above 0")


def _scaled_profile(profile: Mapping[str, float]) -> dict[str, float]:
    """Divide by the power of 2 above the largest weight: exact, and no square overflows."""
    exponent = math.frexp(max(profile.values()))[1]
    return {term: math.ldexp(weight, -exponent) for term, weight in profile.items()}


def _scaled(rows: csr_matrix) -> csr_matrix:
    """Divide each row by the power of 2 above its largest weight."""
    exponents = np.frexp(np.maximum.reduceat(rows.data, rows.indptr[:-1]))[1]
    data = np.ldexp(rows.data, np.repeat(-exponents, np.diff(rows.indptr)))
    return csr_matrix((data, rows.indices, rows.indptr), shape=rows.shape)


def _lengths(rows: csr_matrix) -> Floats:
    """Return each row's length, summed in the order of its terms."""
    squares = csr_matrix((rows.data * rows.data, rows.indices, rows.indptr), shape=rows.shape)
    lengths: Floats = np.sqrt(squares @ np.ones(rows.shape[1]))
    return lengths


def _contributions(shares: Floats, terms: Sequence[str]) -> tuple[Contribution, ...]:
    """Name the terms that share anything, the largest first, equal ones by name."""
    present: Ints = np.flatnonzero(shares)
    named = [Contribution(terms[at], float(shares[at])) for at in present.tolist()]
    return tuple(sorted(named, key=lambda each: (-each.share, each.term)))
