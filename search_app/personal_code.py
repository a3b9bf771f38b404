"""The code a person signs in with: made here, written as people can read it, kept as a hash only.

A code is 25 signs of Crockford's base 32, which has no I, L, O and U: five that find the record,
then twenty (100 bits) that prove it.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
PUBLIC, SECRET = 5, 20  # signs
SALT = 16  # bytes
LONGEST = 100  # characters that are looked at: a code with all its dashes has 29
_GROUP = 5
_TOO_MANY = 2  # signs that somebody may have typed twice
_MEANT = str.maketrans("OIL", "011", " -\t\r\n\u00a0\u2010\u2011\u2013\u2014")
_COST, _BLOCKS = 1 << 14, 8  # of scrypt: some 50 ms and 16 MB


class Code(NamedTuple):
    """A code's two parts."""

    public: str
    secret: str

    def __str__(self) -> str:
        """Write the code in groups."""
        signs = self.public + self.secret
        return "-".join(signs[at : at + _GROUP] for at in range(0, len(signs), _GROUP))


NO_CODE = Code("", "")


def make_code() -> Code:
    """Make a code by chance."""
    signs = "".join(secrets.choice(SIGNS) for _ in range(PUBLIC + SECRET))
    return Code(signs[:PUBLIC], signs[PUBLIC:])


def read_code(text: str) -> Code:
    """Read what somebody typed, in whatever case and grouping; what can't be a code is none."""
    signs = text[:LONGEST].upper().translate(_MEANT)
    if len(text) > LONGEST or len(signs) != PUBLIC + SECRET or set(signs) - set(SIGNS):
        return NO_CODE
    return Code(signs[:PUBLIC], signs[PUBLIC:])


def public_part(text: str) -> str | None:
    """Return the public part of what is, or was meant to be, a code; None for what is not."""
    signs = text[:LONGEST].upper().translate(_MEANT)
    meant = len(text) <= LONGEST and len(signs) <= PUBLIC + SECRET + _TOO_MANY
    return signs[:PUBLIC] if meant and not set(signs) - set(SIGNS) else None


def make_salt() -> bytes:
    """Make a salt by chance."""
    return secrets.token_bytes(SALT)


def hash_secret(secret: str, salt: bytes) -> bytes:
    """Hash a code's secret part, slowly."""
    return hashlib.scrypt(secret.encode(), salt=salt, n=_COST, r=_BLOCKS, p=1)
