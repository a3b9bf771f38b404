"""Which term of a combination is deleted: Burghardt et al., algorithm 2 and section 4.4.

`fis` deletes the term that is part of the fewest frequent combinations of size m. Terms that tie
are compared by size m - 1, and so on. At size 1 the paper's table 4 shows 6 and 4, which can only
be the terms' own supports. So the last comparison is by the number of users who have the term.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..compiled import compiled

RANDOM, FIS, VALUE = range(3)
DECIDERS = {"random": RANDOM, "fis": FIS}  # these need no value of each term

# The constants of splitmix64.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Rules(NamedTuple):
    """The parameters of a deletion, as compiled loops take them."""

    k: int
    m: int
    target: int
    draws: bool  # whether one of tied terms is drawn; else the smallest goes
    values: Floats
    state: NDArray[np.uint64]  # of the generator


def rules_of(k: int, m: int, by: str | Floats, ties: str, rng: np.random.Generator) -> Rules:
    """Return the rules for `k` and `m`, with a generator of their own."""
    # Compiled loops draw from their own generator; one number of `rng` is its seed.
    seed = rng.integers(2**64, dtype=np.uint64, size=1)
    if isinstance(by, str):
        return Rules(k, m, DECIDERS[by], ties == "random", np.zeros(0), seed)
    values = np.ascontiguousarray(by, dtype=np.float64)
    return Rules(k, m, VALUE, ties == "random", values, seed)


@compiled
def draw(size: int, state: Any) -> Any:
    """Return a drawn number from 0 to `size` - 1 (splitmix64: Steele, Lea and Flood 2014)."""
    state[0] += _STEP
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return np.int64((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(33)) % size


@compiled
def choose(terms: Any, size: int, frequent: Any, rules: Any) -> Any:
    """Return the position of the one of `terms`, ascending, that is to be deleted."""
    if size == 1:
        return 0
    if rules.target == RANDOM:
        return draw(size, rules.state)
    # Bit i says whether terms[i] is still tied for the least.
    tied = (1 << size) - 1
    if rules.target == VALUE:
        tied = _least(rules.values, terms, size, tied)
    else:
        for length in range(rules.m, 0, -1):
            tied = _least(frequent[length], terms, size, tied)
    count = 0
    for i in range(size):
        count += tied >> i & 1
    skipped = draw(count, rules.state) if rules.draws and count > 1 else 0
    place = 0
    while not tied >> place & 1 or skipped:
        skipped -= tied >> place & 1
        place += 1
    return place


@compiled
def _least(values: Any, terms: Any, size: int, tied: int) -> Any:
    """Return which of the tied terms have the least value, as bits."""
    least, kept = values[terms[0]], 0
    for i in range(size):
        if tied >> i & 1:
            value = values[terms[i]]
            if kept == 0 or value < least:
                least, kept = value, 1 << i
            elif value == least:
                kept |= 1 << i
    return kept
