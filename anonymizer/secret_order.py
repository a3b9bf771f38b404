"""Orders that only a secret key tells [I/O]: the key is drawn from the operating system.

A number of 64 bits for each item of a list comes from SHAKE-256 of the key and of what is ordered;
the items stand in ascending order of their numbers. Who lacks the key can't tell it from chance.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .model import BadParameter, Ints

KEY_BYTES = 32
Secrets = NDArray[np.uint64]


def fresh_key() -> bytes:
    """Draw a key that nobody has."""
    return secrets.token_bytes(KEY_BYTES)


def refuse_no_key(key: bytes | None) -> bytes:
    """Return a key, or refuse what is none without showing it."""
    if key is None or len(key) != KEY_BYTES:
        raise BadParameter(f"a secret key of {KEY_BYTES} bytes must be handed in")
    return key


def secret_numbers(key: bytes, what: str, count: int) -> Secrets:
    """Return a number for each of so many items, which the key and a name for them tell."""
    drawn = hashlib.shake_256(key + what.encode()).digest(8 * count)
    return np.frombuffer(drawn, dtype="<u8").astype(np.uint64)


def secret_numbers_of(key: bytes, what: str, names: Sequence[str]) -> Secrets:
    """Return each item's number, which depends on its name and not on its place in a list."""
    drawn = [hashlib.shake_256(key + f"{what} {name}".encode()).digest(8) for name in names]
    return np.frombuffer(b"".join(drawn), dtype="<u8").astype(np.uint64)


def secret_order(key: bytes, what: str, count: int) -> Ints:
    """Return so many items in their secret order."""
    return np.argsort(secret_numbers(key, what, count), kind="stable").astype(np.int64)
