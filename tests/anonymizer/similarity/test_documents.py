"""Document space: correlations that can be computed by hand, and a naive twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from anonymizer.errors import BadInput
from anonymizer.model import Profiles
from anonymizer.similarity import documents as similarity
from anonymizer.similarity.documents import UNIT, Documents, Likeness, document_vectors, likeness

TERMS = ("cat", "dog", "tea")
DOCUMENTS = csr_matrix(np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0.6, 0.8, 0]]))


def vectors_of(**rows: dict[str, float]) -> np.ndarray:
    return document_vectors(Profiles.from_rows(rows), DOCUMENTS, TERMS)


def test_the_length_of_a_profile_does_not_matter() -> None:
    weights = {"u": 1e-310, "v": 1e-200, "w": 1e300}
    found = vectors_of(**{user: {"cat": w, "tea": 3 * w} for user, w in weights.items()})
    assert np.all(np.isfinite(found))
    assert found == pytest.approx(np.tile(found[2], (3, 1)))


def test_who_scores_all_alike_is_close_to_nobody() -> None:
    documents = csr_matrix(np.array([[0.1, 0.1], [0.1, 0.3], [0.1, 0.7]]))
    profiles = Profiles.from_rows({"u": {"unicorn": 1.0}, "v": {"cat": 0.7}, "w": {"dog": 1.0}})
    nothing, same, some = document_vectors(profiles, documents, ("cat", "dog"))
    assert not nothing.any()
    assert not same.any()  # 0.07 each, but for rounding
    assert some @ some == pytest.approx(1.0)


def test_a_single_document_is_refused() -> None:
    with pytest.raises(BadInput, match="1 documents can't tell users apart; sample at least 2"):
        document_vectors(Profiles.from_rows({"u": {"cat": 1.0}}), DOCUMENTS[:1], TERMS)


SAMPLE = Documents(DOCUMENTS, TERMS)


def likeness_of(rows: dict[str, dict[str, float]]) -> Likeness:
    return likeness(Profiles.from_rows(rows), SAMPLE, np.random.default_rng(0))


def products(vectors: np.ndarray) -> np.ndarray:
    whole = vectors.astype(np.float64) / UNIT
    product: np.ndarray = whole @ whole.T
    return product


# One user for each choice among three terms, so their scores less the mean lie in 3 dimensions.
CHOICES = {f"u{i}": {TERMS[j]: 1.0 for j in range(3) if i >> j & 1} for i in range(1, 8)}


def test_likeness_of_all_pairs_is_the_product_of_vectors() -> None:
    rows = {"u": {"cat": 1.0}, "v": {"dog": 1.0, "tea": 1.0}, "w": {"tea": 1.0}}
    vectors = vectors_of(**rows)
    made = likeness_of(rows)
    assert products(made.vectors) == pytest.approx(vectors @ vectors.T, abs=1e-3)
    exact = vectors @ vectors.T - 9 * np.eye(3)
    assert made.nearest.tolist() == np.argsort(-exact, axis=1)[:, :2].tolist()


def test_what_is_asked_for_counts_not_how_much() -> None:
    ones, weighed = (
        likeness_of({"u": {"cat": 1.0, "tea": weight}, "v": {"dog": 2.0}}) for weight in (1.0, 9.0)
    )
    assert ones.vectors.tolist() == weighed.vectors.tolist()


def test_vectors_over_fewer_axes_lose_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = vectors_of(**CHOICES)
    exact = products(likeness_of(CHOICES).vectors)
    assert exact == pytest.approx(whole @ whole.T, abs=1e-3)
    monkeypatch.setattr(similarity, "AXES", 2)
    fewer = products(likeness_of(CHOICES).vectors)
    lost = np.linalg.eigvalsh(whole @ whole.T)[-3]
    assert exact.trace() - fewer.trace() == pytest.approx(lost, rel=0.02)


def test_axes_are_chosen_by_some_users_where_there_are_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(similarity, "_DRAWN", 5)
    first, again = likeness_of(CHOICES), likeness_of(CHOICES)
    assert first.vectors.tolist() == again.vectors.tolist()
    whole = vectors_of(**CHOICES)
    assert products(first.vectors) == pytest.approx(whole @ whole.T, abs=1e-3)


def test_who_scores_all_alike_has_a_vector_of_zeros() -> None:
    rows = {"u": {"unicorn": 1.0}, "v": {"cat": 1.0}, "w": {"dog": 1.0}}
    zeros, *others = likeness_of(rows).vectors
    assert not zeros.any()
    assert all(other.any() for other in others)


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9).map(float), min_size=1),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=8),
)
def test_vectors_equal_their_naive_twin(
    rows: list[dict[str, float]], documents: list[list[int]]
) -> None:
    profiles = Profiles.from_rows({f"u{i}": row for i, row in enumerate(rows)})
    found = document_vectors(profiles, csr_matrix(np.array(documents, dtype=float)), "bdfa")
    for row, vector in zip(rows, found, strict=True):
        scores = np.array([sum(row.get(t, 0) * d for t, d in zip("bdfa", doc, strict=True))
                           for doc in documents])  # fmt: skip
        centred = scores - scores.mean()
        length = np.sqrt((centred**2).sum())
        expected = centred / length if length > 1e-9 else np.zeros(len(documents))
        assert vector == pytest.approx(expected, abs=1e-9)
