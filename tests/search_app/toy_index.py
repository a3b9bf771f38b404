"""Indexes without Lucene or files, and releases of given rows.

Every query finds all of a few documents, the first the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from anonymizer.methods import promise_of
from anonymizer.model import Profiles, Release
from anonymizer.terms.analysis import STOP_WORDS
from index.forward.reading import Forward
from index.model import Document, Index, Pool, ScorePart


class Shelf(Index):
    """Documents in the order of their scores; a subclass overrides what a test needs otherwise."""

    def __init__(self, stored: Sequence[Document], scores: Sequence[float] = ()) -> None:
        self.stored = list(stored)
        self.scores = np.array(scores or range(len(stored), 0, -1), dtype=np.float32)

    def pool(
        self, query: str, size: int, *, operators: bool = False, deadline: float | None = None
    ) -> Pool:
        """Find the first documents, whatever the query."""
        del query, operators, deadline
        return Pool(np.arange(len(self.stored), dtype=np.int64)[:size], self.scores[:size])

    def pools(
        self, queries: Sequence[str], size: int, *, threads: int = 1, operators: bool = False
    ) -> Iterator[Pool]:
        """Find them for each query."""
        del threads
        return (self.pool(query, size, operators=operators) for query in queries)

    def explain(
        self,
        query: str,
        rows: Sequence[int],
        *,
        operators: bool = False,
        deadline: float | None = None,
    ) -> list[list[ScorePart]]:
        """Say that a quarter of the score is the title's."""
        del query, operators, deadline
        halves, scores = (("title", 0.25), ("contents", 0.75)), self.scores.astype(float)
        return [
            [ScorePart(field, "java", part * scores[row]) for field, part in halves] for row in rows
        ]

    def ids(self, rows: NDArray[np.int64]) -> NDArray[np.object_]:
        """Return ids."""
        return np.array([self.stored[row].id for row in rows], dtype=np.object_)

    def document_counts(self, words: Sequence[str]) -> list[int | None]:
        """Count the texts that contain a word, but no stop word."""
        texts = [one.text.lower() for one in self.stored]
        return [
            None if word.lower() in STOP_WORDS else sum(word.lower() in text for text in texts)
            for word in words
        ]

    def row_of(self, name: str) -> int | None:
        """Look at all ids."""
        return next((at for at, one in enumerate(self.stored) if one.id == name), None)

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Read documents."""
        return [self.stored[row] for row in rows]

    def close(self) -> None:
        """Do nothing: nothing is open."""


def forward_of(counts: NDArray[np.int64], terms: Sequence[str]) -> Forward:
    """Return the forward index of documents x terms, as counted."""
    df, cells = (counts > 0).sum(axis=0), csr_matrix(counts)
    arrays = {
        "numbers": np.arange(len(counts)),
        **{"indptr": cells.indptr, "indices": cells.indices, "tf": cells.data, "df": df},
        "norms_tf": np.linalg.norm(counts, axis=1),
        "norms_tfidf": np.linalg.norm(counts * np.log1p(len(counts) / df), axis=1),
    }
    return Forward(arrays, list(terms))


def released(
    rows: Profiles,
    row_of: Mapping[str, int],
    method: str,
    parameters: Mapping[str, Any] | None = None,
    **more: Any,
) -> Release:
    """Return a release of rows, with the promise of its method."""
    given, users = dict(parameters or {}), tuple(row_of)
    promise, rows_of = promise_of(method, given), np.array([*row_of.values()])
    return Release(rows, users, rows_of, method, given, promise=promise, **more)
