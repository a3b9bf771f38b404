"""Document space: two users are alike when their profiles rank the same documents high.

A user's vector is the cosine of the profile with each document of a random sample of the corpus,
less the user's mean over the sample, scaled to length 1. The product of two vectors is thus the
correlation of two users' scores, from -1 to 1. No query is needed, and none is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .model import BadInput, Floats, Profiles

_BLOCK = 4096  # users
_NOISE = (
    1e-12  # of the scores' own length: all that rounding leaves of equal scores less their mean
)

MOST_PAIRS = 30_000  # users of whom all pairs are kept: 3.6 GB
DIMENSIONS = 256  # of a user's vector where there are more
Singles = NDArray[np.float32]


class Likeness(NamedTuple):
    """How alike users are: all pairs, or vectors whose products are nearly that."""

    pairs: Singles  # users x users, or 0 x 0
    vectors: Singles  # users x dimensions, or users x 0


def document_vectors(profiles: Profiles, documents: csr_matrix, terms: Sequence[str]) -> Floats:
    """Return users x documents; a user who scores all documents alike gets zeros.

    The documents' rows are their vectors as in search: over `terms`, weighted, scaled to length 1.
    """
    _refuse(documents, terms)
    column = {term: number for number, term in enumerate(terms)}
    columns = np.array([column.get(term, -1) for term in profiles.terms], dtype=np.int64)
    known = np.flatnonzero(columns >= 0)
    interests = profiles.weights[:, known]
    sampled = csr_matrix(csr_matrix(documents).tocsc()[:, columns[known]].T)
    vectors = np.empty((len(profiles), documents.shape[0]))
    for first in range(0, len(profiles), _BLOCK):
        block = slice(first, first + _BLOCK)
        vectors[block] = _standard((_scaled(interests[block]) @ sampled).toarray())
    return vectors


def _refuse(documents: csr_matrix, terms: Sequence[str]) -> None:
    if documents.shape[1] != len(terms):
        raise BadInput(
            f"documents have {documents.shape[1]} columns, but there are {len(terms)} terms"
        )
    if documents.shape[0] < 2:
        raise BadInput(f"{documents.shape[0]} documents can't tell users apart; sample at least 2")
    if not np.all(np.isfinite(documents.data)):
        raise BadInput("every weight of a document must be a finite number")


def _scaled(interests: csr_matrix) -> csr_matrix:
    """Divide each row by its largest weight: correlations stay, and nothing overflows."""
    row = np.repeat(np.arange(interests.shape[0]), np.diff(interests.indptr))
    largest = np.zeros(interests.shape[0])
    np.maximum.at(largest, row, interests.data)
    entries = (interests.data / largest[row], interests.indices, interests.indptr)
    return csr_matrix(entries, shape=interests.shape)


def _standard(scores: Floats) -> Floats:
    """Take each row's mean off it and scale it to length 1, or to 0 where nothing is left."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(centred, axis=1)
    some = lengths > _NOISE * np.linalg.norm(scores, axis=1)
    inverse = np.divide(1.0, lengths, out=np.zeros(lengths.size), where=some)
    standard: Floats = centred * inverse[:, None]
    return standard
