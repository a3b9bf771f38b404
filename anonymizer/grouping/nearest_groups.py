"""The groups closest to each user, by the cosine of the user's vector with the group's sum."""
# Sparse vectors are looked up in an inverted index over the groups. Dense ones are first
# multiplied roughly, in single precision. Then every group that may be among the closest is
# computed again, so that nothing depends on how a library shares a product among cores.

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags_array

from ..arrays import Floats, Ints
from ..compiled import compiled, in_parallel
from ..model import Grouping

CLOSEST = 5
_DIGITS = 1e12  # cosines are compared to 12 decimals, so that ties are ties
_SHARE = 1024  # rows
_BLOCK = 64  # groups
_ROUGH = 2**24  # cells of a rough product


def closest_groups(vectors: csr_matrix | Floats, grouping: Grouping) -> Ints:
    """Return by `vectors` each user's five closest other groups, ascending; -1 if there is none."""
    # Of groups that are equally close, the lowest is taken.
    closest = np.full((grouping.group_of.size, CLOSEST), -1, dtype=np.int64)
    wanted = min(CLOSEST, grouping.count - 1)
    if not wanted:
        return closest
    if isinstance(vectors, np.ndarray):
        dense = np.asarray(grouping.indicator @ vectors)
        unit = dense * _inverse(np.sqrt((dense**2).sum(axis=1)))[:, None]
        rough_unit = unit.astype(np.float32).T
        share = max(1, _ROUGH // grouping.count)
        for first in range(0, grouping.group_of.size, share):
            some = vectors[first : first + share]
            group_of = grouping.group_of[first : first + share]
            rough = some.astype(np.float32) @ rough_unit
            rough[np.arange(group_of.size), group_of] = -np.inf
            floor = -np.partition(-rough, wanted - 1, axis=1)[:, wanted - 1]
            # A rough cosine is wrong by about dimensions · 2^-24 at most: allow for more than two.
            floor -= 4 * (some.shape[1] + 4) * 2.0**-24
            _look_again(some, unit, rough, floor, group_of, closest[first : first + share])
    else:
        sums = csr_matrix(grouping.indicator @ vectors)
        lengths = np.sqrt(np.asarray(sums.multiply(sums).sum(axis=1)).ravel())
        index = csr_matrix(diags_array(_inverse(lengths)) @ sums).tocsc()
        rows = (vectors.indptr, vectors.indices, vectors.data)
        postings = (index.indptr, index.indices, index.data)

        def search(first: int) -> None:
            last = min(first + _SHARE, grouping.group_of.size)
            _look_up(first, last, rows, postings, grouping.group_of, grouping.count, closest)

        in_parallel(search, range(0, grouping.group_of.size, _SHARE))
    return closest


def _inverse(lengths: Floats) -> Floats:
    """Return 1 / length, and 0 for a length of 0."""
    # The vectors of members may cancel out; such a group is close to nobody.
    inverse: Floats = np.divide(1.0, lengths, out=np.zeros(lengths.size), where=lengths > 0)
    return inverse


@compiled
def _look_up(
    first: int, last: int, rows: Any, postings: Any, group_of: Any, count: int, closest: Any
) -> None:
    """Find the closest groups of some rows in the inverted index."""
    starts, columns, weights = rows
    at, groups, shares = postings
    scores = np.zeros(count)
    keys = np.empty(closest.shape[1])
    for row in range(first, last):
        scores[:] = 0.0
        for i in range(starts[row], starts[row + 1]):
            weight = weights[i]
            for j in range(at[columns[i]], at[columns[i] + 1]):
                scores[groups[j]] += weight * shares[j]
        _keep_closest(scores, group_of[row], keys, closest[row])


@compiled
def _look_again(rows: Any, unit: Any, rough: Any, floor: Any, group_of: Any, closest: Any) -> None:
    """Find the closest groups of some rows among those whose rough cosine is high enough."""
    count = unit.shape[0]
    scores = np.empty(count)
    keys = np.empty(closest.shape[1])
    for row in range(rows.shape[0]):
        for group in range(count):
            scores[group] = -np.inf
            if rough[row, group] >= floor[row]:
                cosine = 0.0
                for i in range(rows.shape[1]):
                    cosine += rows[row, i] * unit[group, i]
                scores[group] = cosine
        _keep_closest(scores, group_of[row], keys, closest[row])


@compiled
def _keep_closest(scores: Any, own: int, keys: Any, closest: Any) -> None:
    """Keep the groups with the highest scores, except the user's own; of equals, the lower one."""
    held, floor = 0, -np.inf
    for first in range(0, scores.size, _BLOCK):
        last, any_high = min(first + _BLOCK, scores.size), False
        # Without a branch in this loop, the processor compares many groups at once.
        for group in range(first, last):
            any_high |= scores[group] > floor
        if not any_high:
            continue
        for group in range(first, last):
            if scores[group] > floor and group != own:
                held = _insert(np.rint(scores[group] * _DIGITS), group, held, keys, closest)
                if held == closest.size:
                    floor = keys[held - 1] / _DIGITS
    closest[:held].sort()


@compiled
def _insert(key: float, group: int, held: int, keys: Any, closest: Any) -> int:
    """Insert a group into a short list in order of falling keys, behind equal ones."""
    if held == closest.size:
        if key <= keys[held - 1]:
            return held
        held -= 1
    at = held
    while at > 0 and keys[at - 1] < key:
        keys[at], closest[at] = keys[at - 1], closest[at - 1]
        at -= 1
    keys[at], closest[at] = key, group
    return held + 1
