"""Document space: two users are alike when their profiles rank the same documents high.

A user's scores are the cosines of the profile with each document of a random sample of the corpus.
The user's vector has the scores minus their mean, scaled to length 1. So the product of two vectors
is the correlation of two users' scores, from -1 to 1. No query is needed, and none is read.

Likeness keeps short vectors, over at most AXES directions in which users differ most: nearly those
of the largest eigenvectors of the sum of the vectors' outer products over at most _DRAWN users. A
product of short vectors approximates that of the whole ones. Their entries are whole numbers, so
that sums of products are exact, in whatever order a machine adds them up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Floats, Numbers
from ..errors import BadInput, BadParameter
from ..model import Profiles

_BLOCK = 128  # users
# Equal scores minus their mean are 0 but for rounding, which leaves up to this share of the scores.
_NOISE = 1e-12

AXES = 256  # half a kilobyte per user
UNIT = 2048  # the length of a whole vector; products of shorter ones are exact in 32 bits
_DRAWN = 4096  # users from which the axes are computed


@dataclass(frozen=True)
class Documents:
    """A sample of the corpus: unit vectors over terms, as search weighs them."""

    vectors: csr_matrix
    terms: tuple[str, ...]


class Likeness(NamedTuple):
    """How alike users are: vectors whose products approximate UNIT² times that, and who is near."""

    vectors: NDArray[np.int16]  # users x axes
    nearest: Numbers  # users x the others who are most alike, those first


def likeness(profiles: Profiles, sample: Documents, rng: np.random.Generator) -> Likeness:
    """Return how alike users of `profiles` are in document space; their weights don't count."""
    from .nearest import nearest_of
    from .shortening import axes_of, shortened

    users = len(profiles)
    interests, sampled = _shared(profiles, sample.vectors, sample.terms)
    interests.data = np.ones_like(interests.data)
    drawn = np.sort(rng.permutation(users)[:_DRAWN])
    singles = np.empty((drawn.size, sampled.shape[1]), dtype=np.float32)
    _fill(singles, interests[drawn], sampled)
    axes = axes_of(singles, AXES, rng)
    del singles
    vectors = shortened(interests, sampled, axes, UNIT)
    del interests, sampled  # as large as the profiles
    return Likeness(vectors, nearest_of(vectors, rng))


def refuse_no_sample(sample: Documents | None) -> Documents:
    """Return `sample`, or raise BadParameter if there is none."""
    if sample is None:
        raise BadParameter("a sample of an index's documents is needed")
    return sample


def document_vectors(profiles: Profiles, documents: csr_matrix, terms: Sequence[str]) -> Floats:
    """Return users x documents; `documents` are weighed as in search; equal scores give zeros."""
    vectors: Floats = np.empty((len(profiles), documents.shape[0]))
    _fill(vectors, *_shared(profiles, documents, terms))
    return vectors


def _shared(
    profiles: Profiles, documents: csr_matrix, terms: Sequence[str]
) -> tuple[csr_matrix, csr_matrix]:
    """Return users x terms and terms x documents, for the terms that both have."""
    if documents.shape[0] < 2:
        raise BadInput(f"{documents.shape[0]} documents can't tell users apart; sample at least 2")
    column = {term: number for number, term in enumerate(terms)}
    columns = np.array([column.get(term, -1) for term in profiles.terms], dtype=np.int64)
    known = np.flatnonzero(columns >= 0)
    sampled = csr_matrix(csr_matrix(documents).tocsc()[:, columns[known]].T)
    return profiles.weights[:, known], sampled


def _fill(vectors: Any, interests: csr_matrix, sampled: csr_matrix) -> None:
    """Write `vectors` of users, given users x terms and terms x documents."""
    for first in range(0, interests.shape[0], _BLOCK):
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
