"""The noise of a release, drawn again from its key, as its method documents it.

Canonne, Kamath & Steinke (2020): a discrete Gaussian by rejection from a discrete Laplace, whose
parts are events of probability exp(-x). Every draw is of whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import shake_256
from itertools import count
from math import isqrt

_BLOCK = 16  # bytes of a number
_SPACE = 2 ** (8 * _BLOCK)


def _numbers(seed: bytes) -> Iterator[int]:
    """Yield the numbers that SHAKE-256 of `seed` gives, 16 bytes each."""
    for blocks in (2**power for power in count(6)):
        content = shake_256(seed).digest(blocks * _BLOCK)
        # All but the first output begin with the one before.
        first = 0 if blocks == 2**6 else blocks // 2
        for at in range(first, blocks):
            yield int.from_bytes(content[at * _BLOCK : (at + 1) * _BLOCK], "little")


def noise_of(key: bytes, name: str, variance: int) -> int:
    """Return the noise of `variance` that `key` draws under `name`."""
    numbers = _numbers(key + name.encode())

    def uniform(among: int) -> int:
        return next(x for x in numbers if x < _SPACE - _SPACE % among) % among

    def small(top: int, bottom: int) -> bool:  # probability exp(-top / bottom) up to 1
        return next(k for k in count(1) if uniform(k * bottom) >= top) % 2 == 1

    def decays(top: int, bottom: int) -> bool:  # of any exponent, a unit at a time
        units = max(0, -(-top // bottom) - 1)
        return all(small(1, 1) for _ in range(units)) and small(top - units * bottom, bottom)

    width = isqrt(variance) + 1
    while True:
        part = uniform(width)
        if not decays(part, width):
            continue
        size = part + width * next(k for k in count() if not decays(1, 1))
        sign = -1 if uniform(2) else 1
        if sign < 0 and not size:
            continue
        if decays((size * width - variance) ** 2, 2 * variance * width**2):
            return sign * size
