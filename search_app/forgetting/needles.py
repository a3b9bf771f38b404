"""Which files of a folder hold texts as whole words [I/O]; packed files are unpacked."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Set
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from anonymizer.arrays import Ints, Marks
from anonymizer.compiled import compiled

from ..workspace.tables import is_database, texts_of

_AT_ONCE = 1 << 16  # bytes: what fits the cache of a processor
_NOT_HERE = "indexes"  # they hold documents and no searches
_BROKEN = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    ValueError,
    NotImplementedError,
)
# Parquet, Zstandard, 7z, and text in UTF-16: nobody here looks into them.
_CLOSED = (b"PAR1", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf", b"\xff\xfe", b"\xfe\xff")
_WORD = re.compile(rb"[0-9A-Za-z_]+")
_MOST = (1 << 20) - 1  # of the hashes of words


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Needles:
    """Texts that are sought as whole words, all of them in one pass."""

    def __init__(self, texts: Set[str]) -> None:
        forms = {
            form.encode("utf-8", "replace")
            for text in texts  # as it is, and as JSON may write it
            for form in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1])
        }
        self.longest = max(map(len, forms))
        # A form begins where its first word does, less an offset. The few forms without a letter or
        # digit are sought one by one.
        self._forms: dict[bytes, list[tuple[int, bytes]]] = {}
        for form in sorted(forms):
            word = _WORD.search(form)
            known = self._forms.setdefault(word[0] if word else b"", [])
            known.append((word.start() if word else 0, form))
        self._wordless = self._forms.pop(b"", [])
        self._hashes = np.zeros(_MOST + 1, np.bool_)
        self._sizes = np.zeros(max(map(len, self._forms), default=0) + 1, np.bool_)
        for text in self._forms:
            self._sizes[len(text)] = True
            self._hashes[_hash_of(np.frombuffer(text, np.uint8), 0, len(text))] = True
        words = sorted(self._forms) or [b"0"]
        self._bounds = words[0][0], words[-1][0], min(map(len, words))

    def places(self, block: bytes) -> Iterator[tuple[int, int]]:
        """Yield the beginning and the end of each text in `block`, in no order."""
        for start in self._known(np.frombuffer(block, np.uint8)):
            word: Any = _WORD.match(block, start)
            for offset, form in self._forms.get(word[0], ()):
                if _is_whole(block, start - offset, form):
                    yield start - offset, start - offset + len(form)
        for _, form in self._wordless:
            start = block.find(form)
            while start >= 0:
                if _is_whole(block, start, form):
                    yield start, start + len(form)
                start = block.find(form, start + 1)

    def _known(self, block: NDArray[np.uint8]) -> list[int]:
        """Return where words begin in `block` that a form may begin with."""
        letters, inside = np.zeros(block.size + 1, np.bool_), np.zeros(block.size, np.bool_)
        _mark_letters(block, letters)  # the last one, which is none, ends a word
        _mark_starts(block, letters, self._bounds, inside)
        starts = np.flatnonzero(inside)
        count = _known_words(block, letters, starts, self._sizes, self._hashes)
        return list[int](starts[:count].tolist())


def _is_whole(block: bytes, start: int, form: bytes) -> bool:
    """Return whether `form` stands at `start`, with no letter or digit next to it."""
    end = start + len(form)
    around = block[max(start - 1, 0) : start], block[end : end + 1]
    return start >= 0 and block.startswith(form, start) and not any(map(_WORD.match, around))


# Most bytes are looked at by comparisons alone, as the processor makes many of them at a time.
@compiled
def _mark_letters(block: Ints, letters: Marks) -> None:
    """Mark in `letters` which bytes of `block` stand in words, as `_WORD` says, too."""
    for at in range(block.size):
        byte = block[at]
        digit, large = (byte >= 48) & (byte <= 57), (byte >= 65) & (byte <= 90)
        letters[at] = digit | large | ((byte >= 97) & (byte <= 122)) | (byte == 95)


@compiled
def _mark_starts(block: Ints, letters: Marks, bounds: tuple[int, int, int], starts: Marks) -> None:
    """Mark in `starts` where words begin, as `letters` mark them.

    They have a first byte within the first two `bounds`, and at least the third's number of bytes.
    """
    low, high, least = np.uint8(bounds[0]), np.uint8(bounds[1]), bounds[2]
    for at in range(1, block.size):
        first = (block[at] >= low) & (block[at] <= high)
        starts[at] = letters[at] & (not letters[at - 1]) & first
    starts[:1] = letters[:1]
    for further in range(1, least):
        for at in range(block.size + 1 - further):
            starts[at] &= letters[at + further]


@compiled
def _hash_of(text: Ints, low: int, high: int) -> int:
    number = 0
    for at in range(low, high):
        number = (31 * number + text[at]) & _MOST
    return number


@compiled
def _known_words(block: Ints, letters: Marks, starts: Ints, sizes: Marks, hashes: Marks) -> int:
    """Move the `starts` of words of a known size and hash to the front; return their count."""
    count = 0
    for start in starts:
        end = start
        while letters[end] and end - start < sizes.size:
            end += 1
        known = end - start < sizes.size and sizes[end - start]
        if known and hashes[_hash_of(block, start, end)]:
            starts[count] = start
            count += 1
    return count


def files_with(root: Path, texts: Set[str]) -> tuple[str, ...]:
    """Return the files below `root`, except its indexes, with one of `texts` in content or name."""
    # A file that can't be read is returned, too: it may hold a text.
    needles, holders = Needles(texts), []
    for folder, folders, names in os.walk(root):
        if Path(folder) == root and _NOT_HERE in folders:
            folders.remove(_NOT_HERE)
        for path in (Path(folder, name) for name in names):
            name = path.relative_to(root)
            if any(needles.places(os.fsencode(name))) or _holds(path, needles):
                holders.append(str(name))
    return tuple(sorted(holders))


def _holds(path: Path, needles: Needles) -> bool:
    if not path.is_file():  # a link to nowhere, a socket
        return False
    try:
        return any(_is_in(stream, needles) for stream in _streams(path))
    except _BROKEN:
        return True


def _streams(path: Path) -> Iterator[_Stream]:
    """Yield the content of `path` as it is, and unpacked if it is packed."""
    if is_database(path):
        if path.name.endswith(".sqlite"):
            yield BytesIO(b"\n".join(texts_of(path)))
        return
    with path.open("rb") as file:
        head = file.read(4)
        if head.startswith(_CLOSED):
            raise ValueError("what it holds is not known")
        file.seek(0)
        yield file
    if head.startswith(b"\x1f\x8b"):
        with gzip.open(path) as unpacked:
            yield unpacked
    elif head.startswith(b"BZh"):
        with bz2.open(path) as unpacked:
            yield unpacked
    elif head.startswith(b"\xfd7zX"):
        with lzma.open(path) as unpacked:
            yield unpacked
    elif head.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            for about in archive.infolist():
                if about.compress_type == zipfile.ZIP_STORED:
                    continue  # its bytes stand in the archive as they are
                with archive.open(about) as member:
                    yield member


def _is_in(stream: _Stream, needles: Needles) -> bool:
    """Return whether `stream` holds one of `needles`; it is read piece by piece."""
    # At the end of a window it is open whether a match is a whole word. So windows overlap by more
    # than the text is long: such a match stands inside another window.
    overlap = needles.longest + 8
    window, first = b"", True
    while piece := stream.read(_AT_ONCE):
        window += piece
        for start, end in needles.places(window):
            if (start or first) and end < len(window):
                return True
        first = first and len(window) <= overlap
        window = window[-overlap:]
    return any(start or first for start, _ in needles.places(window))
