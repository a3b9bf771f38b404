"""Document space: two users are alike when their profiles rank the same documents high.

A user's vector is the cosine of the profile with each document of a random sample of the corpus,
less the user's mean over the sample, scaled to length 1. The product of two vectors is thus the
correlation of two users' scores, from -1 to 1. No query is needed, and none is read.

All pairs of n users take 4 n² bytes. Beyond MOST_PAIRS users their vectors are kept instead, over
the AXES directions in which most of them differ most: the largest eigenvectors of the sum of the
vectors' outer products, of at most _TELLING users. Their products are not those of the vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .model import BadInput, BadParameter, Floats, Ints, Profiles

_BLOCK = 4096  # users
_NOISE = (
    1e-12  # of the scores' own length: all that rounding leaves of equal scores less their mean
)

_DECIMALS = 6  # of the product of two vectors

MOST_PAIRS = 30_000  # users of whom all pairs are kept: 3.6 GB
AXES = 256  # a kilobyte a user
MOST_DOCUMENTS = 5_000  # the axes of more take minutes to find
MOST_STEPS = 10**11
_TELLING = 10_000  # users by whom the axes are chosen
Singles = NDArray[np.float32]


@dataclass(frozen=True)
class Documents:
    """A sample of the corpus: unit vectors over terms, as search weighs them."""

    vectors: csr_matrix
    terms: tuple[str, ...]


class Likeness(NamedTuple):
    """How alike users are: of all pairs, or vectors whose products are nearly that."""

    pairs: Singles  # users x users, or 0 x 0
    vectors: Singles  # users x axes, or users x 0


def likeness(profiles: Profiles, sample: Documents, rng: np.random.Generator) -> Likeness:
    """Return how alike users are in document space; what they ask for counts, not how much."""
    users = len(profiles)
    if users <= MOST_PAIRS:
        vectors = _vectors(profiles, sample, np.arange(users))
        return Likeness(_products(vectors), np.zeros((users, 0), dtype=np.float32))
    axes = _axes(profiles, sample, rng)
    found = np.empty((users, axes.shape[1]), dtype=np.float32)
    for first in range(0, users, _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, users))
        found[rows] = _vectors(profiles, sample, rows) @ axes
    return Likeness(np.zeros((0, 0), dtype=np.float32), found)


def _products(vectors: Singles) -> Singles:
    """Return all products, rounded: how many cores add them up decides only what is beyond that."""
    exact, users = vectors.astype(np.float64), len(vectors)
    found = np.empty((users, users), dtype=np.float32)
    for first in range(0, users, _BLOCK):
        rows = slice(first, first + _BLOCK)
        found[rows] = np.round(exact[rows] @ exact.T, _DECIMALS)
    return found


def refuse_bad_sampling(sample: Documents | None, documents: int, steps: int | None) -> Documents:
    """Return the documents that were handed in, or refuse how they or the steps were chosen."""
    faults = []
    if not 2 <= documents <= MOST_DOCUMENTS:
        faults.append(f"documents={documents} must be from 2 to {MOST_DOCUMENTS}")
    if steps is not None and not 1 <= steps <= MOST_STEPS:
        faults.append(f"steps={steps} must be from 1 to {MOST_STEPS}, or off")
    if faults:
        raise BadParameter("; ".join(faults))
    if sample is None:
        raise BadParameter("a sample of an index's documents must be handed in")
    return sample


def _vectors(profiles: Profiles, sample: Documents, rows: Ints) -> Singles:
    """Return the document vectors of some users, every term of whom weighs the same."""
    cells = profiles.weights[rows]
    cells.data = np.ones_like(cells.data)
    some = Profiles(tuple(profiles.users[row] for row in rows), profiles.terms, cells)
    return document_vectors(some, sample.vectors, sample.terms).astype(np.float32)


def _axes(profiles: Profiles, sample: Documents, rng: np.random.Generator) -> Singles:
    """Return documents x axes: where users, drawn if there are many, differ most."""
    drawn = np.sort(rng.permutation(len(profiles))[:_TELLING])
    size = sample.vectors.shape[0]
    squares = np.zeros((size, size))
    for first in range(0, drawn.size, _BLOCK):
        vectors = _vectors(profiles, sample, drawn[first : first + _BLOCK])
        squares += vectors.T @ vectors
    _, directions = np.linalg.eigh(squares)
    return np.ascontiguousarray(directions[:, -AXES:], dtype=np.float32)


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
