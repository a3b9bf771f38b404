"""A whole index looked through, as `veilsearch doctor` does. [I/O]

Checksums say that files are as they were built; this says that what was built is an index: Lucene's
own CheckIndex over every segment, and the rows of both halves compared one by one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from .build import check_index
from .forward import Forward
from .java import directory, java, talking
from .lucene import LuceneIndex
from .manifest import REMEDY
from .model import SearchError


def inspect_index(folder: Path) -> list[str]:
    """Return what is wrong with an index, one plain line each; nothing if all of it is good."""
    try:
        return check_index(folder) or check_lucene(folder / "lucene") or differing_rows(folder)
    except SearchError as error:
        return [str(error)]


def check_lucene(folder: Path) -> list[str]:
    """Let Lucene check each segment, without its lock and writing nothing; return its findings."""
    with talking(folder):
        opened = directory(folder)
        try:
            found = _status(opened)
            if found.clean:
                return []
            if found.missingSegments:
                return [f"{folder}: Lucene's CheckIndex finds no list of segments; {REMEDY}"]
            bad, lost = int(found.numBadSegments), int(found.totLoseDocCount)
        finally:
            opened.close()
    return [
        f"{folder}: Lucene's CheckIndex finds {bad} of {int(found.numSegments)} segments damaged, "
        f"{lost:,} documents lost; {REMEDY}"
    ]


def _status(opened: Any) -> Any:
    """Run CheckIndex; it wants a lock, and the one of NoLockFactory makes no file."""
    lock = java("org.apache.lucene.store.NoLockFactory").INSTANCE.obtainLock(opened, "write.lock")
    check = java("org.apache.lucene.index.CheckIndex")(opened, lock)
    try:
        check.setThreadCount(os.cpu_count() or 1)
        return check.checkIndex()
    finally:
        check.close()


def differing_rows(folder: Path) -> list[str]:
    """Compare the number of every row in both halves."""
    forward = Forward.open(folder / "forward")
    lucene = LuceneIndex(folder / "lucene")
    try:
        there = np.asarray(lucene.numbers(range(lucene.size)), dtype=np.int64)
    finally:
        lucene.close()
    if there.shape != forward.numbers.shape:
        return [f"{folder}: Lucene's and the forward index's documents differ; {REMEDY}"]
    differing = np.flatnonzero(there != forward.numbers)
    if not differing.size:
        return []
    return [
        f"{folder}: {differing.size:,} rows are different documents in Lucene and the forward "
        f"index, the first is row {differing[0]}; {REMEDY}"
    ]
