"""How close vectors are to pools: a naive twin, and steps that change no answer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_matrix

from index.forward.closeness import VectorCloseness
from index.forward.reading import Forward
from index.model import SearchError

WORDS = [f"t{number}" for number in range(7)]


def forward_of(counts: np.ndarray, kind: type) -> Forward:
    """Return an index of documents with `counts`, as numbers of a `kind`."""
    rows, columns = np.nonzero(counts)
    df = np.maximum((counts > 0).sum(axis=0), 1)
    lengths = np.sqrt((counts.astype(float) ** 2).sum(axis=1))
    weighted = counts * np.log1p(len(counts) / df)
    arrays = {
        "numbers": np.arange(len(counts)),
        "indptr": np.concatenate(([0], np.cumsum((counts > 0).sum(axis=1)))),
        "indices": columns.astype(np.uint32),
        "tf": counts[rows, columns].astype(kind),
        "df": df,
        "norms_tf": lengths,
        "norms_tfidf": np.sqrt((weighted**2).sum(axis=1)),
    }
    return Forward(arrays, WORDS)


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 12))
def test_steps_change_no_answer_of_the_naive_twin(seed: int, size: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (30, len(WORDS))) * rng.integers(0, 2, (30, len(WORDS)))
    vectors = np.round(rng.random((9, len(WORDS))), 1) * (rng.random((9, len(WORDS))) < 0.5) / 3
    vectors[1] = vectors[0]  # equally close
    less, common = rng.random(9) / 4, rng.random(30) / 2
    less[1] = less[0]
    forward, pool = forward_of(counts, np.uint8), rng.permutation(30)[:size]
    made = VectorCloseness(forward, csc_matrix(vectors), less, common, most, "tf")
    close = []
    for vector, some in zip(vectors, less, strict=True):
        found = []
        for at in pool.tolist():
            length = math.sqrt(sum(int(n) ** 2 for n in counts[at]))
            product = sum(float(v) * int(n) for v, n in zip(vector, counts[at], strict=True))
            found.append((product / length if length else 0.0) - some * common[at])
        best = sorted(found, reverse=True)[:most]
        close.append(sum(best) / len(best))
    assert made.of(pool).tolist() == pytest.approx(close, abs=1e-11)
    exact = made.of(pool).tolist()
    for _ in range(2):  # computed, then in steps
        for number, than in enumerate(exact):
            for limit in (than, np.nextafter(than, 2), than + 1e-5):
                expected = sum(one < limit for at, one in enumerate(exact) if at != number)
                assert made.closer(made.prepared(pool), limit, number) == expected
        made.settle()
    assert not forward.blank.any()


def test_counts_of_any_width_are_as_alike() -> None:
    counts = np.random.default_rng(1).integers(0, 300, (12, len(WORDS)))
    kinds = (np.uint8, np.uint16, np.int64)
    for some in (np.minimum(counts, 255), counts):
        narrow, *others = (
            forward_of(some, kind).neighbours(np.arange(12), 3)
            for kind in kinds[int(some.max() > 255) :]
        )
        for other in others:
            assert np.array_equal(narrow.places, other.places)
            assert narrow.cosines.tolist() == other.cosines.tolist()
        idf = np.log1p(12 / np.maximum((some > 0).sum(axis=0), 1))
        units = np.where(some, 1 + np.log(np.maximum(some, 1)), 0) * idf
        units /= np.linalg.norm(units, axis=1, keepdims=True)
        alike = units @ units.T - 2 * np.eye(12)
        assert narrow.cosines == pytest.approx(-np.sort(-alike, axis=1)[:, :3], abs=1e-11)


def test_too_much_is_not_prepared_and_no_document_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forward = forward_of(np.eye(7, dtype=int), np.uint8)
    made = VectorCloseness(forward, csc_matrix(np.eye(7)), np.zeros(7), np.zeros(7), 2, "tf")
    monkeypatch.setattr("index.forward.closeness.CELLS", 48)
    made.settle()
    assert made.prepared(np.arange(7)).known is not None
    for row in (-1, 7):
        with pytest.raises(SearchError, match="rows must be from 0 to 6"):
            made.prepared(np.array([row]))
    assert made.of(np.arange(0)).tolist() == [0] * 7
