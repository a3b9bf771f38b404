"""Document space: two users are alike when their profiles rank the same documents high.

A user's scores are the cosines of the profile with each document of a random sample of the corpus.
The user's vector has the scores minus their mean, scaled to length 1. So the product of two vectors
is the correlation of two users' scores, from -1 to 1. No query is needed, and none is read.

All pairs of n users take 4 n² bytes. For more than MOST_PAIRS users, short vectors are kept
instead, over the AXES directions in which users differ most. These are the largest eigenvectors of
the sum of the vectors' outer products over at most _DRAWN users. Products of short vectors only
approximate those of the whole ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints
from ..errors import BadInput, BadParameter
from ..model import Profiles

_BLOCK = 4096  # users
# Equal scores minus their mean are 0 but for rounding, which leaves up to this share of the scores.
_NOISE = 1e-12
_DECIMALS = 6  # of the product of two vectors

MOST_PAIRS = 30_000  # users; all pairs of them take 3.6 GB
AXES = 256  # a kilobyte per user
_DRAWN = 10_000  # users from which the axes are computed
Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Documents:
    """A sample of the corpus: unit vectors over terms, as search weighs them."""

    vectors: csr_matrix
    terms: tuple[str, ...]


class Likeness(NamedTuple):
    """How alike users are: for all pairs, or as vectors whose products approximate that."""

    pairs: Singles  # users x users, or 0 x 0
    vectors: Singles  # users x axes, or users x 0


def likeness(profiles: Profiles, sample: Documents, rng: np.random.Generator) -> Likeness:
    """Return how alike users of `profiles` are in document space; their weights don't count."""
    users = len(profiles)
    if users <= MOST_PAIRS:
        vectors = _vectors(profiles, sample, np.arange(users))
        # Rounded: the last digits depend on how many cores share the sums.
        exact, pairs = vectors.astype(np.float64), np.empty((users, users), dtype=np.float32)
        for first in range(0, users, _BLOCK):
            some = slice(first, first + _BLOCK)
            pairs[some] = np.round(exact[some] @ exact.T, _DECIMALS)
        return Likeness(pairs, np.zeros((users, 0), dtype=np.float32))
    # Documents x axes: the directions in which drawn users differ most.
    drawn = np.sort(rng.permutation(users)[:_DRAWN])
    size = sample.vectors.shape[0]
    squares = np.zeros((size, size))
    for first in range(0, drawn.size, _BLOCK):
        vectors = _vectors(profiles, sample, drawn[first : first + _BLOCK])
        squares += vectors.T @ vectors
    _, directions = np.linalg.eigh(squares)
    axes = np.ascontiguousarray(directions[:, -AXES:], dtype=np.float32)
    short = np.empty((users, axes.shape[1]), dtype=np.float32)
    for first in range(0, users, _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, users))
        short[rows] = _vectors(profiles, sample, rows) @ axes
    return Likeness(np.zeros((0, 0), dtype=np.float32), short)


def refuse_no_sample(sample: Documents | None) -> Documents:
    """Return `sample`, or raise BadParameter if there is none."""
    if sample is None:
        raise BadParameter("a sample of an index's documents is needed")
    return sample


def _vectors(profiles: Profiles, sample: Documents, rows: Ints) -> Singles:
    """Return the document vectors of the users in `rows`, with all weights set to 1."""
    cells = profiles.weights[rows]
    cells.data = np.ones_like(cells.data)
    some = Profiles(tuple(profiles.users[row] for row in rows), profiles.terms, cells)
    return document_vectors(some, sample.vectors, sample.terms).astype(np.float32)


def document_vectors(profiles: Profiles, documents: csr_matrix, terms: Sequence[str]) -> Floats:
    """Return users x documents; `documents` are weighed as in search; equal scores give zeros."""
    if documents.shape[0] < 2:
        raise BadInput(f"{documents.shape[0]} documents can't tell users apart; sample at least 2")
    column = {term: number for number, term in enumerate(terms)}
    columns = np.array([column.get(term, -1) for term in profiles.terms], dtype=np.int64)
    known = np.flatnonzero(columns >= 0)
    interests = profiles.weights[:, known]
    sampled = csr_matrix(csr_matrix(documents).tocsc()[:, columns[known]].T)
    vectors = np.empty((len(profiles), documents.shape[0]))
    for first in range(0, len(profiles), _BLOCK):
        block = slice(first, first + _BLOCK)
        cells = interests[block]
        row = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
        largest = np.zeros(cells.shape[0])
        np.maximum.at(largest, row, cells.data)
        # Divide each row by its largest weight: correlations stay, and nothing overflows.
        entries = (cells.data / largest[row], cells.indices, cells.indptr)
        scores = (csr_matrix(entries, shape=cells.shape) @ sampled).toarray()
        centred = scores - scores.mean(axis=1, keepdims=True)
        lengths = np.linalg.norm(centred, axis=1)
        some = lengths > _NOISE * np.linalg.norm(scores, axis=1)
        # Scaled to length 1, or to 0 where nothing is left.
        inverse = np.divide(1.0, lengths, out=np.zeros(lengths.size), where=some)
        vectors[block] = centred * inverse[:, None]
    return vectors
