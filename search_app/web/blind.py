"""The blind order of columns: by lot, but the same for the same question while the server runs."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Sequence

from .question import Question

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_KEY = secrets.token_bytes(32)  # in memory only: nobody can work out the order from an address


def blind_order(modes: Sequence[str], question: Question, key: bytes = b"") -> list[str]:
    """Order modes by lot: by a keyed hash of each with the question."""
    about = [question.query, question.user, question.pool, question.mix, question.operators]

    def drawn(mode: str) -> bytes:
        text = json.dumps([mode, *about]).encode()
        return hmac.digest(key or _KEY, text, "sha256")

    return sorted(modes, key=drawn)
