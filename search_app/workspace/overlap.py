"""Who stands in which published row, as hashes, and who would stand in a further one."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from anonymizer.arrays import Ints, Marks

# A line for each person in a row: the hash of the row's line, and the keyed hash of the person.
Pairs = NDArray[np.uint64]
_SIZE = 8  # bytes of a hash


class Overlap(NamedTuple):
    """What a candidate's rows have in common with those of an earlier release."""

    people: int  # who stood in a row of it, and stand in a row that is new for them
    alone: int  # of these, who share both rows with nobody


def hashed(stood: Iterable[tuple[bytes, str]], key: bytes) -> Pairs:
    """Return the pairs of `stood`, which has the hash of a row and the name of a person in it."""
    content = bytearray()
    for row, person in stood:
        content += row + hash_of(person, key)
    # In the order of their bytes, which is that of numbers whose first byte is the largest part.
    pairs = np.frombuffer(content, ">u8").reshape(-1, 2)
    return unpacked(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].tobytes())


def hash_of(person: str, key: bytes) -> bytes:
    """Return the hash of `person` by the secret `key`."""
    return hmac.digest(key, person.encode(), "sha256")[:_SIZE]


def unpacked(content: bytes) -> Pairs:
    """Return the pairs that the bytes `content` hold; ValueError if they hold none or a part."""
    return np.frombuffer(content, "<u8").reshape(-1, 2)


def compared(earlier: Sequence[Pairs], candidate: Pairs) -> tuple[Marks, list[Overlap]]:
    """Return which pairs of `candidate` none of `earlier` has, and its overlap with each of them.

    A person who stood in an earlier row may stand in the same row again, and in no other one.
    """
    everything = np.concatenate([*earlier, candidate])
    names, row = np.unique(everything[:, 0], return_inverse=True)
    people, person = np.unique(everything[:, 1], return_inverse=True)
    shape = names.size, people.size
    *before, now = np.split(row * people.size + person, np.cumsum([len(one) for one in earlier]))
    new = ~np.isin(now, np.concatenate([now[:0], *before]))
    return new, [_overlap(one, now, new, shape) for one in before]


def _overlap(earlier: Ints, candidate: Ints, new: Marks, shape: tuple[int, int]) -> Overlap:
    """Return the overlap of pairs, each numbered as row * people + person by `shape`."""
    people = shape[1]
    fresh = candidate[new]
    fresh = fresh[np.isin(fresh % people, earlier % people)]
    if not fresh.size:
        return Overlap(0, 0)
    # For each two rows: the sum of `people` + number over the persons who share them. It is below
    # 2 * `people` if that is one person, and then has that person's number.
    stood = _matrix(earlier, np.ones(earlier.size, dtype=np.int64), shape)
    shared = (stood @ _matrix(candidate, candidate % people + people, shape).T).tocoo()
    single = shared.data < 2 * people
    alone = shared.col[single].astype(np.int64) * people + shared.data[single] - people
    alone = alone[np.isin(alone, fresh)]
    return Overlap(np.unique(fresh % people).size, np.unique(alone % people).size)


def _matrix(pairs: Ints, weights: Ints, shape: tuple[int, int]) -> csr_matrix:
    """Return the matrix of rows by people that has `weights` at `pairs`."""
    return csr_matrix((weights, np.divmod(pairs, shape[1])), shape=shape)
