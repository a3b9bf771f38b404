"""Which files of a folder hold a text as a whole word [I/O]: what is packed is looked into."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

_AT_ONCE = 1 << 22  # bytes
_NOT_HERE = "indexes"  # documents, which are nobody's searches
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile, ValueError, NotImplementedError)


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def files_with(root: Path, needle: str) -> tuple[str, ...]:
    """Return the files in and below a folder, but for its indexes, that hold a text; or it is
    their name. What can't be read is returned as well: nobody knows what is in it.
    """
    pattern = _pattern(needle)
    found = [path for path in _files(root) if _names(path, root, pattern) or _holds(path, pattern)]
    return tuple(sorted(str(path.relative_to(root)) for path in found))


def holds(path: Path, needle: str) -> bool:
    """Tell whether a file holds a text, or can't be read."""
    return _holds(path, _pattern(needle))


def _pattern(needle: str) -> re.Pattern[bytes]:
    """Return a pattern of the text as it is, and as JSON may write it."""
    forms = {needle, json.dumps(needle)[1:-1], json.dumps(needle, ensure_ascii=False)[1:-1]}
    escaped = b"|".join(sorted(re.escape(form.encode("utf-8", "replace")) for form in forms))
    return re.compile(rb"(?<![0-9A-Za-z_])(?:" + escaped + rb")(?![0-9A-Za-z_])")


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        if Path(folder) == root and _NOT_HERE in folders:
            folders.remove(_NOT_HERE)
        yield from (Path(folder, name) for name in names)


def _names(path: Path, root: Path, pattern: re.Pattern[bytes]) -> bool:
    return bool(pattern.search(os.fsencode(path.relative_to(root))))


def _holds(path: Path, pattern: re.Pattern[bytes]) -> bool:
    if not path.is_file():  # a link to nowhere, a socket
        return False
    try:
        return any(_is_in(stream, pattern) for stream in _streams(path))
    except _BROKEN:
        return True


def _streams(path: Path) -> Iterator[_Stream]:
    """Yield a file's content as it lies there, and unpacked if it is packed."""
    with path.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        yield file
    if head.startswith(b"\x1f\x8b"):
        with gzip.open(path) as unpacked:
            yield unpacked
    elif head.startswith(b"BZh"):
        with bz2.open(path) as unpacked:
            yield unpacked
    elif head.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as member:
                    yield member


def _is_in(stream: _Stream, pattern: re.Pattern[bytes]) -> bool:
    """Search a stream piece by piece.

    Pieces overlap by more than the text is long: what touches an end of a window, where nobody
    sees whether it is a whole word, stands inside of another window.
    """
    overlap = len(pattern.pattern) + 8
    window, first = b"", True
    while piece := stream.read(_AT_ONCE):
        window += piece
        for match in pattern.finditer(window):
            if (match.start() or first) and match.end() < len(window):
                return True
        first = first and len(window) <= overlap
        window = window[-overlap:]
    return any(match.start() or first for match in pattern.finditer(window))
