"""Opening an index folder, only if no byte has changed since it was built. [I/O]"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .forward.reading import Forward
from .lucene import jvm
from .lucene.java import ANALYZERS, ENGLISH
from .lucene.searching import K1, B, LuceneIndex
from .manifest import REMEDY, faults_of, read_manifest
from .model import SearchError

SAMPLE = 50  # rows whose numbers are compared when an index is opened


def open_index(
    folder: Path,
    *,
    heap: str = "2g",
    k1: float | None = None,
    b: float | None = None,
    title_boost: float = 0.0,
) -> tuple[LuceneIndex, Forward]:
    """Return both halves of the checked index in `folder`, by its own `k1` and `b` unless given."""
    manifest = _checked(folder)
    jvm.start(heap)
    chosen = {"k1": manifest["k1"] if k1 is None else k1, "b": manifest["b"] if b is None else b}
    spoken = language_of(manifest)
    return aligned(
        folder, manifest["counts"]["documents"], **chosen, title_boost=title_boost, language=spoken
    )


def language_of(manifest: Mapping[str, Any]) -> str:
    """Return the language by which the index of `manifest` is analyzed."""
    for language, name in ANALYZERS.items():
        if manifest["analyzer"] == name:
            return language
    raise SearchError(f"the index has the analyzer {manifest['analyzer']}, unknown here; {REMEDY}")


def open_forward(folder: Path) -> Forward:
    """Return only the forward index of `folder`, which needs no Java, after the same checks."""
    _checked(folder)
    return Forward.open(folder / "forward")


def check_index(folder: Path) -> list[str]:
    """Return what is wrong with the index in `folder`, one plain line each."""
    try:
        manifest = read_manifest(folder)
        faults = list(faults_of(folder, manifest))
        if not faults:
            aligned(folder, manifest["counts"]["documents"])[0].close()
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
    k1: float = K1,
    b: float = B,
    title_boost: float = 0.0,
    language: str = ENGLISH,
) -> tuple[LuceneIndex, Forward]:
    """Return both halves of the index in `folder`, if both have the same `documents`."""
    # Of these a sample is compared; `veilsearch doctor` compares them all.
    forward = Forward.open(folder / "forward")
    lucene = LuceneIndex(folder / "lucene", k1, b, title_boost, language)
    same = documents == lucene.size == forward.documents
    rows = np.unique(np.linspace(0, documents - 1, SAMPLE, dtype=np.int64))
    if same and lucene.numbers(rows.tolist()) == forward.numbers[rows].tolist():
        return lucene, forward
    lucene.close()
    raise SearchError(f"{folder}: Lucene and the forward index have different documents; {REMEDY}")
