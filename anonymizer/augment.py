"""Augmentation: profiles over terms -> profiles over WordNet's synsets, for similarity only.

Zhu & Xiong (2010), section 3.2. Step 1 replaces each term by one of its synonym sets; step 2 adds
the hypernym sets within `a` steps on the chosen path, with the same weight. A term without a
synset stays itself. The sense and path of a term are those whose words are most like the user's
profile: cosine between the lemma names on the whole path, minus the term itself, and the profile;
ties go to the lowest sense, then to the first path.
"""

from __future__ import annotations

import math
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .compiled import compiled, in_parallel
from .model import BadInput, BadParameter, Floats, Profiles, Progress, silent
from .wordnet import WordNet

Numbers = NDArray[np.int32]

COMBINE = ("max", "sum")
DECIMALS = 12  # similarities are rounded so that ties are ties
_LONGEST_PATH = 100  # no hypernym path of WordNet has more steps
_SHARES = 64  # enough that no core waits long for the last one
_ROWS_AT_ONCE = 8192  # what unit_rows holds twice


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
    faults = {
        f"a={a} must be 0 or more": a >= 0,
        f"sense={sense} must be one of first, profile": sense in ("first", "profile"),
        f"combine={combine} must be one of max, sum": combine in COMBINE,
    }
    if not all(faults.values()):
        raise BadParameter("; ".join(fault for fault, holds in faults.items() if not holds))
    candidates = Candidates(profiles, wordnet)
    paths = (candidates.closest if sense == "profile" else candidates.first)(progress)
    own = np.where(paths < 0, _path_count(wordnet) + profiles.weights.indices, paths)
    brings = _climbs(wordnet, len(profiles.terms), a)
    carriers = (profiles.weights.data, own, profiles.weights.indptr)
    return spread(csr_matrix(carriers, shape=(len(profiles), brings.shape[0])), brings, combine)


class Candidates:
    """For each term of the profiles its candidate paths, in order of sense and path.

    The words of a term's candidates lie side by side: a loop that reads them in one go is several
    times faster than one that looks up each path.
    """

    def __init__(self, profiles: Profiles, wordnet: WordNet):
        self._weights = profiles.weights
        paths = [
            [path for synset in wordnet.senses(term) for path in wordnet.paths(synset)]
            for term in profiles.terms
        ]
        self._at = np.cumsum([0, *(len(group) for group in paths)], dtype=np.int64)
        self._paths = np.array([path for group in paths for path in group], dtype=np.int32)
        words, at = _part(*wordnet.path_terms, self._paths)
        self._others = np.maximum(np.diff(at) - 1, 1)  # the term is one of its path's words
        known = np.array([wordnet.term_number(t.lower()) for t in profiles.terms], dtype=np.int32)
        rank = np.full(len(wordnet.terms) + 1, -1, dtype=np.int32)  # the last for terms unknown
        used = np.unique(known[known >= 0])
        rank[used] = np.arange(used.size)
        self._number, ranks = rank[known], rank[words]
        self._words = ranks[ranks >= 0]  # words of no profile add nothing
        self._words_at = np.concatenate([[0], np.cumsum(ranks >= 0)])[at]

    def first(self, progress: Progress = silent) -> Numbers:
        """Choose each term's first path of its first sense: a path a cell, -1 where none."""
        has = np.diff(self._at) > 0
        first = np.full(has.size, -1, dtype=np.int32)
        first[has] = self._paths[self._at[:-1][has]]
        progress(self._weights.shape[0])
        chosen: Numbers = first[self._weights.indices]
        return chosen

    def closest(self, progress: Progress = silent) -> Numbers:
        """Choose for each term of each user the path closest to that user's profile."""
        chosen = np.empty(self._weights.nnz, dtype=np.int32)
        lock, done = Lock(), 0

        def choose(rows: tuple[int, int]) -> None:
            nonlocal done
            self._choose_in(*rows, chosen)
            with lock:  # whoever draws the bar gets one growing number
                done += rows[1] - rows[0]
                progress(done)

        in_parallel(choose, shares(self._weights.shape[0]))
        return chosen

    def _choose_in(self, low: int, high: int, chosen: Numbers) -> None:
        """Fill in the paths of some rows; their weights are divided by the row's largest."""
        at = self._weights.indptr[low : high + 1]
        cells = slice(int(at[0]), int(at[-1]))
        starts, sizes = at[:-1] - at[0], np.diff(at)
        weights = self._weights.data[cells]
        weights = weights / np.repeat(np.maximum.reduceat(weights, starts), sizes)
        _choose(
            np.append(starts, weights.size).astype(np.int64),
            self._weights.indices[cells],
            weights,
            _sums_of_squares(weights, sizes),
            self._number,
            self._at,
            self._paths,
            self._words,
            self._words_at,
            self._others,
            chosen[cells],
        )


