"""Histories: each user's set of terms. (k,m)-anonymity is about these sets and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats, Ints, Numbers
from ..model import Profiles

OnPass = Callable[[int, int], object]  # gets the number of a finished pass, from 1, and deletions
MOST_TERMS = 4  # of a combination: the largest m


def unheard(_number: int, _deletions: int) -> None:
    """Ignore the number and the deletions of a pass."""


class Histories(NamedTuple):
    """Cells of users x terms: row u is terms[ends[u]:ends[u + 1]], ascending, none twice."""

    ends: Ints
    terms: Numbers
    span: int  # terms are numbered from 0 to span - 1

    @property
    def users(self) -> int:
        """Return the number of users."""
        return self.ends.size - 1

    @property
    def row(self) -> Ints:
        """Return each cell's row."""
        return np.repeat(np.arange(self.users), np.diff(self.ends))


def histories_of(profiles: Profiles) -> Histories:
    """Return the histories of `profiles`, cell for cell."""
    weights = profiles.weights
    ends, terms = weights.indptr.astype(np.int64), weights.indices.astype(np.int32)
    return Histories(ends, terms, len(profiles.terms))


def by_content(ends: Ints, columns: Any, weights: Floats) -> Ints:
    """Return the rows in order of their terms' numbers, and with equal terms of their `weights`."""
    # A row's key is its terms' numbers from 1, a 0 and its weights, all with the highest byte
    # first. Compared as bytes, such keys have the order of the numbers and positive weights.
    sizes = np.diff(ends)
    ends_of_keys = np.append(0, np.cumsum(3 * sizes + 1))
    within = np.arange(columns.size) - np.repeat(ends[:-1], sizes)
    at = np.repeat(ends_of_keys[:-1], sizes) + within
    words = np.zeros(ends_of_keys[-1], dtype=">u4")
    words[at] = columns + 1
    halves = weights.astype(">f8").view(">u4")
    at += np.repeat(sizes, sizes) + 1 + within
    words[at], words[at + 1] = halves[::2], halves[1::2]
    content = words.tobytes()
    keys = [content[low:high] for low, high in pairwise((4 * ends_of_keys).tolist())]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
