"""Bytes put together from pieces: each piece is encoded once, however often it stands in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import pack
from .compiled import compiled
from .model import Ints


class Pieces(NamedTuple):
    """Byte strings end to end; piece i is letters[at[i]:at[i + 1]]."""

    letters: NDArray[np.uint8]
    at: Ints


def pieces(texts: Sequence[str]) -> Pieces:
    """Encode texts as pieces."""
    return Pieces(*pack(texts))


def joined(shared: Pieces, own: Pieces, numbers: NDArray[np.integer[Any]]) -> bytes:
    """Put pieces one after the other; number i >= 0 is a shared one, ~i an own one."""
    length = _length(shared.at, own.at, numbers)
    made = np.empty(length, dtype=np.uint8)
    _join(shared.letters, shared.at, own.letters, own.at, numbers, made)
    return made.tobytes()


@compiled
def _length(shared_at: Any, own_at: Any, numbers: Any) -> int:
    length = 0
    for number in numbers:
        if number >= 0:
            length += shared_at[number + 1] - shared_at[number]
        else:
            length += own_at[~number + 1] - own_at[~number]
    return length


@compiled
def _join(shared: Any, shared_at: Any, own: Any, own_at: Any, numbers: Any, made: Any) -> None:
    to = 0
    for number in numbers:
        if number >= 0:
            for i in range(shared_at[number], shared_at[number + 1]):
                made[to] = shared[i]
                to += 1
        else:
            for i in range(own_at[~number], own_at[~number + 1]):
                made[to] = own[i]
                to += 1
