"""What an anonymizer may learn besides profiles: a sample of documents, and where terms meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix

from anonymizer.counting import TermCounter
from anonymizer.model import QueryLog
from anonymizer.similarity import Documents
from index.forward import Forward, idf


def sample_documents(forward: Forward, count: int, rng: np.random.Generator) -> Documents:
    """Draw documents that have terms; all of them if there are no more."""
    rows = np.flatnonzero(np.diff(forward.counts[0]))
    drawn = np.sort(rng.choice(rows, min(count, rows.size), replace=False))
    parts = [forward.weights_of(row) for row in drawn.tolist()]
    ends = np.cumsum([0, *(columns.size for columns, _ in parts)])
    columns = np.concatenate([columns for columns, _ in parts] or [np.zeros(0, np.int64)])
    weights = np.concatenate([weights for _, weights in parts] or [np.zeros(0)])
    shape = (drawn.size, len(forward.terms))
    return Documents(csr_matrix((weights, columns, ends), shape=shape), tuple(forward.terms))


def documents_by_terms(forward: Forward) -> csr_matrix:
    """Return documents x terms, as counted."""
    starts, columns, counts = forward.counts
    entries = (counts.astype(np.float64), columns.astype(np.int32), starts)
    return csr_matrix(entries, shape=(forward.documents, len(forward.terms)))


def document_vectors_over(forward: Forward, terms: Sequence[str]) -> csr_matrix:
    """Return documents' vectors as search weighs them, of length 1, over some of their terms."""
    counts = documents_by_terms(forward)
    found = np.bincount(counts.indices, minlength=counts.shape[1])
    weights = counts.data * idf(forward.documents, np.maximum(found, 1))[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(row, weights**2, counts.shape[0]))
    vectors = csr_matrix((weights / lengths[row], counts.indices, counts.indptr), counts.shape)
    columns = forward.columns(terms)
    known = np.flatnonzero(columns >= 0)
    some = csr_matrix(vectors.tocsc()[:, columns[known]])
    entries = (some.data, known[some.indices], some.indptr)
    return csr_matrix(entries, shape=(counts.shape[0], len(terms)))


def queries_by_terms(log: QueryLog, counter: TermCounter) -> csr_matrix:
    """Return distinct queries x the terms the counter has met, as counted."""
    counts = counter.count_packed(log.queries, np.arange(len(log.queries)))
    starts = np.concatenate([[0], counts.ends])
    shape = (counts.ends.size, len(counter.terms))
    return csr_matrix((counts.tf.astype(np.float64), counts.columns, starts), shape=shape)
