"""Smoothing: a released row as a better vector for ranking, made of public data alone.

Ours. A row R of shares differs by Z = R - prior from what all people have; the prior is the mean
of all released rows, each counted as often as people share it. In large groups little of Z is
left. The ranking vector goes further the same way, and towards the terms that stand in the same
documents of the public corpus as those which the row has more of:

    w = prior + beta Z + gamma |Z| unit(Z N K N)

K = D'D tells of each two terms how much they stand together in the documents D of the corpus, N
divides by the lengths of D's columns. It is post-processing of what is published: no profile, no
user and no group's members are asked for, so whatever a release promises holds of smoothed rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from anonymizer.model import has_lone_rows

from .errors import UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Strength(NamedTuple):
    """How much is smoothed."""

    beta: float  # what the row's difference from the prior is times
    gamma: float  # how far towards terms beside its own, in lengths of that difference


AS_RELEASED = Strength(1.0, 0.0)
SMOOTHED = "pooled"  # the method whose rows are smoothed
_BY_P = ((0.1, Strength(1.3, 0.2)), (0.2, Strength(1.3, 0.1)))  # up to such a p


def strength_for(method: str, p: object) -> Strength:
    """Return how much to smooth a method's rows that were released at p.

    Measured on the real log: it helps pooled rows up to p = 0.2, and costs others precision.
    """
    if method != SMOOTHED or not isinstance(p, int | float):
        return AS_RELEASED
    return next((strength for most, strength in _BY_P if p <= most), AS_RELEASED)


def unlike_shares(method: str, parameters: Mapping[str, Any], rows: csr_matrix) -> str:
    """Say why rows are no shares of a group's members; nothing if they are."""
    if has_lone_rows(method):
        return "a row of one person has no shares; this needs the rows of groups"
    if parameters.get("representative", "centroid") != "centroid":
        return "a union has no shares; release with representative=centroid"
    if rows.data.max(initial=0) > 1:
        return "weights above 1 are no shares; release profiles of weights binary"
    return ""


def refuse_unlike_shares(method: str, parameters: Mapping[str, Any], rows: csr_matrix) -> None:
    """Refuse rows that are no shares: there is no prior of them."""
    if why := unlike_shares(method, parameters, rows):
        raise UsageError(why)


def prior_of(shares: csr_matrix, users: Ints) -> Floats:
    """Return the mean of released rows, each counted as often as people share it."""
    prior: Floats = csr_matrix(shares).T @ (users / users.sum())
    return prior


def unit_columns(documents: csr_matrix) -> csr_matrix:
    """Return documents x terms, each column scaled to length 1; one without documents stays 0."""
    cells = csr_matrix(documents)
    squares = np.bincount(cells.indices, cells.data**2, cells.shape[1])
    entries = (cells.data / np.sqrt(squares)[cells.indices], cells.indices, cells.indptr)
    return csr_matrix(entries, shape=cells.shape)


def smoothed(shares: csr_matrix, prior: Floats, columns: csr_matrix, strength: Strength) -> Floats:
    """Return ranking vectors of released rows; `columns` are unit columns over the same terms.

    N K N is the product of the unit columns with themselves; it is applied and never built.
    """
    rows = csr_matrix(shares).toarray()
    if strength == AS_RELEASED:
        return rows
    away = rows - prior
    spread: Floats = (columns.T @ (columns @ away.T)).T
    length, reach = (np.linalg.norm(each, axis=1, keepdims=True) for each in (away, spread))
    units = np.divide(spread, reach, out=np.zeros_like(spread), where=reach > 0)
    vectors: Floats = prior + strength.beta * away + strength.gamma * length * units
    return vectors
