"""Writing a forward index: new documents' counts, after those of the index it extends. [I/O]

Columns are numbered by falling document frequency, so counts wait on the disk until all are there.
Memory holds terms, row numbers and one block of rows. Extending an index gives the same bytes as
building it from the remaining documents, except for the numbers they were added under.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ..model import Document, Floats, Ints, Whole
from .reading import TERMS, Forward, idf
from .texts import OpeningsWriter

BLOCK = 1 << 18  # characters that are counted together
ROWS = 1 << 13  # rows that are written together,
COUNTS = 1 << 20  # unless they have more counts than this
WAITING = ("columns.waiting", "tf.waiting")


class TextCounter(Protocol):
    """What counts the terms of texts, as the anonymizer's TermCounter does."""

    @property
    def terms(self) -> list[str]:
        """Return the terms seen so far, by number."""

    def count(
        self, texts: Sequence[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Return the term numbers of each of `texts`, their counts, and where each text ends."""


class _Rows(NamedTuple):
    """Rows of counts from one source."""

    terms: list[str]
    starts: Whole
    columns: Whole
    tf: Whole
    numbers: Whole  # ascending
    kept: NDArray[np.bool_]


class _Block(NamedTuple):
    """Some kept rows, with columns over the terms of all sources."""

    lengths: Ints  # of the rows, which follow one another
    columns: Ints
    tf: Ints


class ForwardWriter:
    """Collects documents' term counts and openings in order, in a folder that it makes."""

    def __init__(
        self, folder: Path, counter: TextCounter, first: int = 0, extends: Forward | None = None
    ) -> None:
        folder.mkdir()
        self._folder, self._counter, self._first, self._extends = folder, counter, first, extends
        self._texts: list[str] = []
        self._characters = 0
        self._lengths = array("q")
        self._dropped = array("q")
        with ExitStack() as stack:
            opened = [stack.enter_context((folder / name).open("wb")) for name in WAITING]
            self._files: list[BinaryIO] = [*opened]
            self._open = stack.pop_all()
        # What extends an index without openings has none either.
        bare = extends is not None and extends.openings is None
        self._openings = None if bare else OpeningsWriter(folder)

    def add(self, document: Document) -> None:
        """Count the terms of `document`, the one with the next number, and keep its opening."""
        if self._openings:
            self._openings.add(document)
        text = f"{document.title} {document.text}"
        self._texts.append(text)
        self._characters += len(text)
        if self._characters >= BLOCK:
            self._count()

    def drop(self, number: int) -> None:
        """Drop the document that was added under `number`."""
        self._dropped.append(number)

    def write(self) -> int:
        """Write the arrays, the openings and the terms; return the number of terms."""
        self._count()
        self.close()
        lengths = np.asarray(self._lengths, dtype=np.int64)
        numbers = self._first + np.arange(lengths.size)
        columns, tf = (_mapped(self._folder / name) for name in WAITING)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        new = _Rows(self._counter.terms, starts, columns, tf, numbers, self._kept(numbers))
        sources, old, base = [new], self._extends, None
        if old is not None:
            kept = self._kept(old.numbers)
            sources = [_Rows(old.terms, *old.counts, old.numbers, kept), new]
            base = (old.openings, kept) if old.openings else None
        terms = _write(self._folder, sources)
        if self._openings:
            self._openings.write(new.kept, base)
        for name in WAITING:
            (self._folder / name).unlink()
        return terms

    def close(self) -> None:
        """Close the files of waiting counts."""
        self._open.close()

    def _count(self) -> None:
        texts, self._texts, self._characters = self._texts, [], 0
        if texts:
            *counts, ends = self._counter.count(texts)
            self._lengths.extend(np.diff(ends, prepend=0).tolist())
            for file, part in zip(self._files, counts, strict=True):
                file.write(part.astype(np.int32).tobytes())

    def _kept(self, numbers: Whole) -> NDArray[np.bool_]:
        return ~np.isin(numbers, np.asarray(self._dropped, dtype=np.int64))


def _mapped(path: Path) -> NDArray[np.int32]:
    # An empty file can't be mapped.
    if not path.stat().st_size:
        return np.empty(0, dtype=np.int32)
    return np.memmap(path, dtype=np.int32, mode="r").view(np.ndarray)


def _write(folder: Path, sources: Sequence[_Rows]) -> int:
    """Write the kept rows of all `sources`, one after the other; return the number of terms."""
    number: dict[str, int] = {}  # of each term of any source
    places = [
        np.array([number.setdefault(term, len(number)) for term in source.terms], dtype=np.int64)
        for source in sources
    ]
    names = list(number)
    df = np.zeros(len(names), dtype=np.int64)
    size = largest = 0
    for block in _blocks(sources, places):
        df += np.bincount(block.columns, minlength=df.size)
        size, largest = size + block.tf.size, max(largest, int(block.tf.max(initial=0)))
    # Ties go by name, so that the same documents give the same columns.
    order = np.array(sorted(range(df.size), key=lambda at: (-df[at], names[at])), dtype=np.int64)
    order = order[: np.count_nonzero(df)]
    numbers = np.concatenate([source.numbers[source.kept] for source in sources])
    place = np.zeros(df.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    weights = idf(numbers.size, np.maximum(df, 1))
    lengths, norms_tf, norms_tfidf = [], [], []
    with (
        _ArrayFile(folder / "indices.npy", size, np.min_scalar_type(order.size)) as columns_file,
        _ArrayFile(folder / "tf.npy", size, np.min_scalar_type(largest)) as tf_file,
    ):
        for block in _blocks(sources, places):
            columns_file.write(place[block.columns])
            tf_file.write(block.tf)
            lengths.append(block.lengths)
            norms_tf.append(_norms(block, block.tf.astype(np.float64)))
            norms_tfidf.append(_norms(block, block.tf * weights[block.columns]))
    _save(folder / "numbers.npy", numbers.astype(np.int64))
    _save(folder / "indptr.npy", np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64))
    _save(folder / "df.npy", df[order])
    _save(folder / "norms_tf.npy", np.concatenate(norms_tf))
    _save(folder / "norms_tfidf.npy", np.concatenate(norms_tfidf))
    (folder / TERMS).write_text(json.dumps([names[at] for at in order]))
    return int(order.size)


def _blocks(sources: Sequence[_Rows], places: Sequence[Ints]) -> Iterator[_Block]:
    """Yield the kept rows of all `sources` in order."""
    for source, place in zip(sources, places, strict=True):
        low, rows = 0, source.starts.size - 1
        while low < rows:  # a row with too many counts is a block of its own
            end = source.starts[low] + COUNTS
            fitting = int(np.searchsorted(source.starts, end, side="right")) - 1
            high = min(max(fitting, low + 1), low + ROWS, rows)
            kept = source.kept[low:high]
            starts = source.starts[low : high + 1].astype(np.int64)
            lengths = np.diff(starts)
            counted = np.repeat(kept, lengths)
            columns = source.columns[starts[0] : starts[-1]][counted]
            tf = source.tf[starts[0] : starts[-1]][counted].astype(np.int64)
            yield _Block(lengths[kept], place[columns], tf)
            low = high


def _norms(block: _Block, values: Floats) -> Floats:
    """Return the length of each row's vector."""
    rows = np.repeat(np.arange(block.lengths.size), block.lengths)
    return np.sqrt(np.bincount(rows, values**2, minlength=block.lengths.size))


class _ArrayFile:
    """A file of an array of known size that is written piece by piece."""

    def __init__(self, path: Path, size: int, kind: np.dtype[Any]) -> None:
        self._kind = kind
        shape = {"descr": kind.str, "fortran_order": False, "shape": (size,)}
        with ExitStack() as stack:
            self._file = stack.enter_context(path.open("wb"))
            np.lib.format.write_array_header_1_0(self._file, shape)
            self._open = stack.pop_all()

    def write(self, values: Ints) -> None:
        """Write the next `values`."""
        self._file.write(values.astype(self._kind).tobytes())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def _save(path: Path, values: NDArray[Any]) -> None:
    with _ArrayFile(path, values.size, values.dtype) as file:
        file.write(values)
