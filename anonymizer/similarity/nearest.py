"""The users who are most alike, for each user: exact up to MOST users, by coarse cells beyond.

A user's cell is that of the closest of some drawn users. Beyond MOST, users are compared with the
members of the cells around their own, so someone near may be missed. All products are of whole
numbers whose sums 32 bits hold exactly, so no machine gives other lists; of equally close users
the first ones count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints, Numbers
from ..compiled import compiled

NEAREST = 20
MOST = 30_000  # users who are compared with all others
_LOOKED_AT = 6_000  # members of near cells, with which a user is compared
_MEMBERS = 500  # of a cell, on average
_BLOCK = 512  # users


def nearest_of(vectors: NDArray[np.int16], rng: np.random.Generator) -> Numbers:
    """Return for each of `vectors` the NEAREST others with the largest products, or all others."""
    users = vectors.shape[0]
    singles = vectors.astype(np.float32)
    lists = np.empty((users, min(NEAREST, users - 1)), dtype=np.int32)
    everybody = np.arange(users)
    regions = _regions(singles, rng) if users > MOST else [(everybody, everybody)]
    for members, others in regions:
        there = singles[others].T
        for first in range(0, members.size, _BLOCK):
            some = members[first : first + _BLOCK]
            _take_closest(singles[some] @ there, some, others, lists)
    return lists


def _regions(singles: NDArray[np.float32], rng: np.random.Generator) -> Iterator[tuple[Ints, Ints]]:
    """Yield members of a cell and, in ascending order, those of the cells around it."""
    users = singles.shape[0]
    centres = singles[np.sort(rng.permutation(users)[: users // _MEMBERS])]
    cell = np.empty(users, dtype=np.int64)
    for first in range(0, users, _BLOCK):
        cell[first : first + _BLOCK] = np.argmax(
            singles[first : first + _BLOCK] @ centres.T, axis=1
        )
    by_cell = np.argsort(cell, kind="stable")
    # A large cell is cut, so that its members aren't compared with too many others.
    counts = np.bincount(cell, minlength=len(centres))
    cuts = [np.arange(0, count, _LOOKED_AT) for count in counts.tolist()]
    home = np.repeat(np.arange(len(centres)), [cut.size for cut in cuts])
    begins = np.cumsum(counts)[home] - counts[home] + np.concatenate(cuts)
    ends = np.append(begins[1:], users)
    for piece, centre in enumerate(home.tolist()):
        closeness = (centres @ centres[centre])[home]
        closeness[piece] = np.inf
        order = np.argsort(-closeness, kind="stable")
        enough = 1 + int(np.searchsorted(np.cumsum((ends - begins)[order]), _LOOKED_AT))
        near = [by_cell[begins[i] : ends[i]] for i in order[:enough].tolist()]
        yield near[0], np.sort(np.concatenate(near))


@compiled
def _take_closest(products: Any, members: Any, others: Any, lists: Any) -> None:
    """Write for each of `members` those of `others` with the largest products, largest first."""
    wanted = lists.shape[1]
    best = np.empty(wanted, dtype=np.float32)
    for row in range(members.size):
        member, closest = members[row], lists[members[row]]
        best[:] = -np.inf
        for column in range(others.size):
            product = products[row, column]
            if product > best[wanted - 1] and others[column] != member:
                at = wanted - 1
                while at and product > best[at - 1]:
                    best[at], closest[at] = best[at - 1], closest[at - 1]
                    at -= 1
                best[at], closest[at] = product, others[column]
