"""Pairs that stand the wrong way round in orders, counted in compiled code."""

from __future__ import annotations

import numpy as np

from anonymizer.arrays import Ints
from anonymizer.compiled import compiled


@compiled
def inversions(orders: Ints) -> Ints:
    """Return how many pairs of numbers stand the wrong way round in each row of `orders`.

    A row of n numbers has each number from 0 to n - 1 once.
    """
    # A bit for each number met before, in words of 64, and how many were met above each word.
    counts, words = np.zeros(len(orders), np.int64), (orders.shape[1] + 63) >> 6
    met, above = np.zeros(words, np.uint64), np.zeros(words, np.int64)
    for row in range(len(orders)):
        met[:], above[:] = 0, 0
        for number in orders[row]:
            word, bit = number >> 6, np.uint64(number & 63)
            counts[row] += above[word] + _ones(met[word] >> bit)
            met[word] |= np.uint64(1) << bit
            for lower in range(word):
                above[lower] += 1
    return counts


@compiled
def _ones(bits: np.uint64) -> int:
    """Return how many of 64 `bits` are 1."""
    # Added up in pairs, in fours, and in bytes: the compiler knows this form.
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    fours = np.uint64(0x3333333333333333)
    bits = (bits & fours) + ((bits >> np.uint64(2)) & fours)
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))
