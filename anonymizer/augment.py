"""Augmentation: profiles over terms -> profiles over WordNet's synsets, for similarity only.

Zhu & Xiong (2010), section 3.2. Step 1 replaces each term by one of its synonym sets; step 2 adds
the hypernym sets within `a` steps on the chosen path, with the same weight. A term without a
synset stays itself. The sense and path of a term are those whose words are most like the user's
profile: cosine between the lemma names on the whole path, minus the term itself, and the profile;
ties go to the lowest sense, then to the first path.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .model import BadInput, BadParameter, Floats, Ints, Profiles, Progress, largest, silent
from .wordnet import WordNet

_LONGEST_PATH = 100  # no hypernym path of WordNet has more steps
DECIMALS = 12  # similarities are rounded so that ties are ties


def augment_profiles(
    profiles: Profiles,
    wordnet: WordNet,
    *,
    a: int = 1,
    combine: str = "max",
    sense: str = "profile",
    progress: Progress = silent,
) -> csr_matrix:
    """Return users x (synsets, then the terms that have none)."""
    if a < 0:
        raise BadParameter(f"a={a} must be 0 or more")
    candidates = Candidates(profiles, wordnet)
    choose = {"profile": candidates.closest, "first": candidates.first}.get(sense)
    if choose is None:
        raise BadParameter(f"sense={sense} must be one of first, profile")
    if combine not in ("max", "sum"):
        raise BadParameter(f"combine={combine} must be one of max, sum")
    return _climb(profiles, wordnet, choose(progress), a, combine)


class Candidates:
    """For each term of the profiles its candidate paths, in order of sense and path."""

    def __init__(self, profiles: Profiles, wordnet: WordNet):
        self._profiles = profiles
        paths = [
            [path for synset in wordnet.senses(term) for path in wordnet.paths(synset)]
            for term in profiles.terms
        ]
        self._at = np.cumsum([0, *(len(group) for group in paths)], dtype=np.int64)
        self._paths = np.array([path for group in paths for path in group], dtype=np.int64)
        self._number = np.array([wordnet.term_number(t.lower()) for t in profiles.terms])
        values, at = wordnet.path_terms
        self._words = csr_matrix(
            (np.ones(values.size), values, at), shape=(at.size - 1, len(wordnet.terms))
        )

    def first(self, _progress: Progress = silent) -> Ints:
        """Choose each term's first path of its first sense: a path a cell, -1 where none."""
        has = np.diff(self._at) > 0
        first = np.full(has.size, -1, dtype=np.int64)
        first[has] = self._paths[self._at[:-1][has]]
        return first[self._profiles.weights.indices]

    def closest(self, progress: Progress = silent) -> Ints:
        """Choose for each term of each user the path closest to that user's profile."""
        chosen = []
        for row in range(len(self._profiles)):
            chosen.append(self._closest_in(*self._profiles.slice(row)))
            progress(row + 1)
        return np.concatenate(chosen)

    def _closest_in(self, columns: Ints, weights: Floats) -> Ints:
        counts = self._at[columns + 1] - self._at[columns]
        chosen = np.full(columns.size, -1, dtype=np.int64)
        open_, counts_ = np.flatnonzero(counts), counts[counts > 0]
        if not open_.size:
            return chosen
        starts = np.cumsum(counts_) - counts_
        paths = self._paths[
            np.repeat(self._at[columns[open_]] - starts, counts_) + np.arange(counts_.sum())
        ]
        scores = self._scores(paths, np.repeat(open_, counts_), columns, weights)
        best = np.repeat(np.maximum.reduceat(scores, starts), counts_)
        at = np.where(scores == best, np.arange(scores.size), scores.size)
        chosen[open_] = paths[np.minimum.reduceat(at, starts)]
        return chosen

    def _scores(self, paths: Ints, owner: Ints, columns: Ints, weights: Floats) -> Floats:
        """Cosine of each path's words, minus the owning term itself, with the profile."""
        weights = weights / weights.max()
        profile = np.zeros(self._words.shape[1])
        known = self._number[columns] >= 0
        profile[self._number[columns][known]] = weights[known]
        words = self._words[paths]
        size = np.diff(words.indptr) - 1  # the term itself stands on each of its paths
        shared = words @ profile - weights[owner]
        norm = np.sqrt(np.maximum(size, 1) * np.sum(weights**2))
        scores: Floats = np.round(shared / norm, DECIMALS)
        return scores


def _climb(profiles: Profiles, wordnet: WordNet, paths: Ints, a: int, combine: str) -> csr_matrix:
    """Replace each cell by the first a + 1 synsets of its path."""
    cells = profiles.weights.tocoo()
    has = paths >= 0
    values, at = wordnet.path_synsets
    lengths = at[paths[has] + 1] - at[paths[has]]
    steps = np.minimum(lengths, min(a, _LONGEST_PATH) + 1)
    first = np.repeat(at[paths[has]] - (np.cumsum(steps) - steps), steps)
    synsets = values[first + np.arange(steps.sum())].astype(np.int64)
    rows = np.concatenate([np.repeat(cells.row[has], steps), cells.row[~has]])
    columns = np.concatenate([synsets, wordnet.size + cells.col[~has]])
    weights = np.concatenate([np.repeat(cells.data[has], steps), cells.data[~has]])
    shape = (len(profiles), wordnet.size + len(profiles.terms))
    if combine == "sum":
        return csr_matrix((weights, (rows, columns)), shape=shape)
    return largest(rows, columns, weights, shape)


def _scaled_rows(matrix: csr_matrix) -> csr_matrix:
    """Divide each row by its largest weight: cosines stay, squares neither vanish nor overflow."""
    if not np.all(np.isfinite(matrix.data)):
        raise BadInput("weights are too large to be added up; divide them all by a large number")
    largest_of_row = np.maximum.reduceat(matrix.data, matrix.indptr[:-1])
    data = matrix.data / np.repeat(largest_of_row, np.diff(matrix.indptr))
    return csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def unit_rows(matrix: csr_matrix) -> csr_matrix:
    """Scale each row to length 1, so that products are cosines."""
    matrix = _scaled_rows(csr_matrix(matrix, dtype=np.float64))
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale: NDArray[np.float64] = np.repeat(1.0 / norms, np.diff(matrix.indptr))
    return csr_matrix((matrix.data * scale, matrix.indices, matrix.indptr), shape=matrix.shape)


def similarity_to(unit: csr_matrix, row: int) -> Floats:
    """Return the cosine of every row with one of them (definition 2), rounded."""
    target = np.zeros(unit.shape[1])
    low, high = unit.indptr[row], unit.indptr[row + 1]
    target[unit.indices[low:high]] = unit.data[low:high]
    return np.round(unit @ target, DECIMALS)
