"""An index on disk: built whole or not at all, opened only if every byte is as it was built. [I/O]

A folder holds `lucene/`, `forward/` and `manifest.json`: version, settings, counts, checksums.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from . import jvm
from .forward import Analyse, Forward, ForwardWriter
from .java import ANALYZER
from .lucene import K1, B, LuceneIndex, check_bm25
from .model import Account, Document, Progress, SearchError, silent
from .writing import LuceneWriter

FORMAT = 1
MANIFEST = "manifest.json"
STALE = 86_400  # seconds after which nothing builds in a folder any more
SAMPLE = 50  # rows whose numbers are compared when an index is opened
REMEDY = "build it again with: veilsearch index CORPUS"


def build_index(
    documents: Iterable[Document],
    analyse: Analyse,
    folder: Path,
    *,
    account: Account,
    k1: float = K1,
    b: float = B,
    heap: str = "2g",
    progress: Progress = silent,
) -> dict[str, Any]:
    """Build an index into a folder that is not there yet, and return its manifest.

    Of documents with the same id the last one stays; the account counts the others.
    """
    if folder.exists():
        raise SearchError(f"{folder} is there already; name a new folder")
    check_bm25(k1, b)
    jvm.start(heap)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(folder)
        with TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
            made = Path(beside, "index")
            counts = _write(documents, analyse, made, account, progress)
            settings = {"analyzer": ANALYZER, "k1": k1, "b": b}
            manifest = {"format": FORMAT, **settings, "counts": counts, "account": asdict(account)}
            _finish(made, manifest)
            _aligned(made, read_manifest(made))[0].close()  # what can't be opened is not an index
            made.rename(folder)
            _sync(folder.parent)
    except OSError as error:
        said = error.strerror or error
        raise SearchError(f"{folder} can't be written ({said}); see to room and rights") from error
    return manifest


def open_index(folder: Path, *, heap: str = "2g") -> tuple[LuceneIndex, Forward]:
    """Open an index after checking every file; refuse one that is not as it was built."""
    manifest = read_manifest(folder)
    for fault in _faults(folder, manifest):
        raise SearchError(f"{folder}: {fault}; {REMEDY}")
    jvm.start(heap)
    return _aligned(folder, manifest)


def check_index(folder: Path) -> list[str]:
    """Return what is wrong with an index, one plain line each; nothing if it is good."""
    try:
        manifest = read_manifest(folder)
        faults = list(_faults(folder, manifest))
        if not faults:
            _aligned(folder, manifest)[0].close()
    except SearchError as error:
        return [str(error)]
    return faults


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read an index's manifest."""
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
        manifest = json.loads(text)
        manifest.pop("checksum")
    except FileNotFoundError as error:
        raise SearchError(f"{folder}: no index here (no {MANIFEST}); {REMEDY}") from error
    except (OSError, ValueError, LookupError, AttributeError, TypeError) as error:
        raise SearchError(f"{folder}: {MANIFEST} is damaged; {REMEDY}") from error
    if manifest.get("format") != FORMAT:
        raise SearchError(
            f"{folder}: format={manifest.get('format')} of the index must be {FORMAT}; {REMEDY}"
        )
    if _text(manifest) != text:
        raise SearchError(f"{folder}: {MANIFEST} is damaged; {REMEDY}")
    return dict(manifest)


def _remove_stale(folder: Path) -> None:
    """Remove what killed builds of the same index, whatever its number, have left for a day."""
    name = re.sub(r"\.\d+$", "", folder.name)
    left = re.compile(rf"\.{re.escape(name)}(\.\d+)?\.[a-z0-9_]{{8}}")
    for path in folder.parent.iterdir():
        if left.fullmatch(path.name) and path.is_dir() and time.time() - _touched(path) > STALE:
            shutil.rmtree(path, ignore_errors=True)


def _touched(folder: Path) -> float:
    """Return when anything in a folder was last written; now, if that changes meanwhile."""
    try:
        return max(path.lstat().st_mtime for path in (folder, *folder.rglob("*")))
    except OSError:
        return time.time()


def _write(
    documents: Iterable[Document],
    analyse: Analyse,
    folder: Path,
    account: Account,
    progress: Progress,
) -> dict[str, int]:
    """Write both halves, and count documents and terms."""
    folder.mkdir()
    forward = ForwardWriter(analyse)
    latest: dict[str, int] = {}
    with LuceneWriter(folder / "lucene") as lucene:
        for number, document in enumerate(documents):
            earlier = latest.get(document.id)
            lucene.add(document, number, replaces=earlier is not None)
            forward.add(f"{document.title} {document.text}")
            if earlier is not None:
                forward.drop(earlier)
                account.duplicates += 1
            latest[document.id] = number
            progress(number + 1)
        if not latest:
            skipped = ", ".join(f"{reason}: {count}" for reason, count in account.skipped.items())
            raise SearchError(f"the corpus has no document to index (skipped: {skipped or 'none'})")
    return {"documents": len(latest), "terms": forward.write(folder / "forward")}


def _finish(folder: Path, manifest: dict[str, Any]) -> None:
    """Checksum all files, write the manifest, and have everything on the disk."""
    manifest["files"] = {}
    for name in _names(folder):
        _sync(folder / name)
        manifest["files"][name] = {
            "bytes": (folder / name).stat().st_size,
            "sha256": _digest(folder / name),
        }
    (folder / MANIFEST).write_text(_text(manifest), encoding="utf-8")
    for path in (folder / MANIFEST, folder / "lucene", folder / "forward", folder):
        _sync(path)


def _faults(folder: Path, manifest: dict[str, Any]) -> Iterator[str]:
    files, there = manifest["files"], set(_names(folder))
    yield from (f"{name} does not belong to the index" for name in sorted(there - set(files)))
    for name, built in files.items():
        path = folder / name
        if name not in there:
            yield f"{name} is missing"
        elif path.stat().st_size != built["bytes"]:
            yield f"{name} has {path.stat().st_size} bytes instead of {built['bytes']}"
        elif _digest(path) != built["sha256"]:
            yield f"{name} has changed since it was built"


def _aligned(folder: Path, manifest: dict[str, Any]) -> tuple[LuceneIndex, Forward]:
    """Open both halves, and compare their sizes and the numbers of a sample of rows."""
    forward = Forward.open(folder / "forward")
    lucene = LuceneIndex(folder / "lucene", manifest["k1"], manifest["b"])
    documents = manifest["counts"]["documents"]
    same = documents == lucene.size == forward.documents
    rows = np.unique(np.linspace(0, documents - 1, SAMPLE, dtype=np.int64))
    if same and lucene.numbers(rows.tolist()) == forward.numbers[rows].tolist():
        return lucene, forward
    lucene.close()
    raise SearchError(f"{folder}: Lucene's and the forward index's documents differ; {REMEDY}")


def _names(folder: Path) -> list[str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path != folder / MANIFEST)
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def _text(manifest: dict[str, Any]) -> str:
    """Write a manifest with a checksum of its own."""
    content = json.dumps(manifest, indent=1, sort_keys=True)
    checksum = hashlib.sha256(content.encode()).hexdigest()
    return json.dumps({**manifest, "checksum": checksum}, indent=1, sort_keys=True) + "\n"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Have a file or folder on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
