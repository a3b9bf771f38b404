"""The groups closest to each user: cosine of the user's vector with the sum of the group's.

Sparse vectors are looked up in an inverted index over the groups. Dense ones are multiplied roughly
first, in single precision; all that may be among the closest is then looked at once more, so that
nothing depends on how a library shares a product among cores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags_array

from .compiled import compiled, in_parallel
from .model import Floats, Grouping, Ints

CLOSEST = 5
_DIGITS = 1e12  # cosines are compared to 12 decimals, so that ties are ties
_SHARE = 1024  # rows
_BLOCK = 64  # groups
_ROUGH = 2**24  # cells of a rough product


def closest_groups(vectors: csr_matrix | Floats, grouping: Grouping) -> Ints:
    """Return each user's five closest foreign groups in order of number, -1 where there are less.

    Among equally close groups the lowest numbers count as closer.
    """
    found = np.full((grouping.group_of.size, CLOSEST), -1, dtype=np.int64)
    if isinstance(vectors, np.ndarray):
        _search_dense(vectors, grouping, found)
    else:
        _search_sparse(vectors, grouping, found)
    return found


def _search_sparse(vectors: csr_matrix, grouping: Grouping, found: Ints) -> None:
    sums = csr_matrix(grouping.indicator @ vectors)
    lengths = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1)).ravel())
    index = csr_matrix(diags_array(_inverse(lengths)) @ sums).tocsc()
    rows = (vectors.indptr, vectors.indices, vectors.data)
    postings = (index.indptr, index.indices, index.data)

    def search(first: int) -> None:
        last = min(first + _SHARE, grouping.group_of.size)
        _look_up(first, last, rows, postings, grouping.group_of, grouping.count, found)

    in_parallel(search, range(0, grouping.group_of.size, _SHARE))


def _search_dense(vectors: Floats, grouping: Grouping, found: Ints) -> None:
    sums = np.asarray(grouping.indicator @ vectors)
    unit = sums * _inverse(np.sqrt((sums**2).sum(axis=1)))[:, None]
    rough_unit = unit.astype(np.float32).T
    wanted = min(CLOSEST, grouping.count - 1)
    if not wanted:
        return
    share = max(1, _ROUGH // grouping.count)
    for first in range(0, grouping.group_of.size, share):
        rows = vectors[first : first + share]
        group_of = grouping.group_of[first : first + share]
        rough = rows.astype(np.float32) @ rough_unit
        rough[np.arange(group_of.size), group_of] = -np.inf
        floor = -np.partition(-rough, wanted - 1, axis=1)[:, wanted - 1] - _margin(rows.shape[1])
        _look_again(rows, unit, rough, floor, group_of, found[first : first + share])


def _inverse(lengths: Floats) -> Floats:
    """Return 1 / length, 0 for no length: members may cancel out, and are then close to nobody."""
    inverse: Floats = np.divide(1.0, lengths, out=np.zeros(lengths.size), where=lengths > 0)
    return inverse


def _margin(dimensions: int) -> float:
    """Return more than two rough cosines together can be wrong by: dimensions · 2^-24 each."""
    return float(4 * (dimensions + 4) * 2.0**-24)


@compiled
def _look_up(
    first: int, last: int, rows: Any, postings: Any, group_of: Any, count: int, found: Any
) -> None:
    """Find the closest groups of some rows in the inverted index."""
    starts, columns, weights = rows
    at, groups, shares = postings
    scores = np.zeros(count)
    keys = np.empty(found.shape[1])
    for row in range(first, last):
        scores[:] = 0.0
        for i in range(starts[row], starts[row + 1]):
            weight = weights[i]
            for j in range(at[columns[i]], at[columns[i] + 1]):
                scores[groups[j]] += weight * shares[j]
        _keep_closest(scores, group_of[row], keys, found[row])


@compiled
def _look_again(rows: Any, unit: Any, rough: Any, floor: Any, group_of: Any, found: Any) -> None:
    """Find the closest groups of some rows among those whose rough cosine is high enough."""
    count = unit.shape[0]
    scores = np.empty(count)
    keys = np.empty(found.shape[1])
    for row in range(rows.shape[0]):
        for group in range(count):
            scores[group] = -np.inf
            if rough[row, group] >= floor[row]:
                cosine = 0.0
                for i in range(rows.shape[1]):
                    cosine += rows[row, i] * unit[group, i]
                scores[group] = cosine
        _keep_closest(scores, group_of[row], keys, found[row])


@compiled
def _keep_closest(scores: Any, own: int, keys: Any, found: Any) -> None:
    """Keep the numbers of the highest scores but one's own, the lower number of equals."""
    held, floor = 0, -np.inf
    for first in range(0, scores.size, _BLOCK):
        last, any_high = min(first + _BLOCK, scores.size), False
        for group in range(first, last):  # without a branch: many groups are compared at once
            any_high |= scores[group] > floor
        if not any_high:
            continue
        for group in range(first, last):
            if scores[group] > floor and group != own:
                held = _insert(np.rint(scores[group] * _DIGITS), group, held, keys, found)
                if held == found.size:
                    floor = keys[held - 1] / _DIGITS
    found[:held].sort()


@compiled
def _insert(key: float, group: int, held: int, keys: Any, found: Any) -> int:
    """Insert a group into a short list in order of falling keys, behind its equals."""
    if held == found.size:
        if key <= keys[held - 1]:
            return held
        held -= 1
    at = held
    while at > 0 and keys[at - 1] < key:
        keys[at], found[at] = keys[at - 1], found[at - 1]
        at -= 1
    keys[at], found[at] = key, group
    return held + 1
