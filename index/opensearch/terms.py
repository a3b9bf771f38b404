"""Terms as they are written for a cluster, whose analysis gives back exactly these.

Its analyzer `stop` is in OpenSearch's core. It splits at all but letters, and drops stop words but
counts their places. So letters stay as they are, other characters are written in letters, and HOLE
stands for a stop word of ours.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

HOLE = "ʘ"  # a letter that no language has in words; before another letter it starts an escape
ANALYZER = {"type": "stop", "stopwords": [HOLE]}
_LONGEST = 120  # characters; the analyzer cuts at 255, of which some characters take two
_DIGITS, _SIXTEEN = "abcdefghij", "klmnopqrstuvwxyz"


def text_of(tokens: Iterable[str | None]) -> str:
    """Return `tokens` as a text for the cluster; None is a stop word, whose place counts."""
    return " ".join(HOLE if token is None else written(token) for token in tokens)


@lru_cache(1 << 16)
def written(token: str) -> str:
    """Return `token` in small letters that the cluster's analysis leaves alone."""
    if token.isascii() and token.isalpha() and token.islower():
        text = token
    else:
        text = "".join(
            character if _plain(character) else _escape(character) for character in token
        )
    if len(text) > _LONGEST:
        digest = hashlib.sha256(token.encode()).hexdigest()
        return 2 * HOLE + "".join(_SIXTEEN[int(digit, 16)] for digit in digest)
    return text


def _escape(character: str) -> str:
    if "0" <= character <= "9":
        return HOLE + _DIGITS[int(character)]
    return HOLE + "".join(_SIXTEEN[int(digit, 16)] for digit in f"{ord(character):06x}")


@lru_cache(1 << 16)
def _plain(character: str) -> bool:
    """Return whether `character` is a letter for every Unicode, and small if it has two forms."""
    # Of an old Unicode: what was a letter then is one for any version of Java.
    old, new = unicodedata.ucd_3_2_0.category(character), unicodedata.category(character)
    small = character == character.lower()
    return old[0] == new[0] == "L" and small and character != HOLE
