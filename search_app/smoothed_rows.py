"""The rows of one release, smoothed for search: each when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from scipy.sparse import csr_matrix

from anonymizer.model import Ints, Profiles, ReleasedRow
from index.forward import Forward

from .corpus_terms import document_vectors_over
from .smoothing import (
    AS_RELEASED,
    Floats,
    prior_of,
    smoothed,
    strength_for,
    unit_columns,
    unlike_shares,
)

KEPT = 64  # rows, each of which weighs every term of the release


class Published(NamedTuple):
    """What is public of a release."""

    rows: Profiles  # names and weights, no users
    users: Ints  # who share each, how many
    method: str
    parameters: Mapping[str, Any]


class SmoothedRows:
    """Smooths released rows by what is published and by the index; safe to share."""

    def __init__(self, published: Published, forward: Forward):
        self._published, self._forward = published, forward
        self._strength = strength_for(published.method, published.parameters.get("p"))
        self._weights = lru_cache(KEPT)(self._made)

    def of(self, row: ReleasedRow) -> ReleasedRow:
        """Return a row by its name and the number behind it, with smoothed weights."""
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


def smoothing_of(published: Published, forward: Forward) -> SmoothedRows | None:
    """Return what smooths a release; None if its rows are no shares, or serve best as they are."""
    method, parameters, rows = published.method, published.parameters, published.rows
    as_they_are = strength_for(method, parameters.get("p")) == AS_RELEASED
    if as_they_are or unlike_shares(method, parameters, rows.weights):
        return None
    return SmoothedRows(published, forward)
