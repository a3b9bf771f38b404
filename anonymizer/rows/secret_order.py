"""Orders that a secret key decides [I/O]: the operating system draws the key.

SHAKE-256 of the key and of what is ordered gives each item of a list a number of 64 bits. The items
stand in ascending order of their numbers. Without the key nobody can tell this order from chance.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints
from ..deletion.histories import by_content
from ..errors import BadParameter
from ..model import Profiles

KEY_BYTES = 32
Secrets = NDArray[np.uint64]


def fresh_key() -> bytes:
    """Return a new random key."""
    return secrets.token_bytes(KEY_BYTES)


def refuse_no_key(key: bytes | None) -> bytes:
    """Return `key` if it is one; else refuse it without showing it."""
    if key is None or len(key) != KEY_BYTES:
        raise BadParameter(f"a secret key of {KEY_BYTES} bytes is needed")
    return key


def secret_numbers(key: bytes, what: str, count: int) -> Secrets:
    """Return the secret numbers of `count` items, which `key` and the name `what` decide."""
    drawn = hashlib.shake_256(key + what.encode()).digest(8 * count)
    return np.frombuffer(drawn, dtype="<u8").astype(np.uint64)


def secret_numbers_of(key: bytes, what: str, names: Sequence[str]) -> Secrets:
    """Return the secret number of each of `names`, which does not depend on its place."""
    drawn = [hashlib.shake_256(key + f"{what} {name}".encode()).digest(8) for name in names]
    return np.frombuffer(b"".join(drawn), dtype="<u8").astype(np.uint64)


def secret_order(key: bytes, what: str, count: int) -> Ints:
    """Return the numbers of `count` items in the order that `key` gives under `what`."""
    return np.argsort(secret_numbers(key, what, count), kind="stable").astype(np.int64)


def in_order_of_content(profiles: Profiles, key: bytes) -> tuple[Profiles, Ints]:
    """Return `profiles` ordered by terms, equal ones by `key`, and the place each user had."""
    cells = profiles.weights
    # by_content is stable, so users with the same terms stay in this secret order.
    drawn = secret_order(key, "places", len(profiles))
    shuffled = cells[drawn]
    ends = shuffled.indptr.astype(np.int64)
    order = drawn[by_content(ends, shuffled.indices, np.ones(cells.nnz))]
    return profiles.some(order), order


def key_of_part(key: bytes, part: int) -> bytes:
    """Return the key of `part`, of those that `key` decides; it tells nothing of other parts."""
    # With one key for all, users at the same place of two parts would be ordered alike.
    return hashlib.shake_256(key + f"part {part}".encode()).digest(KEY_BYTES)
