"""Texts numbered in the order in which they are met, in compiled loops."""
# Arrays grow in place before each batch, by as much as the batch may need, so that no loop stops
# halfway.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import Ints
from .compiled import compiled, same
from .model import Texts

_ROOM = 1 << 10


class Names(NamedTuple):
    """A hash table of texts (open addressing): a slot holds a text's hash above its number + 1."""

    slots: NDArray[np.uint64]
    blob: NDArray[Any]
    at: Ints


def no_names(letters: type[np.unsignedinteger[Any]] = np.uint8) -> Names:
    """Return a table without any text; texts are of `letters`: bytes, or whole code points."""
    slots, blob = np.zeros(2 * _ROOM, dtype=np.uint64), np.empty(0, dtype=letters)
    return Names(slots, blob, np.zeros(1, dtype=np.int64))


def with_room(names: Names, size: int, more: int, letters: int) -> Names:
    """Return `names` with room for `more` texts; at most half of the slots are ever used."""
    reserve(names.at, size + 1, more)
    reserve(names.blob, int(names.at[size]), letters)
    slots = names.slots
    if 2 * (size + more) <= slots.size:
        return names
    wider = np.zeros(1 << (2 * (size + more)).bit_length(), dtype=np.uint64)
    _refill(slots, wider)
    return names._replace(slots=wider)


def reserve(array: NDArray[Any], used: int, more: int) -> None:
    """Make room in `array` for `more` entries after those used."""
    if array.size < used + more:
        # In place: a copy would double the peak of memory.
        array.resize(used + more + used // 4, refcheck=False)


def texts(names: Names, size: int) -> Texts:
    """Return the `size` texts of `names`, in which there is no room for more then."""
    names.blob.resize(int(names.at[size]), refcheck=False)
    names.at.resize(size + 1, refcheck=False)
    return Texts(names.blob, names.at)


@compiled
def _refill(slots: Any, wider: Any) -> None:
    """Move the slots into a larger table."""
    mask = np.uint64(wider.size - 1)
    for i in range(slots.size):
        if slots[i]:
            slot = (slots[i] >> np.uint64(32)) & mask
            while wider[slot]:
                slot = (slot + np.uint64(1)) & mask
            wider[slot] = slots[i]


@compiled
def number(text: Any, low: int, high: int, names: Any, size: int) -> Any:
    """Return the number of text[low:high]; a new text is added and gets the number `size`."""
    # The offset and the prime of the hash FNV-1a for 64 bits, folded to 32 bits afterwards.
    key = np.uint64(14695981039346656037)
    for i in range(low, high):
        key = (key ^ np.uint64(text[i])) * np.uint64(1099511628211)
    key = (key ^ (key >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
    mask = np.uint64(names.slots.size - 1)
    slot = key & mask
    while names.slots[slot]:
        entry = names.slots[slot]
        if entry >> np.uint64(32) == key:
            number = np.int64(entry & np.uint64(0xFFFFFFFF)) - 1
            if same(text, low, high, names.blob, names.at[number], names.at[number + 1]):
                return number
        slot = (slot + np.uint64(1)) & mask
    names.slots[slot] = (key << np.uint64(32)) | np.uint64(size + 1)
    start = names.at[size]
    for i in range(high - low):
        names.blob[start + i] = text[low + i]
    names.at[size + 1] = start + high - low
    return size
