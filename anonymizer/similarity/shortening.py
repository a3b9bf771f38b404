"""Short vectors: document vectors over the few directions in which users differ most.

No result depends on a machine's cores or on its library for matrices. Products of matrices have
whole numbers as factors, and their sums stay below 2 ** 53, so floats hold them exactly in any
order. All else is added up one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..arrays import Floats
from ..compiled import compiled

_ROUNDS = 3  # products that turn random directions towards those in which users differ most
_FINE, _FINER = 2.0**19, 2.0**25  # of vectors of at most 2 ** 14 users; of squares and directions
_BLOCK = 256  # lines of a matrix
_AT_ONCE = 32  # axes; what terms add to all axes would take more memory than all the rest
# What is left of a direction once others are taken from it is noise below this share, squared.
_NOISE = 1e-12


def axes_of(vectors: NDArray[np.float32], most: int, rng: np.random.Generator) -> Floats:
    """Return documents x axes: at most `most` orthonormal directions in which `vectors` differ.

    The `vectors` are lost: they are rounded in place, as they are large.
    """
    fine = np.round(np.multiply(vectors, _FINE, out=vectors), out=vectors)
    # Of few users, directions are combinations of users; these are then turned into documents'.
    few = fine.shape[0] < fine.shape[1]
    lines = fine.T if few else fine
    size = lines.shape[1]
    squares = np.zeros((size, size))
    for some in _doubles(lines):
        squares += some.T @ some
    longest = np.sqrt(np.square(squares).sum(axis=1).max())
    squares *= _FINER / max(longest, 1.0)
    np.round(squares, out=squares)
    axes = np.eye(size)
    if size > most:
        axes = rng.integers(-999, 1000, size=(size, most)) / (999 * np.sqrt(size))
    for _ in range(_ROUNDS):
        axes = _orthonormal(squares @ np.round(_FINER * axes))
    if not few:
        return axes
    del squares
    axes = np.round(_FINER * axes)
    return _orthonormal(np.concatenate([some @ axes for some in _doubles(lines)]))


def _doubles(lines: NDArray[np.float32]) -> Iterator[Floats]:
    for first in range(0, len(lines), _BLOCK):
        yield lines[first : first + _BLOCK].astype(np.float64)


def _orthonormal(directions: Floats) -> Floats:
    """Make `directions`, columns, orthogonal one after another and 1 long or, if noise, 0 long."""
    lengths = np.sqrt(np.square(directions).sum(axis=0))
    directions *= _FINER / np.where(lengths > 0.0, lengths, 1.0)
    np.round(directions, out=directions)
    _make_orthonormal(directions, directions.T @ directions)
    return directions


def shortened(
    interests: csr_matrix, sampled: csr_matrix, axes: Floats, unit: int
) -> NDArray[np.int16]:
    """Return users x axes: the vectors, `unit` long, of users with a term where `interests` has it.

    `sampled` is terms x documents, `axes` documents x axes.
    """
    # A user's vector over the axes is the sum of those of the terms. So no user's 2,000 scores
    # have to be multiplied by the axes. Their mean is taken from the axes, once for all.
    centred = axes - axes.mean(axis=0)
    inverses = np.empty(interests.shape[0])
    _measure(_parts(interests), _parts(sampled), np.zeros(axes.shape[0]), inverses)
    vectors = np.empty((interests.shape[0], axes.shape[1]), dtype=np.int16)
    for first in range(0, axes.shape[1], _AT_ONCE):
        some = np.ascontiguousarray(centred[:, first : first + _AT_ONCE])
        of_terms = np.zeros((sampled.shape[0], some.shape[1]))
        _add_up(_parts(sampled), some, of_terms)
        sums = np.zeros((interests.shape[0], some.shape[1]))
        _add_up(_parts(interests), of_terms, sums)
        sums *= unit * inverses[:, None]
        vectors[:, first : first + _AT_ONCE] = np.rint(sums, out=sums)
    return vectors


def _parts(matrix: csr_matrix) -> tuple[Any, Any, Any]:
    return matrix.indptr, matrix.indices, matrix.data


@compiled
def _make_orthonormal(columns: Any, products: Any) -> None:
    """Make `columns` orthonormal, given their products with one another (Cholesky's way)."""
    size = products.shape[0]
    inverses = np.zeros(size)
    for first in range(size):
        own = products[first, first:]
        before = own[0]
        for other in range(first):
            before += products[other, first] ** 2  # what the earlier columns have taken away
        if own[0] > _NOISE * before:
            inverses[first] = 1.0 / np.sqrt(own[0])
        for other in range(own.size):
            own[other] *= inverses[first]
        for second in range(1, own.size):
            _take(products[first + second, first + second :], own[second], own[second:])
    for row in range(columns.shape[0]):
        values = columns[row]
        for first in range(size):
            values[first] *= inverses[first]
            _take(values[first + 1 :], values[first], products[first, first + 1 :])


@compiled
def _take(total: Any, factor: float, values: Any) -> None:
    for i in range(total.size):
        total[i] -= factor * values[i]


@compiled
def _add_up(matrix: Any, rows: Any, sums: Any) -> None:
    """Add to each line of `sums` the rows that its cells in the matrix name, times their values."""
    starts, columns, values = matrix
    for line in range(starts.size - 1):
        total = sums[line]
        for i in range(starts[line], starts[line + 1]):
            row, value = rows[columns[i]], values[i]
            for axis in range(total.size):
                total[axis] += value * row[axis]


@compiled
def _measure(interests: Any, sampled: Any, scores: Any, inverses: Any) -> None:
    """Write for each user 1 / the length of the scores minus their mean, or 0 if they are equal."""
    ends, terms, _ = interests
    starts, documents, weights = sampled
    for user in range(inverses.size):
        scores[:] = 0.0
        for i in range(ends[user], ends[user + 1]):
            for j in range(starts[terms[i]], starts[terms[i] + 1]):
                scores[documents[j]] += weights[j]
        whole, mean = 0.0, 0.0
        for score in scores:
            whole += score * score
            mean += score
        mean /= scores.size
        length = 0.0
        for score in scores:
            length += (score - mean) * (score - mean)
        # Equal scores minus their mean are 0 but for rounding.
        inverses[user] = 1.0 / np.sqrt(length) if length > 1e-24 * whole else 0.0
