"""The key of releases that are measured and thrown away: it comes from the seed.

A release for people draws its key from the operating system. One that an experiment makes is never
written; its rows must come out the same when the experiment is run again.
"""

from __future__ import annotations

import hashlib


def measuring_key(seed: int) -> bytes:
    """Return a key that whoever has the seed can make again: nothing made by it may be released."""
    return hashlib.sha256(f"veilsearch: for measuring only, seed {seed}".encode()).digest()
