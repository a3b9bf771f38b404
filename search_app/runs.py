"""Runs in TREC's form, written whole or not at all. [I/O]"""

from __future__ import annotations

import gzip
import io
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from .errors import UsageError, plain_when_writing

_SUBNORMAL = (1 << 23) - 1  # floats between 0 and the smallest that keeps all its digits
_WORD = re.compile(r"[^ \t\n\v\f\r\ud800-\udfff]+")  # trec_eval parts columns at ASCII's blanks


def is_word(text: str) -> bool:
    """Tell whether a text can be a column of a run."""
    return bool(_WORD.fullmatch(text))


class RunWriter:
    """Writes the rows of one topic after another."""

    def __init__(self, file: TextIO, path: Path, tag: str) -> None:
        self._file = file
        self._path = path
        self._tag = tag
        self.topics = 0
        self.rows = 0

    def add(self, qid: str, ids: Sequence[str], scores: NDArray[Any]) -> None:
        """Write a ranking, best first."""
        self.topics += 1
        self.rows += len(ids)
        for name in ids:
            if not is_word(name):
                raise UsageError(
                    f"document id {name!r} {'has a blank' if name else 'is empty'}, "
                    "which no run can hold; index the corpus with ids without blanks"
                )
        ranked = enumerate(zip(ids, strictly_falling(scores).tolist(), strict=True), 1)
        with plain_when_writing(self._path):
            self._file.writelines(
                f"{qid} Q0 {name} {rank} {score:.9g} {self._tag}\n"
                for rank, (name, score) in ranked
            )


@contextmanager
def writing_run(path: Path, tag: str) -> Iterator[RunWriter]:
    """Write a run beside its place, and put it there when the block has ended well.

    A link is followed, a file that is replaced leaves its rights, and .gz is packed.
    """
    if not is_word(tag):
        raise UsageError(f"--tag {tag!r} must be one word")
    with plain_when_writing(path):
        if path.exists() and not path.is_file():
            raise UsageError(f"--run {path} must be a file")
    place = Path(os.path.realpath(path))
    temporary = place.with_name(f".{place.name[:40]}.{secrets.token_hex(4)}")
    with plain_when_writing(path):
        raw = _create(temporary, place)
    packed = _packing(raw) if path.suffix == ".gz" else raw
    file = io.TextIOWrapper(packed, encoding="utf-8", newline="")
    try:
        yield RunWriter(file, path, tag)
        with plain_when_writing(path):
            file.flush()
            if packed is not raw:
                packed.close()
                raw.flush()
            os.fsync(raw.fileno())
            temporary.replace(place)
    finally:
        for end in (temporary.unlink, file.close, raw.close):
            with suppress(OSError):  # moved away, or what went wrong is told already
                end()


def _create(temporary: Path, place: Path) -> BinaryIO:
    """Create a file with the rights of the one it shall replace, or those of any new file."""
    rights = place.stat().st_mode & 0o777 if place.exists() else None
    first = 0o666 if rights is None else rights & 0o700
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, first)
    if rights is not None:
        os.fchmod(handle, rights)
    return os.fdopen(handle, "wb")


def _packing(raw: BinaryIO) -> BinaryIO:
    """Pack without name and time: the same run is the same bytes."""
    return cast("BinaryIO", gzip.GzipFile("", "wb", fileobj=raw, mtime=0))


def strictly_falling(scores: NDArray[Any]) -> NDArray[np.float32]:
    """Lower scores that do not fall to the next 32-bit float, which is what trec_eval reads.

    Floats of one sign are in the order of their bits, so the step to the next lower one is -1.
    """
    order = _order(scores.astype(np.float32))
    places = np.arange(order.size)
    return _float(np.minimum.accumulate(order + places) - places)


def _order(values: NDArray[np.float32]) -> NDArray[np.int64]:
    """Number the floats by size, 0 for 0; those too small to be exact count as 0."""
    size = np.maximum(np.abs(values).view(np.int32).astype(np.int64) - _SUBNORMAL, 0)
    return np.where(values < 0, -size, size)


def _float(order: NDArray[np.int64]) -> NDArray[np.float32]:
    size = np.abs(order)
    bits = np.where(size > 0, size + _SUBNORMAL, 0).astype(np.int32)
    return np.where(order < 0, -1, 1).astype(np.float32) * bits.view(np.float32)
