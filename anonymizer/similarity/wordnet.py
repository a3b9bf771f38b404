"""Augmentation: profiles over terms -> profiles over WordNet's synsets, for similarity only.

Zhu & Xiong (2010), section 3.2. Step 1 replaces each term by one of its synonym sets (synsets).
Step 2 adds the hypernym sets within `a` steps on the chosen path, with the same weight. A term
without a synset stays itself. The chosen sense and path of a term have the words that are most like
the user's profile. This is the cosine between the profile and the lemma names on the whole path,
without the term itself. Ties go to the lowest sense, then to the first path.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Floats, Ints, Numbers
from ..compiled import compiled, in_parallel
from ..errors import BadInput
from ..model import Profiles, Progress, silent
from ..terms.wordnet import WordNet

DECIMALS = 12  # similarities are rounded so that ties are ties
_LONGEST_PATH = 100  # no hypernym path of WordNet has more steps
# Many more shares than cores, so that no core waits long for the last one.
_SHARES = 64
_ROWS_AT_ONCE = 8192  # rows of which unit_rows makes a copy


def augment_profiles(
    profiles: Profiles,
    wordnet: WordNet,
    *,
    a: int = 1,
    combine: str = "max",
    sense: str = "profile",
    progress: Progress = silent,
) -> csr_matrix:
    """Return users x (synsets, then terms): what `profiles` have after steps 1 and 2."""
    candidates = CandidatePaths(profiles, wordnet)
    paths = (candidates.closest if sense == "profile" else candidates.first)(progress)
    count, terms = int(wordnet.path_synsets[1].size) - 1, np.arange(len(profiles.terms))
    own = np.where(paths < 0, count + profiles.weights.indices, paths)
    # A path brings its first a + 1 synsets; a term without a path brings itself.
    limit = min(a, _LONGEST_PATH) + 1
    synsets, at = _part(*wordnet.path_synsets, np.arange(count), limit)
    columns = np.concatenate([synsets, wordnet.size + terms]).astype(np.int32)
    indptr = np.concatenate([at, at[-1] + 1 + terms])
    shape = (indptr.size - 1, wordnet.size + terms.size)
    brings = csr_matrix((np.ones(columns.size), columns, indptr), shape=shape)
    carriers = (profiles.weights.data, own, profiles.weights.indptr)
    return spread(csr_matrix(carriers, shape=(len(profiles), brings.shape[0])), brings, combine)


class CandidatePaths:
    """The candidate paths of each term, by sense and path, with their words side by side."""

    def __init__(self, profiles: Profiles, wordnet: WordNet):
        self._weights = profiles.weights
        paths = [
            [path for synset in wordnet.senses(term) for path in wordnet.paths(synset)]
            for term in profiles.terms
        ]
        self._at = np.cumsum([0, *(len(group) for group in paths)], dtype=np.int64)
        self._paths = np.array([path for group in paths for path in group], dtype=np.int32)
        words, at = _part(*wordnet.path_terms, self._paths)
        # The term itself is one of the words of its path and does not count.
        self._others = np.maximum(np.diff(at) - 1, 1)
        known = np.array([wordnet.term_number(t.lower()) for t in profiles.terms], dtype=np.int32)
        # The last place stands for unknown terms, whose number is -1.
        rank = np.full(len(wordnet.terms) + 1, -1, dtype=np.int32)
        used = np.unique(known[known >= 0])
        rank[used] = np.arange(used.size)
        self._number, ranks = rank[known], rank[words]
        # Words that are in no profile add nothing to a cosine.
        self._words = ranks[ranks >= 0]
        self._words_at = np.concatenate([[0], np.cumsum(ranks >= 0)])[at]

    def first(self, progress: Progress = silent) -> Numbers:
        """Return each cell's first path of the first sense, -1 for none; `progress` counts rows."""
        has = np.diff(self._at) > 0
        first = np.full(has.size, -1, dtype=np.int32)
        first[has] = self._paths[self._at[:-1][has]]
        progress(self._weights.shape[0])
        chosen: Numbers = first[self._weights.indices]
        return chosen

    def closest(self, progress: Progress = silent) -> Numbers:
        """Return each cell's path closest to the user's profile; `progress` counts rows."""
        chosen = np.empty(self._weights.nnz, dtype=np.int32)
        lock, done = Lock(), 0

        def choose(rows: tuple[int, int]) -> None:
            nonlocal done
            low, high = rows
            at = self._weights.indptr[low : high + 1]
            cells = slice(int(at[0]), int(at[-1]))
            starts, sizes = at[:-1] - at[0], np.diff(at)
            weights = self._weights.data[cells]
            weights = weights / np.repeat(np.maximum.reduceat(weights, starts), sizes)
            indptr = np.append(starts, weights.size).astype(np.int64)
            # With a 0 in front of each row, reduceat adds up to the same bits as np.sum.
            squares = np.zeros(weights.size + sizes.size)
            places = np.arange(weights.size) + np.repeat(np.arange(1, sizes.size + 1), sizes)
            squares[places] = weights**2
            squares = np.add.reduceat(squares, np.cumsum(sizes) - sizes + np.arange(sizes.size))
            some = (indptr, self._weights.indices[cells], weights)
            words = (self._words, self._words_at, self._others)
            _choose(some, squares, self._number, self._at, self._paths, words, chosen[cells])
            # Threads finish in any order; the number reported must only grow.
            with lock:
                done += high - low
                progress(done)

        in_parallel(choose, shares(self._weights.shape[0]))
        return chosen


