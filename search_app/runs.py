"""Runs in TREC's form, written whole or not at all. [I/O]"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from .errors import UsageError

_SUBNORMAL = (1 << 23) - 1  # floats between 0 and the smallest that keeps all its digits


class RunWriter:
    """Writes the rows of one topic after another."""

    def __init__(self, file: TextIO, tag: str) -> None:
        self._file = file
        self._tag = tag
        self.topics = 0
        self.rows = 0

    def add(self, qid: str, ids: Sequence[str], scores: NDArray[Any]) -> None:
        """Write a ranking, best first."""
        self.topics += 1
        self.rows += len(ids)
        for name in ids:
            if name.split() != [name]:
                raise UsageError(
                    f"document id {name!r} has a blank, which no run can hold; "
                    "index the corpus with ids without blanks"
                )
        ranked = enumerate(zip(ids, strictly_falling(scores).tolist(), strict=True), 1)
        self._file.writelines(
            f"{qid} Q0 {name} {rank} {score:.9g} {self._tag}\n" for rank, (name, score) in ranked
        )


@contextmanager
def writing_run(path: Path, tag: str) -> Iterator[RunWriter]:
    """Write a run beside its place, and put it there when the block has ended well."""
    if tag.split() != [tag]:
        raise UsageError(f"--tag {tag!r} must be one word")
    if path.exists() and not path.is_file():
        raise UsageError(f"--run {path} must be a file")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                yield RunWriter(file, tag)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as fault:
        raise UsageError(
            f"{path} can't be written ({fault.strerror or fault}); see to folder, room and rights"
        ) from fault


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
