"""The inspection of a whole index, as `veilsearch doctor` does it. [I/O]

Checksums show that files are as they were built. This shows that an index was built: Lucene's own
CheckIndex looks at every segment, and the rows of both halves are compared one by one. A cluster
checks its segments itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np

from .backends import LUCENE, Backend, OpenSearchBackend
from .forward.reading import Forward
from .lucene.java import directory, java, talking
from .lucene.searching import LuceneIndex
from .manifest import REMEDY, read_manifest
from .model import SearchError
from .opening import check_index
from .opensearch import inspection

Look = Callable[[], str]


def inspect_index(folder: Path, backend: Backend = LUCENE) -> list[str]:
    """Return what is wrong with the index in `folder`, one plain line each."""
    try:
        # Later checks make no sense of an index that failed an earlier one.
        if isinstance(backend, OpenSearchBackend):
            return check_index(folder, backend)
        return check_index(folder) or check_lucene(folder / "lucene") or differing_rows(folder)
    except SearchError as error:
        return [str(error)]


def cluster_checks(folder: Path | None, backend: OpenSearchBackend) -> Iterator[tuple[str, Look]]:
    """Yield what to look at in the cluster of `backend`, and in the index of `folder` there.

    Each look returns what it found, or raises SearchError with the fault and a remedy.
    """
    cluster = backend.cluster
    yield "hosts", partial(inspection.answering, cluster.place)
    yield "versions", partial(inspection.versions, cluster)
    yield "partial results", partial(inspection.partial_results, cluster)
    if folder is None:
        return
    try:
        manifest = read_manifest(folder)
    except SearchError:
        return  # the check of the folder reports it
    if (place := backend.place_of(manifest)) is None:
        return
    index, bm25 = place["index"], (manifest["k1"], manifest["b"])
    yield "alias", partial(inspection.current, cluster, place["alias"], index)
    yield "shards", partial(inspection.health, cluster, index)
    yield "copies", partial(inspection.copies, cluster, index, cluster.place.replicas)
    yield "mapping", partial(inspection.mapping, cluster, index, bm25)

    def documents() -> str:
        return inspection.documents(cluster, index, Forward.open(folder / "forward").numbers)

    yield "documents", documents


def check_lucene(folder: Path) -> list[str]:
    """Return what Lucene finds wrong with the segments in `folder`; nothing is written."""
    with talking(folder):
        opened = directory(folder)
        try:
            # CheckIndex demands a lock, and the one of NoLockFactory makes no file.
            factory = java("org.apache.lucene.store.NoLockFactory").INSTANCE
            lock = factory.obtainLock(opened, "write.lock")
            with closing(java("org.apache.lucene.index.CheckIndex")(opened, lock)) as check:
                check.setThreadCount(os.cpu_count() or 1)
                status = check.checkIndex()
            if status.clean:
                return []
            if status.missingSegments:
                return [f"{folder}: Lucene's CheckIndex finds no list of segments; {REMEDY}"]
            bad, lost = int(status.numBadSegments), int(status.totLoseDocCount)
        finally:
            opened.close()
    return [
        f"{folder}: Lucene's CheckIndex finds {bad} of {int(status.numSegments)} segments damaged, "
        f"{lost:,} documents lost; {REMEDY}"
    ]


def differing_rows(folder: Path) -> list[str]:
    """Return a line if rows of the index in `folder` are other documents in its two halves."""
    forward = Forward.open(folder / "forward")
    lucene = LuceneIndex(folder / "lucene")
    try:
        there = np.asarray(lucene.numbers(range(lucene.size)), dtype=np.int64)
    finally:
        lucene.close()
    if there.shape != forward.numbers.shape:
        return [f"{folder}: Lucene and the forward index have different documents; {REMEDY}"]
    differing = np.flatnonzero(there != forward.numbers)
    if not differing.size:
        return []
    return [
        f"{folder}: {differing.size:,} rows are different documents in Lucene and the forward "
        f"index, the first is row {differing[0]}; {REMEDY}"
    ]