def _part(
    values: NDArray[Any], at: NDArray[Any], rows: NDArray[Any], limit: int | None = None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the `rows` of a ragged array, of each at most the first `limit` values."""
    lengths = np.diff(at)[rows]
    lengths = lengths if limit is None else np.minimum(lengths, limit)
    ends = np.cumsum(lengths)
    which = np.repeat(at[:-1][rows] - (ends - lengths), lengths)
    which += np.arange(which.size)
    return values[which], np.concatenate([[0], ends])


@compiled
def _choose(rows: Any, squares: Any, word: Any, at: Any, paths: Any, words: Any, best: Any) -> None:
    """Choose a path for each cell; `profile` has a row's weights by the numbers of words."""
    indptr, columns, weights = rows
    profile = np.zeros(word.size)
    has = np.zeros(word.size, dtype=np.bool_)
    for row in range(indptr.size - 1):
        for cell in range(indptr[row], indptr[row + 1]):
            if word[columns[cell]] >= 0:
                profile[word[columns[cell]]] = weights[cell]
                has[word[columns[cell]]] = True
        for cell in range(indptr[row], indptr[row + 1]):
            term = columns[cell]
            first, last = at[term], at[term + 1]
            if last - first > 1:
                own = weights[cell]
                first = _closest(first, last, words, profile, has, own, squares[row])
            best[cell] = paths[first] if first < last else -1
        for cell in range(indptr[row], indptr[row + 1]):
            if word[columns[cell]] >= 0:
                has[word[columns[cell]]] = False


@compiled
def _closest(
    first: int, last: int, words: Any, profile: Any, has: Any, own: float, squares: float
) -> Any:
    """Return the first candidate with the largest rounded cosine, without the term itself."""
    numbers, words_at, others = words
    best, closest = -np.inf, first
    for candidate in range(first, last):
        shared, score = 0.0, 0.0
        for j in range(words_at[candidate], words_at[candidate + 1]):
            # One byte per word fits the processor's cache, one weight per word does not.
            if has[numbers[j]]:
                shared += profile[numbers[j]]
        if shared != own:
            cosine = (shared - own) / math.sqrt(others[candidate] * squares)
            score = np.rint(cosine * 10.0**DECIMALS)
        if score > best:
            best, closest = score, candidate
    return closest


def spread(carriers: csr_matrix, brings: csr_matrix, combine: str) -> csr_matrix:
    """Return `carriers` @ `brings`; values on the same cell `combine` by sum or by max."""
    columns = brings.shape[1]

    def spread_rows(share: tuple[int, int]) -> tuple[Ints, Numbers, Floats]:
        some = carriers[slice(*share)]
        brought, ends = _part(brings.indices, brings.indptr, some.indices)
        factors, _ = _part(brings.data, brings.indptr, some.indices)
        sizes = np.diff(ends)
        row = np.repeat(np.arange(some.shape[0]), np.diff(some.indptr))
        keys = np.repeat(row, sizes) * columns + brought
        values = np.repeat(some.data, sizes) * factors
        order = np.argsort(keys, kind="stable")
        keys, values = keys[order], values[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        row, column = np.divmod(keys[starts], columns)
        if combine == "max":
            values = np.maximum.reduceat(values, starts) if starts.size else values
        else:
            cell = np.repeat(np.arange(starts.size), np.diff(starts, append=keys.size))
            values = np.bincount(cell, values)
        return np.bincount(row, minlength=some.shape[0]), column.astype(np.int32), values

    parts = in_parallel(spread_rows, shares(carriers.shape[0]))
    cells, indices, data = (np.concatenate(part) for part in zip(*parts, strict=True))
    indptr = np.concatenate([[0], np.cumsum(cells)])
    return csr_matrix((data, indices, indptr), shape=(carriers.shape[0], columns))


def shares(rows: int) -> list[tuple[int, int]]:
    """Return the number of `rows` cut into runs for threads; no result may depend on the cut."""
    step = max(1, -(-rows // _SHARES))
    return [(low, min(low + step, rows)) for low in range(0, rows, step)]


def unit_rows(matrix: csr_matrix) -> csr_matrix:
    """Return `matrix` with each row scaled to length 1, so that products are cosines."""
    matrix = csr_matrix(matrix, dtype=np.float64)
    data = np.empty_like(matrix.data)
    for low in range(0, matrix.shape[0], _ROWS_AT_ONCE):
        at = matrix.indptr[low : low + _ROWS_AT_ONCE + 1]
        cells = slice(int(at[0]), int(at[-1]))
        entries = (matrix.data[cells], matrix.indices[cells], at - at[0])
        block = csr_matrix(entries, shape=(at.size - 1, matrix.shape[1]))
        # Divide each row by its largest weight: cosines stay, squares neither vanish nor overflow.
        if not np.all(np.isfinite(block.data)):
            raise BadInput(
                "weights are too large to be added up; divide them all by a large number"
            )
        largest_of_row = np.maximum.reduceat(block.data, block.indptr[:-1])
        block.data = block.data / np.repeat(largest_of_row, np.diff(block.indptr))
        norms = np.sqrt(np.asarray(block.multiply(block).sum(axis=1)).ravel())
        data[cells] = block.data * np.repeat(1.0 / norms, np.diff(block.indptr))
    return csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)
