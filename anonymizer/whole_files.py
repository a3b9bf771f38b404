"""Files of arrays on disk [I/O]: written under a temporary name and renamed, hashed as a whole.

What a killed writer left is removed by the next one: it says who searched for what.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BufferedIOBase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .records import sync_folder

_OURS = "veil"  # begins the last part of a temporary's name: .profiles.jsonl.veil07af


@contextmanager
def replaced_whole(path: Path) -> Iterator[BufferedIOBase]:
    """Open a file, for the owner's eyes only, that takes the path's place when all is written."""
    _sweep(path)
    with _temporary(path) as (temporary, file):
        yield file
        temporary.replace(path)
    sync_folder(path.parent)


@contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, BufferedIOBase]]:
    """Open a file for what is under way, which is locked while its writer lives."""
    temporary = path.with_name(f".{path.name}.{_OURS}{secrets.token_hex(2)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            with suppress(OSError):  # where there are no locks, nobody sweeps either
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield temporary, file
    finally:
        temporary.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove what killed writers of this file left."""
    name = re.compile(rf"\.{re.escape(path.name)}\.{_OURS}[0-9a-f]{{4}}")
    for left in path.parent.glob(".*"):
        if name.fullmatch(left.name) and left.is_file() and not left.is_symlink():
            with suppress(OSError), left.open("ab") as file:  # it is in use, or not ours
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()


def hash_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of each array's name, size and bytes, one after the other."""
    digest = hashlib.sha256()
    for name, values in arrays.items():
        digest.update(f"{name} {values.size}\n".encode())
        digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()


def names_of(content: bytes) -> tuple[str, ...]:
    """Return users or terms, which are texts, as in JSONL, and at least one."""
    names = json.loads(content)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError("a name is empty or no text, or there is none")
    return tuple(names)