def _part(
    values: NDArray[Any], at: NDArray[Any], rows: NDArray[Any], most: int | None = None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return some rows of a ragged array, of each at most the first `most` values."""
    lengths = np.diff(at)[rows]
    lengths = lengths if most is None else np.minimum(lengths, most)
    ends = np.cumsum(lengths)
    which = np.repeat(at[:-1][rows] - (ends - lengths), lengths)
    which += np.arange(which.size)
    return values[which], np.concatenate([[0], ends])


def _sums_of_squares(weights: Floats, sizes: Any) -> Floats:
    """Sum the squares of each row to the bit as np.sum does: reduceat needs a 0 in front."""
    squares = np.zeros(weights.size + sizes.size)
    squares[np.arange(weights.size) + np.repeat(np.arange(1, sizes.size + 1), sizes)] = weights**2
    sums: Floats = np.add.reduceat(squares, np.cumsum(sizes) - sizes + np.arange(sizes.size))
    return sums


@compiled
def _choose(
    indptr: Any,
    columns: Any,
    weights: Any,
    squares: Any,
    number: Any,
    at: Any,
    paths: Any,
    words: Any,
    words_at: Any,
    others: Any,
    chosen: Any,
) -> None:
    """Choose a path for each cell; `profile` is a row's weights by the numbers of its words."""
    profile = np.zeros(number.size)
    has = np.zeros(number.size, dtype=np.bool_)
    for row in range(indptr.size - 1):
        for cell in range(indptr[row], indptr[row + 1]):
            if number[columns[cell]] >= 0:
                profile[number[columns[cell]]] = weights[cell]
                has[number[columns[cell]]] = True
        for cell in range(indptr[row], indptr[row + 1]):
            term = columns[cell]
            first, last = at[term], at[term + 1]
            if last - first > 1:
                first = _closest(
                    first, last, words, words_at, others, profile, has, weights[cell], squares[row]
                )
            chosen[cell] = paths[first] if first < last else -1
        for cell in range(indptr[row], indptr[row + 1]):
            if number[columns[cell]] >= 0:
                has[number[columns[cell]]] = False


@compiled
def _closest(
    first: int,
    last: int,
    words: Any,
    words_at: Any,
    others: Any,
    profile: Any,
    has: Any,
    own: float,
    squares: float,
) -> Any:
    """Return the first candidate with the largest rounded cosine, the term itself left out."""
    best, found = -np.inf, first
    for candidate in range(first, last):
        shared, score = 0.0, 0.0
        for j in range(words_at[candidate], words_at[candidate + 1]):
            if has[words[j]]:  # a byte a word stays in the processor's cache, a weight does not
                shared += profile[words[j]]
        if shared != own:
            cosine = (shared - own) / math.sqrt(others[candidate] * squares)
            score = np.rint(cosine * 10.0**DECIMALS)
        if score > best:
            best, found = score, candidate
    return found


def _path_count(wordnet: WordNet) -> int:
    return int(wordnet.path_synsets[1].size) - 1


def _climbs(wordnet: WordNet, terms: int, a: int) -> csr_matrix:
    """Return what a cell brings: a path its first a + 1 synsets, a term without path itself."""
    all_paths = np.arange(_path_count(wordnet))
    synsets, at = _part(*wordnet.path_synsets, all_paths, min(a, _LONGEST_PATH) + 1)
    own = np.arange(terms)
    columns = np.concatenate([synsets, wordnet.size + own]).astype(np.int32)
    indptr = np.concatenate([at, at[-1] + 1 + own])
    shape = (indptr.size - 1, wordnet.size + terms)
    return csr_matrix((np.ones(columns.size), columns, indptr), shape=shape)


def spread(carriers: csr_matrix, brings: csr_matrix, combine: str) -> csr_matrix:
    """Multiply rows x carriers by carriers x columns; cells that meet keep the largest or add up.

    They add up in the order in which the row has its carriers, and a carrier its columns.
    """
    rows, columns = carriers.shape[0], brings.shape[1]
    parts = (carriers.indptr, carriers.indices, carriers.data)
    brought = (brings.indptr, brings.indices, brings.data)
    indptr = np.zeros(rows + 1, dtype=np.int64)

    def count(share: tuple[int, int]) -> None:
        seen = np.full(columns, -1, dtype=np.int32)
        _count(*share, *parts[:2], *brought[:2], seen, indptr)

    def fill(share: tuple[int, int]) -> None:
        cells = np.full(columns, -1.0)
        _fill(*share, *parts, *brought, combine == "sum", cells, indptr, indices, data)

    in_parallel(count, shares(rows))
    np.cumsum(indptr, out=indptr)
    indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
    in_parallel(fill, shares(rows))
    return csr_matrix((data, indices, indptr), shape=(rows, columns))


def shares(rows: int) -> list[tuple[int, int]]:
    """Cut rows into runs for threads; what comes out must not depend on the cut."""
    step = max(1, -(-rows // _SHARES))
    return [(low, min(low + step, rows)) for low in range(0, rows, step)]


@compiled
def _count(
    low: int, high: int, indptr: Any, carriers: Any, at: Any, columns: Any, seen: Any, counts: Any
) -> None:
    """Count the distinct columns of each row, one place further on."""
    for row in range(low, high):
        for cell in range(indptr[row], indptr[row + 1]):
            for i in range(at[carriers[cell]], at[carriers[cell] + 1]):
                if seen[columns[i]] != row:
                    seen[columns[i]] = row
                    counts[row + 1] += 1


@compiled
def _fill(
    low: int,
    high: int,
    indptr: Any,
    carriers: Any,
    weights: Any,
    at: Any,
    columns: Any,
    factors: Any,
    adds: bool,
    cells: Any,
    starts: Any,
    indices: Any,
    data: Any,
) -> None:
    """Write the rows, columns ascending; `cells` is one row, -1 where it has nothing yet."""
    for row in range(low, high):
        end = starts[row]
        for cell in range(indptr[row], indptr[row + 1]):
            for i in range(at[carriers[cell]], at[carriers[cell] + 1]):
                column, weight = columns[i], weights[cell] * factors[i]
                if cells[column] < 0:
                    cells[column] = weight
                    indices[end] = column
                    end += 1
                elif adds:
                    cells[column] += weight
                else:
                    cells[column] = max(cells[column], weight)
        indices[starts[row] : end].sort()
        for place in range(starts[row], end):
            data[place] = cells[indices[place]]
            cells[indices[place]] = -1.0


def _scaled_rows(matrix: csr_matrix) -> csr_matrix:
    """Divide each row by its largest weight: cosines stay, squares neither vanish nor overflow."""
    if not np.all(np.isfinite(matrix.data)):
        raise BadInput("weights are too large to be added up; divide them all by a large number")
    largest_of_row = np.maximum.reduceat(matrix.data, matrix.indptr[:-1])
    data = matrix.data / np.repeat(largest_of_row, np.diff(matrix.indptr))
    return csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def unit_rows(matrix: csr_matrix) -> csr_matrix:
    """Scale each row to length 1, so that products are cosines."""
    matrix = csr_matrix(matrix, dtype=np.float64)
    data = np.empty_like(matrix.data)
    for low in range(0, matrix.shape[0], _ROWS_AT_ONCE):
        at = matrix.indptr[low : low + _ROWS_AT_ONCE + 1]
        cells = slice(int(at[0]), int(at[-1]))
        entries = (matrix.data[cells], matrix.indices[cells], at - at[0])
        data[cells] = _unit_data(csr_matrix(entries, shape=(at.size - 1, matrix.shape[1])))
    return csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _unit_data(matrix: csr_matrix) -> Floats:
    matrix = _scaled_rows(matrix)
    norms = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scaled: Floats = matrix.data * np.repeat(1.0 / norms, np.diff(matrix.indptr))
    return scaled
