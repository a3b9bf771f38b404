"""Runs in TREC's form, written completely or not at all. [I/O]

A run may begin with a block of ir_metadata: YAML in comments. trec_eval skips these from version 10
on, but other tools take them for broken lines. So they are written only if somebody asks for them.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from anonymizer.storage.files import replaced_whole

from .. import __version__
from ..errors import UsageError, plain_when_writing

_SUBNORMAL = (1 << 23) - 1  # bits of the largest float without full precision
_WORD = re.compile(r"[^ \t\n\v\f\r\ud800-\udfff]+")  # trec_eval splits columns at ASCII blanks


def is_word(text: str) -> bool:
    """Return whether `text` can be a column of a run."""
    return bool(_WORD.fullmatch(text))


class RunWriter:
    """Writes the rows of topics, one topic after another."""

    def __init__(self, file: TextIO, path: Path, tag: str) -> None:
        self._file = file
        self._path = path
        self._tag = tag
        self.topics = 0
        self.rows = 0

    def describe(self, method: Sequence[Mapping[str, object]], documents: int) -> None:
        """Write a block of ir_metadata: the steps of the `method` over a corpus of `documents`."""
        facts = {
            "schema version": 0.1,
            "tag": self._tag,
            "implementation": {"source": {"name": "veilsearch", "version": __version__}},
            "method": {"automatic": True, "retrieval": [*method]},
            "data": {"documents": documents},
        }
        # What is JSON is YAML, too.
        lines = [f"{name}: {json.dumps(value)}" for name, value in facts.items()]
        block = ["ir_metadata.start", *lines, "ir_metadata.end"]
        with plain_when_writing(self._path):
            self._file.writelines(f"# {line}\n" for line in block)

    def add(self, qid: str, ids: Sequence[str], scores: NDArray[Any]) -> None:
        """Write the ranking `ids` of the topic `qid`, best first, with falling scores."""
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
            for rank, (name, score) in ranked:
                self._file.write(f"{qid} Q0 {name} {rank} {score:.9g} {self._tag}\n")


@contextmanager
def writing_run(path: Path, tag: str) -> Iterator[RunWriter]:
    """Yield a writer of a run; `path` (.gz: packed) is replaced only if the block ends well."""
    if not is_word(tag):
        raise UsageError(f"--tag {tag!r} must be one word")
    with plain_when_writing(path):
        if path.exists() and not path.is_file():
            raise UsageError(f"--run {path} must be a file")
    # A link stays a link, and the new file keeps the permissions of the old one.
    place = Path(os.path.realpath(path))
    with plain_when_writing(path):
        rights = place.stat().st_mode & 0o777 if place.exists() else None
    first = 0o666 if rights is None else rights & 0o700
    with replaced_whole(place, first, lambda _: plain_when_writing(path)) as raw:
        if rights is not None:
            os.fchmod(raw.fileno(), rights)
        packed = None
        if path.suffix == ".gz":  # no name, no time: equal runs are equal bytes
            packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
        file = io.TextIOWrapper(packed or raw, encoding="utf-8", newline="")
        try:
            yield RunWriter(file, path, tag)
            with plain_when_writing(path):
                file.flush()
                file.detach()
                if packed:
                    packed.close()
        finally:
            with suppress(OSError, ValueError):  # an error is on its way already, or all is written
                file.close()


def strictly_falling(scores: NDArray[Any]) -> NDArray[np.float32]:
    """Return `scores` as 32-bit floats, as trec_eval reads them, each lower than the one before."""
    values = scores.astype(np.float32)
    places = np.arange(values.size)
    # Floats of one sign have the order of their bits: the next lower positive float has bits - 1.
    # Floats too small for full precision count as 0.
    size = np.maximum(np.abs(values).view(np.int32).astype(np.int64) - _SUBNORMAL, 0)
    order = np.minimum.accumulate(np.where(values < 0, -size, size) + places) - places
    lowered = np.abs(order)
    bits = np.where(lowered > 0, lowered + _SUBNORMAL, 0).astype(np.int32)
    return np.where(order < 0, -1, 1).astype(np.float32) * bits.view(np.float32)
