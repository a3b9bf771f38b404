"""Smoothing: turn a released row into a better ranking vector, from public data alone.

This method is ours. The prior is the mean of all released rows, each weighted by the number of
people who share it. A row R of shares differs from the prior by Z = R - prior. In large groups Z is
small. The ranking vector makes Z larger, and adds terms that occur in the same documents of the
public corpus as the terms of Z:

    w = prior + beta Z + gamma |Z| unit(Z N K N)

K = D'D says how often each two terms occur together in the corpus, where D is documents x terms.
N divides by the lengths of D's columns. Smoothing is post-processing of published data: it reads no
profile, no user and no members of a group. So what a release promises holds for smoothed rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.arrays import Floats, Ints
from anonymizer.model import Profiles, ReleasedRow
from anonymizer.promise import Promise
from index.forward.reading import Forward, idf

from ..errors import UsageError

KEPT = 64  # smoothed rows in memory; each weighs all terms of the release


class Strength(NamedTuple):
    """How much a row is smoothed."""

    beta: float  # factor of the row's difference from the prior
    gamma: float  # weight of terms that occur with its own, in lengths of that difference


AS_RELEASED = Strength(1.0, 0.0)
# The largest p for each strength, as measured. At a larger p groups are small: nothing is smoothed.
_BY_P = ((0.1, Strength(1.3, 0.2)), (0.2, Strength(1.3, 0.1)))


def strength_for(promise: Promise, p: object) -> Strength:
    """Return how much to smooth rows at `p`: only rows that hide members, up to a p of 0.2."""
    if not promise.hides_members or not isinstance(p, int | float):
        return AS_RELEASED
    return next((strength for limit, strength in _BY_P if p <= limit), AS_RELEASED)


def unlike_shares(promise: Promise, parameters: Mapping[str, object], rows: csr_matrix) -> str:
    """Return why `rows` are no shares of a group's members; empty if they are."""
    if promise.single_person:
        return "a row of one person has no shares; this needs the rows of groups"
    if parameters.get("representative", "centroid") != "centroid":
        return "a union has no shares; release with representative=centroid"
    if promise.bounds == "vocabulary":
        return "weights that count occurrences are no shares; release by another method"
    if rows.data.max(initial=0) > 1:
        return "weights above 1 are no shares; release profiles of weights binary"
    return ""


def refuse_unlike_shares(
    promise: Promise, parameters: Mapping[str, object], rows: csr_matrix
) -> None:
    """Refuse `rows` that are no shares: they have no prior."""
    if why := unlike_shares(promise, parameters, rows):
        raise UsageError(why)


def prior_of(shares: csr_matrix, users: Ints) -> Floats:
    """Return the mean of the rows of `shares`, each weighted by its number of `users`."""
    prior: Floats = csr_matrix(shares).T @ (users / users.sum())
    return prior


def unit_columns(documents: csr_matrix) -> csr_matrix:
    """Return `documents` (x terms) with each column scaled to length 1; an empty one stays 0."""
    cells = csr_matrix(documents)
    squares = np.bincount(cells.indices, cells.data**2, cells.shape[1])
    entries = (cells.data / np.sqrt(squares)[cells.indices], cells.indices, cells.indptr)
    return csr_matrix(entries, shape=cells.shape)


def smoothed(shares: csr_matrix, prior: Floats, columns: csr_matrix, strength: Strength) -> Floats:
    """Return the ranking vectors of the rows `shares`; `columns` are unit columns, same terms."""
    rows = csr_matrix(shares).toarray()
    if strength == AS_RELEASED:
        return rows
    away = rows - prior
    # N K N itself is never built: it is terms x terms.
    spread: Floats = (columns.T @ (columns @ away.T)).T
    length, reach = (np.linalg.norm(rows, axis=1, keepdims=True) for rows in (away, spread))
    units = np.divide(spread, reach, out=np.zeros_like(spread), where=reach > 0)
    vectors: Floats = prior + strength.beta * away + strength.gamma * length * units
    return vectors


def documents_by_terms(forward: Forward) -> csr_matrix:
    """Return documents x terms with the term counts of `forward`."""
    starts, columns, counts = forward.counts
    entries = (counts.astype(np.float64), columns.astype(np.int32), starts)
    return csr_matrix(entries, shape=(forward.documents, len(forward.terms)))


def document_vectors_over(forward: Forward, terms: Sequence[str]) -> csr_matrix:
    """Return the unit vectors by which search weighs documents of `forward`, cut to `terms`."""
    counts = documents_by_terms(forward)
    frequencies = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = counts.data * idf(forward.documents, np.maximum(frequencies, 1))[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(row, weights**2, counts.shape[0]))
    vectors = csr_matrix((weights / lengths[row], counts.indices, counts.indptr), counts.shape)
    columns = forward.columns(terms)
    known = np.flatnonzero(columns >= 0)
    some = csr_matrix(vectors.tocsc()[:, columns[known]])
    entries = (some.data, known[some.indices], some.indptr)
    return csr_matrix(entries, shape=(counts.shape[0], len(terms)))


class PublicRelease(NamedTuple):
    """The public part of a release."""

    rows: Profiles  # names and weights, no users
    users: Ints  # how many people share each row
    promise: Promise
    parameters: Mapping[str, object]
    fallback: Sequence[int] = ()  # numbers of the rows that are no group's, but a mean of groups


class SmoothedRows:
    """Smooths released rows with published data and the index; threads may share it."""

    def __init__(self, published: PublicRelease, forward: Forward):
        self._published, self._forward = published, forward
        self._strength = strength_for(published.promise, published.parameters.get("p"))
        self._weights = lru_cache(KEPT)(self._made)

    def of(self, row: ReleasedRow) -> ReleasedRow:
        """Return `row` with smoothed weights; its name and its number of users stay."""
        return replace(row, weights=self._weights(row.name))

    @cached_property
    def _columns(self) -> csr_matrix:
        return unit_columns(document_vectors_over(self._forward, self._published.rows.terms))

    @cached_property
    def _prior(self) -> Floats:
        return prior_of(self._published.rows.weights, self._published.users)

    def _made(self, name: str) -> Mapping[str, float]:
        rows = self._published.rows
        shares = rows.weights[[rows.number(name)]]
        (vector,) = smoothed(shares, self._prior, self._columns, self._strength)
        pairs = zip(rows.terms, vector.tolist(), strict=True)
        return {term: weight for term, weight in pairs if weight}


def smoothing_of(published: PublicRelease, forward: Forward) -> SmoothedRows | None:
    """Return what smooths the rows of `published`; None if they are no shares, or better as is."""
    promise, parameters, rows = published.promise, published.parameters, published.rows
    as_they_are = strength_for(promise, parameters.get("p")) == AS_RELEASED
    if as_they_are or unlike_shares(promise, parameters, rows.weights):
        return None
    return SmoothedRows(published, forward)
