"""Exact discrete Gaussian noise: whole numbers only, so that no rounding of a float tells anything.

The sampler is that of Canonne, Kamath & Steinke, The Discrete Gaussian for Differential Privacy
(2020), algorithms 1 to 3. Its random numbers come from SHAKE-256 of a secret key and a name, so the
owner's judge can repeat them, and nobody without the key can tell them from chance. They are read
16 bytes at a time, the lowest byte first. A number below m is the rest of the next one by m; one
that is 2^128 - (2^128 mod m) or more is skipped, so that all rests are equally likely.
"""

from __future__ import annotations

import hashlib
import math

_BYTES = 16
_ALL = 1 << 8 * _BYTES
_FIRST = 512  # bytes; most draws need fewer


class Stream:
    """Uniform whole numbers that a key and a name decide."""

    def __init__(self, key: bytes, name: str) -> None:
        self._hash = hashlib.shake_256(key + name.encode())
        self._content = self._hash.digest(_FIRST)
        self._at = 0

    def below(self, most: int) -> int:
        """Return a uniform number from 0 to `most` - 1."""
        end = _ALL - _ALL % most
        while True:
            if self._at == len(self._content):
                # The longer output of SHAKE-256 begins with the shorter one.
                self._content = self._hash.digest(2 * len(self._content))
            number = int.from_bytes(self._content[self._at : self._at + _BYTES], "little")
            self._at += _BYTES
            if number < end:
                return number % most


def happens(stream: Stream, numerator: int, denominator: int) -> bool:
    """Return whether an event of probability exp(-`numerator` / `denominator`) happens."""
    # A unit of the exponent at a time: events of a probability below 1/e must all happen.
    while numerator > denominator:
        if not happens(stream, 1, 1):
            return False
        numerator -= denominator
    count = 1
    while stream.below(count * denominator) < numerator:
        count += 1
    return count % 2 == 1


def _laplace(stream: Stream, scale: int) -> int:
    """Return x with a probability proportional to exp(-|x| / `scale`)."""
    while True:
        rest = stream.below(scale)
        if not happens(stream, rest, scale):
            continue
        times = 0
        while happens(stream, 1, 1):
            times += 1
        negative, size = stream.below(2) == 1, rest + scale * times
        if size or not negative:
            return -size if negative else size


def gaussian(stream: Stream, variance: int) -> int:
    """Return x with a probability proportional to exp(-x² / 2 `variance`)."""
    scale = math.isqrt(variance) + 1
    while True:
        x = _laplace(stream, scale)
        off = abs(x) * scale - variance
        if happens(stream, off * off, 2 * variance * scale * scale):
            return x
