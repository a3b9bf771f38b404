"""The code a person signs in with, and tokens of scripts: easy to read, and kept as a hash only.

A code is 25 signs of Crockford's base 32, which has no I, L, O and U. Five signs find the record,
the other twenty (100 bits) are the secret. A token is a code of its own after "vs-".
"""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

from anonymizer.model import ROW_NAME

SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
PUBLIC, SECRET = 5, 20  # signs
SALT = 16  # bytes
LONGEST = 100  # characters that are read: a code with all its dashes has 29
LONGEST_ID = 100  # characters of the id of a person who is new
LONGEST_NAME = 50  # characters of what a token is called
TOKEN = "vs-"  # noqa: S105 before the signs of a token
_GROUP = 5
_TOO_MANY = 2  # signs more than a code has, which somebody may have typed by mistake
# Letters that look like a digit are read as that digit; blanks and dashes are skipped.
_MEANT = str.maketrans("OIL", "011", " -\t\r\n\u00a0\u2010\u2011\u2013\u2014")
_COST, _BLOCKS = 1 << 14, 8  # of scrypt
SLOW = 64  # bytes of its hash


class Code(NamedTuple):
    """A code's two parts."""

    public: str
    secret: str

    def __str__(self) -> str:
        """Return the code in groups of five signs."""
        signs = self.public + self.secret
        return "-".join(signs[at : at + _GROUP] for at in range(0, len(signs), _GROUP))


NO_CODE = Code("", "")


def make_code() -> Code:
    """Return a random code."""
    signs = "".join(secrets.choice(SIGNS) for _ in range(PUBLIC + SECRET))
    return Code(signs[:PUBLIC], signs[PUBLIC:])


def read_code(text: str) -> Code:
    """Return the code that `text` means in any case and grouping; NO_CODE if it can't be one."""
    signs = text[:LONGEST].upper().translate(_MEANT)
    if len(text) > LONGEST or len(signs) != PUBLIC + SECRET or set(signs) - set(SIGNS):
        return NO_CODE
    return Code(signs[:PUBLIC], signs[PUBLIC:])


def read_token(text: str) -> Code:
    """Return the code after TOKEN in `text`; NO_CODE if it can't be a token."""
    rest = text.strip()
    return read_code(rest[len(TOKEN) :]) if rest[: len(TOKEN)].lower() == TOKEN else NO_CODE


def public_part(text: str) -> str | None:
    """Return the public part of `text` if it is, or was meant to be, a code; else None."""
    signs = text[:LONGEST].upper().translate(_MEANT)
    meant = len(text) <= LONGEST and len(signs) <= PUBLIC + SECRET + _TOO_MANY
    return signs[:PUBLIC] if meant and not set(signs) - set(SIGNS) else None


def is_id(text: str) -> bool:
    """Return whether `text` can be the id of a person: it can be seen, and is no row's name."""
    seen = 0 < len(text) <= LONGEST_ID and text.isprintable() and text == text.strip()
    return seen and not ROW_NAME.fullmatch(text)


def is_name(text: str) -> bool:
    """Return whether a token can be called `text`: it can be seen."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable() and text == text.strip()


def hash_secret(secret: str, salt: bytes, *, slow: bool = False) -> bytes:
    """Return the hash of a code's `secret` part with `salt`; `slow`: as versions before 0.3 did."""
    # 100 random bits need no slow hash. A slow one would let guessers take the machine's time.
    if slow:
        return hashlib.scrypt(secret.encode(), salt=salt, n=_COST, r=_BLOCKS, p=1)
    return hashlib.sha256(salt + secret.encode()).digest()
