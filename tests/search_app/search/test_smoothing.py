"""Smoothed rows against the formula in dense arithmetic, and what they may be made of."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from anonymizer.methods import promise_of
from search_app.errors import UsageError
from search_app.search import smoothing
from search_app.search.smoothing import (
    AS_RELEASED,
    Strength,
    document_vectors_over,
    prior_of,
    refuse_unlike_shares,
    smoothed,
    strength_for,
    unit_columns,
)

from ..toy_index import forward_of

# tea, milk, saw: two rows, of 3 people and of 1
POOLED = promise_of("pooled", {})
SHARES = csr_matrix([[2 / 3, 1 / 3, 0.0], [0.0, 0.0, 1.0]])
USERS = np.array([3, 1])


def test_it_is_the_formula_with_all_terms_by_terms_written_out() -> None:
    rng = np.random.default_rng(8)
    shares = rng.random((5, 12)) * (rng.random((5, 12)) < 0.6)
    documents = rng.random((30, 12)) * (rng.random((30, 12)) < 0.3)
    documents[:, 7] = 0  # a term that no document has
    users = rng.integers(1, 9, 5)
    prior = (users / users.sum()) @ shares
    away, together = shares - prior, documents.T @ documents
    lengths = np.sqrt(np.diag(together))
    norms = np.diag(np.divide(1, lengths, out=np.zeros(12), where=lengths > 0))
    spread = away @ norms @ together @ norms
    length, reach = np.linalg.norm(away, axis=1), np.linalg.norm(spread, axis=1)
    wanted = prior + 1.3 * away + 0.2 * (length / reach)[:, None] * spread
    found = smoothed(
        csr_matrix(shares),
        prior_of(csr_matrix(shares), users),
        unit_columns(csr_matrix(documents)),
        Strength(1.3, 0.2),
    )
    assert found == pytest.approx(wanted)


def test_a_row_like_all_people_stays_as_it_is() -> None:
    prior = np.array([0.5, 0.25])
    columns = unit_columns(csr_matrix(np.eye(2)))
    found = smoothed(csr_matrix([prior]), prior, columns, Strength(1.3, 0.2))
    assert found.tolist() == [prior.tolist()]


@pytest.mark.parametrize(
    ("p", "strength"),
    [
        (0.05, (1.3, 0.2)),
        (0.1, (1.3, 0.2)),
        (0.2, (1.3, 0.1)),
        (0.3, (1.0, 0.0)),
        (0.4, (1.0, 0.0)),
        (None, (1.0, 0.0)),
    ],
)
def test_large_groups_are_smoothed_more_and_small_ones_not_at_all(
    p: float | None, strength: tuple[float, float]
) -> None:
    assert strength_for(POOLED, p) == strength
    rows = smoothed(SHARES, prior_of(SHARES, USERS), unit_columns(SHARES), strength_for(POOLED, p))
    assert (rows == SHARES.toarray()).all() == (strength == AS_RELEASED)


def test_nothing_private_has_a_place() -> None:
    functions = (smoothed, prior_of, unit_columns, strength_for, refuse_unlike_shares)
    taken = {name for function in functions for name in inspect.signature(function).parameters}
    # published: rows, the people behind each, p and promise; public: documents
    published = {"shares", "rows", "users", "p", "promise", "parameters", "strength", "prior"}
    assert taken == {*published, "documents", "columns"}
    assert not any("Profiles" in inspect.getsource(function) for function in functions)
    assert "row_of_user" not in inspect.getsource(smoothing)


@pytest.mark.parametrize(
    ("method", "parameters", "weight", "said"),
    [
        ("km-anonymity", {}, 1.0, "row of one person"),
        ("p-linkability", {"representative": "union"}, 1.0, "representative=centroid"),
        ("p-linkability", {"representative": "centroid"}, 1.5, "weights binary"),
    ],
)
def test_rows_that_are_no_shares_are_refused(
    method: str, parameters: dict[str, str], weight: float, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        refuse_unlike_shares(promise_of(method, {}), parameters, csr_matrix([[weight]]))
    refuse_unlike_shares(POOLED, {}, csr_matrix([[1.0]]))


def test_documents_vectors_are_those_of_search() -> None:
    forward = forward_of(np.array([[1, 2], [3, 0]]), ["tea", "saw"])
    found = document_vectors_over(forward, ("mocha", "saw", "tea")).toarray()
    for row in range(2):
        columns, weights = forward.weights_of(row)
        wanted = dict(zip(columns.tolist(), weights.tolist(), strict=True))
        assert found[row].tolist() == pytest.approx([0, wanted.get(1, 0), wanted.get(0, 0)])
