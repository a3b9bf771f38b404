"""What lists of results show of documents: ids, titles, addresses and how texts begin. [I/O]

To take ten whole documents out of Lucene takes longer than to search. So the beginnings stand in a
file of their own, one after the other, with white space as it is shown: a single blank.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..model import Document, Ints, SearchError

Kept = NDArray[np.bool_]  # of documents, by number
TEXTS, STARTS = "texts.bin", "texts.npy"
WAITING = "texts.waiting"
BLOCK = 1 << 20  # bytes that are written together
# Characters of a text that lists may read, each a snippet's own number; to change one changes the
# files, so it needs another format of the index.
LENGTHS = (5_000, 6_000, 8_000, 10_000)


class Opening(NamedTuple):
    """What a list of results shows of a document."""

    id: str
    title: str
    url: str
    pieces: Sequence[str]  # of the text, for each of LENGTHS what it adds to the one before

    @classmethod
    def of(cls, document: Document) -> Opening:
        """Return the opening of `document`."""
        return cls(document.id, document.title, document.url, _pieces(document.text))

    def text(self, length: int) -> str:
        """Return the first `length` characters of the text, one of LENGTHS, with single blanks."""
        return "".join(self.pieces[: 1 + LENGTHS.index(length)])


class Openings:
    """The openings of all documents of an index, mapped into memory; threads can share them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.starts: Ints = np.load(folder / STARTS, mmap_mode="r").view(np.ndarray)
        with (folder / TEXTS).open("rb") as file:
            self._texts = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        # Few of the pages next to one that is read are read soon.
        with suppress(OSError):
            self._texts.madvise(mmap.MADV_RANDOM)

    def of(self, rows: Sequence[int]) -> list[Opening]:
        """Return the openings of `rows`."""
        documents, read = self.starts.size - 1, []
        for row in rows:
            if not 0 <= row < documents:
                raise SearchError(f"rows must be from 0 to {documents - 1}")
            text = self._texts[self.starts[row] : self.starts[row + 1]].decode()
            name, title, url, *pieces = text.split("\0")
            read.append(Opening(name, title, url, pieces))
        return read


class OpeningsWriter:
    """Collects the openings of new documents in a file of `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._starts = array("q", [0])
        self._block = bytearray()

    def add(self, document: Document) -> None:
        """Add the opening of `document`, the one with the next number."""
        name, title, url, pieces = Opening.of(document)
        # NULs can separate texts, as documents are cleaned of them.
        text = "\0".join((name, title, url, *pieces)).encode()
        self._block += text
        self._starts.append(self._starts[-1] + len(text))
        if len(self._block) >= BLOCK:
            self._flush()

    def write(self, kept: Kept, base: tuple[Openings, Kept] | None) -> None:
        """Write the openings that are `kept`, after those of the `base` that are kept there."""
        self._flush()
        waiting, starts = self._folder / WAITING, np.asarray(self._starts)
        sources = [(base[0].folder / TEXTS, base[0].starts, base[1])] if base else []
        lengths = [np.zeros(1, dtype=np.int64)]
        with (self._folder / TEXTS).open("wb") as written:
            for path, begins, chosen in (*sources, (waiting, starts, kept)):
                lengths.append(np.diff(begins)[chosen])
                # What is next to each other is copied together.
                edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
                with path.open("rb") as read:
                    for low, high in begins[edges].reshape(-1, 2).tolist():
                        read.seek(low)
                        for at in range(low, high, BLOCK):
                            written.write(read.read(min(BLOCK, high - at)))
        np.save(self._folder / STARTS, np.cumsum(np.concatenate(lengths)))
        waiting.unlink()

    def _flush(self) -> None:
        with (self._folder / WAITING).open("ab") as waiting:
            waiting.write(self._block)
        self._block.clear()


def _pieces(text: str) -> list[str]:
    """Return the pieces of an opening of `text`."""
    pieces, start, begun = [], 0, False
    for end in LENGTHS:
        piece = " ".join(text[start:end].split())
        if piece and begun and (text[start - 1].isspace() or text[start].isspace()):
            piece = f" {piece}"
        begun = begun or bool(piece)
        pieces.append(piece)
        start = end
    return pieces
