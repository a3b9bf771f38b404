"""Opening an index folder, only if no byte has changed since it was built. [I/O]"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .backends import AS_BUILT, LUCENE, Backend, FilledIndex, MadeBuild, Scoring, start_java
from .forward.reading import Forward
from .manifest import REMEDY, faults_of, read_manifest
from .model import SearchError

SAMPLE = 50  # rows whose numbers are compared when an index is opened


def open_index(
    folder: Path,
    *,
    backend: Backend = LUCENE,
    k1: float | None = None,
    b: float | None = None,
    title_boost: float = 0.0,
) -> tuple[FilledIndex, Forward]:
    """Return both halves of the checked index in `folder`, by its own `k1` and `b` unless given."""
    manifest = _checked(folder)
    backend.check(folder, manifest)
    start_java(backend)
    scoring = Scoring(k1, b, title_boost)
    return aligned(folder, manifest["counts"]["documents"], manifest, backend, scoring)


def open_forward(folder: Path) -> Forward:
    """Return only the forward index of `folder`, which needs no Java, after the same checks."""
    _checked(folder)
    return Forward.open(folder / "forward")


def check_index(folder: Path, backend: Backend = LUCENE) -> list[str]:
    """Return what is wrong with the index in `folder`, one plain line each."""
    try:
        manifest = read_manifest(folder)
        faults = list(faults_of(folder, manifest))
        if not faults:
            backend.check(folder, manifest)
            aligned(folder, manifest["counts"]["documents"], manifest, backend)[0].close()
    except SearchError as error:
        return [str(error)]
    return faults


def _checked(folder: Path) -> dict[str, Any]:
    """Return the manifest of the index in `folder`, if all its files are as they were built."""
    manifest = read_manifest(folder)
    for fault in faults_of(folder, manifest):
        raise SearchError(f"{folder}: {fault}; {REMEDY}")
    return manifest


def aligned(
    folder: Path,
    documents: int,
    facts: Mapping[str, Any],
    backend: Backend,
    scoring: Scoring = AS_BUILT,
) -> tuple[FilledIndex, Forward]:
    """Return both halves of the index in `folder`, if both have the same `documents`.

    `facts` are its manifest's.
    """
    # Of these a sample is compared; `veilsearch doctor` compares them all.
    forward = Forward.open(folder / "forward")
    index = backend.opened(MadeBuild(folder, facts, forward.numbers), scoring)
    same = documents == index.size == forward.documents
    rows = np.unique(np.linspace(0, documents - 1, SAMPLE, dtype=np.int64))
    if same and index.numbers(rows.tolist()) == forward.numbers[rows].tolist():
        return index, forward
    index.close()
    raise SearchError(
        f"{folder}: {backend.name} and the forward index have different documents; {REMEDY}"
    )
